package org.softrdma.bench.compare;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.machine.MachineDescription;

/**
 * Everything a comparison has found, as results.json has it. Immutable.
 *
 * @param schema version of the layout
 * @param study {@link #STUDY}
 * @param machine on what; null on the fabric, where no machine counts
 * @param startedAt when, for people
 * @param scenario the command line that repeats it
 * @param conditions what was the same for all systems
 * @param rows what was found, in the order in which it was measured
 * @param workers what was found beside other work on the servers' core; empty if that was not asked for
 * @param nodes what was counted of a store of several nodes; empty if that was not asked for
 * @param hotKeys how often Pilaf's GETs race with PUTs of a few keys; empty if that was not counted
 * @param skipped what was left out, with the reason
 * @param failed what has broken, with what it said
 * @param promises what the designs promise
 */
public record CompareResults(
        int schema,
        String study,
        @Nullable MachineDescription machine,
        String startedAt,
        String scenario,
        Conditions conditions,
        List<CompareRow> rows,
        List<WorkersRow> workers,
        List<NodesRow> nodes,
        List<HotKeysRow> hotKeys,
        Map<String, String> skipped,
        Map<String, String> failed,
        List<DesignPromises> promises) {
    /** The name in results.json. */
    public static final String STUDY = "compare";

    /** The layout that this program writes and reads. */
    public static final int SCHEMA = 4;

    /** Copies the collections. */
    public CompareResults {
        rows = List.copyOf(rows);
        workers = List.copyOf(workers);
        nodes = List.copyOf(nodes);
        hotKeys = List.copyOf(hotKeys);
        skipped = new LinkedHashMap<>(skipped);
        failed = new LinkedHashMap<>(failed);
        promises = List.copyOf(promises);
    }

    /**
     * What was the same for all systems.
     *
     * @param provider of the verbs
     * @param network {@code loopback}, or {@code fabric}, on which nothing has a duration
     * @param protocol which form of the designs
     * @param connections of the load
     * @param pairs how many were stored
     * @param keyBytes of every key
     * @param skew of Zipf's law by which keys were chosen; 0 if all alike
     * @param rounds of each row
     * @param roundMillis length of a round; 0 on the fabric
     * @param operations of each row on the fabric; 0 elsewhere
     * @param seed of the fabric; 0 elsewhere
     * @param ownCores true if the servers had a core of their own
     */
    public record Conditions(
            String provider,
            String network,
            String protocol,
            int connections,
            int pairs,
            int keyBytes,
            double skew,
            int rounds,
            int roundMillis,
            long operations,
            long seed,
            boolean ownCores) {
        /** True if there are counts only. */
        public boolean onFabric() {
            return network.equals(FABRIC);
        }

        /** The network of which there are counts only. */
        static final String FABRIC = "fabric";
    }

    /**
     * What a design promises; a test of its module stands behind each.
     *
     * @param design its name
     * @param paper for people
     * @param linearizable operations on one key take effect one after the other
     * @param provesMiss a GET that finds nothing proves that there was nothing
     * @param getsWithoutServer GETs go on while the server's application stands still
     * @param putsWithoutServer so do PUTs
     * @param survivesClientDeath a client that dies holds up nobody
     * @param lossy pairs may vanish
     */
    public record DesignPromises(
            String design,
            String paper,
            boolean linearizable,
            boolean provesMiss,
            boolean getsWithoutServer,
            boolean putsWithoutServer,
            boolean survivesClientDeath,
            boolean lossy) {}

    /** Operations that went wrong, and systems that broke. */
    public long errors() {
        return rows.stream().mapToLong(CompareRow::failures).sum()
                + workers.stream().mapToLong(WorkersRow::failures).sum()
                + nodes.stream().mapToLong(NodesRow::failures).sum()
                + hotKeys.stream().mapToLong(HotKeysRow::failures).sum()
                + failed.size();
    }

    /** One row of each cell, in the order in which they were measured. */
    public List<CompareRow> cells() {
        return rows.stream()
                .filter(row -> rows.stream().filter(row::sameCell).findFirst().orElseThrow() == row)
                .toList();
    }

    /** The rows that differ from this one in the system only, itself included. */
    public List<CompareRow> cell(CompareRow row) {
        return rows.stream().filter(row::sameCell).toList();
    }

    /** The rows of one load, of servers that sleep when there is nothing to do. */
    public List<CompareRow> cell(int valueBytes, int window, String mix) {
        return rows.stream()
                .filter(row -> row.valueBytes() == valueBytes && row.window() == window)
                .filter(row -> row.mix().equals(mix) && !row.server().isApart())
                .toList();
    }

    /** The row of a system in a cell. */
    public static Optional<CompareRow> of(List<CompareRow> cell, String system) {
        return cell.stream().filter(row -> row.system().equals(system)).findFirst();
    }

    /** Operations per second of a design beside CPU workers; NaN if that was not measured. */
    public double besideWorkers(String system, boolean raised, int count) {
        return workers.stream()
                .filter(row -> row.system().equals(system) && row.raised() == raised && row.workers() == count)
                .mapToDouble(WorkersRow::perSecond)
                .findFirst()
                .orElse(Double.NaN);
    }

    /** The same as a part of the rate of the same server without workers. */
    public double partBesideWorkers(String system, boolean raised, int count) {
        return besideWorkers(system, raised, count) / besideWorkers(system, raised, 0);
    }

    /** How many CPU workers there were, from none; empty if nothing was measured beside any. */
    public List<Integer> workerCounts() {
        return workers.stream().map(WorkersRow::workers).distinct().sorted().toList();
    }

    /** The form of a server of another project that cost it least in a cell. */
    public static Optional<CompareRow> cheapest(List<CompareRow> cell, SystemKind kind) {
        return cell.stream()
                .filter(row -> row.kind() == kind && Double.isFinite(row.value(CompareRow.SERVER_CPU)))
                .min(Comparator.comparingDouble(row -> row.value(CompareRow.SERVER_CPU)));
    }

    /** Why a system has no row; empty if nobody knows of it. */
    public Optional<String> reason(String system) {
        return skipped.entrySet().stream()
                .filter(entry -> entry.getKey().equals(system) || entry.getKey().startsWith(system + ","))
                .map(Map.Entry::getValue)
                .findFirst();
    }
}
