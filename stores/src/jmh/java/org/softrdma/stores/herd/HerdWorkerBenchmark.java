package org.softrdma.stores.herd;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.herd.mica.MicaTable;
import org.softrdma.stores.herd.mica.MicaWatcher;
import org.softrdma.stores.herd.part.HerdPart;

/**
 * What GETs of random keys cost a worker of HERD that finds some of them waiting: {@code ci/jmh stores HerdWorkerBenchmark}. A
 * score is the time of a turn, so of all that waited. Requests are in the published form, which hashes nothing, and are written
 * by the benchmark; answers go nowhere.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class HerdWorkerBenchmark {
    private static final int WINDOW = 16;

    /** Pairs in the store, of 56 bytes each, and 16 bytes of the index. */
    @Param({"1000", "100000", "4000000"})
    public int pairs;

    /** Requests that wait at the beginning of a turn. */
    @Param({"1", "4", "16"})
    public int waiting;

    /** Whether the part says that it is large, so that the worker touches ahead. */
    @Param({"false", "true"})
    public boolean large;

    private LoneWorker worker = worker(1);
    private long random = 1;
    private int next;

    /** A part that says what it is told to say. */
    private record Claimed(MicaTable table, boolean isLarge) implements HerdPart {
        @Override
        public long find(MemorySegment memory, long key, int keyLength, long hash) {
            return table.find(memory, key, keyLength, hash);
        }

        @Override
        public long touchIndex(long hash) {
            return table.touchIndex(hash);
        }

        @Override
        public long touchPairs(long hash) {
            return table.touchPairs(hash);
        }

        @Override
        public MemorySegment memory() {
            return table.memory();
        }

        @Override
        public long valueAt(long position) {
            return table.valueAt(position);
        }

        @Override
        public int valueLength(long position) {
            return table.valueLength(position);
        }

        @Override
        public boolean put(MemorySegment memory, long key, int keyLength, long hash, long value, int valueLength) {
            return table.put(memory, key, keyLength, hash, value, valueLength);
        }

        @Override
        public boolean remove(MemorySegment memory, long key, int keyLength, long hash) {
            return table.remove(memory, key, keyLength, hash);
        }

        @Override
        public long pairs() {
            return table.pairs();
        }

        @Override
        public long dataBytes() {
            return table.dataBytes();
        }

        @Override
        public long usedBytes() {
            return table.usedBytes();
        }

        @Override
        public long allBytes() {
            return table.allBytes();
        }
    }

    private static long mixed(long key) {
        long z = (key + 1) * 0x9E37_79B9_7F4A_7C15L;
        z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
        return z ^ z >>> 31;
    }

    private LoneWorker worker(int count) {
        int bytes = count * MicaTable.length(LoneWorker.KEY_LENGTH, LoneWorker.VALUE_LENGTH);
        int logBuckets = Integer.SIZE - Integer.numberOfLeadingZeros(count / MicaTable.WAYS);
        MicaTable table = new MicaTable(logBuckets + 1, Integer.highestOneBit(bytes) << 1, MicaWatcher.NONE);
        MemorySegment pair = Arena.ofAuto().allocate(LoneWorker.KEY_LENGTH + LoneWorker.VALUE_LENGTH, Long.BYTES);
        for (int i = 0; i < count; i++) {
            LoneWorker.putKey(pair, 0, mixed(i));
            boolean ignored =
                    table.put(pair, 0, LoneWorker.KEY_LENGTH, mixed(i), LoneWorker.KEY_LENGTH, LoneWorker.VALUE_LENGTH);
        }
        return new LoneWorker(new Claimed(table, large), Protocol.PAPER, WINDOW, MemorySteps.OF_JVM);
    }

    /** A store with all pairs. */
    @Setup(Level.Trial)
    public void fill() {
        worker = worker(pairs);
    }

    /** A turn. */
    @Benchmark
    public int turn() {
        for (int i = 0; i < waiting; i++) {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            worker.ask(next, mixed((random >>> 1) % pairs));
            next = (next + 1) % WINDOW;
        }
        return worker.turn();
    }
}
