package org.softrdma.bench.papers;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.softrdma.bench.compare.CompareResults;
import org.softrdma.bench.compare.CompareRow;
import org.softrdma.bench.compare.HotKeysClaims;
import org.softrdma.bench.compare.SystemKind;
import org.softrdma.bench.floor.VerbsWay;
import org.softrdma.bench.papers.LedgerEntry.Finding;
import org.softrdma.stores.StoreCounter;

/** Figures of Pilaf (Mitchell, Geng, Li, USENIX ATC 2013), from results of {@code softrdma compare}. Stateless. */
final class PilafEntries {
    private static final double FILL = 0.75;
    /** READs per GET at 75 %: 3-way cuckoo hashing by the shortest path, two READs for each probe. */
    private static final double READS = 3.09;

    private static final double EXACT = 0.03;
    private static final double SAME = 0.05;

    static final List<LedgerEntry> ALL = List.of(
            VerbsFigures.entry(
                    "P-Fig1",
                    "latency of a READ, of a SEND and its answer, and of TCP",
                    "READ is fastest (the paper: half of SENDs' time), TCP slowest",
                    VerbsFigures::readIsFastest),
            VerbsFigures.entry(
                    "P-Fig2, P-Tab1",
                    "READs and SENDs per second, by size",
                    "READ is faster when small (the paper: 3.7 times), the same when large",
                    figures -> figures.fasterWhenSmall(VerbsWay.SEND)),
            new LedgerEntry(
                    "P-Fig6, P-Reads",
                    "probes and READs per GET by fill",
                    "3.09 READs at 75 %, which is 1.55 probes (the paper: 1.6)",
                    LedgerSources.Source.COUNTS,
                    PilafEntries::reads),
            new LedgerEntry(
                    "P-Fig7, P-Fig8",
                    "GETs by READ and by messages, by value size",
                    "they converge for larger values",
                    LedgerSources.Source.COMPARE,
                    PilafEntries::converge),
            LedgerEntry.counted(
                    "P-Fig9",
                    "retries by the number of hot keys",
                    "one over the number of keys",
                    HotKeysClaims::retries),
            new LedgerEntry(
                    "P-Fig10a, P-Fig10b",
                    "Pilaf, Pilaf-VO, memcached and redis, GETs and PUTs",
                    "Pilaf costs its server less than Pilaf-VO, and that less than TCP",
                    LedgerSources.Source.COMPARE,
                    PilafEntries::order),
            new LedgerEntry(
                    "P-Fig11",
                    "latency of GETs",
                    "fewer round trips are faster",
                    LedgerSources.Source.COMPARE,
                    PilafEntries::latency),
            new LedgerEntry(
                    "P-CRC",
                    "how long a checksum of 32 bits lasts",
                    "54 minutes at 1.326 million checksums per second",
                    LedgerSources.Source.NONE,
                    sources -> Finding.notJudged(
                            "that is arithmetic of the paper, which nothing measured here could contradict", "")));

    private PilafEntries() {}

    private static Finding reads(LedgerSources sources) {
        if (sources.counts().isEmpty()) {
            return Finding.notRun(LedgerEntry.NO_COUNTS);
        }
        CompareResults results = sources.counts().get();
        double fill = (double) results.conditions().pairs()
                / (1L << entries(results.conditions().pairs()));
        Optional<CompareRow> row = results.rows().stream()
                .filter(each -> each.system().equals("pilaf") && each.mix().equals("C"))
                .findFirst();
        if (row.isEmpty() || results.conditions().skew() != 0 || Math.abs(fill - FILL) > 0.01) {
            return Finding.notRun(
                    "it takes pilaf, --mixes C, --skew 0, and --pairs 24576 or another table that is 75 % full");
        }
        double found = row.get().count(StoreCounter.READS);
        return Finding.of(
                Math.abs(found - READS) <= EXACT * READS,
                String.format(Locale.ROOT, "%.3f READs per GET at %.0f %%", found, 100 * fill));
    }

    private static int entries(int pairs) {
        return Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, Math.round(Math.ceil(pairs / FILL)) - 1));
    }

    private static Finding converge(LedgerSources sources) {
        if (sources.compare().isEmpty()) {
            return Finding.notRun(LedgerEntry.NO_RESULTS);
        }
        CompareResults results = sources.compare().get();
        List<String> found = new ArrayList<>();
        for (int size : sizes(results)) {
            List<CompareRow> cell = results.cell(size, widest(results), "C");
            double ratio = value(cell, "pilaf", CompareRow.PER_SECOND) / value(cell, "pilaf-vo", CompareRow.PER_SECOND);
            if (!Double.isFinite(ratio)) {
                return Finding.notRun("the results lack pilaf or pilaf-vo, mix C");
            }
            found.add(String.format(Locale.ROOT, "%.2f at %d bytes", ratio, size));
        }
        return Finding.notJudged(
                "PUTs, latency and the paper's other sizes are not part of it",
                "GETs per second, pilaf beside pilaf-vo: " + String.join(", ", found));
    }

    private static Finding order(LedgerSources sources) {
        if (sources.compare().isEmpty()) {
            return Finding.notRun(LedgerEntry.NO_RESULTS);
        }
        CompareResults results = sources.compare().get();
        int size = sizes(results).getLast();
        List<CompareRow> cell = results.cell(size, widest(results), "A");
        double pilaf = value(cell, "pilaf", CompareRow.SERVER_CPU);
        double messages = value(cell, "pilaf-vo", CompareRow.SERVER_CPU);
        double tcp = cell.stream()
                .filter(row -> row.kind() == SystemKind.MEMCACHED || row.kind() == SystemKind.REDIS)
                .mapToDouble(row -> row.value(CompareRow.SERVER_CPU))
                .min()
                .orElse(Double.NaN);
        if (!Double.isFinite(pilaf + messages + tcp)) {
            return Finding.notRun("the results lack pilaf, pilaf-vo, memcached or redis, mix A");
        }
        return Finding.notJudged(
                "figure 10a has 90 % GETs, which were not run, and both are of throughput",
                String.format(
                        Locale.ROOT,
                        "mix A, %d bytes: %.2f, %.2f and %.2f \u00b5s of server CPU per operation, the last is the"
                                + " cheapest by TCP",
                        size,
                        pilaf,
                        messages,
                        tcp));
    }

    private static Finding latency(LedgerSources sources) {
        if (sources.compare().isEmpty()) {
            return Finding.notRun(LedgerEntry.NO_RESULTS);
        }
        CompareResults results = sources.compare().get();
        int window = results.rows().stream().mapToInt(CompareRow::window).min().orElse(0);
        List<CompareRow> cell = results.cell(sizes(results).getLast(), window, "C").stream()
                .filter(row -> row.kind() == SystemKind.DESIGN && row.count(StoreCounter.ROUND_TRIPS) > 0)
                .filter(row -> Double.isFinite(row.value(CompareRow.GET_P50)))
                .sorted(Comparator.comparingDouble(row -> row.count(StoreCounter.ROUND_TRIPS)))
                .toList();
        if (cell.size() < 2 || window > 1) {
            return Finding.notRun("it takes two designs that count round trips, mix C, with one operation outstanding");
        }
        boolean ordered = true;
        List<String> found = new ArrayList<>();
        for (int i = 0; i < cell.size(); i++) {
            CompareRow row = cell.get(i);
            ordered &=
                    i == 0 || row.value(CompareRow.GET_P50) >= cell.get(i - 1).value(CompareRow.GET_P50) * (1 - SAME);
            found.add(String.format(
                    Locale.ROOT,
                    "%s %.2f trips, %.1f \u00b5s",
                    row.system(),
                    row.count(StoreCounter.ROUND_TRIPS),
                    row.value(CompareRow.GET_P50)));
        }
        return Finding.of(ordered, String.join("; ", found));
    }

    static List<Integer> sizes(CompareResults results) {
        return results.rows().stream()
                .map(CompareRow::valueBytes)
                .distinct()
                .sorted()
                .toList();
    }

    static int widest(CompareResults results) {
        return results.rows().stream().mapToInt(CompareRow::window).max().orElse(0);
    }

    private static double value(List<CompareRow> cell, String system, String name) {
        return CompareResults.of(cell, system).map(row -> row.value(name)).orElse(Double.NaN);
    }
}
