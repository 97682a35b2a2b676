package org.softrdma.sim.connection;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.sim.carrier.CarrierEvents;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.DrivenConnection;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.rdmap.StreamEvents;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;

/**
 * Gets the events of a connection's stream and updates the connection and its queue pair: the first segment, a request
 * that is done, and every event that ends the stream. Engine thread only.
 */
final class StreamObserver implements CarrierEvents, StreamEvents {
    private static final Logger LOG = LoggerFactory.getLogger(StreamObserver.class);

    private static final String NORMAL_END = "the peer closed the connection";

    private final RnicEngine engine;
    private final DrivenConnection connection;
    private final ConnectionLifecycle life;
    private final ConnectionSocket socket;
    private final PeerHost peerHost;
    private boolean firstSegmentSeen;
    private boolean retrying;

    /**
     * Before the first event.
     *
     * @param engine of the connection
     * @param connection the connection itself, for the engine's lists
     * @param life of the connection
     * @param socket of the connection
     * @param peerHost told when a segment has arrived
     */
    StreamObserver(
            RnicEngine engine,
            DrivenConnection connection,
            ConnectionLifecycle life,
            ConnectionSocket socket,
            PeerHost peerHost) {
        this.engine = engine;
        this.connection = connection;
        this.life = life;
        this.socket = socket;
        this.peerHost = peerHost;
    }

    /** True once a whole segment has arrived. */
    boolean hasSeenSegment() {
        return firstSegmentSeen;
    }

    /** The retry that was requested begins: another one may be requested. */
    void retryBegins() {
        retrying = false;
    }

    // ---- the carrier

    @Override
    public boolean isReceiving() {
        return life.state() == ConnectionLifecycle.State.STREAM;
    }

    /** The first segment allows the passive side to send (RFC 5044 section 7.1.2). */
    @Override
    public void segmentReceived() {
        peerHost.heard();
        if (!firstSegmentSeen) {
            firstSegmentSeen = true;
            EstablishedStream stream = life.stream();
            if (stream != null) {
                stream.readyRepeat().cancel();
                stream.allowRequests();
            }
            Handshake handshake = life.handshake();
            if (handshake != null) {
                handshake.firstSegment();
            }
        }
    }

    @Override
    public void retryReceive() {
        if (!retrying) {
            retrying = true;
            engine.receiveRetries().add(connection);
        }
    }

    @Override
    public void endOfStream() {
        EstablishedStream stream = life.stream();
        boolean boundary = stream == null || stream.in().isAtBoundary();
        life.endStream(
                boundary ? NORMAL_END : "the peer closed the connection in the middle of a message", -1, null, 0);
        life.finishWhenIdle();
    }

    @Override
    public void crcWrong() {
        terminate(TerminateCause.MPA_CRC, 0);
    }

    @Override
    public void stalled() {
        engine.counters().increment(Counter.UNFINISHED_ENDED);
        terminate(TerminateCause.LOCAL_CATASTROPHIC, 0);
    }

    // ---- messages

    @Override
    public void requestSent(long sequence) {
        QueuePairEnd pair = life.queuePair();
        if (pair != null && !pair.isInError()) {
            pair.sendQueue().complete(sequence);
        }
    }

    @Override
    public void accessRefused() {
        engine.counters().increment(Counter.ACCESS_ERRORS);
        QueuePairEnd pair = life.queuePair();
        if (pair != null) {
            pair.accessRefused();
        }
    }

    @Override
    public void requestRefused() {
        QueuePairEnd pair = life.queuePair();
        if (pair != null) {
            pair.requestRefused();
        }
    }

    @Override
    public void terminate(TerminateCause cause, long segment) {
        EstablishedStream stream = life.stream();
        if (isReceiving() && stream != null) {
            stream.queueTerminate(cause, segment);
            String reason = "terminated the peer's stream: " + cause.text();
            life.endStream(reason, -1, null, cause.code());
            life.drain();
            tell(reason);
        }
    }

    @Override
    public void terminateSent() {
        life.finish();
    }

    @Override
    public void terminated(int code, String meaning, long culprit, CompletionStatus status) {
        String reason = "the peer terminated the stream: " + meaning;
        life.endStream(reason, culprit, status, code);
        tell(reason);
        life.finish();
    }

    /** After the end, which needs less memory than this. */
    private void tell(String reason) {
        try {
            LOG.info("{}: {}", socket.peer(), reason);
        } catch (RuntimeException | Error e) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
        }
    }

    @Override
    public void localProtectionError(long sequence) {
        localError(sequence, CompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @Override
    public void localError(long sequence, CompletionStatus status) {
        EstablishedStream stream = life.stream();
        if (isReceiving() && stream != null) {
            stream.queueTerminate(TerminateCause.LOCAL_CATASTROPHIC, 0);
            life.endStream(
                    status == CompletionStatus.LOCAL_PROTECTION_ERROR
                            ? "a local buffer was not accessible"
                            : "a request of this side failed: " + status,
                    sequence,
                    status,
                    0);
            life.drain();
        }
    }

    @Override
    public void bufferGone(long sequence) {
        life.cutStream("a local buffer was deregistered", sequence, CompletionStatus.LOCAL_PROTECTION_ERROR);
        life.release(false);
    }
}
