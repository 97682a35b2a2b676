package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.study.Cores;
import org.softrdma.bench.workload.Mix;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;

/**
 * What is compared, and how long.
 *
 * @param scenario the command line that repeats it
 * @param systems names of designs and of {@link #OTHERS}
 * @param valueLengths bytes of the values
 * @param windows operations outstanding per connection
 * @param mixes of GETs and PUTs
 * @param connections of the load
 * @param pairs of each length
 * @param skew of Zipf's law by which keys are chosen; 0 for all alike
 * @param protocol which form of the designs
 * @param options of the servers of designs, by design
 * @param spinning also one cell in which the servers of designs spin
 * @param workers numbers of CPU workers on the servers' core, next to which the designs are measured too; empty for none
 * @param timing rounds and their lengths
 * @param cores where servers and load run
 */
public record ComparePlan(
        String scenario,
        List<String> systems,
        List<Integer> valueLengths,
        List<Integer> windows,
        List<Mix> mixes,
        int connections,
        int pairs,
        double skew,
        Protocol protocol,
        Map<String, Map<String, String>> options,
        boolean spinning,
        List<Integer> workers,
        Timing timing,
        Cores cores) {
    /** This project's key-value server by READ, memory registered in large pieces. */
    public static final String KV = "kv";
    /** The same with a registration for each chunk. */
    public static final String KV_CHUNK = "kv-chunk";
    /** The same by memcached's protocol. */
    public static final String KV_TCP = "kv-tcp";

    /** memcached. */
    public static final String MEMCACHED = "memcached";
    /** redis. */
    public static final String REDIS = "redis";

    /** What is compared beside designs. */
    public static final List<String> OTHERS = List.of(KV, KV_CHUNK, KV_TCP, MEMCACHED, REDIS);

    /** The longest value: the largest message of a store. */
    public static final int MAX_VALUE_LENGTH = 64 * 1024;

    private static final int MIN_VALUE_LENGTH = 8;
    private static final int MAX_WINDOW = 256;
    private static final int MAX_CONNECTIONS = 64;
    private static final int MAX_WORKERS = 64;
    private static final int MIN_PAIRS = 2;
    private static final int MAX_PAIRS = 1_000_000;

    /**
     * Rounds and their lengths.
     *
     * @param rounds rounds of each system and cell, interleaved
     * @param millis length of a round
     * @param warmUpMillis warm-up of each cell of a system that is a JVM; others get a third
     */
    public record Timing(int rounds, int millis, int warmUpMillis) {
        private static final int NATIVE_DIVISOR = 3;

        /** Checks the numbers. */
        public Timing {
            if (rounds < 1 || millis < 1 || warmUpMillis < 0) {
                throw new IllegalArgumentException("rounds=" + rounds + ", millis=" + millis + ", warm-up="
                        + warmUpMillis + ": expected at least one round of 1 ms");
            }
        }

        long roundNs() {
            return TimeUnit.MILLISECONDS.toNanos(millis);
        }

        long warmUpNs(SystemKind kind) {
            long ns = TimeUnit.MILLISECONDS.toNanos(warmUpMillis);
            return kind.compiles() ? ns : ns / NATIVE_DIVISOR;
        }
    }

    /** Copies the collections and checks the numbers. */
    public ComparePlan {
        systems = List.copyOf(systems);
        valueLengths = List.copyOf(valueLengths);
        windows = List.copyOf(windows);
        mixes = List.copyOf(mixes);
        workers = workers.stream().sorted().toList();
        options = Map.copyOf(options);
        List<String> known = systemNames();
        for (String system : systems) {
            if (!known.contains(system)) {
                throw new IllegalArgumentException(
                        "--designs " + system + ": unknown, expected some of " + String.join(", ", known));
            }
        }
        for (String design : options.keySet()) {
            StoreDesign ignored = StoreDesigns.named(design);
        }
        check("--sizes", valueLengths, MIN_VALUE_LENGTH, MAX_VALUE_LENGTH);
        check("--window", windows, 1, MAX_WINDOW);
        check("--connections", List.of(connections), 1, MAX_CONNECTIONS);
        check("--pairs", List.of(pairs), MIN_PAIRS, MAX_PAIRS);
        if (!workers.isEmpty()) {
            check("--workers", workers, 0, MAX_WORKERS);
            if (workers.getFirst() != 0) {
                throw new IllegalArgumentException("--workers " + workers + ": expected 0 too, to compare with");
            }
        }
        requireDistinct("--designs", systems);
        requireDistinct("--mixes", mixes);
        if (!(skew >= 0 && skew < 1)) {
            throw new IllegalArgumentException("--skew " + skew + ": expected 0 or more and below 1");
        }
    }

    private static void check(String name, List<Integer> values, int least, int most) {
        for (int value : values) {
            if (value < least || value > most) {
                throw new IllegalArgumentException(name + " " + value + ": expected " + least + " to " + most);
            }
        }
        requireDistinct(name, values);
    }

    private static void requireDistinct(String name, List<?> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException(name + ": expected at least one");
        }
        if (new HashSet<>(values).size() < values.size()) {
            throw new IllegalArgumentException(name + " " + values + ": duplicate value");
        }
    }

    /**
     * Everything that can be compared: all designs on the class path, in the order of their names, then the others.
     */
    public static List<String> systemNames() {
        List<String> names = new ArrayList<>();
        StoreDesigns.all().stream().map(StoreDesign::name).sorted().forEach(names::add);
        names.addAll(OTHERS);
        return names;
    }

    /** The designs among the systems. */
    public List<StoreDesign> designs() {
        return StoreDesigns.all().stream()
                .filter(design -> systems.contains(design.name()))
                .sorted(Comparator.comparing(StoreDesign::name))
                .toList();
    }

    /** True if a system is wanted. */
    boolean wants(String system) {
        return systems.contains(system);
    }

    /** The largest window. */
    public int maxWindow() {
        return windows.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    /**
     * Options of a design's server for values of a length: those that make its table as full as its paper has it, and
     * then what was asked for.
     *
     * @param design its name
     * @param valueLength bytes of every value
     */
    public Map<String, String> serverOptions(String design, int valueLength) {
        Map<String, String> all = new TreeMap<>(TableSizes.of(design, protocol, pairs, valueLength));
        all.putAll(options.getOrDefault(design, Map.of()));
        return all;
    }

    /** What the promises of the designs are. */
    public List<CompareResults.DesignPromises> promises() {
        return designs().stream().map(this::promises).toList();
    }

    private CompareResults.DesignPromises promises(StoreDesign design) {
        Promises promises = design.promises(protocol);
        return new CompareResults.DesignPromises(
                design.name(),
                design.paper(),
                promises.consistency() == Consistency.LINEARIZABLE,
                promises.provesMiss(),
                promises.getsWithoutServer(),
                promises.putsWithoutServer(),
                promises.survivesClientDeath(),
                promises.lossy());
    }
}
