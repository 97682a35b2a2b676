package org.softrdma.streams;

import io.netty.buffer.ByteBuf;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Iterator;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.transport.IoVectors;

/**
 * What a connection has to send, in order: buffers of its loop, and bytes that are sent from where they are. The loop's
 * thread.
 */
final class StreamOutput {
    /** With more than this it takes no more, until it is down to the other. */
    private static final int HIGH_BYTES = 1 << 20;

    private static final int LOW_BYTES = 1 << 18;

    /** As much may wait for the end of a turn: nobody accounts for it, but for what is left then. */
    private static final int LATER_BYTES = 1 << 16;

    /** A line, a value and its end, several times. */
    private static final int MOST_OFFERED = 16;

    private final LoopBuffers buffers;
    private final ArrayDeque<Piece> pieces = new ArrayDeque<>();
    private final IoVectors vectors = new IoVectors(new MemoryOperations(), MOST_OFFERED);
    private long bytes;

    /** Bytes of the last offer. */
    private long offered;

    /** Bytes that are left to be sent, and what to do then. */
    private static final class Piece {
        /** Kept reachable as long as this. */
        @SuppressWarnings("UnusedVariable")
        private final Object memory;

        private final Runnable done;
        private long address;
        private long length;

        Piece(Object memory, long address, long length, Runnable done) {
            this.memory = memory;
            this.address = address;
            this.length = length;
            this.done = done;
        }
    }

    StreamOutput(LoopBuffers buffers) {
        this.buffers = buffers;
    }

    /** Adds the first bytes of a buffer, which goes back to the loop when they are sent. */
    void add(ByteBuf buffer, int length) {
        if (length == 0) {
            buffers.outputDone(buffer);
            return;
        }
        add(new Piece(buffer, buffer.memoryAddress(), length, () -> buffers.outputDone(buffer)));
    }

    /** Adds direct memory, from position to limit. */
    void add(ByteBuffer source, Runnable done) {
        add(new Piece(source, MemorySegment.ofBuffer(source).address(), source.remaining(), done));
    }

    private void add(Piece piece) {
        pieces.addLast(piece);
        bytes += piece.length;
    }

    boolean isEmpty() {
        return pieces.isEmpty();
    }

    boolean isHigh() {
        return bytes > HIGH_BYTES;
    }

    /** True if it may wait for the end of the turn. */
    boolean isShort() {
        return bytes <= LATER_BYTES;
    }

    boolean isLow() {
        return bytes < LOW_BYTES;
    }

    /** Bytes that are left to be sent. */
    long bytes() {
        return bytes;
    }

    /** Where the offer is. */
    IoVectors vectors() {
        return vectors;
    }

    /** Offers the first bytes; returns the number of vectors. They stay where they are until {@link #taken}. */
    int offer() {
        int count = 0;
        offered = 0;
        for (Iterator<Piece> each = pieces.iterator(); each.hasNext() && count < MOST_OFFERED; count++) {
            Piece piece = each.next();
            vectors.set(count, piece.address, piece.length);
            offered += piece.length;
        }
        return count;
    }

    /**
     * The network has taken the first of what was offered.
     *
     * @param sent how many bytes
     * @return true if that was all
     */
    boolean taken(long sent) {
        bytes -= sent;
        long left = sent;
        while (!pieces.isEmpty() && left >= pieces.getFirst().length) {
            Piece first = pieces.removeFirst();
            left -= first.length;
            first.done.run();
        }
        if (left > 0) {
            Piece first = pieces.getFirst();
            first.address += left;
            first.length -= left;
        }
        return sent == offered;
    }

    /** None of it will be sent. */
    void drop() {
        while (!pieces.isEmpty()) {
            pieces.removeFirst().done.run();
        }
        bytes = 0;
    }
}
