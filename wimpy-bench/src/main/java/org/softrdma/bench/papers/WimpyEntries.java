package org.softrdma.bench.papers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.softrdma.bench.load.GetCommand;
import org.softrdma.bench.papers.LedgerEntry.Finding;

/**
 * Figures of the Wimpy paper (Stuedi, Trivedi, Metzler, USENIX ATC 2012), from results of {@code softrdma wimpy}. Its
 * "stock" memcached answers classic gets, so these are compared. Stateless.
 */
final class WimpyEntries {
    private static final String NO_RESULTS = "there is no results.json of wimpy: run ./softrdma wimpy --full";
    private static final int FULL = 100;
    private static final double SAME = 0.05;
    /** Percent. */
    private static final double LARGE_PART = 25;

    private static final Pattern COPYING =
            Pattern.compile("cpy|_copy|copy_(to|from|user)|^copy(in|out)|memmove|rep_movs");
    /** Mbit/s. */
    private static final int SLOW_LINK = 1000;

    private static final int FAST_LINK = 10_000;

    static final List<LedgerEntry> ALL = List.of(
            new LedgerEntry(
                    "W-Fig1",
                    "GETs per second by clock, at 1 and 10 Gbit/s",
                    "flat at 1 Gbit/s, falling with the clock at 10 Gbit/s",
                    LedgerSources.Source.WIMPY,
                    WimpyEntries::linkHidesTheClock),
            new LedgerEntry(
                    "W-Fig2",
                    "CPU per GET by what it does",
                    "the part of the kernel grows with the value",
                    LedgerSources.Source.WIMPY,
                    WimpyEntries::kernelGrows),
            new LedgerEntry(
                    "W-Fig3",
                    "CPU per GET by function",
                    "copying is a large part of the longest values' CPU (here: a quarter), and grows with the value",
                    LedgerSources.Source.WIMPY,
                    WimpyEntries::copyingGrows),
            new LedgerEntry(
                    "W-Fig7",
                    "GETs per second, READ beside stock, two clocks",
                    "READ is not slower, and wins more on the slow clock",
                    LedgerSources.Source.WIMPY,
                    WimpyEntries::winsMoreWhenSlow),
            new LedgerEntry(
                    "W-Fig8a",
                    "CPU per GET, READ beside stock",
                    "less for each size",
                    LedgerSources.Source.WIMPY,
                    WimpyEntries::costsLess),
            new LedgerEntry(
                    "W-Fig8b",
                    "GETs per second by cores",
                    "READ on one core is as fast as stock on four",
                    LedgerSources.Source.WIMPY,
                    WimpyEntries::oneCoreIsFour));

    private WimpyEntries() {}

    private static Finding withRows(LedgerSources sources, Function<List<JsonNode>, Finding> judge) {
        List<JsonNode> rows = sources.wimpy().stream()
                .filter(row -> row.path("loop").asText().equals("closed") && link(row) == 0)
                .toList();
        return rows.isEmpty() ? Finding.notRun(NO_RESULTS) : judge.apply(rows).unless(noisy(rows));
    }

    /** Those of the rows that are compared, whose rounds lie too far apart for a number. */
    private static List<String> noisy(List<JsonNode> rows) {
        return rows.stream()
                .filter(row ->
                        (isStock(row) || isRead(row)) && !row.path("tooNoisy").isEmpty())
                .map(row -> "Rounds lie too far apart: " + row.path("protocol").asText() + ", "
                        + row.path("valueBytes").asInt() + " bytes, "
                        + row.path("window").asInt() + " outstanding.")
                .toList();
    }

    /** Rate of the link that a row went over in Mbit/s; 0 for loopback. */
    private static int link(JsonNode row) {
        return row.path("linkMegabits").asInt();
    }

    private static boolean isStock(JsonNode row) {
        return row.path("system").asText().startsWith("memcached")
                && row.path("protocol").asText().equals(GetCommand.CLASSIC.label());
    }

    private static boolean isRead(JsonNode row) {
        return row.path("protocol").asText().equals("READ arena");
    }

    private static int widest(List<JsonNode> rows) {
        return rows.stream().mapToInt(row -> row.path("window").asInt()).max().orElse(0);
    }

    private static List<Integer> sizes(List<JsonNode> rows) {
        return rows.stream()
                .map(row -> row.path("valueBytes").asInt())
                .distinct()
                .sorted()
                .toList();
    }

    private static Optional<JsonNode> row(
            List<JsonNode> rows, Predicate<JsonNode> system, int size, int percent, int cores) {
        int window = widest(rows);
        return rows.stream()
                .filter(system)
                .filter(row -> row.path("valueBytes").asInt() == size
                        && row.path("window").asInt() == window
                        && row.path("throttlePercent").asInt() == percent
                        && row.path("serverCores").asInt() == cores)
                .findFirst();
    }

    private static double ratio(Optional<JsonNode> above, Optional<JsonNode> below, String name) {
        return above.isEmpty() || below.isEmpty()
                ? Double.NaN
                : above.get().path(name).asDouble(Double.NaN)
                        / below.get().path(name).asDouble(Double.NaN);
    }

    private static Finding kernelGrows(LedgerSources sources) {
        return withRows(sources, rows -> {
            List<String> found = new ArrayList<>();
            boolean grows = true;
            double last = 0;
            for (int size : sizes(rows)) {
                Optional<JsonNode> stock = row(rows, WimpyEntries::isStock, size, FULL, 1);
                double part = stock.map(
                                row -> row.path("serverSystemMicrosPerGet").asDouble(Double.NaN)
                                        / row.path("serverCpuMicrosPerGet").asDouble(Double.NaN))
                        .orElse(Double.NaN);
                if (!Double.isFinite(part)) {
                    return Finding.notRun("the results have no classic gets of memcached for each size");
                }
                grows &= part >= last - SAME;
                last = part;
                found.add(String.format(Locale.ROOT, "%.0f %% of %d bytes", FULL * part, size));
            }
            return Finding.of(grows && found.size() > 1, "the kernel's part is " + String.join(", ", found));
        });
    }

    private static Finding copyingGrows(LedgerSources sources) {
        return withRows(sources, rows -> {
            List<String> found = new ArrayList<>();
            List<Double> parts = new ArrayList<>();
            for (int size : sizes(rows)) {
                JsonNode functions = row(rows, WimpyEntries::isStock, size, FULL, 1)
                        .map(row -> row.path("serverCpuPercentByFunction"))
                        .orElse(MissingNode.getInstance());
                if (functions.isEmpty()) {
                    return Finding.notRun(
                            "the results have no profile of memcached: run ./softrdma wimpy --full, with perf"
                                    + " installed, as root");
                }
                double part = copying(functions);
                parts.add(part);
                found.add(String.format(Locale.ROOT, "%.0f %% at %d bytes", part, size));
            }
            boolean grows = parts.size() > 1 && parts.getLast() >= LARGE_PART;
            for (int i = 1; i < parts.size(); i++) {
                grows &= parts.get(i) > parts.get(i - 1);
            }
            return Finding.of(grows, "copying takes " + String.join(", ", found));
        });
    }

    /** Percent of the CPU in functions that copy, of the kernel and of the C library. */
    private static double copying(JsonNode functions) {
        double sum = 0;
        for (Map.Entry<String, JsonNode> function : functions.properties()) {
            if (COPYING.matcher(function.getKey()).find()) {
                sum += function.getValue().asDouble();
            }
        }
        return sum;
    }

    private static Finding costsLess(LedgerSources sources) {
        return withRows(sources, rows -> ratios(rows, "serverCpuMicrosPerGet", ratio -> ratio < 1));
    }

    private static Finding ratios(List<JsonNode> rows, String name, Predicate<Double> right) {
        List<String> found = new ArrayList<>();
        boolean holds = true;
        for (int size : sizes(rows)) {
            double ratio = ratio(
                    row(rows, WimpyEntries::isRead, size, FULL, 1),
                    row(rows, WimpyEntries::isStock, size, FULL, 1),
                    name);
            if (!Double.isFinite(ratio)) {
                return Finding.notRun("the results have no classic gets of memcached for each size");
            }
            holds &= right.test(ratio);
            found.add(String.format(Locale.ROOT, "%.2f at %d bytes", ratio, size));
        }
        return Finding.of(holds, "READ beside classic get: " + String.join(", ", found));
    }

    private static Finding winsMoreWhenSlow(LedgerSources sources) {
        return withRows(sources, rows -> {
            int slow = rows.stream()
                    .mapToInt(row -> row.path("throttlePercent").asInt())
                    .min()
                    .orElse(FULL);
            if (slow == FULL) {
                return Finding.notRun("the results have one speed only: run ./softrdma wimpy --full");
            }
            List<String> found = new ArrayList<>();
            boolean holds = true;
            for (int size : sizes(rows)) {
                double fast = ratio(
                        row(rows, WimpyEntries::isRead, size, FULL, 1),
                        row(rows, WimpyEntries::isStock, size, FULL, 1),
                        "getsPerSecond");
                double slowly = ratio(
                        row(rows, WimpyEntries::isRead, size, slow, 1),
                        row(rows, WimpyEntries::isStock, size, slow, 1),
                        "getsPerSecond");
                if (!Double.isFinite(fast) || !Double.isFinite(slowly)) {
                    return Finding.notRun("the results lack classic gets of memcached at both speeds");
                }
                holds &= fast >= 1 - SAME && slowly >= fast * (1 - SAME);
                found.add(String.format(
                        Locale.ROOT, "%.2f at full speed and %.2f at %d %% for %d bytes", fast, slowly, slow, size));
            }
            return Finding.of(holds, "READ beside classic get: " + String.join(", ", found));
        });
    }

    /** Of a size that fills the slow link at every speed; smaller values may be limited by the server there too. */
    private static Finding linkHidesTheClock(LedgerSources sources) {
        List<JsonNode> stock = sources.wimpy().stream()
                .filter(row -> link(row) > 0 && isStock(row))
                .toList();
        if (stock.isEmpty()) {
            return Finding.notRun(
                    sources.wimpy().isEmpty()
                            ? NO_RESULTS
                            : "the results have no memcached over a link: run ./softrdma wimpy --full as root, with"
                                    + " iproute2");
        }
        int size = sizes(stock).getLast();
        double slowLink = slowdown(stock, SLOW_LINK, size);
        double fastLink = slowdown(stock, FAST_LINK, size);
        if (!Double.isFinite(slowLink) || !Double.isFinite(fastLink)) {
            return Finding.notRun("the results lack two speeds over links of 1 and of 10 Gbit/s");
        }
        return Finding.of(
                        slowLink >= 1 - 2 * SAME && fastLink < slowLink - SAME,
                        String.format(
                                Locale.ROOT,
                                "GETs per second of the slowest server beside the fastest, %d bytes: %.2f at 1 Gbit/s, %.2f at"
                                        + " 10 Gbit/s",
                                size,
                                slowLink,
                                fastLink))
                .unless(noisy(stock));
    }

    /** GETs per second at the lowest speed beside those at the highest; NaN if there is one speed only. */
    private static double slowdown(List<JsonNode> rows, int megabits, int size) {
        List<JsonNode> bySpeed = rows.stream()
                .filter(row -> link(row) == megabits && row.path("valueBytes").asInt() == size)
                .sorted(Comparator.comparingInt(
                        row -> row.path("throttlePercent").asInt()))
                .toList();
        return bySpeed.size() < 2
                ? Double.NaN
                : bySpeed.getFirst().path("getsPerSecond").asDouble(Double.NaN)
                        / bySpeed.getLast().path("getsPerSecond").asDouble(Double.NaN);
    }

    private static Finding oneCoreIsFour(LedgerSources sources) {
        return withRows(sources, rows -> {
            int four = 4;
            List<String> found = new ArrayList<>();
            boolean holds = true;
            for (int size : sizes(rows)) {
                double ratio = ratio(
                        row(rows, WimpyEntries::isRead, size, FULL, 1),
                        row(rows, WimpyEntries::isStock, size, FULL, four),
                        "getsPerSecond");
                if (!Double.isFinite(ratio)) {
                    return Finding.notRun("the results have no server on four cores; it takes a machine of five");
                }
                holds &= ratio >= 1 - SAME;
                found.add(String.format(Locale.ROOT, "%.2f at %d bytes", ratio, size));
            }
            return Finding.of(holds, "READ on one core beside classic get on four: " + String.join(", ", found));
        });
    }
}
