package org.softrdma.suites.kv;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.transport.IoVectors;
import org.softrdma.sim.transport.StreamSocket;

/**
 * What a connection has to send: bytes of its own, and bytes that are sent from where they are. The thread of the
 * connection.
 */
final class ChannelOutput {
    /** From here on the connection takes no more, until it is down to the other. */
    private static final int HIGH_BYTES = 1 << 16;

    private static final int LOW_BYTES = 1 << 14;
    private static final int PIECE_BYTES = 2048;

    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private final MemorySegment piece;
    private final IoVectors vectors;
    private long bytes;
    private int flushed;

    private record Entry(ByteBuffer bytes, Runnable done) {}

    ChannelOutput() {
        MemoryOperations memory = new MemoryOperations();
        piece = memory.allocate(PIECE_BYTES, Long.BYTES);
        vectors = new IoVectors(memory, 1);
    }

    void add(ByteBuffer added, Runnable done) {
        entries.addLast(new Entry(added, done));
        bytes += added.remaining();
    }

    /** What was added may be sent. */
    void flush() {
        flushed = entries.size();
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    boolean isHigh() {
        return bytes > HIGH_BYTES;
    }

    boolean isLow() {
        return bytes < LOW_BYTES;
    }

    long bytes() {
        return bytes;
    }

    /** Sends what was flushed; false if there was no room for all of it. */
    boolean send(StreamSocket socket) throws IOException {
        while (flushed > 0) {
            Entry first = entries.getFirst();
            while (first.bytes.hasRemaining()) {
                int wanted = prepare(first.bytes);
                int sent = (int) socket.gather(vectors, 0, 1);
                first.bytes.position(first.bytes.position() + sent);
                bytes -= sent;
                if (sent < wanted) {
                    return false;
                }
            }
            entries.removeFirst();
            flushed--;
            first.done.run();
        }
        return true;
    }

    /** The next bytes to be sent: from where they are, or a copy if that is in the heap of the JVM. */
    private int prepare(ByteBuffer source) {
        MemorySegment segment = MemorySegment.ofBuffer(source);
        if (source.isDirect()) {
            vectors.set(0, segment.address(), segment.byteSize());
            return source.remaining();
        }
        int length = Math.min(source.remaining(), PIECE_BYTES);
        MemorySegment.copy(segment, 0, piece, 0, length);
        vectors.set(0, piece.address(), length);
        return length;
    }

    /** None of it will be sent. */
    void drop() {
        while (!entries.isEmpty()) {
            entries.removeFirst().done.run();
        }
        flushed = 0;
        bytes = 0;
    }
}
