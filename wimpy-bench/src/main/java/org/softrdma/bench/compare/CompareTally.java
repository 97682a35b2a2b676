package org.softrdma.bench.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.study.CpuShares;
import org.softrdma.bench.study.RoundMeter;
import org.softrdma.bench.workload.MixOutcome;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;

/** Adds up what the rounds of one system under one load have found. The thread of the study. */
public final class CompareTally {
    /**
     * Counts of {@link CompareRow} that no store counts itself: GETs of a store that may lose pairs, which found none.
     */
    public static final String MISSES = "MISSES";

    private static final double NS_PER_US = 1e3;
    /** Percentile of the latency that half of the operations do not exceed. */
    static final double MEDIAN = 50;

    /** That of the slow ones. */
    static final double TAIL = 99;

    private static final Map<String, String> ANSWERS =
            Map.of("responderSends", StoreCounter.SENDS.name(), "responderWrites", StoreCounter.WRITES.name());
    private static final List<StoreCounter> RETRIES = List.of(
            StoreCounter.ENTRY_RETRIES,
            StoreCounter.EXTENT_RETRIES,
            StoreCounter.LINE_RETRIES,
            StoreCounter.JOINT_RETRIES,
            StoreCounter.INCARNATION_RESTARTS,
            StoreCounter.CONFLICTS,
            StoreCounter.CONFIRMS,
            StoreCounter.HANDED_OVER,
            StoreCounter.TIMEOUTS,
            StoreCounter.DUPLICATES,
            StoreCounter.TORN_UNSEEN,
            StoreCounter.RECONNECTS);

    private final String system;
    private final SystemKind kind;
    private final CompareRow.Server server;
    private final int valueBytes;
    private final int window;
    private final String mix;
    private final boolean lossy;
    private final MedianOfRounds rounds = new MedianOfRounds();
    private final CpuShares shares = new CpuShares();
    private final Map<String, Long> counts = new TreeMap<>();
    private final Map<String, Long> answers = new TreeMap<>();
    private final Map<String, Long> responder = new TreeMap<>();
    private final Map<String, Long> retries = new TreeMap<>();
    private final Map<String, Long> errors = new TreeMap<>();
    private final Map<String, Double> memory = new LinkedHashMap<>();
    private long operations;

    /**
     * Nothing yet.
     *
     * @param system its name
     * @param kind what it is
     * @param server how its server waits
     * @param load what it is asked for
     * @param lossy true if it may lose pairs
     */
    public CompareTally(String system, SystemKind kind, CompareRow.Server server, Load load, boolean lossy) {
        this.system = system;
        this.kind = kind;
        this.server = server;
        this.lossy = lossy;
        valueBytes = load.valueBytes();
        window = load.window();
        mix = load.mix();
    }

    /**
     * What a system is asked for.
     *
     * @param valueBytes of every value
     * @param window operations outstanding on each connection
     * @param mix letter of YCSB's mix
     */
    public record Load(int valueBytes, int window, String mix) {}

    /**
     * Counts of both sides at one moment.
     *
     * @param clients what the clients count
     * @param retries what they count of retries by other names
     * @param device counts of the clients' device
     * @param responder counts of the server's device
     */
    public record Counts(
            StoreCounters clients, Map<String, Long> retries, Map<String, Long> device, Map<String, Long> responder) {}

    /** Adds what a round did. */
    public void add(MixOutcome outcome) {
        operations += outcome.operations();
        outcome.errors().forEach((fault, count) -> {
            boolean counted = lossy && fault == MixOutcome.Fault.MISSING;
            (counted ? counts : errors).merge(counted ? MISSES : fault.name(), count, Long::sum);
        });
    }

    /** Adds what was counted in a round. */
    public void add(Counts before, Counts after) {
        for (StoreCounter counter : StoreCounter.values()) {
            long delta = after.clients().get(counter) - before.clients().get(counter);
            if (delta != 0) {
                counts.merge(counter.name(), delta, Long::sum);
                if (RETRIES.contains(counter)) {
                    retries.merge(words(counter), delta, Long::sum);
                }
            }
        }
        addDeltas(before.retries(), after.retries(), retries);
        Map<String, Long> device = new TreeMap<>();
        addDeltas(before.device(), after.device(), device);
        if (!after.device().isEmpty()) {
            ANSWERS.forEach((counter, name) -> answers.merge(name, device.getOrDefault(counter, 0L), Long::sum));
        }
        addDeltas(before.responder(), after.responder(), responder);
    }

    private static void addDeltas(Map<String, Long> before, Map<String, Long> after, Map<String, Long> sums) {
        after.forEach((name, count) -> {
            long delta = count - before.getOrDefault(name, 0L);
            if (delta != 0) {
                sums.merge(name, delta, Long::sum);
            }
        });
    }

    private static String words(StoreCounter counter) {
        return counter.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Adds what a round took. */
    public void add(MixOutcome outcome, RoundMeter.Reading reading) {
        double done = outcome.operations() == 0 ? Double.NaN : outcome.operations();
        reading.server().ifPresent(use -> shares.add(use, outcome.operations()));
        addValue(CompareRow.PER_SECOND, outcome.perSecond());
        addValue(CompareRow.SERVER_CPU, reading.serverMicros(done));
        addValue(CompareRow.SERVER_COMPILER, reading.compilerMicros(done));
        addValue(CompareRow.SERVER_CORE, reading.coreMicros(done));
        addValue(CompareRow.CLIENT_CPU, reading.clientMicros(done));
        addValue(CompareRow.GET_P50, micros(outcome.getLatencies(), MEDIAN));
        addValue(CompareRow.GET_P99, micros(outcome.getLatencies(), TAIL));
        addValue(CompareRow.PUT_P50, micros(outcome.putLatencies(), MEDIAN));
        addValue(CompareRow.PUT_P99, micros(outcome.putLatencies(), TAIL));
        addValue(CompareRow.SERVER_WAITED, reading.serverWaitedPercent(outcome.elapsedNs()));
        addValue(CompareRow.CLIENT_WAITED, reading.clientWaitedPercent(outcome.elapsedNs()));
    }

    /** Adds one value of a round. */
    void addValue(String name, double value) {
        rounds.add(name, value);
    }

    /** A percentile in microseconds; NaN of no latencies. */
    static double micros(Histogram latencies, double percentile) {
        return latencies.getTotalCount() == 0 ? Double.NaN : latencies.getValueAtPercentile(percentile) / NS_PER_US;
    }

    /**
     * Takes what the server holds.
     *
     * @param held {@code pairs}, and totals of {@code dataBytes}, {@code usedBytes}, {@code registeredBytes}
     */
    public void memory(Map<String, Long> held) {
        long pairs = held.getOrDefault("pairs", 0L);
        memory.clear();
        memory.put(CompareRow.PAIRS, (double) pairs);
        for (String name : List.of("dataBytes", "usedBytes", "registeredBytes")) {
            if (pairs > 0 && held.containsKey(name)) {
                memory.put(name + "PerPair", (double) held.getOrDefault(name, 0L) / pairs);
            }
        }
    }

    /** The row. */
    public CompareRow row() {
        Map<String, Double> cpu = new LinkedHashMap<>();
        Map<String, Double> threads = new LinkedHashMap<>();
        if (!shares.isEmpty()) {
            put(cpu, CompareRow.KERNEL, shares.kernel());
            put(cpu, CompareRow.RNIC, shares.rnic());
            put(cpu, CompareRow.APPLICATION, shares.application());
            put(cpu, CompareRow.VIRTUAL_MACHINE, shares.virtualMachine());
            shares.byClass().forEach((name, micros) -> put(threads, name, micros));
        }
        return new CompareRow(
                system,
                kind,
                server,
                valueBytes,
                window,
                mix,
                operations,
                rounds.medians(),
                rounds.perRound(),
                cpu,
                threads,
                perOperation(counts),
                perOperation(answers),
                perOperation(responder),
                perOperation(retries),
                errors,
                memory);
    }

    private Map<String, Double> perOperation(Map<String, Long> sums) {
        Map<String, Double> each = new LinkedHashMap<>();
        if (operations > 0) {
            sums.forEach((name, sum) -> each.put(name, (double) sum / operations));
        }
        return each;
    }

    /** What could not be measured is left out. */
    private static void put(Map<String, Double> map, String name, double value) {
        if (Double.isFinite(value)) {
            map.put(name, value);
        }
    }
}
