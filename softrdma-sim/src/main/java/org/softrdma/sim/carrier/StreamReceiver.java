package org.softrdma.sim.carrier;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.RnicEngine;

/**
 * How bytes come from the socket: into the engine's buffer, in one that the socket lends, or the rest of a payload straight into its place and what follows
 * it into the buffer. A header that is not complete yet is carried over from one receive to the next in a spare buffer of
 * the engine; with CRC a whole FPDU is.
 *
 * <p>Only payload whose header has been checked is received into registered memory. Rejected: receiving the payload of a
 * response that is merely expected into its sink, and taking it back if something else came. That saves a system call, but
 * whoever writes to the sink meanwhile (the application, a peer, another engine) then changes the stream.
 *
 * <p>Engine thread only.
 */
final class StreamReceiver {
    /** Behind the part of a header that was carried over: its rest, and no more payload than need be copied twice. */
    private static final int REST_OF_HEADER = 128;

    private final RnicEngine engine;
    private final StreamBuffers buffers;
    private final StreamSocket socket;
    private final boolean crc;
    private final UnfinishedFpdus.Part part;
    private MemorySegment carry = MemorySegment.NULL;
    private int carried;
    private long start;
    private long end;

    /**
     * Nothing received yet.
     *
     * @param crc what is carried over are parts of FPDUs, and counts as such
     */
    StreamReceiver(RnicEngine engine, StreamBuffers buffers, StreamSocket socket, boolean crc, CarrierEvents events) {
        this.engine = engine;
        this.buffers = buffers;
        this.socket = socket;
        this.crc = crc;
        part = new UnfinishedFpdus.Part(events);
    }

    /** True if the peer has not finished an FPDU for long, and others need the memory. */
    boolean isStalled() {
        return part.isStalled();
    }

    /** True if no bytes are carried over. */
    boolean isEmpty() {
        return carried == 0;
    }

    /** Bytes of the buffer that the next receive may fill. */
    int room() {
        return buffers.receiveBytes() - carried;
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
        long buffer = buffers.receiveAddress();
        int received = socket.receive(buffer + carried, length);
        if (received > 0 && carried > 0) {
            NativeMemory.copy(carry.address(), buffer, carried);
        }
        start = buffer;
        end = buffer + carried + Math.max(received, 0);
        return received;
    }

    /**
     * Takes bytes that the socket has received ahead: where they are, or, behind what was carried over, into the buffer.
     *
     * @param copied they must be in the buffer
     * @return bytes received, 0 if none have come ahead
     * @throws IOException if the connection broke
     */
    int receiveAhead(boolean copied) throws IOException {
        if (copied || carried > 0) {
            return socket.hasAhead() ? receive(copied ? room() : Math.min(room(), REST_OF_HEADER)) : 0;
        }
        int lent = socket.lend();
        if (lent > 0) {
            engine.counters().increment(Counter.RECEIVE_CALLS);
            start = socket.lentAddress();
            end = start + lent;
        }
        return lent;
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
        IoVectors vectors = buffers.receiveVectors();
        vectors.set(0, place, placeLength);
        start = buffers.receiveAddress();
        vectors.set(1, start, length);
        int received = socket.scatter(vectors, StreamBuffers.RECEIVE_VECTORS);
        end = start + Math.max(received - placeLength, 0);
        return received;
    }

    /** Address of what was received, behind its place, after a receive that got something. */
    long start() {
        return start;
    }

    /** Address behind it. */
    long end() {
        return end;
    }

    /** Carries what was received, from an address on, over to the next receive. */
    void keep(long from) {
        boolean same = carried > 0 && from == start;
        drop();
        int length = (int) (end - from);
        if (length > 0) {
            carry = buffers.spares().take(length);
            NativeMemory.copy(from, carry.address(), length);
            carried = length;
        }
        if (crc) {
            account(same, length);
        }
    }

    private void account(boolean same, int length) {
        if (length == 0) {
            buffers.unfinished().end(part);
        } else if (same) {
            buffers.unfinished().grow(engine, part, length);
        } else {
            buffers.unfinished().begin(engine, part, length);
        }
    }

    /** Gives up what is carried over. */
    void forget() {
        drop();
        buffers.unfinished().end(part);
    }

    private void drop() {
        carried = 0;
        buffers.spares().giveBack(carry);
        carry = MemorySegment.NULL;
    }
}
