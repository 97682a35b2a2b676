package org.softrdma.bench.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.softrdma.bench.read.MemoryPattern;

/**
 * Numbers that one side WRITEs and the other polls, as HERD (section 4.2) and Nessie (section 3.2) send requests. The n-th request of
 * a connection has the number n, from 1, and is in slot (n - 1) modulo the window; so is its answer. Each is a WRITE whose last word
 * is the number, in the byte order of the host, in memory whose last word comes last. Stateless.
 *
 * <pre>
 *   a slot of requests, 64 bytes           a slot of answers, as long as an answer
 *    0  number (8)   8  not used            0  a piece of the pattern   length - 8  number (8)
 * </pre>
 *
 * <p>The responder makes the n-th answer in its slot (n - 1) modulo {@link EchoConnection#slots}. Where the pattern begins in an
 * answer follows from that slot, so that one answer is not taken for another.
 */
final class PolledSlots {
    /** Bytes of a request. */
    static final long REQUEST = Long.BYTES;

    /** Bytes of a slot of requests. */
    static final long REQUEST_SLOT = 64;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    /** Bytes from where the pattern begins in one slot to where it does in the next. */
    private static final int PHASE_BYTES = 16;

    private PolledSlots() {}

    /** Where the pattern begins in answers that are made in a slot. */
    static long phase(int slot) {
        return (long) slot * PHASE_BYTES % MemoryPattern.PERIOD;
    }

    /** Fills a slot of answers. */
    static void fill(MemorySegment answer, int slot) {
        for (long i = 0; i < answer.byteSize(); i++) {
            answer.set(ValueLayout.JAVA_BYTE, i, MemoryPattern.at(phase(slot) + i));
        }
    }

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
