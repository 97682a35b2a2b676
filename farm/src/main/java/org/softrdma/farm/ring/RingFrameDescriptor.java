package org.softrdma.farm.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A message in a ring: little endian, a multiple of 16 bytes at a multiple of 16. The sender writes it, in one WRITE; the
 * receiver sets it to zero once it is processed.
 *
 * <pre>
 *  63                            32 31 30                          0
 * +--------------------------------+--+-----------------------------+
 * |  number of the frame           |S |  length of the payload      |   0  S: skip, the next frame is at the ring's start
 * +--------------------------------+--+-----------------------------+
 * |  payload, zeroes up to the trailer                              |   8
 * +--------------------------------+--------------------------------+
 * |  number of the frame           |  CRC-32C of all before it      |  last 8 bytes: the trailer, which lands last
 * +--------------------------------+--------------------------------+
 * </pre>
 *
 * <p>Numbers count from 1 and wrap, leaving out 0. A skip frame has no payload: 16 bytes, whatever is left of the ring.
 *
 * <p>The paper has the length at the head and a trailer, zero until there is a message: then a message is there when its
 * trailer is not zero, "because RDMA writes are performed in increasing address order". Number and checksum are ours.
 * With them a message proves itself, in whatever order its bytes land.
 */
public final class RingFrameDescriptor {
    /** Where length and number are. */
    public static final int HEADER_OFFSET = 0;

    /** Where the payload begins. */
    public static final int PAYLOAD_OFFSET = HEADER_OFFSET + Long.BYTES;

    /** Bytes of a trailer. */
    public static final int TRAILER_LENGTH = Long.BYTES;

    /** Frames are multiples of this, so that a skip frame fits in whatever is left of a ring. */
    public static final int ALIGNMENT = PAYLOAD_OFFSET + TRAILER_LENGTH;

    /** Set in the length of a skip frame. */
    public static final int SKIP = 1 << 31;

    /** A word of a ring, aligned. */
    static final VarHandle WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private RingFrameDescriptor() {}

    /** Bytes of a frame. */
    public static int length(int payload) {
        return (PAYLOAD_OFFSET + payload + TRAILER_LENGTH + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** Where the trailer of a frame is. */
    static int trailer(int payload) {
        return length(payload) - TRAILER_LENGTH;
    }

    /** Length and number. */
    static long header(int lengthAndSkip, int number) {
        return word(lengthAndSkip, number);
    }

    /** Number and checksum. */
    static long trailer(int checksum, int number) {
        return word(checksum, number);
    }

    private static long word(int low, int high) {
        return Integer.toUnsignedLong(low) | (long) high << Integer.SIZE;
    }

    /** The payload's length, and the skip bit. */
    static int lengthAndSkip(long header) {
        return (int) header;
    }

    /** The number in a header or trailer. */
    static int number(long word) {
        return (int) (word >>> Integer.SIZE);
    }

    /** The number that follows. */
    static int next(int number) {
        return number == -1 ? 1 : number + 1;
    }

    static void put(MemorySegment ring, long offset, long word) {
        WORD.setOpaque(ring, offset, word);
    }
}
