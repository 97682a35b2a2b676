package org.softrdma.bench.perftest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.softrdma.verbs.SendFlags;

/**
 * Both ends of a ping-pong by WRITE alone, on every data queue pair: each side polls the last word of the memory that the
 * other writes, as perftest's {@code ib_write_lat} does, and answers with the number that it finds there. It needs memory
 * whose last word comes last. A message shorter than a word is known by its last byte.
 *
 * <p>A WRITE is posted once the one before it has completed, because its memory is used again. Runs on the thread of its
 * endpoint.
 */
final class EchoTraffic implements Traffic {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final int LOOKS_PER_CLOCK = 1024;

    private final PerfEndpoint endpoint;
    private final int inline;
    private final MemorySegment memory;
    private final long[] seen;
    private final boolean[] busy;
    private final boolean[] owed;
    /** The number that was sent last, of all sizes. */
    private long sent;

    private long sizeBytes;

    /**
     * One end.
     *
     * @param endpoint all its data queue pairs created
     * @param inline largest inline message
     */
    EchoTraffic(PerfEndpoint endpoint, int inline) {
        this.endpoint = endpoint;
        this.inline = inline;
        memory = endpoint.region().memory();
        seen = new long[endpoint.dataCount()];
        busy = new boolean[seen.length];
        owed = new boolean[seen.length];
    }

    /** A message that nobody waited for may still come, and is answered. */
    @Override
    public void begin(long newSizeBytes, long iterations, long durationNs) {
        sizeBytes = newSizeBytes;
        for (int i = 0; i < seen.length; i++) {
            put(i * endpoint.stride(), 0);
            seen[i] = 0;
        }
    }

    private long last() {
        return sizeBytes < Long.BYTES ? sizeBytes - 1 : sizeBytes / Long.BYTES * Long.BYTES - Long.BYTES;
    }

    /** The number that has arrived in the memory of a queue pair. */
    private long arrived(int queuePair) {
        long at = queuePair * endpoint.stride() + last();
        return sizeBytes < Long.BYTES ? (byte) BYTE.getAcquire(memory, at) : (long) WORD.getAcquire(memory, at);
    }

    private void put(long base, long number) {
        if (sizeBytes < Long.BYTES) {
            BYTE.setOpaque(memory, base + last(), (byte) number);
        } else {
            WORD.setOpaque(memory, base + last(), number);
        }
    }

    /**
     * Never 0, which memory holds at first, and never that of a message that was not waited for: it may be seen after the
     * next begin.
     */
    private long nextNumber() {
        sent++;
        if (held(sent) == 0) {
            sent++;
        }
        return held(sent);
    }

    /** The number as memory holds it: a short message has room for 8 bits of it. */
    private long held(long number) {
        return sizeBytes < Long.BYTES ? (byte) number : number;
    }

    private void write(int queuePair, long number) {
        long source = queuePair * endpoint.stride() + endpoint.stride() / 2;
        put(source, number);
        busy[queuePair] = true;
        int flags = SendFlags.SIGNALLED | (sizeBytes <= inline ? SendFlags.INLINE : SendFlags.NONE);
        PerfEndpoint.require(
                endpoint.data(queuePair)
                        .postWrite(
                                PerfEndpoint.wrId(PerfEndpoint.DATA, queuePair, 1),
                                endpoint.region(),
                                source,
                                sizeBytes,
                                endpoint.remoteAddress(queuePair),
                                endpoint.remoteKey(),
                                flags),
                "WRITE");
    }

    // ---- the end that asks

    /**
     * Writes the next number to queue pair 0's peer and waits until it is back.
     *
     * @param deadlineNs of {@link System#nanoTime}
     * @return false if it did not come back in time
     */
    boolean roundTrip(long deadlineNs) {
        for (long looks = 1; busy[0]; looks++) {
            if (!look(looks, deadlineNs)) {
                return false;
            }
        }
        long number = nextNumber();
        write(0, number);
        for (long looks = 1; arrived(0) != number; looks++) {
            if (!look(looks, deadlineNs)) {
                return false;
            }
        }
        seen[0] = number;
        return true;
    }

    private boolean look(long looks, long deadlineNs) {
        endpoint.look(this);
        return looks % LOOKS_PER_CLOCK != 0 || System.nanoTime() - deadlineNs < 0;
    }

    // ---- the end that answers

    @Override
    public void pump() {
        for (int i = 0; i < seen.length; i++) {
            long number = arrived(i);
            if (number != seen[i]) {
                seen[i] = number;
                owed[i] = true;
            }
            if (owed[i] && !busy[i]) {
                owed[i] = false;
                write(i, number);
            }
        }
    }

    @Override
    public void completed(int kind, int queuePair, int count) {
        if (kind == PerfEndpoint.DATA) {
            busy[queuePair] = false;
        }
    }

    @Override
    public boolean answers() {
        return true;
    }

    @Override
    public boolean polls() {
        return true;
    }
}
