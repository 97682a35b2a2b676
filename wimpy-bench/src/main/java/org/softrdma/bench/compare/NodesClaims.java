package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.softrdma.bench.compare.NodesRow.Block;
import org.softrdma.stores.StoreCounter;

/** What the Nessie paper says of several nodes, beside what was counted on the fabric, which judges none of it. Stateless. */
public final class NodesClaims {
    private static final double PERCENT = 100;
    private static final String GETS_ONLY = "C";
    private static final String HALF_PUTS = "A";

    private NodesClaims() {}

    /** All of them, for the page; none where nothing was counted on several nodes. */
    static List<Judgement> judge(CompareResults results) {
        return results.nodes().isEmpty() ? List.of() : List.of(locality(results), filter(results), cache(results));
    }

    /**
     * N-Fig9: the more of what a worker wants is nearby, the fewer entries come from other nodes: exactly so many fewer, as
     * the words of the index lie anywhere.
     */
    public static Judgement locality(CompareResults results) {
        String subject = "Nessie, figure 9";
        String said = "the more of what a worker wants is on its own node, the fewer entries come from others";
        List<NodesRow> rows = rows(results, Block.LOCALITY);
        if (rows.isEmpty()) {
            return notCounted(results, subject, said);
        }
        List<String> found = new ArrayList<>();
        for (List<NodesRow> nodes : byNodes(rows)) {
            NodesRow none = nodes.getFirst();
            NodesRow most = nodes.getLast();
            found.add(String.format(
                    Locale.ROOT,
                    "%d nodes: with %d %% nearby %.2f entries per GET are of other nodes, with none %.2f; READs of other"
                            + " nodes %.2f and %.2f, their bytes %.0f and %.0f",
                    most.nodes(),
                    most.localityPercent(),
                    most.farEntries(),
                    none.farEntries(),
                    most.count(NodesRow.FAR_READS),
                    none.count(NodesRow.FAR_READS),
                    most.count(NodesRow.FAR_READ_BYTES),
                    none.count(NodesRow.FAR_READ_BYTES)));
        }
        return counted(subject, said, found, "the load chooses what is near, and the paper's figure is of throughput");
    }

    /** N-Fig10: filter bits spare READs of entries that are of other keys. */
    public static Judgement filter(CompareResults results) {
        String subject = "Nessie, figure 10";
        String said = "filter bits spare READs of entries, and 7 of them spare as many as 11";
        List<NodesRow> rows = rows(results, Block.FILTER);
        if (rows.isEmpty()) {
            return notCounted(results, subject, said);
        }
        List<String> found = new ArrayList<>();
        for (List<NodesRow> nodes : byNodes(rows)) {
            found.add(nodes.getFirst().nodes() + " nodes: entries per GET "
                    + nodes.stream()
                            .map(row ->
                                    String.format(Locale.ROOT, "%.3f with %d bits", row.entries(), row.filterBits()))
                            .collect(Collectors.joining(", ")));
        }
        return counted(subject, said, found, "so few slots are in use that 4 bits would pass as well");
    }

    /** N-Fig11: a cache helps where some keys are popular, and not where these are written too. */
    public static Judgement cache(CompareResults results) {
        String subject = "Nessie, figure 11";
        String said =
                "a cache of 1 % of the pairs spares READs where some keys are popular, and more the more popular they"
                        + " are; with half PUTs more than half of that is lost";
        List<NodesRow> rows = rows(results, Block.CACHE);
        if (rows.isEmpty()) {
            return notCounted(results, subject, said);
        }
        List<String> found = new ArrayList<>();
        for (List<NodesRow> nodes : byNodes(rows)) {
            for (double skew :
                    nodes.stream().map(NodesRow::skew).distinct().sorted().toList()) {
                double gets = spared(nodes, skew, GETS_ONLY);
                double puts = spared(nodes, skew, HALF_PUTS);
                found.add(String.format(
                        Locale.ROOT,
                        "%d nodes, skew %.1f: it spares %.1f %% of the READs, with half PUTs %.1f %%, beside %.2f"
                                + " conflicts per operation",
                        nodes.getFirst().nodes(),
                        skew,
                        PERCENT * gets,
                        PERCENT * puts,
                        conflicts(nodes, skew, HALF_PUTS)));
            }
        }
        return counted(
                subject,
                said,
                found,
                "the paper's figure is of throughput beside NessieSD with 99.9 % GETs, which is not here");
    }

    /** The part of the READs that a cache spares; negative where there are more. */
    private static double spared(List<NodesRow> rows, double skew, String mix) {
        return 1 - count(rows, skew, mix, true, StoreCounter.READS) / count(rows, skew, mix, false, StoreCounter.READS);
    }

    private static double conflicts(List<NodesRow> rows, double skew, String mix) {
        return count(rows, skew, mix, true, StoreCounter.CONFLICTS);
    }

    private static double count(List<NodesRow> rows, double skew, String mix, boolean cached, StoreCounter counter) {
        return rows.stream()
                .filter(row -> row.cacheEntries() > 0 == cached
                        && row.skew() == skew
                        && row.mix().equals(mix))
                .mapToDouble(row -> row.count(counter))
                .findFirst()
                .orElse(Double.NaN);
    }

    private static List<NodesRow> rows(CompareResults results, Block block) {
        return results.nodes().stream().filter(row -> row.block() == block).toList();
    }

    /** The rows of each number of nodes, in the order in which they were counted. */
    private static List<List<NodesRow>> byNodes(List<NodesRow> rows) {
        return rows.stream()
                .map(NodesRow::nodes)
                .distinct()
                .sorted(Comparator.naturalOrder())
                .map(count -> rows.stream().filter(row -> row.nodes() == count).toList())
                .toList();
    }

    private static Judgement counted(String subject, String said, List<String> found, String because) {
        return Judgement.notJudged(subject, said, String.join("; ", found), because);
    }

    private static Judgement notCounted(CompareResults results, String subject, String said) {
        return Judgement.notMeasured(
                subject,
                said,
                results.failed().entrySet().stream()
                        .filter(failed -> failed.getKey().contains("nodes"))
                        .map(failed -> failed.getKey() + ": " + failed.getValue())
                        .findFirst()
                        .orElse("nothing was counted on several nodes: run ./softrdma compare --fabric with nessie"));
    }
}
