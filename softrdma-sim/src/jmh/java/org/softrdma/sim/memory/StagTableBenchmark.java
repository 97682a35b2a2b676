package org.softrdma.sim.memory;

import java.security.SecureRandom;
import java.util.Random;
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
import org.softrdma.net.memory.NativeMemory;

/** What a READ pays for its key: look-up, access check and address, among few and among a million regions. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class StagTableBenchmark {
    private static final int KEYS = 1 << 16;
    private static final int SLICE = 64;
    private static final int DOMAIN = 7;
    private static final long BASE = 0x10000L;
    private static final long SEED = 42;

    /** Live regions. */
    @Param({"1000", "1000000"})
    public int regions;

    private StagTable table = new StagTable(1, new SecureRandom(), new MemoryOperations(), NumberReuse.LATE);
    private final int[] keys = new int[KEYS];
    private final long[] addresses = new long[KEYS];
    private int next;

    /** Fills the table and draws the keys that are looked up. */
    @Setup(Level.Trial)
    public void fill() {
        table = new StagTable(regions, new SecureRandom(), new MemoryOperations(), NumberReuse.LATE);
        int[] rows = new int[regions];
        for (int i = 0; i < regions; i++) {
            long address = BASE + (long) i * SLICE;
            rows[i] = table.add(NativeMemory.segment(address, SLICE), address, AccessRights.REMOTE_READ, DOMAIN);
        }
        Random random = new Random(SEED);
        for (int i = 0; i < KEYS; i++) {
            int region = random.nextInt(regions);
            keys[i] = table.rkey(rows[region]);
            addresses[i] = BASE + (long) region * SLICE;
        }
    }

    /** Releases the table. */
    @TearDown(Level.Trial)
    public void close() {
        table.close();
    }

    /** Look-up, check and raw address of a random region. */
    @Benchmark
    public long resolve() {
        int i = next++ & (KEYS - 1);
        int row = table.findRemote(keys[i]);
        AccessResult result = table.check(row, DOMAIN, AccessRights.REMOTE_READ, addresses[i], SLICE);
        return result == AccessResult.GRANTED ? table.rawAddress(row, addresses[i]) : -1;
    }

    /** The check alone. */
    @Benchmark
    public AccessResult check() {
        int i = next++ & (KEYS - 1);
        return AccessCheck.check(
                DOMAIN,
                AccessRights.REMOTE_READ,
                BASE,
                (long) regions * SLICE,
                DOMAIN,
                AccessRights.REMOTE_READ,
                addresses[i],
                SLICE);
    }
}
