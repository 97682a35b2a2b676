package org.softrdma.kv.server.stream;

import io.netty.buffer.ByteBuf;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.transport.IoVectors;

/**
 * What a connection has to send, in order: buffers of its loop, and bytes that are sent from where they are. The loop's
 * thread.
 */
final class StreamOutput {
    /** This much may wait for the end of a turn: only what is left then is accounted for. */
    private static final int LATER_BYTES = 1 << 16;

    /** A line, a value and its end, several times. */
    private static final int MOST_OFFERED = 16;

    private final LoopBuffers buffers;
    private @Nullable Piece first;
    private @Nullable Piece last;
    private final IoVectors vectors = new IoVectors(new BufferOperations(), MOST_OFFERED);
    private long bytes;

    /** Bytes of the last offer. */
    private long offered;

    /** The piece that was sent last: whoever has one answer under way at a time makes no other. */
    private @Nullable Piece spare;

    /** Bytes that are left to be sent, and what to do then. Linked by hand: adding one to a queue never fails half-way. */
    private static final class Piece {
        /** Goes back to the loop; null if it is not the loop's. */
        private @Nullable ByteBuf buffer;
        /** Direct memory of somebody else, kept reachable as long as it is sent. */
        @SuppressWarnings("UnusedVariable")
        private @Nullable ByteBuffer source;
        /** Told instead. */
        private @Nullable Runnable done;

        private long address;
        private long length;
        private @Nullable Piece next;
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
        Piece piece = piece();
        piece.buffer = buffer;
        add(piece, buffer.memoryAddress(), length);
    }

    /** Adds direct memory, from position to limit. */
    void add(ByteBuffer source, Runnable done) {
        Piece piece = piece();
        piece.source = source;
        piece.done = done;
        add(piece, MemorySegment.ofBuffer(source).address(), source.remaining());
    }

    private Piece piece() {
        Piece piece = spare;
        spare = null;
        return piece == null ? new Piece() : piece;
    }

    private void add(Piece piece, long address, long length) {
        piece.address = address;
        piece.length = length;
        if (last == null) {
            first = piece;
        } else {
            last.next = piece;
        }
        last = piece;
        bytes += piece.length;
    }

    private void removeFirst(Piece piece) {
        first = piece.next;
        if (first == null) {
            last = null;
        }
        ByteBuf buffer = piece.buffer;
        Runnable done = piece.done;
        piece.next = null;
        piece.buffer = null;
        piece.source = null;
        piece.done = null;
        spare = piece;
        if (buffer != null) {
            buffers.outputDone(buffer);
        } else if (done != null) {
            done.run();
        }
    }

    boolean isEmpty() {
        return first == null;
    }

    boolean isHigh() {
        return bytes > ClientChannel.HIGH_OUTPUT_BYTES;
    }

    /** True if it may wait for the end of the turn. */
    boolean isShort() {
        return bytes <= LATER_BYTES;
    }

    boolean isLow() {
        return bytes < ClientChannel.LOW_OUTPUT_BYTES;
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
        for (Piece piece = first; piece != null && count < MOST_OFFERED; piece = piece.next) {
            vectors.set(count++, piece.address, piece.length);
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
        for (Piece piece = first; piece != null; piece = first) {
            if (left < piece.length) {
                piece.address += left;
                piece.length -= left;
                break;
            }
            left -= piece.length;
            removeFirst(piece);
        }
        return sent == offered;
    }

    /** None of it will be sent. */
    void drop() {
        bytes = 0;
        try {
            for (Piece piece = first; piece != null; piece = first) {
                removeFirst(piece);
            }
        } finally {
            if (first != null) { // one has failed, which keeps the others from nothing
                drop();
            }
        }
    }
}
