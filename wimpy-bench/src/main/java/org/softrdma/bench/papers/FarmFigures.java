package org.softrdma.bench.papers;

import java.util.Locale;

/** Figures of FaRM's section 6, by rows of {@code softrdma farm tao}. Stateless. */
final class FarmFigures {
    /** What the paper has, and what it may differ by. */
    private static final double READS_OF_TAO = 1.02;

    private static final double TOLERANCE = 0.02;
    private static final int UPDATES = 5;
    private static final String REPLICAS = "replicas";
    private static final String UPDATE_PERCENT = "updatePercent";
    private static final String OTHER_DATA =
            "the paper updates a hash table, with logs on SSDs; these are changes of a graph in memory, on cores that"
                    + " all machines share";

    private FarmFigures() {}

    /** Without updates nothing else READs, so the devices say it. */
    static LedgerFinding readsOfTao(Rows rows) {
        double found = rows.where(UPDATE_PERCENT, 0).first("deviceReadsPerRead");
        return Double.isFinite(found)
                ? LedgerFinding.of(
                        Math.abs(found - READS_OF_TAO) <= TOLERANCE,
                        String.format(Locale.ROOT, "%.3f READs by the devices", found))
                : LedgerFinding.notRun("it takes results of farm tao --local with --updates 0");
    }

    static LedgerFinding updatesWithReplicas(Rows rows) {
        Rows updates = rows.where(UPDATE_PERCENT, UPDATES);
        int most = updates.most(REPLICAS);
        double ratio = updates.where(REPLICAS, most).first("operationsPerSecond")
                / updates.where(REPLICAS, 1).first("operationsPerSecond");
        return most > 1 && Double.isFinite(ratio)
                ? LedgerFinding.notJudged(
                        OTHER_DATA,
                        String.format(
                                Locale.ROOT,
                                "with %d replicas %.2f times the operations of one, 5 %% updates",
                                most,
                                ratio))
                : LedgerFinding.notRun("it takes results of farm tao --local without --replicas, with --updates 5");
    }

    static LedgerFinding readsBesideUpdates(Rows rows) {
        int most = rows.most(UPDATE_PERCENT);
        Rows replicated = rows.where(REPLICAS, rows.most(REPLICAS));
        String latency = "byOperation/obj_get/p50Micros";
        double ratio = replicated.where(UPDATE_PERCENT, most).first(latency)
                / replicated.where(UPDATE_PERCENT, 0).first(latency);
        return most > 0 && Double.isFinite(ratio)
                ? LedgerFinding.notJudged(
                        OTHER_DATA,
                        String.format(
                                Locale.ROOT,
                                "with %d %% updates an obj_get takes %.2f times as long as with none",
                                most,
                                ratio))
                : LedgerFinding.notRun("it takes results of farm tao with --updates 0 and another");
    }
}
