package org.softrdma.cli.server;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The statistics of a server as Prometheus reads them: under the names that memcached_exporter gives to those of
 * memcached, so that its dashboards and alerts work, and those of {@code stats rdma} as {@code softrdma_} and their
 * name. Made anew for each answer, by one thread.
 */
final class Metrics {
    private static final String GAUGE = "gauge";
    private static final String COUNTER = "counter";
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?");
    private static final Pattern OF_CLASS = Pattern.compile("(?:items:)?([0-9]+):(.+)");

    /**
     * One statistic.
     *
     * @param name memcached's
     * @param metric memcached_exporter's, without its prefix
     * @param type Prometheus's
     */
    private record Mapping(String name, String metric, String type) {}

    private static final List<Mapping> GENERAL = List.of(
            new Mapping("uptime", "uptime_seconds", COUNTER),
            new Mapping("time", "time_seconds", GAUGE),
            new Mapping("rusage_user", "process_user_cpu_seconds_total", COUNTER),
            new Mapping("rusage_system", "process_system_cpu_seconds_total", COUNTER),
            new Mapping("bytes_read", "read_bytes_total", COUNTER),
            new Mapping("bytes_written", "written_bytes_total", COUNTER),
            new Mapping("curr_connections", "current_connections", GAUGE),
            new Mapping("max_connections", "max_connections", GAUGE),
            new Mapping("total_connections", "connections_total", COUNTER),
            new Mapping("rejected_connections", "connections_rejected_total", COUNTER),
            new Mapping("conn_yields", "connections_yielded_total", COUNTER),
            new Mapping("listen_disabled_num", "connections_listener_disabled_total", COUNTER),
            new Mapping("accepting_conns", "accepting_connections", GAUGE),
            new Mapping("bytes", "current_bytes", GAUGE),
            new Mapping("limit_maxbytes", "limit_bytes", GAUGE),
            new Mapping("curr_items", "current_items", GAUGE),
            new Mapping("total_items", "items_total", COUNTER),
            new Mapping("evictions", "items_evicted_total", COUNTER),
            new Mapping("reclaimed", "items_reclaimed_total", COUNTER),
            new Mapping("store_too_large", "item_too_large_total", COUNTER),
            new Mapping("store_no_memory", "item_no_memory_total", COUNTER),
            new Mapping("direct_reclaims", "direct_reclaims_total", COUNTER),
            new Mapping("lru_crawler_starts", "lru_crawler_starts_total", COUNTER),
            new Mapping("crawler_reclaimed", "lru_crawler_reclaimed_total", COUNTER),
            new Mapping("crawler_items_checked", "lru_crawler_items_checked_total", COUNTER),
            new Mapping("moves_to_cold", "lru_crawler_moves_to_cold_total", COUNTER),
            new Mapping("moves_to_warm", "lru_crawler_moves_to_warm_total", COUNTER),
            new Mapping("moves_within_lru", "lru_crawler_moves_within_lru_total", COUNTER));

    private static final List<Mapping> SETTINGS = List.of(
            new Mapping("lru_crawler", "lru_crawler_enabled", GAUGE),
            new Mapping("lru_crawler_sleep", "lru_crawler_sleep", GAUGE),
            new Mapping("lru_crawler_tocrawl", "lru_crawler_to_crawl", GAUGE),
            new Mapping("lru_maintainer_thread", "lru_crawler_maintainer_thread", GAUGE),
            new Mapping("hot_lru_pct", "lru_crawler_hot_percent", GAUGE),
            new Mapping("warm_lru_pct", "lru_crawler_warm_percent", GAUGE),
            new Mapping("hot_max_factor", "lru_crawler_hot_max_factor", GAUGE),
            new Mapping("warm_max_factor", "lru_crawler_warm_max_factor", GAUGE));

    private static final List<Mapping> ITEMS = List.of(
            new Mapping("number", "slab_current_items", GAUGE),
            new Mapping("age", "slab_items_age_seconds", GAUGE),
            new Mapping("crawler_reclaimed", "slab_items_crawler_reclaimed_total", COUNTER),
            new Mapping("evicted", "slab_items_evicted_total", COUNTER),
            new Mapping("evicted_nonzero", "slab_items_evicted_nonzero_total", COUNTER),
            new Mapping("evicted_time", "slab_items_evicted_time_seconds", GAUGE),
            new Mapping("evicted_unfetched", "slab_items_evicted_unfetched_total", COUNTER),
            new Mapping("expired_unfetched", "slab_items_expired_unfetched_total", COUNTER),
            new Mapping("outofmemory", "slab_items_outofmemory_total", COUNTER),
            new Mapping("reclaimed", "slab_items_reclaimed_total", COUNTER),
            new Mapping("tailrepairs", "slab_items_tailrepairs_total", COUNTER),
            new Mapping("mem_requested", "slab_mem_requested_bytes", GAUGE),
            new Mapping("moves_to_cold", "slab_items_moves_to_cold", COUNTER),
            new Mapping("moves_to_warm", "slab_items_moves_to_warm", COUNTER),
            new Mapping("moves_within_lru", "slab_items_moves_within_lru", COUNTER),
            new Mapping("number_hot", "slab_hot_items", GAUGE),
            new Mapping("number_warm", "slab_warm_items", GAUGE),
            new Mapping("number_cold", "slab_cold_items", GAUGE),
            new Mapping("number_temp", "slab_temporary_items", GAUGE),
            new Mapping("age_hot", "slab_hot_age_seconds", GAUGE),
            new Mapping("age_warm", "slab_warm_age_seconds", GAUGE));

    private static final List<Mapping> SLABS = List.of(
            new Mapping("chunk_size", "slab_chunk_size_bytes", GAUGE),
            new Mapping("chunks_per_page", "slab_chunks_per_page", GAUGE),
            new Mapping("total_pages", "slab_current_pages", GAUGE),
            new Mapping("total_chunks", "slab_current_chunks", GAUGE),
            new Mapping("used_chunks", "slab_chunks_used", GAUGE),
            new Mapping("free_chunks", "slab_chunks_free", GAUGE),
            new Mapping("free_chunks_end", "slab_chunks_free_end", GAUGE));

    /** What counts up in {@code stats rdma}; the rest is as it is now. */
    private static final List<String> PRESENT = List.of("queue_pairs", "item_regions", "paused_peers");

    private final Map<String, StringBuilder> metrics = new TreeMap<>();

    private Metrics() {}

    /**
     * All of them, in Prometheus's text form.
     *
     * @param statistics gives the names and values of a group of {@code stats}
     */
    static String text(Function<String, Map<String, String>> statistics) {
        Metrics metrics = new Metrics();
        metrics.addGeneral(statistics.apply(""));
        metrics.addAll(SETTINGS, statistics.apply("settings"));
        metrics.addClasses(ITEMS, statistics.apply("items"));
        Map<String, String> slabs = statistics.apply("slabs");
        metrics.addClasses(SLABS, slabs);
        metrics.add("memcached_malloced_bytes", GAUGE, "", slabs.getOrDefault("total_malloced", "0"));
        metrics.addOwn(statistics.apply("rdma"));
        return String.join("", metrics.metrics.values());
    }

    private void addGeneral(Map<String, String> values) {
        add("memcached_up", GAUGE, "", "1");
        add("memcached_version", GAUGE, "{version=\"" + values.getOrDefault("version", "") + "\"}", "1");
        addAll(GENERAL, values);
        for (String command : List.of("get", "delete", "incr", "decr", "cas", "touch")) {
            addCommand(command, "hit", values.getOrDefault(command + "_hits", "0"));
            addCommand(command, "miss", values.getOrDefault(command + "_misses", "0"));
        }
        addCommand("cas", "badval", values.getOrDefault("cas_badval", "0"));
        addCommand("set", "hit", values.getOrDefault("cmd_set", "0"));
        addCommand("flush", "hit", values.getOrDefault("cmd_flush", "0"));
    }

    private void addCommand(String command, String status, String value) {
        add(
                "memcached_commands_total",
                COUNTER,
                "{command=\"" + command + "\",status=\"" + status + "\"}",
                value == null ? "0" : value);
    }

    private void addAll(List<Mapping> mappings, Map<String, String> values) {
        for (Mapping each : mappings) {
            String value = values.get(each.name);
            if (value != null) {
                add("memcached_" + each.metric, each.type, "", value);
            }
        }
    }

    private void addClasses(List<Mapping> mappings, Map<String, String> values) {
        values.forEach((name, value) -> {
            Matcher ofClass = OF_CLASS.matcher(name);
            if (ofClass.matches()) {
                addOfClass(mappings, ofClass.group(1), ofClass.group(2), value);
            }
        });
    }

    private void addOfClass(List<Mapping> mappings, String number, String name, String value) {
        String slab = "{slab=\"" + number + "\"";
        for (Mapping each : mappings) {
            if (each.name.equals(name)) {
                add("memcached_" + each.metric, each.type, slab + "}", value);
            }
        }
        if (name.startsWith("hits_to_")) {
            String lru = name.substring("hits_to_".length());
            add("memcached_slab_lru_hits_total", COUNTER, slab + ",lru=\"" + lru + "\"}", value);
        }
        String command = switch (name) {
            case "cmd_set" -> "set";
            case "cas_badval" -> "cas";
            default -> name.endsWith("_hits") ? name.substring(0, name.length() - "_hits".length()) : "";
        };
        if (!command.isEmpty()) {
            String status = name.equals("cas_badval") ? "badval" : "hit";
            String labels = slab + ",command=\"" + command + "\",status=\"" + status + "\"}";
            add("memcached_slab_commands_total", COUNTER, labels, value);
        }
    }

    private void addOwn(Map<String, String> values) {
        values.forEach((name, value) -> {
            if (NUMBER.matcher(value).matches()) {
                boolean present = PRESENT.contains(name);
                String metric = name.replaceAll("([a-z])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
                add("softrdma_" + metric + (present ? "" : "_total"), present ? GAUGE : COUNTER, "", value);
            }
        });
    }

    private void add(String metric, String type, String labels, String value) {
        String number = value.equals("yes") ? "1" : value.equals("no") ? "0" : value;
        metrics.computeIfAbsent(metric, name -> new StringBuilder("# TYPE " + name + " " + type + "\n"))
                .append(metric)
                .append(labels)
                .append(' ')
                .append(number)
                .append('\n');
    }
}
