package org.softrdma.sim.engine;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.transport.IoVectors;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.wire.Ddp;

/**
 * How bytes come from the socket: into the engine's buffer, or the rest of a payload straight into its place and what follows
 * it into the buffer. A header that is not complete yet is carried over from one receive to the next in a few bytes of the
 * connection's own; with CRC a whole FPDU is.
 *
 * <p>Only payload whose header has been checked is received into registered memory. Rejected: receiving the payload of a
 * response that is merely expected into its sink, and taking it back if something else came. That saves a system call, but
 * whoever writes to the sink meanwhile (the application, a peer, another engine) then changes the stream.
 *
 * <p>Engine thread only.
 */
final class StreamReceiver {
    /** Entries of a receive: the place and the buffer. */
    static final int VECTORS = 2;

    private static final int CARRY_BYTES = 256;

    private final RnicEngine engine;
    private final StreamSocket socket;
    private MemorySegment carry;
    private int carried;
    private long end;

    StreamReceiver(RnicEngine engine, StreamSocket socket) {
        this.engine = engine;
        this.socket = socket;
        carry = engine.memory().allocate(CARRY_BYTES, Long.BYTES);
    }

    /** True if no bytes are carried over. */
    boolean isEmpty() {
        return carried == 0;
    }

    /** Bytes of the buffer that the next receive may fill. */
    int room() {
        return engine.limits().receiveBuffer() - carried;
    }

    /**
     * Receives into the buffer, behind what was carried over.
     *
     * @param length most bytes, at most {@link #room}
     * @return bytes received, 0 if nothing is there, or {@link StreamSocket#END_OF_STREAM}
     * @throws IOException if the connection broke
     */
    int receive(int length) throws IOException {
        engine.counters().increment(Counter.RECEIVE_CALLS);
        long buffer = start();
        int received = socket.receive(buffer + carried, length);
        if (received > 0 && carried > 0) {
            NativeMemory.copy(carry.address(), buffer, carried);
        }
        end = buffer + carried + Math.max(received, 0);
        return received;
    }

    /**
     * Receives into a place, and what comes behind it into the buffer. Nothing may be carried over.
     *
     * @param place raw address that may be written in this batch
     * @param placeLength its bytes
     * @param length most bytes behind it, at most {@link #room}
     * @return as {@link #receive(int)}
     * @throws IOException if the connection broke
     */
    int receive(long place, int placeLength, int length) throws IOException {
        engine.counters().increment(Counter.RECEIVE_CALLS);
        IoVectors vectors = engine.receiveVectors();
        vectors.set(0, place, placeLength);
        vectors.set(1, start(), length);
        int received = socket.scatter(vectors, VECTORS);
        end = start() + Math.max(received - placeLength, 0);
        return received;
    }

    /** Address of what is in the buffer after a receive that got something. */
    long start() {
        return engine.receiveAddress();
    }

    /** Address behind what is in the buffer after a receive that got something. */
    long end() {
        return end;
    }

    /** Carries what is in the buffer from an address on over to the next receive. */
    void keep(long from) {
        int length = (int) (end - from);
        if (length > carry.byteSize()) {
            carry = engine.memory().allocate(Ddp.fpduLength(Ddp.MAX_ULPDU), Long.BYTES);
        }
        if (length > 0) {
            NativeMemory.copy(from, carry.address(), length);
        }
        carried = length;
    }
}
