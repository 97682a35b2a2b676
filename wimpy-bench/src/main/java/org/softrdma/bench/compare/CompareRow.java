package org.softrdma.bench.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.study.ReportText;
import org.softrdma.stores.StoreCounter;

/**
 * What was found of one system under one load, as results.json has it. What could not be measured is absent from its
 * map.
 *
 * @param system its name: a design's, {@code kv}, {@code kv chunk}, {@code kv tcp}, {@code memcached 1.6, mg/ms}
 * @param kind what it is
 * @param server how the server waited
 * @param valueBytes of every value
 * @param window operations outstanding on each connection
 * @param mix letter of YCSB's mix
 * @param operations that did what they were asked for, in all rounds
 * @param values medians over the rounds, by the names below
 * @param rounds the values of each round
 * @param cpu the server's CPU time, microseconds per operation over all rounds, by where it went
 * @param cpuByThreads the same by class of thread
 * @param counts what the clients counted per operation over all rounds, by {@link StoreCounter}
 * @param answers what the server sent per operation, as the clients' device counted it: {@code SENDS}, {@code WRITES}
 * @param responder what the server's device counted per operation, by its own names
 * @param retries reasons to ask once more, per operation
 * @param errors what went wrong, and how often; for a store that may lose pairs a miss is none, and counted in counts
 * @param memory {@code pairs}, {@code dataBytesPerPair}, {@code usedBytesPerPair}, {@code registeredBytesPerPair}
 */
public record CompareRow(
        String system,
        SystemKind kind,
        Server server,
        int valueBytes,
        int window,
        String mix,
        long operations,
        Map<String, Double> values,
        List<Map<String, Double>> rounds,
        Map<String, Double> cpu,
        Map<String, Double> cpuByThreads,
        Map<String, Double> counts,
        Map<String, Double> answers,
        Map<String, Double> responder,
        Map<String, Double> retries,
        Map<String, Long> errors,
        Map<String, Double> memory) {
    /** Operations per second. */
    public static final String PER_SECOND = "operationsPerSecond";
    /** CPU time of the server's process without that of compiling bytecode, microseconds per operation. */
    public static final String SERVER_CPU = "serverCpuMicros";
    /** CPU time of compiling bytecode in the server, microseconds per operation. */
    public static final String SERVER_COMPILER = "serverCompilerMicros";
    /** Time that the server's core was not idle, microseconds per operation. */
    public static final String SERVER_CORE = "serverCoreMicros";
    /** CPU time of the load, microseconds per operation. */
    public static final String CLIENT_CPU = "clientCpuMicros";
    /** Packets on the loopback interface, both directions, per operation. */
    public static final String PACKETS = "packets";
    /** Their bytes. */
    public static final String WIRE_BYTES = "wireBytes";

    /** Bytes that the load allocated on its heap per operation. */
    public static final String CLIENT_HEAP = "clientHeapBytes";
    /** The same of the server. */
    public static final String SERVER_HEAP = "serverHeapBytes";
    /** Median latency of GETs. */
    public static final String GET_P50 = "getP50Micros";
    /** 99 % of the GETs are faster. */
    public static final String GET_P99 = "getP99Micros";
    /** Median latency of PUTs. */
    public static final String PUT_P50 = "putP50Micros";
    /** 99 % of the PUTs are faster. */
    public static final String PUT_P99 = "putP99Micros";
    /** How long threads of the server waited for a core that other work had, percent of the time. */
    public static final String SERVER_WAITED = "serverWaitedPercent";
    /** The same of the load. */
    public static final String CLIENT_WAITED = "clientWaitedPercent";

    /** CPU of the kernel for the threads that serve. */
    public static final String KERNEL = "kernel";
    /** CPU of the RNIC in user mode. */
    public static final String RNIC = "rnic";
    /** CPU of other threads that serve, in user mode. */
    public static final String APPLICATION = "application";
    /** CPU of compiling and collecting garbage. */
    public static final String VIRTUAL_MACHINE = "virtualMachine";

    /** How many pairs the server holds. */
    public static final String PAIRS = "pairs";
    /** Bytes of key and value. */
    public static final String DATA_PER_PAIR = "dataBytesPerPair";
    /** Bytes that hold a pair, with all that belongs to it. */
    public static final String USED_PER_PAIR = "usedBytesPerPair";
    /** Registered bytes, used or not. */
    public static final String REGISTERED_PER_PAIR = "registeredBytesPerPair";

    /** Copies the collections. */
    public CompareRow {
        values = new LinkedHashMap<>(values);
        rounds = List.copyOf(rounds);
        cpu = new LinkedHashMap<>(cpu);
        cpuByThreads = new LinkedHashMap<>(cpuByThreads);
        counts = new LinkedHashMap<>(counts);
        answers = new LinkedHashMap<>(answers);
        responder = new LinkedHashMap<>(responder);
        retries = new LinkedHashMap<>(retries);
        errors = new LinkedHashMap<>(errors);
        memory = new LinkedHashMap<>(memory);
    }

    /** How a server waits when there is nothing to do. */
    public enum Server {
        /** As it does by itself. */
        OWN,
        /** One thread drives device and store, and sleeps in the device. */
        SLEEPING,
        /** One thread drives device and store without rest. */
        SPINNING,
        /**
         * A thread of the device, and the store's, which sleeps for ever longer times: the RNIC can have its own priority. Workers
         * of a design have threads too.
         */
        TWO_THREADS,
        /** The same, with a stated number of workers. */
        WORKER_THREADS;

        /** True of a form that rows of other forms are not compared with. */
        boolean isApart() {
            return this == SPINNING || this == WORKER_THREADS;
        }
    }

    /** A value; NaN if it was not measured. */
    public double value(String name) {
        return values.getOrDefault(name, Double.NaN);
    }

    /** The least and the most of the rounds; empty if it was not measured. */
    public Optional<MedianOfRounds.Spread> spread(String name) {
        return MedianOfRounds.spread(ofRounds(name));
    }

    /** True if the rounds lie so far apart that the median says nothing. */
    public boolean isNoisy(String name) {
        return MedianOfRounds.isNoisy(ofRounds(name), 0);
    }

    /** The median for people; no number if the rounds lie too far apart. */
    String text(String name, int digits) {
        return ReportText.median(value(name), isNoisy(name), digits);
    }

    /** The least and the most of the rounds, for people. */
    String spreadText(String name, int digits) {
        return ReportText.spread(spread(name), digits);
    }

    private List<Double> ofRounds(String name) {
        return rounds.stream()
                .map(round -> round.getOrDefault(name, Double.NaN))
                .toList();
    }

    /** What clients counted per operation; 0 if nothing. */
    public double count(StoreCounter counter) {
        return counts.getOrDefault(counter.name(), 0.0);
    }

    /** What the memory of the server is like; NaN if it does not tell. */
    public double memory(String name) {
        return memory.getOrDefault(name, Double.NaN);
    }

    /** Operations that went wrong. */
    public long failures() {
        return errors.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Messages in both directions per operation; NaN if the device of the clients does not count answers. */
    public double messages() {
        double asked = 2 * count(StoreCounter.READS) + 2 * count(StoreCounter.ATOMICS);
        return switch (kind) {
            case DESIGN ->
                answers.isEmpty()
                        ? Double.NaN
                        : asked
                                + count(StoreCounter.WRITES)
                                + count(StoreCounter.SENDS)
                                + answers.getOrDefault(StoreCounter.SENDS.name(), 0.0)
                                + answers.getOrDefault(StoreCounter.WRITES.name(), 0.0);
            case KV_READ, KV_TCP, MEMCACHED, REDIS -> asked + 2 * count(StoreCounter.SENDS);
        };
    }

    /** True if both differ in the system only. */
    boolean sameCell(CompareRow other) {
        return valueBytes == other.valueBytes
                && window == other.window
                && mix.equals(other.mix)
                && (server == other.server || (!server.isApart() && !other.server.isApart()));
    }

    /** What its cell is, for people. */
    String title() {
        return ReportText.size(valueBytes) + ", " + window + " outstanding, mix " + mix
                + switch (server) {
                    case SPINNING -> ", servers spinning";
                    case WORKER_THREADS -> ", workers with threads of their own";
                    case OWN, SLEEPING, TWO_THREADS -> "";
                };
    }
}
