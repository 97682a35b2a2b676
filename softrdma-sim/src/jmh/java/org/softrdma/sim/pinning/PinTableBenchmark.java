package org.softrdma.sim.pinning;

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
import org.openjdk.jmh.annotations.Warmup;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.verbs.PinningPolicy;

/** What a READ of lazily pinned memory pays for the question whether its granule is pinned, in 16 MiB and in 10 GiB. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PinTableBenchmark {
    private static final int ADDRESSES = 1 << 16;
    private static final int READ_BYTES = 1024;
    private static final long BASE = 1L << 40;
    private static final long SEED = 42;

    /** Granules of 256 KiB, all pinned. */
    @Param({"64", "40960"})
    public int granules;

    private final long[] addresses = new long[ADDRESSES];
    private PinTable table = table();
    private int next;

    private static PinTable table() {
        return new PinTable(
                new PinningSettings(PinningPolicy.LAZY, Long.MAX_VALUE, PinningSettings.DEFAULT_GRANULE),
                new CountedPageLocks(new AccountedPageLocks("a benchmark locks nothing")),
                new Quiescence(),
                Long.MAX_VALUE,
                System::nanoTime);
    }

    /** Pins everything and draws what is asked for. */
    @Setup(Level.Trial)
    public void fill() {
        table = table();
        long length = (long) granules * PinningSettings.DEFAULT_GRANULE;
        table.add(table.pages(BASE, length, BASE, BASE + length));
        table.pin("region", BASE, length, InUse.NOTHING);
        Random random = new Random(SEED);
        for (int i = 0; i < ADDRESSES; i++) {
            addresses[i] = BASE + random.nextLong(length / READ_BYTES) * READ_BYTES;
        }
    }

    /** A random piece of 1 KiB. */
    @Benchmark
    public boolean warm() {
        return table.isWarm(addresses[next++ & (ADDRESSES - 1)], READ_BYTES);
    }

    /** What drawing an address costs. */
    @Benchmark
    public long baseline() {
        return addresses[next++ & (ADDRESSES - 1)];
    }
}
