package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * An answer that is a WRITE: it ends where its answer slot ends, so that the last word, which the client polls, is always
 * in the same place. Little endian; begins at a multiple of 8. The server writes it.
 *
 * <pre>
 *  31                                                            0
 * +---------------------------------------------------------------+
 * |  the answer ({@link HerdReplyDescriptor}), zeroes to 8        |
 * +---------------------------------------------------------------+
 * |  bytes of the answer                                          |  -16
 * +---------------------------------------------------------------+
 * |  0                                                            |  -12
 * +---------------------------------------------------------------+
 * |  number of the request, never 0                               |   -8   poll word
 * +---------------------------------------------------------------+
 * |  CRC-32C of all before it                                     |   -4
 * +---------------------------------------------------------------+
 *                                                                     0   end of the answer slot
 * </pre>
 *
 * <p>A client that waits for a number looks for it in the poll word, copies the answer, and believes the copy if the
 * checksum fits: the bytes may land in any order, and a second answer to the same number may land meanwhile. Owned by the
 * thread of its client or server. Allocates nothing after construction.
 */
public final class HerdWrittenAnswer {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    /** Bytes behind the answer. */
    static final int TRAILER_LENGTH = 16;

    static final int LENGTH_OFFSET = -TRAILER_LENGTH;
    static final int ZERO_OFFSET = LENGTH_OFFSET + Integer.BYTES;
    static final int NUMBER_OFFSET = ZERO_OFFSET + Integer.BYTES;
    static final int CRC_OFFSET = NUMBER_OFFSET + Integer.BYTES;

    private final int maxAnswerLength;
    private final ByteBuffer view;
    private final MemorySegment copy;
    private final CRC32C crc = new CRC32C();

    /**
     * With memory for the longest one.
     *
     * @param maxAnswerLength bytes of the longest answer; 0 for a server, which only seals
     */
    public HerdWrittenAnswer(int maxAnswerLength) {
        this.maxAnswerLength = maxAnswerLength;
        view = ByteBuffer.allocateDirect(length(maxAnswerLength) + Long.BYTES).alignedSlice(Long.BYTES);
        copy = MemorySegment.ofBuffer(view);
    }

    /** Bytes of an answer and its trailer. */
    public static int length(int answerLength) {
        return (answerLength + Long.BYTES - 1 & -Long.BYTES) + TRAILER_LENGTH;
    }

    // ---- the server

    /**
     * Writes the trailer behind an answer.
     *
     * @param memory in which it is
     * @param buffer the same memory
     * @param at where it begins, a multiple of 8
     * @param answerLength its bytes
     * @return bytes of both
     */
    public int seal(MemorySegment memory, ByteBuffer buffer, long at, int answerLength) {
        int length = length(answerLength);
        long end = at + length;
        for (long zero = at + answerLength; zero < end + LENGTH_OFFSET; zero++) {
            memory.set(ValueLayout.JAVA_BYTE, zero, (byte) 0);
        }
        memory.set(INT, end + LENGTH_OFFSET, answerLength);
        memory.set(INT, end + ZERO_OFFSET, 0);
        memory.set(INT, end + NUMBER_OFFSET, HerdReplyDescriptor.number(memory, at));
        memory.set(INT, end + CRC_OFFSET, crc(buffer, at, end + CRC_OFFSET));
        return length;
    }

    private int crc(ByteBuffer buffer, long from, long to) {
        crc.reset();
        buffer.limit((int) to).position((int) from);
        crc.update(buffer);
        buffer.clear();
        return (int) crc.getValue();
    }

    // ---- the client

    /**
     * Copies an answer, if it is there and whole.
     *
     * @param slots the answer slots, which the server writes meanwhile
     * @param end where a slot ends, which has room for the longest answer
     * @param number of the request whose answer is waited for
     * @return its bytes, from the beginning of {@link #memory}; -1 if it is not there, or not all of it
     */
    public int take(MemorySegment slots, long end, int number) {
        long word = (long) WORD.getAcquire(slots, end + NUMBER_OFFSET);
        if ((int) word != number) {
            return -1;
        }
        int answerLength = slots.get(INT, end + LENGTH_OFFSET);
        if (answerLength < HerdReplyDescriptor.VALUE_OFFSET || answerLength > maxAnswerLength) {
            return -1; // not there yet; or wrong, which only the checksum could tell
        }
        int length = length(answerLength);
        MemorySegment.copy(slots, end - length, copy, 0, length);
        boolean whole = copy.get(INT, length + LENGTH_OFFSET) == answerLength
                && copy.get(INT, length + NUMBER_OFFSET) == number
                && HerdReplyDescriptor.number(copy, 0) == number
                && copy.get(INT, length + CRC_OFFSET) == crc(view, 0, length + CRC_OFFSET);
        return whole ? answerLength : -1;
    }

    /** Where the answer is that was taken. */
    public MemorySegment memory() {
        return copy;
    }
}
