package org.softrdma.bench.perftest;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.SendOpcode;

/**
 * What a client of {@link PerfTest} was asked for; the letters are perftest's.
 *
 * @param sizes message sizes, one table row each (-s, -a)
 * @param iterations operations per queue pair (-n); ignored if seconds is not 0
 * @param seconds how long each size runs (-D); 0 runs iterations
 * @param queuePairs data queue pairs (-q)
 * @param txDepth operations posted and not completed per queue pair (-t)
 * @param outstandingReads READs in flight per queue pair (-o); 0 takes what the device can do, at most txDepth
 * @param inline SENDs and WRITEs up to this size are inline (-I)
 * @param events wait for events instead of polling (-e)
 * @param completionModeration one operation in so many asks for a completion (-Q); bandwidth only
 * @param warmUpMillis time before the first size whose operations are not counted; a tenth of it before each other
 * @param bidirectional the server does the same at the same time (-b)
 * @param compareAndSwap atomic tests: compare-and-swap instead of fetch-and-add (-A)
 * @param initiators devices of this side, each with a thread and {@code queuePairs} of its own; atomics of several go to
 *     one word
 */
public record PerfOptions(
        PerfTest test,
        List<Long> sizes,
        long iterations,
        int seconds,
        int queuePairs,
        int txDepth,
        int outstandingReads,
        int inline,
        boolean events,
        int completionModeration,
        int warmUpMillis,
        boolean bidirectional,
        boolean compareAndSwap,
        int initiators) {
    /** The longest message of -a. */
    public static final long LARGEST_OF_ALL = 1L << 23;
    /** The fewest iterations, as in perftest. */
    public static final long MIN_ITERATIONS = 5;
    /** The most iterations of a latency test: each keeps its time. */
    public static final long MAX_LATENCY_ITERATIONS = 10_000_000;

    static final int MAX_QUEUE_PAIRS = 16_384;
    /** The most initiators: each is a thread. */
    static final int MAX_INITIATORS = 64;

    /** One initiator, and fetch-and-add. */
    public PerfOptions(
            PerfTest test,
            List<Long> sizes,
            long iterations,
            int seconds,
            int queuePairs,
            int txDepth,
            int outstandingReads,
            int inline,
            boolean events,
            int completionModeration,
            int warmUpMillis,
            boolean bidirectional) {
        this(
                test,
                sizes,
                iterations,
                seconds,
                queuePairs,
                txDepth,
                outstandingReads,
                inline,
                events,
                completionModeration,
                warmUpMillis,
                bidirectional,
                false,
                1);
    }

    /**
     * Checks everything that can be checked without a device.
     *
     * @throws IllegalArgumentException naming every fault
     */
    public PerfOptions {
        sizes = List.copyOf(sizes);
        List<String> faults = new ArrayList<>();
        if (sizes.isEmpty()) {
            faults.add("-s: expected a size");
        }
        sizes.stream().filter(size -> size < 1).forEach(size -> faults.add("-s " + size + ": expected at least 1"));
        expect(faults, "-n", iterations, MIN_ITERATIONS, test.isLatency() ? MAX_LATENCY_ITERATIONS : Long.MAX_VALUE);
        expect(faults, "-D", seconds, 0, Integer.MAX_VALUE);
        expect(faults, "--warm-up", warmUpMillis, 0, Integer.MAX_VALUE);
        expect(faults, "-q", queuePairs, 1, test.isLatency() ? 1 : MAX_QUEUE_PAIRS);
        expect(faults, "-t", txDepth, 1, Short.MAX_VALUE);
        expect(faults, "-o", outstandingReads, 0, Short.MAX_VALUE);
        expect(faults, "-I", inline, 0, Short.MAX_VALUE);
        expect(faults, "-Q", completionModeration, 1, txDepth);
        if (bidirectional && test != PerfTest.READ_BANDWIDTH && test != PerfTest.WRITE_BANDWIDTH) {
            faults.add("-b: only read-bw and write-bw run in both directions");
        }
        if (test.opcode().isAtomic()) {
            sizes.stream()
                    .filter(size -> size != Long.BYTES)
                    .forEach(size -> faults.add("-s " + size + ": an atomic has 8 bytes"));
        } else if (compareAndSwap) {
            faults.add("-A: only atomic-lat and atomic-bw have a type of atomic");
        }
        if (test == PerfTest.ECHO && events) {
            faults.add("-e: nobody is told of what echo waits for; it polls memory");
        }
        expect(faults, "--initiators", initiators, 1, test.takesInitiators() && !bidirectional ? MAX_INITIATORS : 1);
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults));
        }
    }

    /** 2, 4, 8 and so on to {@link #LARGEST_OF_ALL}. */
    public static List<Long> allSizes() {
        List<Long> sizes = new ArrayList<>();
        for (long size = 2; size <= LARGEST_OF_ALL; size *= 2) {
            sizes.add(size);
        }
        return sizes;
    }

    /** The operation measured. */
    SendOpcode opcode() {
        return compareAndSwap ? SendOpcode.COMPARE_AND_SWAP : test.opcode();
    }

    /** The title above the table. */
    String title() {
        return test.title(compareAndSwap ? "CMP_AND_SWAP" : "FETCH_AND_ADD");
    }

    /** The longest message. */
    long largestSize() {
        return sizes.stream().mapToLong(Long::longValue).max().orElse(1);
    }

    /** How long the operations before a size take that are not counted. */
    public long warmUpNs(boolean first) {
        long all = TimeUnit.MILLISECONDS.toNanos(warmUpMillis);
        return first ? all : all / 10;
    }

    /**
     * Checks what depends on the device, before anything is connected.
     *
     * @throws MeasurementException naming every fault
     */
    public void check(Capabilities capabilities) {
        List<String> faults = new ArrayList<>();
        test.feature()
                .filter(needed -> !capabilities.has(needed))
                .ifPresent(needed ->
                        faults.add(test.command() + ": this device has no " + needed + ", which the test needs"));
        if (inline > capabilities.maxInline()) {
            faults.add("-I " + inline + ": this device takes at most " + capabilities.maxInline() + " bytes inline");
        }
        if (largestSize() > capabilities.maxMessageLength()) {
            faults.add("-s " + largestSize() + ": this device takes messages of at most "
                    + capabilities.maxMessageLength() + " bytes");
        }
        if (!faults.isEmpty()) {
            throw new MeasurementException(String.join("; ", faults));
        }
    }

    /** READs in flight per queue pair on this device. */
    public int reads(Capabilities capabilities) {
        int most = Math.min(capabilities.maxOutboundReads(), capabilities.maxInboundReads());
        return Math.min(outstandingReads == 0 ? Math.max(1, txDepth) : outstandingReads, most);
    }

    private static void expect(List<String> faults, String name, long value, long least, long most) {
        if (value < least || value > most) {
            faults.add(name + " " + value + ": expected "
                    + (least == most ? Long.toString(least) : "a number from " + least + " to " + most));
        }
    }
}
