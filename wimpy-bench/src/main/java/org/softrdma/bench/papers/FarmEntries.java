package org.softrdma.bench.papers;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.softrdma.bench.compare.CompareResults;
import org.softrdma.bench.compare.CompareRow;
import org.softrdma.bench.papers.LedgerEntry.Finding;
import org.softrdma.stores.StoreCounter;

/** Figures of FaRM (Dragojevic et al., NSDI 2014), from results of {@code softrdma compare --fabric}. Stateless. */
final class FarmEntries {
    private static final String NEEDS =
            "it takes results of compare --fabric with farm, --sizes 32, --mixes C and --skew 0";
    private static final int INLINE = 32;
    /** READs per lookup with a neighbourhood of 6, at 90 %. */
    private static final double READS = 1.064;

    private static final double EXACT = 0.02;
    static final List<LedgerEntry> ALL = List.of(
            new LedgerEntry(
                    "F-Fig10",
                    "READs per lookup",
                    "1.064 with a neighbourhood of 6 at 90 % (1.04 with 8)",
                    LedgerSources.Source.COUNTS,
                    FarmEntries::reads),
            new LedgerEntry(
                    "F-Fig11",
                    "how much of the memory is pairs",
                    "0.62 with a neighbourhood of 6, 16 and 32 bytes",
                    LedgerSources.Source.COUNTS,
                    FarmEntries::utilisation));

    private FarmEntries() {}

    private static Optional<CompareRow> row(LedgerSources sources) {
        return sources.counts()
                .filter(results -> results.conditions().skew() == 0)
                .map(CompareResults::rows)
                .flatMap(rows -> rows.stream()
                        .filter(row ->
                                row.system().equals("farm") && row.mix().equals("C") && row.valueBytes() == INLINE)
                        .findFirst());
    }

    private static Finding reads(LedgerSources sources) {
        Optional<CompareRow> row = row(sources);
        if (row.isEmpty()) {
            return Finding.notRun(NEEDS);
        }
        double found = row.get().count(StoreCounter.READS);
        return Finding.of(
                Math.abs(found - READS) <= EXACT * READS, String.format(Locale.ROOT, "%.3f READs per GET", found));
    }

    private static Finding utilisation(LedgerSources sources) {
        Optional<CompareRow> row = row(sources);
        if (row.isEmpty()) {
            return Finding.notRun(NEEDS);
        }
        double found = row.get().memory(CompareRow.DATA_PER_PAIR) / row.get().memory(CompareRow.USED_PER_PAIR);
        return Finding.notJudged(
                "each object has a checksum in the safe form, which the paper's have not",
                String.format(Locale.ROOT, "%.2f", found));
    }
}
