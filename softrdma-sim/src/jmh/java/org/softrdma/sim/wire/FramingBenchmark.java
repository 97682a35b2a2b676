package org.softrdma.sim.wire;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What framing costs: the header of a READ response, a READ request, and the CRC of a whole FPDU. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class FramingBenchmark {
    private static final int STAG = 0x12345678;

    /** Payload bytes. */
    @Param({"1024", "65516"})
    public int payload;

    private final MemorySegment memory = Arena.ofAuto().allocate(Ddp.fpduLength(Ddp.MAX_ULPDU), Long.BYTES);
    private final FpduCrc crc = new FpduCrc();
    private final ByteBuffer view = memory.asByteBuffer();
    private long offset;

    /** Header of a READ response. */
    @Benchmark
    public long readResponseHeader() {
        Ddp.putTagged(memory.address(), RdmapOpcode.READ_RESPONSE, true, STAG, offset++, payload);
        return offset;
    }

    /** A READ request. */
    @Benchmark
    public long readRequest() {
        Ddp.putReadRequest(memory.address(), (int) offset, STAG, offset++, payload, STAG, offset);
        return offset;
    }

    /** CRC32C of an FPDU. */
    @Benchmark
    public long crc() {
        crc.put(view, memory.address(), memory.address(), Ddp.TAGGED_HEADER_LENGTH - Short.BYTES + payload);
        return offset;
    }
}
