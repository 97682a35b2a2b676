package org.softrdma.sim.connection;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.transport.AddressText;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.wire.MalformedFrameException;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;

/**
 * The responder: MPA request, the application's decision, MPA reply, then the initiator's ready-to-receive (RFC 5044
 * section 7.1, RFC 6581).
 *
 * <p>Engine thread only, except {@link #adopt}, {@link #accept} and {@link #reject}.
 */
final class PassiveHandshake implements Handshake, PeerRequest {
    private static final Logger LOG = LoggerFactory.getLogger(PassiveHandshake.class);

    private static final byte[] NO_DATA = {};
    /** Time for a turn of the event loop. */
    private static final long SECOND_LOOK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Connection connection;
    private final Consumer<PassiveHandshake> onRequest;
    private final Runnable onSettled;
    private final HandshakeReader reader = new HandshakeReader(true);
    private final AtomicBoolean decided = new AtomicBoolean();
    /** Made once: a peer that is not rejected, for want of memory, would wait for ever. */
    private final Runnable rejecting;

    private byte[] rejection = NO_DATA;
    private @Nullable StreamSocket socket;
    private EventLoop.@Nullable Cancellable timer;
    private boolean settled;
    private volatile @Nullable MpaFrame request;
    private volatile InetSocketAddress remote = new InetSocketAddress(0);

    /**
     * Makes a handshake.
     *
     * @param connection not connected yet
     * @param onRequest gets this handshake once the request has arrived, on the engine's thread
     * @param onSettled runs once the request has arrived or never will, on the engine's thread
     */
    PassiveHandshake(Connection connection, Consumer<PassiveHandshake> onRequest, Runnable onSettled) {
        this.connection = connection;
        this.onRequest = onRequest;
        this.onSettled = onSettled;
        rejecting = connection.engine().loop().careful(this::sendRejection);
    }

    /** Takes over an accepted TCP connection, and closes it if that fails. Any thread. */
    void adopt(EventLoop.PendingSocket pending) {
        connection.execute(() -> {
            try {
                take(pending);
            } catch (IOException e) {
                failed(e);
                connection.abort();
            }
        });
    }

    private void take(EventLoop.PendingSocket pending) throws IOException {
        connection.attach(this);
        StreamSocket adopted = connection.engine().loop().adopt(pending, connection);
        connection.attach(adopted);
        socket = adopted;
        remote = (InetSocketAddress) adopted.remoteAddress();
        timer = startTimer(this::tooSlow);
        connection.ready(false);
    }

    /** A process that stood still has its timers due before it has seen what came meanwhile: it looks at that first. */
    private EventLoop.Cancellable startTimer(Runnable task) {
        return connection.schedule(
                () -> timer = connection.schedule(task, SECOND_LOOK_NS),
                connection.engine().limits().timeouts().handshakeNs());
    }

    @Override
    public Connection connection() {
        return connection;
    }

    /** The request; only once it has arrived. */
    private MpaFrame request() {
        MpaFrame frame = request;
        if (frame == null) {
            throw new IllegalStateException("no request yet");
        }
        return frame;
    }

    @Override
    public byte[] privateData() {
        return request().privateData();
    }

    @Override
    public OptionalInt outboundReads() {
        return depth(request().ord());
    }

    @Override
    public OptionalInt inboundReads() {
        return depth(request().ird());
    }

    /** Revision 1 has no READ depths, and all ones means "not negotiated" (RFC 6581 section 9.1). */
    private OptionalInt depth(int value) {
        boolean told = request().enhanced() && value != MpaFrame.DEPTH_MASK;
        return told ? OptionalInt.of(value) : OptionalInt.empty();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    private String peer() {
        return AddressText.of(remote);
    }

    private void tooSlow() {
        if (request == null) {
            connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
            settled();
            connection.abort();
            LOG.info("{} connected but sent no MPA request in time", peer());
        }
    }

    /** The request has arrived, or never will. */
    private void settled() {
        stopTimer();
        if (!settled) {
            settled = true;
            onSettled.run();
        }
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel();
        }
    }

    @Override
    public void ready(boolean writable) throws IOException {
        StreamSocket current = socket;
        if (request != null || current == null) {
            return;
        }
        try {
            MpaFrame frame = reader.receive(current, connection.scratch());
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
     * {@inheritDoc}
     *
     * <p>Requests are sent after the initiator's first message (RFC 5044 section 7.1.2). A peer-to-peer initiator must
     * send its ready-to-receive within the handshake timeout.
     */
    @Override
    public CompletableFuture<Void> accept(QueuePairEnd pair, ConnectionParameters parameters) {
        if (!decided.compareAndSet(false, true)) {
            throw new IllegalStateException("this request was already accepted, rejected or closed");
        }
        try {
            return connection.engine().submit(() -> establish(pair, parameters));
        } catch (RuntimeException | Error e) {
            decided.set(false); // the engine does not know of it: it can still be rejected
            throw e;
        }
    }

    private void establish(QueuePairEnd pair, ConnectionParameters parameters) {
        if (!connection.isInHandshake() || pair.isInError()) {
            end(pair);
            throw lost("ended before it was accepted", null);
        }
        try {
            reply(pair, parameters);
        } catch (IOException | RuntimeException | Error e) {
            connection.broken(e);
            end(pair);
            throw lost("broke: " + e.getMessage(), e);
        }
    }

    /** Before anything is said about it, for which there may be no memory. */
    private void end(QueuePairEnd pair) {
        pair.enterError(ConnectionLifecycle.FAULT, -1, CompletionStatus.FLUSHED, 0);
        connection.abort();
    }

    private VerbsException lost(String what, @Nullable Throwable cause) {
        return new VerbsException(VerbsErrorCode.CONNECTION_LOST, "the connection of " + peer() + " " + what, cause);
    }

    private void reply(QueuePairEnd pair, ConnectionParameters parameters) throws IOException {
        IwarpSettings settings = connection.settings();
        NegotiatedStream stream =
                MpaNegotiation.accept(settings, request(), parameters.inboundReads(), parameters.outboundReads());
        StreamSocket current = socket;
        if (current != null) {
            pair.accepting((InetSocketAddress) current.localAddress(), remote);
        }
        connection.sendFrame(MpaNegotiation.reply(settings, request(), stream, parameters.privateData()));
        pair.established(stream);
        connection.startStream(pair, stream, false);
        if (stream.peerToPeer()) {
            timer = startTimer(this::notReady);
        }
    }

    private void notReady() {
        connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
        String reason = peer() + " was accepted but sent no ready-to-receive in time";
        connection.giveUp(reason);
        LOG.info("{}", reason);
    }

    @Override
    public void firstSegment() {
        stopTimer();
    }

    @Override
    public boolean reject(byte[] privateData) {
        if (!decided.compareAndSet(false, true)) {
            return false;
        }
        rejection = privateData;
        try {
            if (connection.engine().loop().inLoop()) {
                rejecting.run();
            } else {
                connection.engine().enqueue(rejecting);
            }
        } catch (RejectedExecutionException e) {
            LOG.debug("cannot reject {}: the device is closed, and the connection with it", peer(), e);
        }
        return true;
    }

    private void sendRejection() {
        try {
            connection.reject(MpaNegotiation.reject(request(), rejection));
        } catch (IOException e) {
            LOG.debug("cannot send the reject to {}", peer(), e);
            connection.close();
        } catch (RuntimeException | Error e) {
            connection.broken(e);
        }
    }

    @Override
    public void failed(IOException cause) {
        connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
        settled();
        LOG.debug("the handshake of {} failed", peer(), cause);
    }

    @Override
    public void streamEnded(String reason) {
        stopTimer();
    }
}
