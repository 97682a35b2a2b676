package org.softrdma.sim.carrier;

import java.io.IOException;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.transport.StreamSocket;

/**
 * The sending half of an MPA stream.
 *
 * <p>Algorithm: fill a batch with segments from the {@link SegmentSource}, send it with one call, tell the source what
 * the kernel took, and give it back the rest, which it creates again later. Only a segment that was sent in part is
 * kept ({@link Residue}). So memory per connection is bounded whatever the peer does, and no pointer into registered
 * memory outlives a batch without its binding. Batches and turns are bounded, so that a huge message does not starve
 * other connections.
 *
 * <p>Engine thread only.
 */
public final class MpaOutbound {
    private static final long TURN_BYTES = 512 * 1024;
    private static final long BATCH_BYTES = 256 * 1024;

    private final RnicEngine engine;
    private final TransmitBatch batch;
    private final StreamSocket socket;
    private final SegmentSource source;
    private final Residue residue;
    private boolean blocked;

    /**
     * Sends the segments of a source.
     *
     * @param engine of the connection
     * @param buffers of the engine
     * @param socket connected
     * @param source of segments
     */
    public MpaOutbound(RnicEngine engine, StreamBuffers buffers, StreamSocket socket, SegmentSource source) {
        this.engine = engine;
        this.socket = socket;
        this.source = source;
        batch = buffers.batch();
        residue = new Residue(engine, buffers.spares());
    }

    /** There may be room in the socket again. */
    public void writable() {
        blocked = false;
    }

    /** True if a segment was sent in part. */
    public boolean isMidSegment() {
        return !residue.isEmpty();
    }

    /** True if nothing is left to send; the peer may still ask for more. */
    public boolean isIdle() {
        return residue.isEmpty() && source.isIdle();
    }

    /**
     * The requests of the send queue are abandoned. The rest of one that was sent in part is copied, because its memory
     * belongs to the application again once the request is flushed.
     */
    public void copyRequest() {
        if (residue.isRequest()) {
            engine.epoch().enter();
            try {
                residue.own();
            } finally {
                engine.epoch().exit();
            }
        }
    }

    /** Discards the rest of a segment. */
    public void discard() {
        residue.clear();
    }

    /**
     * Sends until there is nothing to send, the kernel takes no more, or the turn ends.
     *
     * @return true if the turn is over but there is more
     * @throws IOException if the connection broke
     */
    public boolean transmit() throws IOException {
        try {
            return transmitTurn();
        } finally {
            batch.begin(); // the gathered memory is no longer in use
        }
    }

    private boolean transmitTurn() throws IOException {
        long turn = TURN_BYTES;
        while (!blocked && turn > 0) {
            batch.begin();
            if (!residue.isEmpty() && !residue.addTo(batch)) {
                if (!residue.isRequest()) {
                    throw new IOException("memory was deregistered while a message was being sent from it");
                }
                source.memoryGone(residue.sequence());
                return false;
            }
            fill();
            if (batch.isEmpty()) {
                return source.settleFault();
            }
            long sent = socket.gather(batch.vectors(), 0, batch.entries());
            engine.counters().increment(Counter.SEND_CALLS);
            int complete = settle(sent);
            if (sent < batch.total()) {
                engine.counters().increment(Counter.SHORT_SENDS);
                blocked = true;
                takeBack(complete, sent);
                socket.awaitRoom();
            }
            turn -= sent;
        }
        return !blocked;
    }

    private void fill() {
        boolean more = true;
        while (more && batch.total() < BATCH_BYTES) {
            more = source.addNext();
        }
    }

    /** Reports the segments that were sent; returns how many there were. */
    private int settle(long sent) {
        if (sent > 0) {
            residue.clear();
        }
        int segment = 0;
        while (segment < batch.segments() && batch.end(segment) <= sent) {
            engine.counters().sent(batch.kind(segment));
            source.sent(batch.kind(segment), batch.sequence(segment), batch.isLast(segment));
            segment++;
        }
        return segment;
    }

    /** Goes back to the first segment that was not sent completely; keeps the rest of one that was sent in part. */
    private void takeBack(int firstIncomplete, long sent) {
        long start = firstIncomplete == 0 ? 0 : batch.end(firstIncomplete - 1);
        boolean inPart = sent > start || (firstIncomplete == 0 && !residue.isEmpty());
        if (inPart) {
            residue.describe(
                    batch.kind(firstIncomplete),
                    batch.sequence(firstIncomplete),
                    batch.isLast(firstIncomplete),
                    batch.offsetBefore(firstIncomplete));
            residue.save(batch, sent, batch.end(firstIncomplete));
            if (!source.allowsRequests() && residue.isRequest()) {
                residue.own();
            }
        }
        for (int i = batch.segments() - 1; i >= firstIncomplete + (inPart ? 1 : 0); i--) {
            source.takeBack(
                    batch.kind(i), batch.sequence(i), batch.offsetBefore(i), batch.isLast(i), batch.messageBinding(i));
        }
    }
}
