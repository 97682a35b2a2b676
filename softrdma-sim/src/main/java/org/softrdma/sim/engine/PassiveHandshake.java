package org.softrdma.sim.engine;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.sim.transport.AddressText;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.wire.MalformedFrameException;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;

/**
 * The responder: MPA request, the application's decision, MPA reply, ready-to-receive (RFC 5044 section 7.1, RFC 6581).
 *
 * <p>Engine thread only, except {@link #adopt}, {@link #accept}, {@link #reject} and {@link #giveUp}.
 */
public final class PassiveHandshake implements Handshake {
    private static final Logger LOG = LoggerFactory.getLogger(PassiveHandshake.class);

    private static final byte[] NO_DATA = {};

    private final Connection connection;
    private final Consumer<PassiveHandshake> onRequest;
    private final Runnable onSettled;
    private final HandshakeReader reader = new HandshakeReader(true);
    private final CompletableFuture<Void> established = new CompletableFuture<>();
    private final AtomicBoolean decided = new AtomicBoolean();
    private @Nullable StreamSocket socket;
    private EventLoop.@Nullable Cancellable timer;
    private @Nullable SoftQueuePair queuePair;
    private @Nullable NegotiatedStream negotiated;
    private boolean settled;
    private volatile @Nullable MpaFrame request;
    private volatile InetSocketAddress remote = new InetSocketAddress(0);

    /**
     * Makes a handshake.
     *
     * @param connection not connected yet
     * @param onRequest given this once the request has come; on the engine's thread
     * @param onSettled told once that the request has come or never will; on the engine's thread
     */
    public PassiveHandshake(Connection connection, Consumer<PassiveHandshake> onRequest, Runnable onSettled) {
        this.connection = connection;
        this.onRequest = onRequest;
        this.onSettled = onSettled;
    }

    /** Takes an accepted TCP connection. Any thread. */
    public void adopt(EventLoop.PendingSocket pending) {
        connection.execute(() -> {
            try {
                connection.attach(this);
                StreamSocket adopted = connection.engine().loop().adopt(pending, connection);
                socket = adopted;
                remote = adopted.remoteAddress();
                connection.attach(adopted);
                timer = connection.schedule(
                        this::tooSlow, connection.engine().limits().handshakeTimeoutNs());
                connection.ready(false);
            } catch (IOException e) {
                failed(e);
                connection.abort();
            }
        });
    }

    /** The connection. */
    public Connection connection() {
        return connection;
    }

    /** The request; only once it has come. */
    public MpaFrame request() {
        MpaFrame frame = request;
        if (frame == null) {
            throw new IllegalStateException("no request yet");
        }
        return frame;
    }

    /** The peer's address. */
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    private String peer() {
        return AddressText.of(remote);
    }

    private void tooSlow() {
        if (request == null) {
            connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
            LOG.info("{} connected but sent no MPA request in time", peer());
            settled();
            connection.abort();
        }
    }

    /** The request has come, or never will. */
    private void settled() {
        if (timer != null) {
            timer.cancel();
        }
        if (!settled) {
            settled = true;
            onSettled.run();
        }
    }

    @Override
    public void ready(boolean writable) throws IOException {
        StreamSocket current = socket;
        if (request != null || current == null) {
            return;
        }
        try {
            MpaFrame frame = reader.receive(current, connection.engine().receiveAddress());
            if (frame == null) {
                return;
            }
            settled();
            if (frame.markers()) {
                refused("it " + MpaNegotiation.MARKERS);
                connection.reject(MpaNegotiation.reject(frame, NO_DATA));
                return;
            }
            request = frame;
            current.pause();
            onRequest.accept(this);
        } catch (MalformedFrameException e) {
            settled();
            refused(String.valueOf(e.getMessage()));
            // Without a reply (RFC 5044 sections 7.1.1 and 7.1.2): this peer may speak another protocol.
            connection.close();
        }
    }

    private void refused(String reason) {
        connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
        LOG.info("refused the connection of {}: {}", peer(), reason);
    }

    /**
     * Replies yes; the result is there once the connection is established, or a {@link VerbsException}. Any thread.
     *
     * @param pair its queue pair
     * @param parameters what this side wants, within the device's limits
     */
    public CompletableFuture<Void> accept(SoftQueuePair pair, ConnectionParameters parameters) {
        if (!decided.compareAndSet(false, true)) {
            throw new IllegalStateException("this request was already accepted, rejected or closed");
        }
        connection.execute(() -> reply(pair, parameters));
        return established;
    }

    private void reply(SoftQueuePair pair, ConnectionParameters parameters) {
        queuePair = pair;
        if (!connection.isInHandshake() || pair.isInError()) {
            fail(new VerbsException(
                    VerbsErrorCode.CONNECTION_LOST, "the connection of " + peer() + " ended before it was accepted"));
            connection.abort();
            return;
        }
        EngineLimits limits = connection.engine().limits();
        NegotiatedStream stream =
                MpaNegotiation.accept(limits, request(), parameters.inboundReads(), parameters.outboundReads());
        negotiated = stream;
        pair.negotiated(stream);
        try {
            connection.sendFrame(MpaNegotiation.reply(limits, request(), stream, parameters.privateData()));
        } catch (IOException e) {
            failed(e);
            connection.close();
            return;
        }
        if (!stream.peerToPeer()) {
            pair.established(stream);
        }
        connection.startStream(pair, stream, false);
        if (!stream.peerToPeer()) {
            established.complete(null);
        }
    }

    @Override
    public void firstSegment() {
        SoftQueuePair pair = queuePair;
        NegotiatedStream stream = negotiated;
        if (pair != null && stream != null && !established.isDone()) {
            pair.established(stream);
            established.complete(null);
        }
    }

    /**
     * Replies no. Any thread.
     *
     * @param privateData tells the peer why
     * @return false if this request was already decided
     */
    public boolean reject(byte[] privateData) {
        if (!decided.compareAndSet(false, true)) {
            return false;
        }
        connection.execute(() -> {
            try {
                connection.reject(MpaNegotiation.reject(request(), privateData));
            } catch (IOException e) {
                LOG.debug("reject of {}", peer(), e);
                connection.close();
            }
        });
        return true;
    }

    /** The caller's time is over. Any thread. */
    public void giveUp(String reason) {
        connection.execute(() -> {
            if (!established.isDone()) {
                fail(new VerbsException(VerbsErrorCode.TIMED_OUT, reason));
                connection.close();
            }
        });
    }

    @Override
    public void failed(IOException cause) {
        settled();
        connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
        fail(new VerbsException(
                VerbsErrorCode.CONNECTION_LOST,
                "the connection of " + peer() + " broke: " + cause.getMessage(),
                cause));
    }

    @Override
    public void streamEnded(String reason) {
        if (!established.isDone()) {
            fail(new VerbsException(VerbsErrorCode.CONNECTION_LOST, peer() + ": " + reason));
        }
    }

    private void fail(VerbsException cause) {
        if (queuePair != null) {
            queuePair.enterError(String.valueOf(cause.getMessage()), -1, CompletionStatus.FLUSHED, 0);
        }
        established.completeExceptionally(cause);
    }
}
