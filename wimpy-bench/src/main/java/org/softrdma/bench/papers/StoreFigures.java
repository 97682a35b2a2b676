package org.softrdma.bench.papers;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.softrdma.bench.papers.LedgerJudge.RowsJudge;

/** Figures of Pilaf, HERD and FaRM, by rows of {@code softrdma compare} and cells of {@code softrdma perf floor}. Stateless. */
final class StoreFigures {
    /** Quotients that differ from 1 by less are the same. */
    static final double SAME = 0.05;

    private static final double PILAF_FILL = 0.75;
    private static final String COUNT = "counts/";
    private static final String GET_P50 = "values/getP50Micros";

    static final RowsJudge CONVERGE = bySize(
            rows -> value(gets(rows), "pilaf", "operationsPerSecond")
                    / value(gets(rows), "pilaf-vo", "operationsPerSecond"),
            "the results lack pilaf or pilaf-vo, mix C",
            "GETs per second, pilaf beside pilaf-vo: ",
            "%.2f at %d bytes",
            (found, ratios) ->
                    LedgerFinding.notJudged("PUTs, latency and the paper's other sizes are not part of it", found));

    private StoreFigures() {}

    /** Judges a number for each size, and how they are said. */
    @FunctionalInterface
    interface SizesJudge {
        LedgerFinding judge(String found, List<Double> numbers);
    }

    /**
     * A number for each size of value.
     *
     * @param number of the rows of a size, with the widest window
     * @param missing why nothing was found, if a size has none
     * @param intro before the numbers
     * @param each format of a number and its size
     * @param judge of all numbers, those of small values first
     */
    static RowsJudge bySize(
            ToDoubleFunction<Rows> number, String missing, String intro, String each, SizesJudge judge) {
        return rows -> {
            Rows widest = rows.where("window", rows.most("window"));
            List<Double> numbers = new ArrayList<>();
            List<String> found = new ArrayList<>();
            for (int size : rows.each("valueBytes")) {
                double next = number.applyAsDouble(widest.where("valueBytes", size));
                if (!Double.isFinite(next)) {
                    return LedgerFinding.notRun(missing);
                }
                numbers.add(next);
                found.add(String.format(Locale.ROOT, each, next, size));
            }
            return judge.judge(intro + String.join(", ", found), numbers);
        };
    }

    private static boolean isNear(double found, double expected, double part) {
        return Math.abs(found - expected) <= part * expected;
    }

    // ---- by rows of comparisons

    /** A row's count per operation; what is not there was not counted. */
    private static double count(Rows row, String counter) {
        return row.all().isEmpty()
                ? Double.NaN
                : row.all().getFirst().at("/" + COUNT + counter).asDouble();
    }

    /** Rows with GETs only of servers that sleep when there is nothing to do. */
    private static Rows gets(Rows rows) {
        return ofMix(rows, "C");
    }

    private static Rows ofMix(Rows rows, String mix) {
        return rows.where("mix", mix)
                .where(row -> !List.of("SPINNING", "WORKER_THREADS")
                        .contains(row.path("server").asText()));
    }

    private static double value(Rows rows, String system, String name) {
        return rows.where("system", system).first("values/" + name);
    }

    static LedgerFinding readsOfPilaf(Rows rows) {
        Rows row = rows.where("system", "pilaf").where("mix", "C").where("conditions/skew", 0);
        int pairs = rows.most("conditions/pairs");
        double fill = (double) pairs / (1L << entries(pairs));
        if (row.all().isEmpty() || Math.abs(fill - PILAF_FILL) > 0.01) {
            return LedgerFinding.notRun(
                    "it takes pilaf, --mixes C, --skew 0, and --pairs 24576 or another table that is 75 % full");
        }
        double found = count(row, "READS");
        // READs per GET at 75 %: 3-way cuckoo hashing by the shortest path, two READs for each probe.
        return LedgerFinding.of(
                isNear(found, 3.09, 0.03),
                String.format(Locale.ROOT, "%.3f READs per GET at %.0f %%", found, 100 * fill));
    }

    private static int entries(int pairs) {
        return Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, Math.round(Math.ceil(pairs / PILAF_FILL)) - 1));
    }

    static LedgerFinding orderOfCosts(Rows rows) {
        int size = rows.most("valueBytes");
        Rows cell = ofMix(rows.where("valueBytes", size).where("window", rows.most("window")), "A");
        double pilaf = value(cell, "pilaf", "serverCpuMicros");
        double messages = value(cell, "pilaf-vo", "serverCpuMicros");
        double tcp = cell.all().stream()
                .filter(row ->
                        List.of("MEMCACHED", "REDIS").contains(row.path("kind").asText()))
                .mapToDouble(row -> Rows.number(row, "values/serverCpuMicros"))
                .min()
                .orElse(Double.NaN);
        return Double.isFinite(pilaf + messages + tcp)
                ? LedgerFinding.notJudged(
                        "figure 10a has 90 % GETs, which were not run, and both are of throughput",
                        String.format(
                                Locale.ROOT,
                                "mix A, %d bytes: %.2f, %.2f and %.2f \u00b5s of server CPU per operation, the last is"
                                        + " the cheapest by TCP",
                                size,
                                pilaf,
                                messages,
                                tcp))
                : LedgerFinding.notRun("the results lack pilaf, pilaf-vo, memcached or redis, mix A");
    }

    static LedgerFinding latency(Rows rows) {
        String trips = COUNT + "ROUND_TRIPS";
        int window = rows.least("window");
        List<JsonNode> cell = gets(
                        rows.where("valueBytes", rows.most("valueBytes")).where("window", window))
                .where("kind", "DESIGN")
                .all()
                .stream()
                .filter(row -> Rows.number(row, trips) > 0 && Double.isFinite(Rows.number(row, GET_P50)))
                .sorted(Comparator.comparingDouble(row -> Rows.number(row, trips)))
                .toList();
        if (cell.size() < 2 || window > 1) {
            return LedgerFinding.notRun(
                    "it takes two designs that count round trips, mix C, with one operation outstanding");
        }
        boolean ordered = true;
        double last = 0;
        List<String> found = new ArrayList<>();
        for (JsonNode row : cell) {
            double micros = Rows.number(row, GET_P50);
            ordered &= micros >= last * (1 - SAME);
            last = micros;
            found.add(String.format(
                    Locale.ROOT,
                    "%s %.2f trips, %.1f \u00b5s",
                    row.path("system").asText(),
                    Rows.number(row, trips),
                    micros));
        }
        return LedgerFinding.of(ordered, String.join("; ", found));
    }

    static RowsJudge ofFarm(RowsJudge judge) {
        return rows -> {
            Rows row = rows.where("system", "farm")
                    .where("mix", "C")
                    .where("valueBytes", 32)
                    .where("conditions/skew", 0);
            return row.all().isEmpty()
                    ? LedgerFinding.notRun(
                            "it takes results of compare --fabric with farm, --sizes 32, --mixes C and --skew 0")
                    : judge.judge(row);
        };
    }

    static LedgerFinding readsOfFarm(Rows row) {
        double found = count(row, "READS");
        return LedgerFinding.of(isNear(found, 1.064, 0.02), String.format(Locale.ROOT, "%.3f READs per GET", found));
    }

    static LedgerFinding memoryOfFarm(Rows row) {
        return LedgerFinding.notJudged(
                "each object has a checksum in the safe form, which the paper's have not",
                String.format(
                        Locale.ROOT,
                        "%.2f",
                        row.first("memory/dataBytesPerPair") / row.first("memory/usedBytesPerPair")));
    }

    // ---- by results of perf floor

    /**
     * Of the smallest size and the widest window, as HERD's paper tunes its windows: a READ follows the WRITEs of each window, so
     * that with one outstanding half of the work is a READ's.
     */
    static RowsJudge writesBesideReads(String figure, Predicate<Double> right, String what) {
        return rows -> {
            int size = rows.least("sizeBytes");
            int window = rows.most("window");
            Rows cell = rows.where("sizeBytes", size).where("window", window);
            double ratio = cell.where("operation", "write").first("soft/" + figure)
                    / cell.where("operation", "read").first("soft/" + figure);
            return Double.isFinite(ratio)
                    ? LedgerFinding.of(
                            right.test(ratio),
                            String.format(
                                    Locale.ROOT, "%s, %d bytes: %.2f with %d outstanding", what, size, ratio, window))
                    : LedgerFinding.notRun("the results of perf floor lack WRITEs or READs");
        };
    }
}
