package org.softrdma.sim.connection;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.FaultLog;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.DrivenConnection;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.verbs.CompletionStatus;

/**
 * The state of a connection, its participants, and every way in which it ends.
 *
 * <pre>
 *   HANDSHAKE -- begin --> STREAM -- endStream --> ENDING -- finish --> LINGERING -- release --> CLOSED
 *       |                                                                                          ^
 *       +------------- a handshake that fails; from every state: broken, close, abort -------------+
 * </pre>
 *
 * <p>In an orderly end the queue pair is flushed at once ({@link #endStream}); READ responses and a Terminate are still
 * sent; then this side ends its stream ({@link #finish}) and waits for the peer to end its own. All of that must happen
 * within the linger timeout. A fault flushes the queue pair and closes the socket ({@link #broken}).
 *
 * <p>Engine thread only.
 */
final class ConnectionLifecycle {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionLifecycle.class);

    /** Why a connection ended when there was no memory to say it better: made before. */
    @SuppressWarnings("StaticAssignmentOfThrowable")
    private static final IOException FAULTED = new IOException("engine fault");

    /** Not a constant, whose text would be made when it is first used. */
    static final String FAULT = String.valueOf(FAULTED.getMessage());

    /** State of the connection. */
    enum State {
        /** There is no stream yet, and perhaps no socket. */
        HANDSHAKE,
        /** The stream is established. */
        STREAM,
        /** The stream has ended on this side; what is left is sent. */
        ENDING,
        /** Everything was sent; waiting for the peer to end its side. */
        LINGERING,
        /** The socket is closed. */
        CLOSED
    }

    private final RnicEngine engine;
    private final DrivenConnection connection;
    private final ConnectionSocket socket;

    private State state = State.HANDSHAKE;
    private @Nullable Handshake handshake;
    private @Nullable QueuePairEnd queuePair;
    private @Nullable EstablishedStream stream;
    private EventLoop.@Nullable Cancellable endTimer;

    /**
     * Begins in the handshake.
     *
     * @param engine of the connection
     * @param connection the connection itself, for the engine's lists
     * @param socket of the connection
     */
    ConnectionLifecycle(RnicEngine engine, DrivenConnection connection, ConnectionSocket socket) {
        this.engine = engine;
        this.connection = connection;
        this.socket = socket;
    }

    // ---- who takes part

    void attach(Handshake newHandshake) {
        handshake = newHandshake;
    }

    void attach(QueuePairEnd newQueuePair) {
        queuePair = newQueuePair;
    }

    @Nullable
    Handshake handshake() {
        return handshake;
    }

    @Nullable
    QueuePairEnd queuePair() {
        return queuePair;
    }

    /** The stream, even after it has ended; null before. */
    @Nullable
    EstablishedStream stream() {
        return stream;
    }

    State state() {
        return state;
    }

    /** The handshake has succeeded. */
    void begin(EstablishedStream established) {
        stream = established;
        state = State.STREAM;
        engine.counters().increment(Counter.CONNECTIONS_ESTABLISHED);
    }

    /** Runs a step of the connection. A failure ends this connection, and no other. */
    void run(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    // ---- in order

    /** The application ends the connection. */
    void disconnect(String reason) {
        try {
            endInOrder(reason);
        } catch (RuntimeException | Error e) {
            broken(e); // as run does, but without an object for which there may be no memory
        }
    }

    private void endInOrder(String reason) {
        if (state == State.STREAM) {
            endStream(reason, -1, null, 0);
            finishWhenIdle();
        } else if (state == State.HANDSHAKE) {
            endHandshake(new IOException(reason));
            close();
        }
    }

    private void endHandshake(IOException cause) {
        if (handshake != null) {
            handshake.failed(cause);
        } else if (queuePair != null) {
            queuePair.enterError(String.valueOf(cause.getMessage()), -1, CompletionStatus.FLUSHED, 0);
        }
    }

    /** The application destroys the queue pair: it is not used any more after this. */
    void queuePairClosed() {
        try {
            forgetQueuePair();
        } catch (RuntimeException | Error e) {
            broken(e); // likewise
        }
    }

    private void forgetQueuePair() {
        if (state == State.STREAM) {
            endStream("the queue pair was closed", -1, null, 0);
        } else if (state == State.HANDSHAKE) {
            endHandshake(new IOException("the queue pair was closed"));
            abort();
            return;
        }
        if (stream != null) {
            stream.messages().outgoing().abandonResponses();
        }
        if (state == State.ENDING) {
            if (isMidSegment()) {
                close();
            } else {
                finishWhenIdle();
            }
        }
    }

    private boolean isMidSegment() {
        return stream != null && stream.out().isMidSegment();
    }

    /**
     * Ends the stream: flushes the queue pair. The socket is left to the caller.
     *
     * @param reason for messages
     * @param culprit sequence of the request that failed, or -1
     * @param status status of that request's completion; null for FLUSHED
     * @param vendorCode more about it
     */
    void endStream(String reason, long culprit, @Nullable CompletionStatus status, int vendorCode) {
        if (stream != null) {
            // If this fails, the state is what it was, and broken() flushes.
            stream.abandonRequests();
        }
        state = State.ENDING;
        engine.counters().increment(Counter.CONNECTIONS_CLOSED);
        QueuePairEnd pair = queuePair;
        if (pair != null) {
            pair.enterError(reason, culprit, status == null ? CompletionStatus.FLUSHED : status, vendorCode);
        }
        if (handshake != null) {
            handshake.streamEnded(reason);
        }
    }

    /** Continues with the socket alone, for the linger timeout at most. */
    void drain() {
        startEndTimer();
        socket.continueLater();
    }

    /**
     * Finishes once all responses are sent: the peer may still read them after ending its side (RFC 5041 section
     * 6.2.1).
     */
    void finishWhenIdle() {
        if (stream == null || stream.out().isIdle()) {
            finish();
        } else {
            drain();
        }
    }

    /** Ends this side of the TCP connection; waits a bounded time for the peer to end its own. */
    void finish() {
        if (!socket.isThere() || isMidSegment()) {
            close();
            return;
        }
        socket.shutdownOutput();
        awaitPeer();
    }

    /** Everything was sent; waits a bounded time for the peer to end its side. This side stays open until then. */
    void awaitPeer() {
        state = State.LINGERING;
        drain();
    }

    private void startEndTimer() {
        if (endTimer == null) {
            endTimer = engine.loop()
                    .schedule(() -> run(this::close), engine.limits().timeouts().lingerNs(), TimeUnit.NANOSECONDS);
            engine.connections().ending(connection);
        }
    }

    // ---- at once

    /** Ends the stream without sending another byte. The socket is left to the caller. */
    void cutStream(String reason, long culprit, @Nullable CompletionStatus status) {
        discardUnsent();
        endStream(reason, culprit, status, 0);
    }

    /** The peer takes too long for its part of the handshake, or this side cannot continue it. */
    void giveUp(String reason) {
        if (state == State.STREAM) {
            cutStream(reason, -1, null);
        }
        abort();
    }

    /**
     * The connection or this engine has failed: flushes and closes, even if parts of that fail, too, and then reports, if
     * there is memory for it. Never throws, because the engine's loop and its other connections must go on.
     */
    void broken(Throwable e) {
        boolean fault = !(e instanceof IOException);
        boolean tell = fault && queuePair != null && !queuePair.isInError();
        if (fault) {
            countFault(); // whoever is told of the end may look
        }
        try {
            end(e);
        } catch (RuntimeException | Error again) {
            endWithoutMemory();
            countFault();
        }
        try {
            release(false);
        } catch (RuntimeException | Error again) {
            countFault();
        }
        try {
            tell(e, fault, tell);
        } catch (RuntimeException | Error again) {
            countFault();
        }
    }

    /** Fails as anything may that is used for the first time, and must not keep a connection from ending. */
    private void countFault() {
        try {
            engine.counters().increment(Counter.ENGINE_FAULTS);
        } catch (RuntimeException | Error e) {
            // The log and the completions tell of it.
        }
    }

    private void tell(Throwable e, boolean fault, boolean tellQueuePair) {
        if (tellQueuePair && queuePair != null) {
            queuePair.faulted();
        }
        FaultLog.tell(
                LOG,
                fault ? Level.ERROR : Level.DEBUG,
                fault ? "engine fault; the connection is closed" : "the connection broke",
                e);
    }

    /** Flushes without a detailed reason, and ends the handshake. Makes nothing. */
    private void endWithoutMemory() {
        try {
            if (queuePair != null) {
                queuePair.enterError(FAULT, -1, CompletionStatus.FLUSHED, 0);
                queuePair.flush();
            }
        } catch (RuntimeException | Error e) {
            countFault();
        }
        try {
            if (handshake != null && state == State.HANDSHAKE) {
                handshake.failed(FAULTED);
            } else if (handshake != null) {
                handshake.streamEnded(FAULT);
            }
        } catch (RuntimeException | Error e) {
            countFault();
        }
    }

    /**
     * Flushes requests before anything that can fail. A request that was sent in part is not copied, because no more of
     * it is sent.
     */
    private void end(Throwable e) {
        if (state == State.HANDSHAKE) {
            endHandshake(e instanceof IOException failure ? failure : new IOException(FAULT + ": " + e, e));
        } else if (state == State.STREAM) {
            cutStream(reason(e), -1, null);
        }
    }

    private static String reason(Throwable e) {
        try {
            return "the connection broke: " + (e instanceof IOException ? e.getMessage() : FAULT + ": " + e);
        } catch (RuntimeException | Error again) {
            return FAULT;
        }
    }

    private void discardUnsent() {
        if (stream != null) {
            stream.discardUnsent();
        }
    }

    /** Closes the socket at once. */
    void close() {
        leave(false);
    }

    /** Closes the socket at once, with a reset for the peer. */
    void abort() {
        leave(true);
    }

    /** Closes the socket, whatever else fails. */
    private void leave(boolean reset) {
        try {
            if (state == State.STREAM) {
                cutStream("closed", -1, null);
            }
        } finally {
            release(reset);
        }
    }

    /** Releases the socket and the timers. */
    void release(boolean reset) {
        state = State.CLOSED;
        engine.hotConnection().forget(connection);
        engine.connections().closed(connection);
        try {
            socket.close(reset);
        } finally {
            try {
                discard();
            } finally {
                cancelTimers();
            }
        }
    }

    private void discard() {
        if (stream != null) {
            stream.in().discard();
        }
        discardUnsent();
    }

    private void cancelTimers() {
        if (endTimer != null) {
            endTimer.cancel();
        }
        if (stream != null) {
            stream.readyRepeat().cancel();
        }
    }
}
