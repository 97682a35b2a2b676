package org.softrdma.rdmacore.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What a call through the operation table costs before the driver does anything: the slots hold {@code pthread_equal}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LinkageBenchmark {
    private final VerbsLibrary.Operations operations = operations();

    private static VerbsLibrary.Operations operations() {
        MemorySegment nothing = Linker.nativeLinker().defaultLookup().findOrThrow("pthread_equal");
        long context = Arena.global().allocate(VerbsAbi.CONTEXT).address();
        for (long slot : new long[] {
            VerbsAbi.CONTEXT_POST_SEND,
            VerbsAbi.CONTEXT_POST_RECV,
            VerbsAbi.CONTEXT_POLL_CQ,
            VerbsAbi.CONTEXT_REQ_NOTIFY_CQ
        }) {
            CMemory.putLong(context + slot, nothing.address());
        }
        return new NativeOperations(context);
    }

    /** An ordinary call. */
    @Benchmark
    public int post() {
        return operations.postSend(1, 2, 3);
    }

    /** A critical call. */
    @Benchmark
    public int poll() {
        return operations.poll(1, 2, 3);
    }
}
