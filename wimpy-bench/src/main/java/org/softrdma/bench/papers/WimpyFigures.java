package org.softrdma.bench.papers;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.softrdma.bench.papers.LedgerJudge.RowsJudge;
import org.softrdma.bench.workload.TcpCommands;

/**
 * Figures of the Wimpy paper, by rows of {@code softrdma wimpy}. Its "stock" memcached answers classic gets, so these are
 * compared. Stateless.
 */
final class WimpyFigures {
    private static final double SAME = StoreFigures.SAME;
    /** Percent. */
    private static final int FULL = 100;
    /** Percent. */
    private static final double LARGE_PART = 25;

    private static final String GETS = "getsPerSecond";
    private static final String CPU = "serverCpuMicrosPerGet";
    private static final String LINK = "linkMegabits";
    private static final String SPEED = "throttlePercent";
    private static final String SIZE = "valueBytes";
    private static final String NO_STOCK = "the results have no classic gets of memcached for each size";
    private static final String READ_BESIDE_STOCK = "READ beside classic get: ";
    private static final Pattern COPYING =
            Pattern.compile("cpy|_copy|copy_(to|from|user)|^copy(in|out)|memmove|rep_movs");

    static final RowsJudge KERNEL_GROWS = flatOut(StoreFigures.bySize(
            rows -> {
                Rows stock = stock(rows, FULL, 1);
                return FULL * stock.first("serverSystemMicrosPerGet") / stock.first(CPU);
            },
            NO_STOCK,
            "the kernel's part is ",
            "%.0f %% of %d bytes",
            (found, parts) -> LedgerFinding.of(parts.size() > 1 && grows(parts, -FULL * SAME), found)));

    static final RowsJudge COPYING_GROWS = flatOut(StoreFigures.bySize(
            rows -> copying(stock(rows, FULL, 1)),
            "the results have no profile of memcached: run ./softrdma wimpy --full, with perf installed, as root",
            "copying takes ",
            "%.0f %% at %d bytes",
            (found, parts) -> LedgerFinding.of(
                    parts.size() > 1 && parts.getLast() >= LARGE_PART && grows(parts, Double.MIN_VALUE), found)));

    static final RowsJudge COSTS_LESS = flatOut(StoreFigures.bySize(
            rows -> quotient(read(rows, FULL), stock(rows, FULL, 1), CPU),
            NO_STOCK,
            READ_BESIDE_STOCK,
            "%.2f at %d bytes",
            (found, ratios) -> LedgerFinding.of(ratios.stream().allMatch(ratio -> ratio < 1), found)));

    static final RowsJudge ONE_CORE_IS_FOUR = flatOut(StoreFigures.bySize(
            rows -> quotient(read(rows, FULL), stock(rows, FULL, 4), GETS),
            "the results have no server on four cores; it takes a machine of five",
            "READ on one core beside classic get on four: ",
            "%.2f at %d bytes",
            (found, ratios) -> LedgerFinding.of(ratios.stream().allMatch(ratio -> ratio >= 1 - SAME), found)));

    private WimpyFigures() {}

    /** True if each number exceeds the one before by at least so much. */
    private static boolean grows(List<Double> numbers, double least) {
        for (int i = 1; i < numbers.size(); i++) {
            if (numbers.get(i) - numbers.get(i - 1) < least) {
                return false;
            }
        }
        return true;
    }

    // ---- rows

    /** Judges rows of loopback without rest, unless rounds of those that are compared lie too far apart. */
    static RowsJudge flatOut(RowsJudge judge) {
        return all -> {
            Rows rows = all.where("loop", "closed").where(LINK, 0);
            return rows.all().isEmpty()
                    ? LedgerFinding.notRun(LedgerSources.Source.WIMPY.missing())
                    : judge.judge(rows).unless(noisy(rows));
        };
    }

    private static List<String> noisy(Rows rows) {
        return rows.all().stream()
                .filter(row ->
                        (isStock(row) || isRead(row)) && !row.path("tooNoisy").isEmpty())
                .map(row -> "Rounds lie too far apart: " + row.path("protocol").asText() + ", "
                        + row.path(SIZE).asInt() + " bytes, "
                        + row.path("window").asInt() + " outstanding.")
                .toList();
    }

    private static boolean isStock(JsonNode row) {
        return row.path("system").asText().startsWith("memcached")
                && row.path("protocol").asText().equals(TcpCommands.CLASSIC.getLabel());
    }

    private static boolean isRead(JsonNode row) {
        return row.path("protocol").asText().equals("READ arena");
    }

    private static Rows stock(Rows rows, int percent, int cores) {
        return of(rows, WimpyFigures::isStock, percent, cores);
    }

    private static Rows read(Rows rows, int percent) {
        return of(rows, WimpyFigures::isRead, percent, 1);
    }

    private static Rows of(Rows rows, Predicate<JsonNode> system, int percent, int cores) {
        return rows.where(system).where(SPEED, percent).where("serverCores", cores);
    }

    private static double quotient(Rows above, Rows below, String name) {
        return above.first(name) / below.first(name);
    }

    /** Percent of the CPU in functions that copy, of the kernel and of the C library; NaN without a profile. */
    private static double copying(Rows rows) {
        return rows.all().stream()
                .limit(1)
                .map(row -> row.path("serverCpuPercentByFunction"))
                .filter(functions -> !functions.isEmpty())
                .mapToDouble(functions -> functions.properties().stream()
                        .filter(function -> COPYING.matcher(function.getKey()).find())
                        .mapToDouble(function -> function.getValue().asDouble())
                        .sum())
                .findFirst()
                .orElse(Double.NaN);
    }

    // ---- figures of two numbers for a size, or of rows over a link

    static LedgerFinding winsMoreWhenSlow(Rows rows) {
        int slow = rows.least(SPEED);
        if (slow == FULL) {
            return LedgerFinding.notRun("the results have one speed only: run ./softrdma wimpy --full");
        }
        Rows widest = rows.where("window", rows.most("window"));
        List<String> found = new ArrayList<>();
        boolean holds = true;
        for (int size : rows.each(SIZE)) {
            Rows cell = widest.where(SIZE, size);
            double fast = quotient(read(cell, FULL), stock(cell, FULL, 1), GETS);
            double slowly = quotient(read(cell, slow), stock(cell, slow, 1), GETS);
            if (!Double.isFinite(fast) || !Double.isFinite(slowly)) {
                return LedgerFinding.notRun("the results lack classic gets of memcached at both speeds");
            }
            holds &= fast >= 1 - SAME && slowly >= fast * (1 - SAME);
            found.add(String.format(
                    Locale.ROOT, "%.2f at full speed and %.2f at %d %% for %d bytes", fast, slowly, slow, size));
        }
        return LedgerFinding.of(holds, READ_BESIDE_STOCK + String.join(", ", found));
    }

    /** Of a size that fills the slow link at every speed; smaller values may be limited by the server there too. */
    static LedgerFinding linkHidesTheClock(Rows rows) {
        Rows stock = rows.where(row -> row.path(LINK).asInt() > 0 && isStock(row));
        if (stock.all().isEmpty()) {
            return LedgerFinding.notRun(
                    "the results have no memcached over a link: run ./softrdma wimpy --full as root, with"
                            + " iproute2");
        }
        int size = stock.most(SIZE);
        double slowLink = slowdown(stock.where(SIZE, size).where(LINK, 1000));
        double fastLink = slowdown(stock.where(SIZE, size).where(LINK, 10_000));
        if (!Double.isFinite(slowLink) || !Double.isFinite(fastLink)) {
            return LedgerFinding.notRun("the results lack two speeds over links of 1 and of 10 Gbit/s");
        }
        return LedgerFinding.of(
                        slowLink >= 1 - 2 * SAME && fastLink < slowLink - SAME,
                        String.format(
                                Locale.ROOT,
                                "GETs per second of the slowest server beside the fastest, %d bytes: %.2f at 1 Gbit/s,"
                                        + " %.2f at 10 Gbit/s",
                                size,
                                slowLink,
                                fastLink))
                .unless(noisy(stock));
    }

    /** GETs per second at the lowest speed beside those at the highest; NaN if there is one speed only. */
    private static double slowdown(Rows rows) {
        List<JsonNode> bySpeed = rows.all().stream()
                .sorted(Comparator.comparingInt(row -> row.path(SPEED).asInt()))
                .toList();
        return bySpeed.size() < 2
                ? Double.NaN
                : Rows.number(bySpeed.getFirst(), GETS) / Rows.number(bySpeed.getLast(), GETS);
    }
}
