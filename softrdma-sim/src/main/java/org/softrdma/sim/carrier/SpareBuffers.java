package org.softrdma.sim.carrier;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.queue.RingSize;
import org.softrdma.sim.wire.Ddp;

/**
 * Buffers for parts of FPDUs that connections keep from one turn to the next, received or sent. A connection takes one of about the
 * size it needs and gives it back as soon as it is empty, so a connection without such a part holds none, and who sends
 * little of a large FPDU holds little here. A few of each size are kept, so that a busy connection allocates nothing.
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

    /** A buffer of at least some bytes, at most twice as many; what is in it is not said. */
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

    /** Takes a buffer back, or {@link MemorySegment#NULL}, which is none. */
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
