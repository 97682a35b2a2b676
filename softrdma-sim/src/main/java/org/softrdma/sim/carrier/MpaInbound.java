package org.softrdma.sim.carrier;

import java.io.IOException;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.wire.Ddp;

/**
 * The receiving half of an MPA stream: FPDUs are cut from the byte stream, given to the {@link SegmentSink}, and their payload is
 * placed.
 *
 * <p>Bytes arrive in the engine's receive buffer and are copied once to where they belong; the rest of a large payload, once its
 * header has been checked, is received straight into its place ({@link StreamReceiver}). Where the response to a large READ is
 * expected next, little more than its header is received at first. A socket may receive short messages ahead, and lend them. So the sink of a READ holds bytes of its response or what it
 * held before. With CRC a whole FPDU is received first, because nothing may be placed before its CRC was checked (RFC 5044 section
 * 4.4). Polled memory is never received into either: the kernel says nothing of the order in which it stores, and what
 * it has stored is seen at once. Each placement is checked by the sink, and again by the {@link Placement} when it
 * goes on in a later batch.
 *
 * <p>Engine thread only.
 */
public final class MpaInbound {
    private static final long TURN_BYTES = 1024 * 1024;
    /** A payload with this much left is received straight into its place. */
    private static final int STRAIGHT_BYTES = 4 * 1024;
    /** After a large segment only this much is received at once, so that the next one's payload can go straight too. */
    private static final int SMALL_RECEIVE = 2 * 1024;
    /** The header of a response and a little payload: short messages come whole, and the rest of the sink is as aligned as before. */
    private static final int HEADER_RECEIVE = Ddp.TAGGED_HEADER_LENGTH + 128;

    private static final int PEEK_BYTES = Short.BYTES + Short.BYTES;

    private final RnicEngine engine;
    private final StreamBuffers buffers;
    private final StreamSocket socket;
    private final StreamReceiver receiver;
    private final boolean crc;
    private final CarrierEvents events;
    private final SegmentSink sink;
    private final Placement placement;

    private int trailerLeft;

    /**
     * Gives the segments of a socket to a sink.
     *
     * @param engine of the connection
     * @param buffers of the engine
     * @param socket connected
     * @param crc FPDUs have a CRC
     * @param events told what happens
     * @param sink takes the segments
     * @param placement where it says they go
     */
    public MpaInbound(
            RnicEngine engine,
            StreamBuffers buffers,
            StreamSocket socket,
            boolean crc,
            CarrierEvents events,
            SegmentSink sink,
            Placement placement) {
        this.engine = engine;
        this.buffers = buffers;
        this.socket = socket;
        this.crc = crc;
        this.events = events;
        this.sink = sink;
        this.placement = placement;
        receiver = new StreamReceiver(engine, buffers, socket, crc, events);
    }

    /** Gives up what has come in part. */
    public void discard() {
        receiver.forget();
    }

    /** True between FPDUs: the peer may end the stream here. */
    public boolean isAtBoundary() {
        return receiver.isEmpty() && placement.left() == 0 && trailerLeft == 0;
    }

    /**
     * Receives until nothing is there, the stream is over, or the turn is.
     *
     * @return true if the turn is over but there may be more
     * @throws IOException if the connection broke
     */
    public boolean receive() throws IOException {
        if (receiver.isStalled()) {
            events.stalled();
            return false;
        }
        long turn = TURN_BYTES;
        while (events.isReceiving() && turn > 0) {
            int ahead = receiver.receiveAhead(crc);
            if (ahead > 0) {
                receiver.keep(consume(receiver.start(), receiver.end()));
                turn -= ahead;
                continue;
            }
            int straight = !crc && placement.straightLeft() >= STRAIGHT_BYTES ? placement.straightLeft() : 0;
            if (straight > 0 && !mayWrite()) {
                return false;
            }
            boolean largeNext = straight == 0 && isLargePayloadNext();
            boolean large = straight > 0 || largeNext || placement.isLarge();
            if (large) {
                socket.receiveAhead(false);
            }
            int buffered = bufferedBytes(straight, largeNext);
            int received = straight > 0
                    ? receiver.receive(placement.runAddress(), straight, buffered)
                    : receiver.receive(buffered);
            if (received < 0) {
                events.endOfStream();
                return false;
            }
            if (received > 0) {
                placement.advance(Math.min(received, straight));
                receiver.keep(consume(receiver.start(), receiver.end()));
            }
            if (!large && received < buffered) {
                socket.receiveAhead(true);
            }
            // Fewer than asked for: an event tells of the rest, unless the socket says that none will.
            if (received < straight + buffered && (received == 0 || !socket.hasMore())) {
                if (received > 0 && received < straight) {
                    events.retryReceive();
                }
                return false;
            }
            turn -= received;
        }
        return events.isReceiving();
    }

    /** How many bytes to receive into the buffer, behind those that go straight into their place. */
    private int bufferedBytes(int straight, boolean largeNext) {
        int room = receiver.room();
        if (crc) {
            return room;
        }
        if (straight >= Placement.LARGE_BYTES || (straight == 0 && placement.isLarge())) {
            return Math.min(room, SMALL_RECEIVE);
        }
        return largeNext ? Math.min(room, HEADER_RECEIVE) : room;
    }

    /** True if most likely a message comes next whose payload should go straight; short ones in a row are received at once. */
    private boolean isLargePayloadNext() {
        if (placement.left() > 0) {
            return false;
        }
        long expected = sink.expectedPayload();
        return expected >= Placement.LARGE_BYTES || (expected >= STRAIGHT_BYTES && sink.expectsOnlyOne());
    }

    /** Handles the bytes from a position to an end; returns where it stopped for want of more. */
    private long consume(long from, long end) {
        long at = from;
        while (events.isReceiving()) {
            if (placement.left() > 0) {
                int here = (int) Math.min(placement.left(), end - at);
                if (here > 0 && !place(at, here)) {
                    break;
                }
                at += here;
                if (placement.left() > 0) {
                    return at;
                }
            }
            if (trailerLeft > 0) {
                int here = (int) Math.min(trailerLeft, end - at);
                trailerLeft -= here;
                at += here;
                if (trailerLeft > 0) {
                    return at;
                }
                events.segmentReceived();
                sink.done();
                continue;
            }
            int header = beginSegment(at, end - at);
            if (header == 0) {
                return events.isReceiving() ? at : end;
            }
            at += header;
        }
        return end;
    }

    /** Begins the segment at a position; returns the bytes of its header, or 0 if it is not all there. */
    private int beginSegment(long at, long available) {
        if (available < PEEK_BYTES) {
            return 0;
        }
        int ulpdu = Ddp.ulpduLength(at);
        int control = Ddp.control(at);
        int header = sink.headerLength(control);
        boolean complete = available >= (crc ? Ddp.fpduLength(ulpdu) : Math.min(header, Short.BYTES + ulpdu));
        if (!complete) {
            return 0;
        }
        if (crc && !buffers.crc().isValid(buffers.receiveView(), buffers.receiveAddress(), at, ulpdu)) {
            engine.counters().increment(Counter.CRC_ERRORS);
            events.crcWrong();
            return 0;
        }
        if (!sink.begin(at, ulpdu, control)) {
            return 0;
        }
        trailerLeft = Ddp.trailerLength(ulpdu);
        return header;
    }

    // ---- placing payload

    private boolean place(long from, int length) {
        long at = from;
        int left = length;
        while (left > 0) {
            if (placement.runLeft() == 0 ? !sink.nextRun() : !mayWrite()) {
                return false;
            }
            int here = Math.min(left, placement.runLeft());
            boolean ignored = placement.put(at, here); // iWARP takes no other process's memory
            at += here;
            left -= here;
        }
        return true;
    }

    /** False, and the connection is on its way down, if the memory was deregistered since an earlier batch. */
    private boolean mayWrite() {
        if (placement.mayWrite()) {
            return true;
        }
        sink.runGone();
        return false;
    }
}
