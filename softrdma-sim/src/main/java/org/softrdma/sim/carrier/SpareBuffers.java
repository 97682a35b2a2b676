package org.softrdma.sim.carrier;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.queue.RingSize;
import org.softrdma.sim.wire.Ddp;

/**
 * Buffers for parts of FPDUs, received or to be sent, that connections keep from one turn to the next. A connection
 * takes a buffer of about the size it needs and returns it as soon as it is empty. So a connection without such a part
 * holds none, and a peer that sends little of a large FPDU occupies little. A few of each size are kept, so that a busy
 * connection allocates nothing.
 *
 * <p>Engine thread only.
 */
final class SpareBuffers {
    private static final int LEAST_BYTES = 256;
    private static final int MOST_BYTES = RingSize.atLeast(Ddp.fpduLength(Ddp.MAX_ULPDU));
    private static final int KEPT = 4;

    private final MemoryOperations memory;
    private final @Nullable MemorySegment[][] spare = new MemorySegment[sizeClass(MOST_BYTES) + 1][KEPT];
    private final int[] spares = new int[spare.length];

    SpareBuffers(MemoryOperations memory) {
        this.memory = memory;
    }

    /** A buffer of at least this many bytes and at most twice as many; its content is undefined. */
    MemorySegment take(int length) {
        int size = sizeClass(length);
        if (spares[size] > 0) {
            int last = --spares[size];
            MemorySegment taken = spare[size][last];
            spare[size][last] = null;
            if (taken != null) {
                return taken;
            }
        }
        return memory.allocate((long) LEAST_BYTES << size, Long.BYTES);
    }

    /** Returns a buffer; {@link MemorySegment#NULL} is none. */
    void giveBack(MemorySegment buffer) {
        if (buffer.byteSize() > 0) {
            int size = sizeClass((int) buffer.byteSize());
            if (spares[size] < KEPT) {
                spare[size][spares[size]++] = buffer;
            }
        }
    }

    private static int sizeClass(int length) {
        return Math.max(0, Integer.SIZE - Integer.numberOfLeadingZeros((length - 1) / LEAST_BYTES));
    }
}
