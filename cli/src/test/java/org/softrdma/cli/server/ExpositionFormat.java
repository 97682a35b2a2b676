package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Prometheus's text exposition format, version 0.0.4, as strictly as its parser and its linter read it: names of the
 * grammar, one HELP and one TYPE before all samples of a metric and nothing in between, no series twice, counters
 * that end in {@code _total} and gauges that do not.
 *
 * @param types by metric
 * @param helps by metric
 * @param samples by series: metric and labels
 */
record ExpositionFormat(Map<String, String> types, Map<String, String> helps, Map<String, Double> samples) {
    private static final String NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
    private static final String LABEL = "[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\"";
    private static final Pattern HELP = Pattern.compile("# HELP (" + NAME + ") ((?:[^\\\\\n]|\\\\[\\\\n])+)");
    private static final Pattern TYPE = Pattern.compile("# TYPE (" + NAME + ") (counter|gauge)");
    private static final Pattern SAMPLE = Pattern.compile(
            "(" + NAME + ")(\\{" + LABEL + "(?:," + LABEL + ")*})? ([+-]?[0-9]+(?:\\.[0-9]+)?(?:e[+-]?[0-9]+)?)");

    /** memcached_exporter's names for counters, which dashboards use as they are. */
    private static final Set<String> COUNTERS_BY_OTHER_NAMES = Set.of(
            "memcached_uptime_seconds",
            "memcached_slab_items_moves_to_cold",
            "memcached_slab_items_moves_to_warm",
            "memcached_slab_items_moves_within_lru");

    static ExpositionFormat parse(String page) {
        assertTrue(page.endsWith("\n"), "the last line must end");
        ExpositionFormat parsed =
                new ExpositionFormat(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        Set<String> ended = new HashSet<>();
        String current = "";
        for (String line : page.substring(0, page.length() - 1).split("\n", -1)) {
            Matcher help = HELP.matcher(line);
            Matcher type = TYPE.matcher(line);
            Matcher sample = SAMPLE.matcher(line);
            if (help.matches()) {
                ended.add(current);
                current = help.group(1);
                assertFalse(ended.contains(current), line + ": this metric had its lines already");
                parsed.helps.put(current, help.group(2));
            } else if (type.matches()) {
                assertEquals(current, type.group(1), line + ": expected after its HELP");
                assertEquals(null, parsed.types.put(current, type.group(2)), line + ": typed twice");
                boolean counts = type.group(2).equals("counter");
                assertEquals(counts && !COUNTERS_BY_OTHER_NAMES.contains(current), current.endsWith("_total"), line);
            } else {
                assertTrue(sample.matches(), () -> "no line of the format: " + line);
                assertEquals(current, sample.group(1), line + ": expected after its TYPE");
                assertTrue(parsed.types.containsKey(current), line + ": expected after its TYPE");
                String series = line.substring(0, line.lastIndexOf(' '));
                assertEquals(
                        null, parsed.samples.put(series, Double.valueOf(sample.group(3))), line + ": a series twice");
            }
        }
        assertEquals(parsed.helps.keySet(), parsed.types.keySet());
        return parsed;
    }
}
