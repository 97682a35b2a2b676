package org.softrdma.farm.ring;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The receiving end of a ring: finds messages in memory that a peer WRITEs. Take a message with {@link #poll}, process
 * it, then {@link #release} it. One thread.
 */
final class RingReader {
    /** No message is there. */
    static final int NONE = -1;

    private final MemorySegment ring;
    private final ByteBuffer view;
    private final CRC32C crc = new CRC32C();
    private final boolean proven;
    private long head;
    private long told;
    private int number = 1;
    private int length = NONE;

    /**
     * An empty ring.
     *
     * @param ring its memory, zeroed; its length is a multiple of 16
     * @param proven true to believe a message by its number and checksum; false as in the paper, by a trailer that is
     *     not zero, which is right only in memory where the last word of a WRITE lands last
     */
    RingReader(MemorySegment ring, boolean proven) {
        this.ring = ring;
        this.proven = proven;
        view = ring.asByteBuffer();
    }

    /** The length of the next message's payload, or {@link #NONE}. The same message until it is released. */
    int poll() {
        while (length == NONE) {
            long header = (long) RingFrameDescriptor.WORD.getAcquire(ring, at());
            if (header == 0) {
                return NONE;
            }
            int lengthAndSkip = RingFrameDescriptor.lengthAndSkip(header);
            if (!isThere(header, lengthAndSkip & ~RingFrameDescriptor.SKIP)) {
                return NONE;
            }
            if ((lengthAndSkip & RingFrameDescriptor.SKIP) != 0) {
                long rest = ring.byteSize() - at();
                clear(RingFrameDescriptor.length(0));
                advance(rest);
            } else {
                length = lengthAndSkip;
            }
        }
        return length;
    }

    private boolean isThere(long header, int payload) {
        long at = at();
        if (payload > ring.byteSize() - at - RingFrameDescriptor.ALIGNMENT) {
            return false; // the header has come in part, or the peer is wrong
        }
        int trailerOffset = RingFrameDescriptor.trailer(payload);
        long trailer = (long) RingFrameDescriptor.WORD.getAcquire(ring, at + trailerOffset);
        if (!proven) {
            return trailer != 0;
        }
        if (RingFrameDescriptor.number(header) != number || RingFrameDescriptor.number(trailer) != number) {
            return false;
        }
        crc.reset();
        crc.update(view.limit((int) at + trailerOffset).position((int) at));
        return trailer == RingFrameDescriptor.trailer((int) crc.getValue(), number);
    }

    /** Where the payload of the message begins in the ring. */
    long payload() {
        return at() + RingFrameDescriptor.PAYLOAD_OFFSET;
    }

    /** The message is processed: its place is free. */
    void release() {
        int frame = RingFrameDescriptor.length(length);
        clear(frame);
        advance(frame);
        length = NONE;
    }

    /** A trailer that stayed would make the next message look complete. */
    private void clear(int bytes) {
        for (int i = 0; i < bytes; i += Long.BYTES) {
            RingFrameDescriptor.put(ring, at() + i, 0);
        }
    }

    private void advance(long bytes) {
        head += bytes;
        number = RingFrameDescriptor.next(number);
    }

    private long at() {
        return head % ring.byteSize();
    }

    /** Bytes processed. */
    long head() {
        return head;
    }

    /** True if the sender should be told how far this end is: half of the ring has been processed since. */
    boolean mustTell() {
        return head - told >= ring.byteSize() / 2;
    }

    /** The sender is told. */
    void told() {
        told = head;
    }
}
