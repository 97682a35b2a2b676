package org.softrdma.run.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.verbs.ReceiveWorkRequest;

/**
 * A RECV, {@code struct rxe_recv_wqe}, in the machine's order. The program writes it.
 *
 * <pre>
 *     0  number of the request, wr_id         8 bytes
 *    28  count of pieces                      4
 *    40  pieces, 16 each: address (8), length (4), lkey (4)
 * </pre>
 */
public final class ReceiveElement {
    /** Bytes without pieces. */
    public static final int LENGTH = 40;

    /** Bytes of a piece. */
    public static final int PIECE_LENGTH = 16;

    private static final int COUNT_OFFSET = 28;
    /** No message is longer. */
    private static final long LONGEST_MESSAGE = 1L << 31;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final long UNSIGNED = 0xFFFF_FFFFL;

    private ReceiveElement() {}

    /**
     * Reads a RECV. One with more pieces than it can have gets none, so no message fits into it; what is behind the longest message is
     * passed over.
     *
     * @param at where it begins
     * @param most pieces
     * @param into what to fill
     */
    public static void read(MemorySegment ring, long at, int most, ReceiveWorkRequest into) {
        into.receive(ring.get(LONG, at));
        int count = ring.get(INT, at + COUNT_OFFSET);
        if (count < 0 || count > most) {
            return;
        }
        long room = LONGEST_MESSAGE;
        for (long piece = at + LENGTH; piece < at + LENGTH + (long) count * PIECE_LENGTH; piece += PIECE_LENGTH) {
            long length = Math.min(room, ring.get(INT, piece + Long.BYTES) & UNSIGNED);
            into.add(ring.get(LONG, piece), length, ring.get(INT, piece + Long.BYTES + Integer.BYTES));
            room -= length;
        }
    }
}
