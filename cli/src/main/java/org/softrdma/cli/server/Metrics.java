package org.softrdma.cli.server;

import static org.softrdma.cli.server.MetricTable.COUNTER;
import static org.softrdma.cli.server.MetricTable.GAUGE;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.server.MetricTable.Mapping;

/**
 * The statistics of a server as Prometheus reads them: under the names that memcached_exporter gives to those of
 * memcached, so that its dashboards and alerts work, and those of {@code stats rdma} as {@code softrdma_} and their
 * name. Any thread.
 */
final class Metrics {
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?");
    private static final Pattern OF_CLASS = Pattern.compile("(?:items:)?([0-9]+):(.+)");
    private static final Pattern NOT_IN_A_NAME = Pattern.compile("[^a-z0-9_]");
    private static final String OWN = "softrdma_";
    private static final String NANOSECONDS = "_ns";

    private final Function<String, Map<String, String>> statistics;
    /** What was shown last of sets that are no cas, by their labels. */
    private final Map<String, Sets> shown = new ConcurrentHashMap<>();

    /**
     * Sets that are no cas. memcached counts every cas among its sets.
     *
     * @param all sets, with cas
     * @param plain those that are no cas
     */
    private record Sets(long all, long plain) {
        /**
         * What to show after this. The counters are read while others count, so a difference of two can be a little
         * smaller than before; Prometheus would believe that the server was started anew, and count all sets twice.
         */
        Sets then(Sets next) {
            boolean reset = next.all < all;
            return reset ? next : new Sets(next.all, Math.max(plain, next.plain));
        }
    }

    /**
     * The metrics of a server.
     *
     * @param statistics gives the names and values of a group of {@code stats}
     */
    Metrics(Function<String, Map<String, String>> statistics) {
        this.statistics = statistics;
    }

    /** All of them now, in Prometheus's text form. */
    String text() {
        Page page = new Page();
        Map<String, String> general = statistics.apply("");
        page.add("memcached_up", GAUGE, "1 if the server answers.", "", "1");
        String version = general.getOrDefault("version", "");
        page.add("memcached_version", GAUGE, "The server's version.", "version=\"" + escaped(version) + "\"", "1");
        addAll(page, MetricTable.GENERAL, general);
        addCommands(page, general);
        addAll(page, MetricTable.SETTINGS, statistics.apply("settings"));
        byClass(statistics.apply("items")).forEach((number, values) -> addItems(page, number, values));
        Map<String, String> slabs = statistics.apply("slabs");
        byClass(slabs).forEach((number, values) -> addSlab(page, number, values));
        String malloced = slabs.getOrDefault("total_malloced", "0");
        page.add("memcached_malloced_bytes", GAUGE, "Memory of all slab pages.", "", malloced);
        statistics.apply("rdma").forEach((name, value) -> addOwn(page, name, value));
        return page.text();
    }

    private static void addAll(Page page, List<Mapping> mappings, Map<String, String> values) {
        for (Mapping each : mappings) {
            page.add(each, "", values.get(each.name()));
        }
    }

    private void addCommands(Page page, Map<String, String> values) {
        for (String command : List.of("get", "delete", "incr", "decr", "cas", "touch")) {
            page.addCommand("", command, "hit", values.getOrDefault(command + "_hits", "0"));
            page.addCommand("", command, "miss", values.getOrDefault(command + "_misses", "0"));
        }
        page.addCommand("", "cas", "badval", values.getOrDefault("cas_badval", "0"));
        page.addCommand("", "set", "hit", plainSets("", values, "cas_hits", "cas_misses", "cas_badval"));
        page.addCommand("", "flush", "hit", values.getOrDefault("cmd_flush", "0"));
    }

    /** By the number of their slab class: names without it, and values. */
    private static Map<Integer, Map<String, String>> byClass(Map<String, String> values) {
        Map<Integer, Map<String, String>> classes = new TreeMap<>();
        values.forEach((name, value) -> {
            Matcher ofClass = OF_CLASS.matcher(name);
            if (ofClass.matches()) {
                classes.computeIfAbsent(Integer.valueOf(ofClass.group(1)), _ -> new TreeMap<>())
                        .put(ofClass.group(2), value);
            }
        });
        return classes;
    }

    private static void addItems(Page page, int number, Map<String, String> values) {
        String slab = "slab=\"" + number + "\"";
        for (Mapping each : MetricTable.ITEMS) {
            page.add(each, slab, values.get(each.name()));
        }
        for (String lru : List.of("hot", "warm", "cold", "temp")) {
            String hits = values.get("hits_to_" + lru);
            String labels = slab + ",lru=\"" + (lru.equals("temp") ? "temporary" : lru) + "\"";
            page.add("memcached_slab_lru_hits_total", COUNTER, "Hits by LRU.", labels, hits);
        }
    }

    private void addSlab(Page page, int number, Map<String, String> values) {
        String slab = "slab=\"" + number + "\"";
        for (Mapping each : MetricTable.SLABS) {
            page.add(each, slab, values.get(each.name()));
        }
        for (String command : List.of("get", "delete", "incr", "decr", "cas", "touch")) {
            page.addCommand(slab, command, "hit", values.get(command + "_hits"));
        }
        page.addCommand(slab, "cas", "badval", values.get("cas_badval"));
        page.addCommand(slab, "set", "hit", plainSets(slab, values, "cas_hits", "cas_badval"));
    }

    private String plainSets(String labels, Map<String, String> values, String... cas) {
        long all = Long.parseLong(values.getOrDefault("cmd_set", "0"));
        long plain = all;
        for (String each : cas) {
            plain -= Long.parseLong(values.getOrDefault(each, "0"));
        }
        return Long.toString(shown.merge(labels, new Sets(all, Math.max(0, plain)), Sets::then)
                .plain());
    }

    private static void addOwn(Page page, String name, String value) {
        if (NUMBER.matcher(value).matches()) {
            Mapping known = MetricTable.OWN.getOrDefault(
                    name, new Mapping(name, COUNTER, name + " in stats rdma; the provider of the device counts it"));
            String words = name.replaceAll("([a-z])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
            String metric = OWN + NOT_IN_A_NAME.matcher(words).replaceAll("_");
            String number = value;
            if (metric.endsWith(NANOSECONDS)) { // Prometheus wants seconds
                metric = metric.substring(0, metric.length() - NANOSECONDS.length()) + "_seconds";
                number = new BigDecimal(value).movePointLeft(9).toPlainString();
            }
            page.add(known.type().equals(COUNTER) ? metric + "_total" : metric, known.type(), known.help(), "", number);
        }
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    /** One answer. All lines of a metric follow its type and help, as Prometheus requires. */
    private static final class Page {
        private final Map<String, StringBuilder> metrics = new TreeMap<>();

        void add(Mapping mapping, String labels, @Nullable String value) {
            add("memcached_" + mapping.metric(), mapping.type(), mapping.help(), labels, value);
        }

        void addCommand(String slab, String command, String status, @Nullable String value) {
            String labels = "command=\"" + command + "\",status=\"" + status + "\"";
            if (slab.isEmpty()) {
                add("memcached_commands_total", COUNTER, "Commands, by name and result.", labels, value);
            } else {
                String help = "Commands on items of a slab class, by name and result.";
                add("memcached_slab_commands_total", COUNTER, help, slab + "," + labels, value);
            }
        }

        /** Adds a line, unless there is no such statistic. */
        void add(String metric, String type, String help, String labels, @Nullable String value) {
            if (value == null) {
                return;
            }
            String number = value.equals("yes") ? "1" : value.equals("no") ? "0" : value;
            metrics.computeIfAbsent(
                            metric,
                            name -> new StringBuilder(
                                    "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n"))
                    .append(metric)
                    .append(labels.isEmpty() ? "" : "{" + labels + "}")
                    .append(' ')
                    .append(number)
                    .append('\n');
        }

        String text() {
            return String.join("", metrics.values());
        }
    }
}
