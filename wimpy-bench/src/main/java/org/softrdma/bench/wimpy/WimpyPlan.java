package org.softrdma.bench.wimpy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.machine.Throttle;
import org.softrdma.bench.study.Cores;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.ReadGetLoad;
import org.softrdma.bench.workload.TcpCommands;

/**
 * What is measured, and how long.
 *
 * @param scenario the command line that repeats it
 * @param valueLengths bytes of the values
 * @param windows GETs outstanding per connection
 * @param clients connections of the load
 * @param pairs pairs of each length
 * @param throttles percent of the server's speed, 1 to 100
 * @param coreCounts with how many cores for the server; more than one only with the widest window and no throttle
 * @param links rates of a shaped link in Mbit/s, over which memcached and READ are measured too; none for loopback alone
 * @param openLoop also one row per system at a constant rate, half of what it did flat out
 * @param extras what is measured besides
 * @param timing rounds and their lengths
 * @param cores where servers and load run
 */
public record WimpyPlan(
        String scenario,
        List<Integer> valueLengths,
        List<Integer> windows,
        int clients,
        int pairs,
        List<Integer> throttles,
        List<Integer> coreCounts,
        List<Integer> links,
        boolean openLoop,
        Set<Extra> extras,
        Timing timing,
        Cores cores) {
    /** The longest value: an item of memcached's defaults has room for it. */
    public static final int MAX_VALUE_LENGTH = 900 * 1024;

    private static final int MAX_WINDOW = 512;
    private static final int MAX_CLIENTS = 512;
    private static final int MAX_PAIRS = 100_000;
    /** Faster than any loopback. */
    private static final int MAX_LINK_MEGABITS = 400_000;

    /** A server that is not a JVM is warm sooner. */
    private static final int NATIVE_WARM_UP_DIVISOR = 3;
    /** A system with fewer rows is warmed up for as long as one with so many. */
    private static final int WARM_UP_ROWS = 6;

    /** What is measured if it is asked for. */
    public enum Extra {
        /** The binary protocol's getk, at memcached and at ours: rarely the cheapest way. */
        BINARY,
        /** Meta get in TLS, at memcached and at ours. */
        TLS,
        /** In which functions memcached, asked by classic gets, and READ spend their CPU, with the widest window. */
        PROFILE
    }

    /**
     * Rounds and their lengths.
     *
     * @param rounds rounds of each system and row, interleaved
     * @param millis length of a round
     * @param warmUpMillis warm-up of each row of a system that is a JVM, longer if there are only a few; others get a third
     */
    public record Timing(int rounds, int millis, int warmUpMillis) {
        /** Checks the numbers. */
        public Timing {
            if (rounds < 1 || millis < 1 || warmUpMillis < 0) {
                throw new IllegalArgumentException("rounds=" + rounds + ", millis=" + millis + ", warm-up="
                        + warmUpMillis + ": expected at least one round of 1 ms");
            }
        }
    }

    /** Copies the lists and checks the numbers. */
    public WimpyPlan {
        valueLengths = List.copyOf(valueLengths);
        windows = List.copyOf(windows);
        throttles = List.copyOf(throttles);
        coreCounts = List.copyOf(coreCounts);
        links = List.copyOf(links);
        extras = Set.copyOf(extras);
        check("--sizes", valueLengths, MAX_VALUE_LENGTH);
        check("--window", windows, MAX_WINDOW);
        check("--throttle", throttles, Throttle.FULL_PERCENT);
        check("--clients", List.of(clients), MAX_CLIENTS);
        check("--pairs", List.of(pairs), MAX_PAIRS);
        check("cores of the server", coreCounts, Math.max(1, cores.servers().size()));
        if (!links.isEmpty()) {
            check("--link", links, MAX_LINK_MEGABITS);
        }
    }

    private static void check(String name, List<Integer> values, int most) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException(name + ": no value, expected 1 to " + most);
        }
        for (int value : values) {
            if (value < 1 || value > most) {
                throw new IllegalArgumentException(name + " " + value + ": expected 1 to " + most);
            }
        }
        if (new HashSet<>(values).size() < values.size()) {
            throw new IllegalArgumentException(name + " " + values + ": duplicate value");
        }
    }

    /** The rows of some systems with one number of cores, in the order in which they are measured. */
    public List<WimpyRow> rows(List<MeasuredSystem> systems, int coreCount) {
        List<WimpyRow> rows = new ArrayList<>();
        for (int throttle : coreCount == 1 ? throttles : List.of(Throttle.FULL_PERCENT)) {
            boolean whole = coreCount == 1 && throttle == Throttle.FULL_PERCENT;
            for (int valueLength : valueLengths) {
                for (int window : whole ? windows : List.of(maxWindow())) {
                    systems.stream()
                            .filter(system -> system.fits(window))
                            .map(system -> new WimpyRow(system, valueLength, window, throttle, coreCount))
                            .forEach(rows::add);
                }
            }
        }
        return rows;
    }

    /** The rows of some systems over the links, in the order in which they are measured. */
    List<WimpyRow> linkRows(List<MeasuredSystem> systems) {
        List<WimpyRow> rows = new ArrayList<>();
        for (int link : links) {
            for (int throttle : throttles) {
                for (int valueLength : valueLengths) {
                    systems.stream()
                            .map(system -> new WimpyRow(system, valueLength, maxWindow(), throttle, 1).over(link))
                            .forEach(rows::add);
                }
            }
        }
        return rows;
    }

    /** How memcached is asked, each way a system of its own. */
    List<TcpCommands> memcachedCommands() {
        List<TcpCommands> commands =
                new ArrayList<>(List.of(TcpCommands.META, TcpCommands.CLASSIC, TcpCommands.MULTI_KEY));
        if (extras.contains(Extra.BINARY)) {
            commands.add(TcpCommands.BINARY);
        }
        return commands;
    }

    public int maxWindow() {
        return windows.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    public int maxValueLength() {
        return valueLengths.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }

    /** The value length of the rows in open loop. */
    int middleValueLength() {
        return valueLengths.stream().sorted().toList().get(valueLengths.size() / 2);
    }

    /** True if there are rows with less than full speed. */
    boolean throttled() {
        return throttles.stream().anyMatch(percent -> percent < Throttle.FULL_PERCENT);
    }

    /** The pairs of each length. */
    List<MixPairs> keySpaces() {
        return valueLengths.stream()
                .map(length -> MixPairs.keyedByLength(pairs, length))
                .toList();
    }

    /** What a load by READ must hold. */
    ReadGetLoad.Limits readLimits() {
        return new ReadGetLoad.Limits(clients, maxWindow(), maxValueLength(), pairs * valueLengths.size());
    }

    /** Bytes of all values together. */
    public long totalBytes() {
        return valueLengths.stream().mapToLong(length -> (long) length * pairs).sum();
    }

    public long roundNs() {
        return TimeUnit.MILLISECONDS.toNanos(timing.millis());
    }

    /**
     * How long to warm up one row.
     *
     * @param system the system of the row
     * @param rows how many of its rows are warmed up
     */
    public long warmUpNs(MeasuredSystem system, int rows) {
        long ns = TimeUnit.MILLISECONDS.toNanos(timing.warmUpMillis()) * Math.max(rows, WARM_UP_ROWS) / rows;
        return system.kind().compiles() ? ns : ns / NATIVE_WARM_UP_DIVISOR;
    }
}
