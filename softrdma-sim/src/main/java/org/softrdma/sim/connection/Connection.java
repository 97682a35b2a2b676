package org.softrdma.sim.connection;

import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.HostSilentException;
import org.softrdma.net.transport.RequestNames;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.MpaInbound;
import org.softrdma.sim.carrier.MpaOutbound;
import org.softrdma.sim.carrier.StreamBuffers;
import org.softrdma.sim.connection.ConnectionLifecycle.State;
import org.softrdma.sim.engine.Doorbell;
import org.softrdma.sim.engine.DrivenConnection;
import org.softrdma.sim.engine.Placement;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.sim.rdmap.InboundReadQueue;
import org.softrdma.sim.rdmap.OutboundReadQueue;
import org.softrdma.sim.rdmap.RdmapStream;
import org.softrdma.sim.rdmap.StreamEndpoint;
import org.softrdma.sim.rdmap.StreamParts;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.sim.wire.Terminate;
import org.softrdma.sim.wire.TerminateCause;

/**
 * One TCP connection and its turns: each event of its socket, and each doorbell, lets it receive and send. It begins
 * with a {@link Handshake}, which starts the stream.
 *
 * <p>It delegates: {@link ConnectionLifecycle} holds the state and ends the connection, {@link StreamObserver} gets the
 * events of the stream, {@link PeerHost} watches the peer's host, {@link ConnectionSocket} is the socket.
 *
 * <p>When a stream ends, the queue pair goes to ERROR at once and is flushed. The socket stays open for a bounded time:
 * READ responses that were requested and a Terminate are still sent, then this side ends its stream and discards input
 * until the peer ends its own, so that no reset overtakes the Terminate (RFC 5044 section 7.2, RFC 5040 section 6.8).
 *
 * <p>Engine thread only, except {@link #ring}.
 */
public final class Connection implements SocketEvents, RequestNames, DrivenConnection, WireConnection {
    /** Why the connection has a turn. */
    private enum Cause {
        INPUT,
        /** There may also be room to send again. */
        INPUT_OR_ROOM,
        /** Something was posted. */
        DOORBELL,
        /** What was to be sent later was sent. */
        SENT
    }

    private final RnicEngine engine;
    private final StreamBuffers buffers;
    private final IwarpSettings settings;
    private final ConnectionSocket socket;
    private final ConnectionLifecycle life;
    private final PeerHost peerHost;
    private final StreamObserver observer;
    private final Doorbell doorbell;
    /** A turn is scheduled for requests that send nothing. */
    private boolean goingOn;

    /**
     * A connection on an engine, not connected yet. Any thread.
     *
     * @param engine it is pinned to
     * @param buffers of the engine
     * @param settings of the wire
     */
    Connection(RnicEngine engine, StreamBuffers buffers, IwarpSettings settings) {
        this.engine = engine;
        this.buffers = buffers;
        this.settings = settings;
        socket = new ConnectionSocket(buffers);
        life = new ConnectionLifecycle(engine, this, socket);
        peerHost = new PeerHost(engine, life, socket);
        observer = new StreamObserver(engine, this, life, socket, peerHost);
        doorbell = new Doorbell(engine, this);
    }

    @Override
    public RnicEngine engine() {
        return engine;
    }

    /** Settings of the wire. */
    IwarpSettings settings() {
        return settings;
    }

    // ---- what runs on the engine's thread

    /** Runs a step of this connection on the engine's thread: at once if this is that thread, else soon. Any thread. */
    void execute(Runnable step) {
        engine.execute(() -> life.run(step));
    }

    @Override
    public void executeLater(Runnable step) {
        engine.loop().execute(() -> life.run(step));
    }

    /** Runs a step of this connection later. */
    EventLoop.Cancellable schedule(Runnable step, long delayNs) {
        return engine.loop().schedule(() -> life.run(step), delayNs, TimeUnit.NANOSECONDS);
    }

    // ---- setting up, by the handshake

    /** The handshake is told of events from now on, even if there is never a socket. */
    void attach(Handshake newHandshake) {
        life.attach(newHandshake);
    }

    void attach(StreamSocket newSocket) {
        socket.attach(newSocket);
        engine.connections().opened(this);
    }

    @Override
    public void attach(QueuePairEnd newQueuePair) {
        life.attach(newQueuePair);
    }

    /** True until the handshake has succeeded, failed or been abandoned. */
    boolean isInHandshake() {
        return life.state() == State.HANDSHAKE;
    }

    /** Scratch memory for what a handshake receives. */
    long scratch() {
        return buffers.receiveAddress();
    }

    /** Sends a handshake frame. */
    void sendFrame(MpaFrame frame) throws IOException {
        socket.send(frame.encode());
    }

    /**
     * Rejects the request with a reply. The initiator closes then (RFC 5044 section 7.1.4); this side does not end its stream
     * before: SoftiWARP (Linux 6.1) looks at an end of stream before the reply that came in the same segment.
     */
    void reject(MpaFrame frame) throws IOException {
        if (isInHandshake()) {
            sendFrame(frame);
            life.awaitPeer();
        }
    }

    /** Refuses a reply with a Terminate, and ends (RFC 6581 section 9). */
    void refuse(TerminateCause cause, boolean crc) throws IOException {
        long at = buffers.receiveAddress();
        int ulpdu = Terminate.put(at, cause, 0);
        NativeMemory.clear(at + Short.BYTES + ulpdu, Ddp.trailerLength(ulpdu));
        if (crc) {
            buffers.crc().put(buffers.receiveView(), at, at, ulpdu);
        }
        long ignored = socket.send(at, Ddp.fpduLength(ulpdu));
        buffers.segments().sent(MessageKind.TERMINATE);
        life.finish();
    }

    /**
     * The handshake has succeeded: FPDUs from now on.
     *
     * @param pair supplies the requests
     * @param agreed result of the handshake
     * @param active true on the initiator's side
     */
    void startStream(QueuePairEnd pair, NegotiatedStream agreed, boolean active) {
        EstablishedStream stream = newStream(pair, agreed, socket.require());
        life.begin(stream);
        if (!active && agreed.peerToPeer()) {
            stream.messages().expectReadyToReceive();
        }
        if (active) {
            // The initiator sends first (RFC 5044 section 7.1.2); in peer-to-peer mode a zero-length WRITE.
            if (agreed.peerToPeer()) {
                stream.sendReadyToReceive();
            }
            stream.allowRequests();
            stream.readyRepeat().later();
        }
        socket.continueLater();
    }

    private EstablishedStream newStream(QueuePairEnd pair, NegotiatedStream agreed, StreamSocket current) {
        StreamEndpoint endpoint = new StreamEndpoint(
                pair.sendQueue(),
                pair.receiveQueue(),
                new InboundReadQueue(agreed.ird()),
                new OutboundReadQueue(agreed.ord()),
                pair.domainNumber(),
                pair.windows(),
                pair.localRequests(),
                pair.limits().maxSendScatterGather(),
                settings.rfc7306());
        FpduWriter fpdus = new FpduWriter(buffers, settings.maxPayload(), settings.copyBelow(), agreed.crc());
        Placement placement = new Placement(engine);
        RdmapStream messages = new RdmapStream(new StreamParts(engine, endpoint, observer, fpdus, placement));
        MpaOutbound out = new MpaOutbound(engine, buffers, current, messages.outgoing());
        MpaInbound in =
                new MpaInbound(engine, buffers, current, agreed.crc(), observer, messages.incoming(), placement);
        ReadyRepeat readyRepeat =
                new ReadyRepeat(engine.loop(), settings.readyRepeatNs(), () -> life.run(this::repeatReady));
        return new EstablishedStream(messages, out, in, readyRepeat);
    }

    private void repeatReady() {
        EstablishedStream stream = life.stream();
        if (life.state() == State.STREAM && !observer.hasSeenSegment() && stream != null) {
            stream.sendReadyToReceive();
            socket.continueLater();
            stream.readyRepeat().later();
        }
    }

    // ---- turns

    @Override
    public void ready(boolean writable) {
        engine.hotConnection().event(this);
        handle(writable ? Cause.INPUT_OR_ROOM : Cause.INPUT);
    }

    @Override
    public void sentLater() {
        handle(Cause.SENT);
    }

    @Override
    public OptionalLong wrId(long request) {
        QueuePairEnd pair = life.queuePair();
        EstablishedStream stream = life.stream();
        return pair == null || stream == null
                ? OptionalLong.empty()
                : OptionalLong.of(pair.sendQueue()
                        .wrId(request + stream.messages().outgoing().localRequests()));
    }

    @Override
    public void attempt() {
        if (life.state() == State.STREAM) {
            handle(Cause.INPUT);
        }
    }

    @Override
    public void retryReceive() {
        observer.retryBegins();
        attempt();
    }

    @Override
    public void ring() {
        doorbell.ring();
    }

    @Override
    public void doorbell() {
        doorbell.answered();
        QueuePairEnd pair = life.queuePair();
        if (pair != null && pair.isInError()) {
            pair.flush();
        } else if (life.state() == State.STREAM) {
            handle(Cause.DOORBELL);
        }
    }

    /** Runs one batch, guarded like a step in {@link ConnectionLifecycle#run}. */
    private void handle(Cause cause) {
        engine.epoch().enter();
        try {
            switch (life.state()) {
                case HANDSHAKE -> {
                    Handshake handshake = life.handshake();
                    if (handshake != null) {
                        handshake.ready(cause == Cause.INPUT_OR_ROOM);
                    }
                }
                case STREAM, ENDING -> runStream(cause);
                case LINGERING -> discardInput();
                case CLOSED -> {
                    // A late event.
                }
            }
        } catch (HostSilentException e) {
            endSilent(e.getMessage());
        } catch (IOException | RuntimeException | Error e) {
            life.broken(e);
        } finally {
            engine.epoch().exit();
        }
    }

    /** Runs one turn: receives, places, answers. */
    private void runStream(Cause cause) throws IOException {
        EstablishedStream stream = life.stream();
        if (stream == null) {
            return;
        }
        if (cause == Cause.INPUT_OR_ROOM) {
            stream.out().writable();
        }
        if (cause == Cause.SENT) {
            stream.out().sent();
        }
        boolean more = false;
        if (life.state() == State.ENDING && cause != Cause.SENT) {
            discardInput();
        } else if (cause == Cause.INPUT || cause == Cause.INPUT_OR_ROOM) {
            more = stream.in().receive();
        }
        if (life.state() == State.STREAM || life.state() == State.ENDING) {
            more |= stream.out().transmit(life.state() == State.STREAM);
        }
        if (life.state() == State.ENDING && stream.isDone()) {
            life.finish();
        }
        if (more) {
            socket.continueLater();
        }
        if (life.state() == State.STREAM && stream.isLocalLeft()) {
            goOnLater();
        }
    }

    /** Another turn after the other connections had theirs, though the socket may not be ready for anything. */
    private void goOnLater() {
        if (!goingOn) {
            engine.loop().schedule(this::goOn, 0, TimeUnit.NANOSECONDS);
            goingOn = true;
        }
    }

    private void goOn() {
        goingOn = false;
        doorbell();
    }

    private void discardInput() throws IOException {
        // In ENDING, a peer that has ended its side may still read what this side sends.
        if (socket.discard() && life.state() == State.LINGERING) {
            life.close();
        }
    }

    @Override
    public boolean isHostSilent() {
        return peerHost.isSilent();
    }

    @Override
    public void hostSilent() {
        endSilent("according to the kernel");
    }

    /** Guarded like a step, but without an object for which there may be no memory. */
    private void endSilent(@Nullable String detail) {
        try {
            peerHost.endConnection(detail);
        } catch (RuntimeException | Error e) {
            life.broken(e);
        }
    }

    // ---- the end

    @Override
    public void disconnect(String reason) {
        life.disconnect(reason);
    }

    @Override
    public void queuePairClosed() {
        life.queuePairClosed();
    }

    @Override
    public void end(String reason) {
        life.disconnect(reason);
        life.close();
    }

    /** The peer takes too long for its part of the handshake, or this side cannot continue it. */
    void giveUp(String reason) {
        life.giveUp(reason);
    }

    /** The connection or this engine has failed: flushes, reports, closes. Never throws. */
    void broken(Throwable e) {
        life.broken(e);
    }

    /** Closes the socket at once. */
    void close() {
        life.close();
    }

    @Override
    public void abort() {
        life.abort();
    }
}
