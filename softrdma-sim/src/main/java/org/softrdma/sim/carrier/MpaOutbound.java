package org.softrdma.sim.carrier;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.RnicEngine;

/**
 * The sending half of an MPA stream.
 *
 * <p>Algorithm: fill a batch with segments from the {@link SegmentSource}, send it with one call, tell the source what
 * the kernel took, and give it back the rest, which it creates again later. Only a segment that was sent in part is
 * kept ({@link PartialSegment}). So memory per connection is bounded whatever the peer does, and no pointer into
 * registered memory outlives a batch without its binding. Batches and turns are bounded, so that a huge message does
 * not starve other connections.
 *
 * <p>Engine thread only.
 */
public final class MpaOutbound {
    private static final Logger LOG = LoggerFactory.getLogger(MpaOutbound.class);

    private static final long TURN_BYTES = 512 * 1024;
    private static final long BATCH_BYTES = 256 * 1024;

    private final RnicEngine engine;
    private final StreamBuffers buffers;
    private final StreamSocket socket;
    private final SegmentSource source;
    private final PartialSegment partial;
    /** The batch that the socket sends later; the engine's batch of an epoch lasts as long. */
    private @Nullable TransmitBatch underWay;

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
        this.buffers = buffers;
        partial = new PartialSegment(engine, buffers.spares());
    }

    /** There may be room in the socket again. */
    public void writable() {
        blocked = false;
    }

    /** True if a segment was sent in part. */
    public boolean isMidSegment() {
        return !partial.isEmpty() || underWay != null;
    }

    /** True if nothing is left to send; the peer may still ask for more. */
    public boolean isIdle() {
        return partial.isEmpty() && underWay == null && source.isIdle();
    }

    /**
     * The requests of the send queue are abandoned. The rest of one that was sent in part is copied, because its memory
     * belongs to the application again once the request is flushed.
     */
    public void copyRequest() {
        if (partial.isRequest()) {
            engine.epoch().enter();
            try {
                partial.own();
            } finally {
                engine.epoch().exit();
            }
        }
    }

    /** Discards the rest of a segment, and forgets what becomes of a batch that was to be sent later. */
    public void discard() {
        TransmitBatch batch = underWay;
        if (batch != null) {
            underWay = null;
            try {
                long ignored = socket.gathered(); // no request names its memory after this
            } catch (IOException e) {
                LOG.debug("a send failed on a connection that ends", e);
            } finally {
                release(batch);
            }
        }
        partial.clear();
    }

    /**
     * Sends until there is nothing to send, the kernel takes no more, or the turn ends.
     *
     * @param mayWait the first batch may be sent later, together with those of other connections: the socket says when it
     *     was, and then {@link #sent} must be called
     * @return true if the turn is over but there is more
     * @throws IOException if the connection broke
     */
    public boolean transmit(boolean mayWait) throws IOException {
        if (underWay != null) {
            return false; // goes on when that is sent
        }
        try {
            return transmitTurn(mayWait);
        } finally {
            buffers.batch().begin(); // the gathered memory is no longer in use
        }
    }

    /** True if a batch is to be sent later. */
    public boolean isUnderWay() {
        return underWay != null;
    }

    /**
     * The batch that was to be sent later was sent; nothing if there was none.
     *
     * @throws IOException if the connection broke
     */
    public void sent() throws IOException {
        TransmitBatch batch = underWay;
        if (batch == null) {
            return;
        }
        underWay = null;
        try {
            long ignored = account(batch, socket.gathered());
        } finally {
            release(batch);
        }
    }

    /** What was to be sent later is sent, if something was; a failure shows at the next call. */
    public void settle() {
        try {
            sent();
        } catch (IOException e) {
            LOG.debug("a send failed on a connection that ends", e);
        }
    }

    private void release(TransmitBatch batch) {
        buffers.giveBack(batch);
        engine.epoch().exit();
    }

    private boolean transmitTurn(boolean mayWait) throws IOException {
        source.beginTurn();
        long turn = TURN_BYTES;
        boolean later = mayWait;
        while (!blocked && turn > 0) {
            TransmitBatch batch = buffers.batch();
            batch.begin();
            if (!partial.isEmpty() && !partial.addTo(batch)) {
                if (!partial.isRequest()) {
                    throw new IOException("memory was deregistered while a message was being sent from it");
                }
                source.memoryGone(partial.sequence());
                return false;
            }
            fill(batch);
            if (batch.isEmpty()) {
                return source.settleFault();
            }
            if (later && sendLater(batch)) {
                return false;
            }
            later = false;
            turn -= account(batch, socket.gather(batch.vectors(), 0, batch.entries()));
            source.batchSent();
        }
        return !blocked;
    }

    private boolean sendLater(TransmitBatch batch) {
        if (!socket.gatherLater(batch.vectors(), batch.entries())) {
            return false;
        }
        // Its memory must neither be deregistered nor unpinned before.
        engine.epoch().enter(); // until it is sent
        underWay = batch;
        TransmitBatch ignored = buffers.leave();
        return true;
    }

    /** Tells the source what was sent, and takes back the rest; returns the bytes sent. */
    private long account(TransmitBatch batch, long sent) {
        engine.counters().increment(Counter.SEND_CALLS);
        int complete = settle(batch, sent);
        if (sent < batch.total()) {
            engine.counters().increment(Counter.SHORT_SENDS);
            blocked = true;
            takeBack(batch, complete, sent);
            socket.awaitRoom();
        }
        return sent;
    }

    private void fill(TransmitBatch batch) {
        boolean more = true;
        while (more && batch.total() < BATCH_BYTES) {
            more = source.addNext();
        }
    }

    /** Reports the segments that were sent; returns how many there were. */
    private int settle(TransmitBatch batch, long sent) {
        if (sent > 0) {
            partial.clear();
        }
        int segment = 0;
        while (segment < batch.segments() && batch.end(segment) <= sent) {
            buffers.segments().sent(batch.kind(segment));
            source.sent(batch.kind(segment), batch.sequence(segment), batch.isLast(segment));
            segment++;
        }
        return segment;
    }

    /** Goes back to the first segment that was not sent completely; keeps the rest of one that was sent in part. */
    private void takeBack(TransmitBatch batch, int firstIncomplete, long sent) {
        long start = firstIncomplete == 0 ? 0 : batch.end(firstIncomplete - 1);
        boolean inPart = sent > start || (firstIncomplete == 0 && !partial.isEmpty());
        if (inPart) {
            partial.describe(
                    batch.kind(firstIncomplete),
                    batch.sequence(firstIncomplete),
                    batch.isLast(firstIncomplete),
                    batch.offsetBefore(firstIncomplete));
            partial.save(batch, sent, batch.end(firstIncomplete));
            if (!source.allowsRequests() && partial.isRequest()) {
                partial.own();
            }
        }
        for (int i = batch.segments() - 1; i >= firstIncomplete + (inPart ? 1 : 0); i--) {
            source.takeBack(
                    batch.kind(i), batch.sequence(i), batch.offsetBefore(i), batch.isLast(i), batch.messageBinding(i));
        }
    }
}
