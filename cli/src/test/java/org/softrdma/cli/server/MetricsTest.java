package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetricsTest {
    private static final Map<String, Map<String, String>> STATISTICS = Map.of(
            "",
            Map.of(
                    "uptime",
                    "7",
                    "version",
                    "1.6.18",
                    "get_hits",
                    "5",
                    "get_misses",
                    "2",
                    "cmd_set",
                    "3",
                    "rusage_user",
                    "0.25"),
            "settings",
            Map.of("lru_crawler", "yes", "maxbytes", "1", "hot_max_factor", "0.20"),
            "items",
            Map.of("items:1:number", "4", "items:12:number", "1", "items:1:hits_to_hot", "5"),
            "slabs",
            Map.of("1:chunk_size", "96", "1:cmd_set", "3", "1:cas_badval", "1", "total_malloced", "1048576"),
            "rdma",
            Map.of("queue_pairs", "2", "rget_hits", "9", "device", "soft", "device_responderReads", "11"));

    @Test
    void shouldNameStatisticsAsDashboardsOfMemcachedDo() {
        List<String> lines = Metrics.text(STATISTICS::get).lines().toList();
        for (String line : List.of(
                "# TYPE memcached_uptime_seconds counter",
                "memcached_up 1",
                "memcached_uptime_seconds 7",
                "memcached_version{version=\"1.6.18\"} 1",
                "memcached_process_user_cpu_seconds_total 0.25",
                "memcached_commands_total{command=\"get\",status=\"hit\"} 5",
                "memcached_commands_total{command=\"get\",status=\"miss\"} 2",
                "memcached_commands_total{command=\"set\",status=\"hit\"} 3",
                "memcached_lru_crawler_enabled 1",
                "memcached_lru_crawler_hot_max_factor 0.20",
                "memcached_malloced_bytes 1048576",
                "memcached_slab_current_items{slab=\"12\"} 1",
                "memcached_slab_chunk_size_bytes{slab=\"1\"} 96",
                "memcached_slab_commands_total{slab=\"1\",command=\"set\",status=\"hit\"} 3",
                "memcached_slab_commands_total{slab=\"1\",command=\"cas\",status=\"badval\"} 1",
                "memcached_slab_lru_hits_total{slab=\"1\",lru=\"hot\"} 5",
                "softrdma_queue_pairs 2",
                "softrdma_rget_hits_total 9",
                "softrdma_device_responder_reads_total 11")) {
            assertTrue(lines.contains(line), () -> line + " in " + lines);
        }
    }

    /** Prometheus refuses a metric that is typed twice, or whose lines do not follow each other. */
    @Test
    void shouldTypeEachMetricOnceBeforeItsLines() {
        String metric = "";
        int typed = 0;
        for (String line : Metrics.text(STATISTICS::get).lines().toList()) {
            if (line.startsWith("# TYPE ")) {
                metric = line.split(" ", -1)[2];
                typed++;
            } else {
                assertEquals(metric, line.replaceFirst("[ {].*", ""));
            }
        }
        long distinct = Metrics.text(STATISTICS::get)
                .lines()
                .filter(line -> line.startsWith("# TYPE "))
                .distinct()
                .count();
        assertEquals(distinct, typed);
    }

    @Test
    void shouldAnswerPrometheusAndNobodyElse() throws Exception {
        try (MetricsPort port = new MetricsPort(InetAddress.getLoopbackAddress(), 0, STATISTICS::get);
                HttpClient client = HttpClient.newHttpClient()) {
            String base = "http://127.0.0.1:" + port.address().getPort();
            HttpResponse<String> metrics = client.send(
                    HttpRequest.newBuilder(URI.create(base + "/metrics")).build(), BodyHandlers.ofString());
            assertEquals(200, metrics.statusCode());
            assertTrue(metrics.headers().firstValue("Content-Type").orElse("").startsWith("text/plain; version=0.0.4"));
            assertEquals(Metrics.text(STATISTICS::get), metrics.body());
            assertEquals(
                    404,
                    client.send(HttpRequest.newBuilder(URI.create(base + "/")).build(), BodyHandlers.ofString())
                            .statusCode());
            assertEquals(
                    405,
                    client.send(
                                    HttpRequest.newBuilder(URI.create(base + "/metrics"))
                                            .POST(BodyPublishers.ofString("x"))
                                            .build(),
                                    BodyHandlers.ofString())
                            .statusCode());
        }
    }
}
