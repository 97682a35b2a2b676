package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.agrona.CloseHelper;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

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
                    "9",
                    "cas_hits",
                    "3",
                    "cas_misses",
                    "2",
                    "cas_badval",
                    "1",
                    "rusage_user",
                    "0.25"),
            "settings",
            Map.of("lru_crawler", "yes", "maxbytes", "1", "hot_max_factor", "0.20"),
            "items",
            Map.of(
                    "items:1:number",
                    "4",
                    "items:12:number",
                    "1",
                    "items:1:hits_to_hot",
                    "5",
                    "items:1:number_temp",
                    "0",
                    "items:1:hits_to_temp",
                    "6"),
            "slabs",
            Map.of(
                    "1:chunk_size",
                    "96",
                    "1:cmd_set",
                    "8",
                    "1:cas_hits",
                    "3",
                    "1:cas_badval",
                    "1",
                    "total_malloced",
                    "1048576"),
            "rdma",
            Map.of(
                    "queue_pairs",
                    "2",
                    "rget_hits",
                    "9",
                    "device",
                    "soft",
                    "device_responderReads",
                    "11",
                    "device_pinning.budgetBytes",
                    "9223372036854775807",
                    "device_sentSegments.readRequest",
                    "13",
                    "device_memoryRegions",
                    "1",
                    "device_pinning.ns",
                    "1500000000",
                    "device_of-another: provider",
                    "4"));

    private static String page() {
        return new Metrics(STATISTICS::get).text();
    }

    @Test
    void shouldNameStatisticsAsDashboardsOfMemcachedDo() {
        List<String> lines = page().lines().toList();
        for (String line : List.of(
                "# TYPE memcached_uptime_seconds counter",
                "memcached_up 1",
                "memcached_uptime_seconds 7",
                "memcached_version{version=\"1.6.18\"} 1",
                "memcached_process_user_cpu_seconds_total 0.25",
                "memcached_commands_total{command=\"get\",status=\"hit\"} 5",
                "memcached_commands_total{command=\"get\",status=\"miss\"} 2",
                "memcached_commands_total{command=\"cas\",status=\"hit\"} 3",
                "memcached_lru_crawler_enabled 1",
                "memcached_lru_crawler_hot_max_factor 0.20",
                "memcached_malloced_bytes 1048576",
                "memcached_slab_current_items{slab=\"12\"} 1",
                "memcached_slab_temporary_items{slab=\"1\"} 0",
                "memcached_slab_chunk_size_bytes{slab=\"1\"} 96",
                "memcached_slab_commands_total{slab=\"1\",command=\"cas\",status=\"badval\"} 1",
                "memcached_slab_lru_hits_total{slab=\"1\",lru=\"hot\"} 5",
                "memcached_slab_lru_hits_total{slab=\"1\",lru=\"temporary\"} 6",
                "softrdma_queue_pairs 2",
                "softrdma_rget_hits_total 9",
                "softrdma_device_responder_reads_total 11")) {
            assertTrue(lines.contains(line), () -> line + " in " + lines);
        }
    }

    @Test
    void shouldCountACasAmongNoOtherSets() {
        Map<String, Double> samples = ExpositionFormat.parse(page()).samples();
        assertEquals(3, samples.get("memcached_commands_total{command=\"set\",status=\"hit\"}"));
        assertEquals(4, samples.get("memcached_slab_commands_total{slab=\"1\",command=\"set\",status=\"hit\"}"));
    }

    /** A counter that falls is a server that was started anew, to Prometheus: it would count all sets once more. */
    @Test
    void shouldNeverLetSetsFallWhileOthersDoCas() {
        Map<String, String> general = new HashMap<>(Map.of("cmd_set", "10", "cas_hits", "4"));
        Metrics metrics = new Metrics(group -> group.isEmpty() ? general : Map.of());
        assertEquals(6, sets(metrics));
        general.put("cas_hits", "5"); // of a cas whose set was not counted yet
        assertEquals(6, sets(metrics));
        general.put("cmd_set", "13");
        assertEquals(8, sets(metrics));
        general.putAll(Map.of("cmd_set", "1", "cas_hits", "0")); // stats reset
        assertEquals(1, sets(metrics));
    }

    private static double sets(Metrics metrics) {
        return Objects.requireNonNull(ExpositionFormat.parse(metrics.text())
                .samples()
                .get("memcached_commands_total{command=\"set\",status=\"hit\"}"));
    }

    @Test
    void shouldBeReadByAStrictParser() {
        Map<String, Double> samples = ExpositionFormat.parse(page()).samples();
        assertEquals(0x1p63, samples.get("softrdma_device_pinning_budget_bytes"));
        assertEquals(13, samples.get("softrdma_device_sent_segments_read_request_total"));
        assertEquals(1, samples.get("softrdma_device_memory_regions"));
        assertEquals(1.5, samples.get("softrdma_device_pinning_seconds_total"));
        assertEquals(4, samples.get("softrdma_device_of_another__provider_total"));
    }

    @Test
    void shouldEscapeAVersionThatIsNoWord() {
        String odd = "1 \"x\" \\ \n";
        Function<String, Map<String, String>> statistics = group -> group.isEmpty() ? Map.of("version", odd) : Map.of();
        String series = "memcached_version{version=\"1 \\\"x\\\" \\\\ \\n\"}";
        assertEquals(
                1,
                ExpositionFormat.parse(new Metrics(statistics).text()).samples().get(series));
    }

    private static String pageOfAServer() {
        return pageOfAServer(Map.of());
    }

    private static String pageOfAServer(Map<String, String> options) {
        try (VerbsDevice device = new SoftRdmaProvider().open(options);
                KvServer server = KvServer.start(
                        device,
                        new KvServerContext()
                                .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                                .conclude())) {
            return new Metrics(server::statistics).text();
        }
    }

    /** What counts up and what is as it is now, as the reference says it; and every counter has a sentence. */
    @Test
    void shouldSayOfEachCounterOfTheDeviceWhatTheReferenceSays() throws IOException {
        ExpositionFormat overTcp = ExpositionFormat.parse(pageOfAServer());
        ExpositionFormat overUdp = ExpositionFormat.parse(pageOfAServer(Map.of("wire", "roce")));
        Set<String> ofDevice = new HashSet<>();
        Matcher row = Pattern.compile("\\| `([A-Za-z.]+)` \\| (.*) \\|").matcher("");
        int rows = 0;
        for (String line : Files.readAllLines(checkout().resolve("docs/reference/counters.md"))) {
            if (line.startsWith("## Events")) {
                break;
            }
            if (row.reset(line).matches()) {
                String name = row.group(1)
                        .replaceAll("([a-z])([A-Z])", "$1_$2")
                        .replace('.', '_')
                        .replaceAll("_ns$", "_seconds");
                String text = row.group(2);
                boolean now = text.endsWith(", now") || text.startsWith("maximum") || text.startsWith("limit");
                String metric = "softrdma_device_" + name.toLowerCase(Locale.ROOT) + (now ? "" : "_total");
                ExpositionFormat page = overTcp.types().containsKey(metric) ? overTcp : overUdp;
                assertEquals(now ? "gauge" : "counter", page.types().get(metric), metric);
                String words = text.replaceAll(" \\(\\[.*?]\\(.*?\\)\\)", "").replaceAll(", now$", "");
                assertEquals(words.replace("`", ""), page.helps().get(metric), metric);
                rows++;
            }
        }
        Stream.of(overTcp, overUdp)
                .flatMap(page -> page.types().keySet().stream())
                .filter(name -> name.startsWith("softrdma_device_"))
                .forEach(ofDevice::add);
        assertEquals(ofDevice.size(), rows);
    }

    private static Path checkout() {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("docs/reference/counters.md"))) {
            at = Objects.requireNonNull(at.getParent(), "not below a checkout");
        }
        return at;
    }

    /** Prometheus's own parser and linter; the latter dislikes two kinds of names, which are memcached_exporter's. */
    @Test
    @Tag("slow")
    void shouldBeReadByPrometheus() throws Exception {
        for (String page : List.of(page(), pageOfAServer())) {
            Process promtool;
            try {
                promtool = new ProcessBuilder("promtool", "check", "metrics")
                        .redirectErrorStream(true)
                        .start();
            } catch (IOException e) {
                Assumptions.abort("promtool is not installed (Debian: prometheus)");
                return;
            }
            try (OutputStream in = promtool.getOutputStream()) {
                in.write(page.getBytes(StandardCharsets.UTF_8));
            }
            String said = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            List<String> complaints =
                    said.lines().filter(line -> !line.startsWith("memcached_")).toList();
            assertEquals(List.of(), complaints, said + "\n" + page);
            int code = promtool.waitFor();
            assertTrue(code == 0 || code == 3, () -> code + ": " + said); // 3: read, and the linter dislikes something
        }
    }

    private static MetricsPort open() {
        return new MetricsPort(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), false, STATISTICS::get);
    }

    @Test
    void shouldAnswerPrometheusAndNobodyElse() throws Exception {
        try (MetricsPort port = open();
                HttpClient client = HttpClient.newHttpClient()) {
            String base = "http://127.0.0.1:" + port.address().getPort();
            HttpResponse<String> metrics = client.send(
                    HttpRequest.newBuilder(URI.create(base + "/metrics")).build(), BodyHandlers.ofString());
            assertEquals(200, metrics.statusCode());
            assertTrue(metrics.headers().firstValue("Content-Type").orElse("").startsWith("text/plain; version=0.0.4"));
            assertEquals(page(), metrics.body());
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

    @Test
    void shouldAnswerWhileOthersHaveSentHalfARequest() throws Exception {
        List<Socket> halves = new ArrayList<>();
        try (MetricsPort port = open();
                HttpClient client = HttpClient.newHttpClient()) {
            for (String half :
                    List.of("G", "GET /metrics HTTP/1.1\r\n", "POST /metrics HTTP/1.1\r\nContent-Length: 9\r\n\r\nx")) {
                Socket socket =
                        new Socket(port.address().getAddress(), port.address().getPort());
                halves.add(socket);
                socket.getOutputStream().write(half.getBytes(StandardCharsets.US_ASCII));
            }
            URI uri = URI.create("http://127.0.0.1:" + port.address().getPort() + "/metrics");
            HttpRequest request =
                    HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(60)).build();
            assertEquals(200, client.send(request, BodyHandlers.ofString()).statusCode());
            Socket first = halves.getFirst(); // answered while it is here, not after the JDK's server has ended it
            first.setSoTimeout(1);
            assertThrows(
                    SocketTimeoutException.class, () -> first.getInputStream().read());
        } finally {
            CloseHelper.quietCloseAll(halves);
        }
    }

    @Test
    @Tag("slow")
    void shouldEndAClientThatNeverSendsTheRestOfItsRequest() throws Exception {
        try (MetricsPort port = open();
                Socket socket =
                        new Socket(port.address().getAddress(), port.address().getPort())) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write('G');
            assertEquals(-1, socket.getInputStream().read());
        }
    }
}
