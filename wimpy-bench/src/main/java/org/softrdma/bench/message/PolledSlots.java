package org.softrdma.bench.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Numbers that one side WRITEs and the other polls, as HERD (section 4.2) and Nessie (section 3.2) send requests. The n-th request of
 * a connection has the number n, from 1, and is in slot (n - 1) modulo the window; so is its answer. Each is a WRITE whose last word
 * is the number, in the byte order of the host, in memory whose last word comes last. Stateless.
 *
 * <pre>
 *   a slot of requests, 64 bytes           a slot of answers, as long as an answer
 *    0  number (8)   8  not used            0  the pattern   length - 8  number (8)
 * </pre>
 */
final class PolledSlots {
    /** Bytes of a request. */
    static final long REQUEST = Long.BYTES;

    /** Bytes of a slot of requests. */
    static final long REQUEST_SLOT = 64;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private PolledSlots() {}

    /** The slot that a number is in. */
    static int slot(long number, int window) {
        return (int) ((number - 1) % window);
    }

    /** True if a number is there, with all bytes before it. */
    static boolean has(MemorySegment memory, long at, long number) {
        return (long) WORD.getAcquire(memory, at) == number;
    }

    /** Puts a number into memory that is to be written from. */
    static void put(MemorySegment memory, long at, long number) {
        WORD.setOpaque(memory, at, number);
    }
}
