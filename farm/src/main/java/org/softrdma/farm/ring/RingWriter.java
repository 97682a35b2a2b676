package org.softrdma.farm.ring;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The sending end of a ring: lays messages out in memory of its own, at the place that they will have at the receiver.
 * Whoever owns it WRITEs them. Claims a place, fills it, seals it. A place is used again when the receiver has processed
 * it and the WRITE is complete. One thread.
 */
final class RingWriter {
    /** No room now. */
    static final long FULL = -1;

    private final MemorySegment staging;
    private final ByteBuffer view;
    private final CRC32C crc = new CRC32C();
    private long tail;
    private long head;
    private long written;
    private int number = 1;
    private int claimed;

    /**
     * An empty ring.
     *
     * @param staging memory as long as the ring, zeroed
     */
    RingWriter(MemorySegment staging) {
        this.staging = staging;
        view = staging.asByteBuffer();
    }

    /** Longest payload: with it a message and what a skip leaves fit into half of the ring, so it gets room in the end. */
    static int longest(long ringLength) {
        return (int) (ringLength / 4) - RingFrameDescriptor.ALIGNMENT;
    }

    /** True if the next frame does not fit in what is left before the end of the ring: {@link #skip} first. */
    boolean mustSkip(int payload) {
        return RingFrameDescriptor.length(payload) > left();
    }

    /** True if there is room for a message, and for the skip before it. */
    boolean hasRoom(int payload) {
        if (payload > longest(staging.byteSize())) {
            throw new IllegalArgumentException(
                    "payload=" + payload + " > longest=" + longest(staging.byteSize()) + " of this ring");
        }
        long needed = RingFrameDescriptor.length(payload) + (mustSkip(payload) ? left() : 0);
        return tail + needed - Math.min(head, written) <= staging.byteSize();
    }

    private long left() {
        return staging.byteSize() - at();
    }

    /** Where the next frame begins. */
    long at() {
        return tail % staging.byteSize();
    }

    /** Where its payload goes. */
    long claim(int payload) {
        claimed = payload;
        return at() + RingFrameDescriptor.PAYLOAD_OFFSET;
    }

    /** Completes the claimed frame; returns its length. */
    int seal() {
        int length = frame(claimed, claimed);
        tail += length;
        return length;
    }

    /** Makes a frame that leaves out the rest of the ring; returns its length. */
    int skip() {
        long rest = left();
        int length = frame(0, RingFrameDescriptor.SKIP);
        tail += rest;
        return length;
    }

    private int frame(int payload, int lengthAndSkip) {
        int at = (int) at();
        int trailer = RingFrameDescriptor.trailer(payload);
        int end = RingFrameDescriptor.PAYLOAD_OFFSET + payload;
        staging.asSlice((long) at + end, trailer - end).fill((byte) 0);
        RingFrameDescriptor.put(staging, at, RingFrameDescriptor.header(lengthAndSkip, number));
        crc.reset();
        crc.update(view.limit(at + trailer).position(at));
        RingFrameDescriptor.put(staging, at + trailer, RingFrameDescriptor.trailer((int) crc.getValue(), number));
        number = RingFrameDescriptor.next(number);
        return RingFrameDescriptor.length(payload);
    }

    /** Bytes put into the ring. */
    long tail() {
        return tail;
    }

    /** The receiver has told how far it is. */
    void headIs(long word) {
        if (HeadWordDescriptor.isWhole(word)) {
            long position = HeadWordDescriptor.position(word, head);
            if (position <= tail) {
                head = position;
            }
        }
    }

    /** The WRITE of all before a position is complete. */
    void writtenTo(long position) {
        written = Math.max(written, position);
    }
}
