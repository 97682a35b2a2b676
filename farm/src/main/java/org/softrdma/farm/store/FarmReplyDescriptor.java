package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.Outcome;

/**
 * The server's reply to a request: a message in the ring at the client, little endian.
 *
 * <pre>
 *  63                                                        8 7     0
 * +------------------------------------------------------------------+
 * |  number of the request                                           |   0
 * +-----------------------------------------------------------+------+
 * |  0                                                        | code |   8  1 stored, 2 removed, 3 missing, 4 full
 * +-----------------------------------------------------------+------+
 * </pre>
 */
final class FarmReplyDescriptor {
    static final int NUMBER_OFFSET = 0;
    static final int CODE_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int LENGTH = CODE_OFFSET + Long.BYTES;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final @Nullable Outcome[] OUTCOMES = {
        null, Outcome.STORED, Outcome.REMOVED, Outcome.MISSING, Outcome.FULL
    };

    private FarmReplyDescriptor() {}

    static void write(MemorySegment memory, long at, long number, Outcome outcome) {
        long code = 1;
        while (OUTCOMES[(int) code] != outcome) {
            code++;
        }
        memory.set(LONG, at + NUMBER_OFFSET, number);
        memory.set(LONG, at + CODE_OFFSET, code);
    }

    static long number(MemorySegment memory, long at) {
        return memory.get(LONG, at + NUMBER_OFFSET);
    }

    /** The outcome; null if the code is none. */
    static @Nullable Outcome outcome(MemorySegment memory, long at) {
        long code = memory.get(LONG, at + CODE_OFFSET);
        return code < 0 || code >= OUTCOMES.length ? null : OUTCOMES[(int) code];
    }
}
