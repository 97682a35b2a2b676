package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.softrdma.kv.item.KeySlice;

/**
 * What a set costs in the store alone: reserve, fill, seal and replace the item of a key. It passes all locks and step points of
 * {@code kv.turns.Turns}; compare two builds with {@code ci/jmh kv SetBenchmark -prof gc}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class SetBenchmark {
    private static final int MIB = 1 << 20;
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);

    /** Bytes of a value. */
    @Param({"100", "4000"})
    public int length;

    private final StoreRule rule = new StoreRule();
    private PlainArenas arenas = new PlainArenas();
    private ItemStore store = store();
    private byte[] value = {};

    private ItemStore store() {
        return new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, MIB), arenas, 64L * MIB), 1, true);
    }

    /** An empty store. */
    @Setup(Level.Trial)
    public void open() {
        arenas = new PlainArenas();
        store = store();
        value = new byte[length];
    }

    /** Frees it. */
    @TearDown(Level.Trial)
    public void close() {
        arenas.close();
    }

    /** Replaces the item of a key. */
    @Benchmark
    public StoreStatus set() {
        NewItem item = store.reserve(new KeySlice(KEY), 0, 0, value.length, 0);
        MemorySegment.copy(value, 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), value.length);
        return store.store(item, rule, 0);
    }
}
