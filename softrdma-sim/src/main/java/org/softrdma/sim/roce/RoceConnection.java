package org.softrdma.sim.roce;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.net.transport.FaultLog;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Doorbell;
import org.softrdma.sim.engine.DrivenConnection;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.sim.roce.cm.CmConnection;
import org.softrdma.sim.roce.cm.CmEvents;
import org.softrdma.sim.roce.rc.KeepAlive;
import org.softrdma.sim.roce.rc.RcSettings;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.CompletionStatus;

/**
 * A queue pair on a port: its {@link TransportEnd}, and if the connection manager has made it, its {@link CmConnection},
 * whose events it gets. Datagrams need no peer: such a queue pair has no path, and takes packets of everybody.
 *
 * <pre>
 *   UNCONNECTED -- open --> CONNECTING -- begin, or receive and send --> STREAM -- end --> ENDED
 *        |                       |                                      ^
 *        +-----------------------+---------------- end -----------------+
 * </pre>
 *
 * <p>Whatever ends it, the queue pair goes to ERROR at once, the number takes no more packets, and the peer gets a DREQ or
 * a REJ. The number is used again only after the connection manager has forgotten it. Engine thread only, except {@link
 * #ring}.
 */
final class RoceConnection implements WireConnection, DrivenConnection, PortQueuePair, CmEvents {
    private static final Logger LOG = LoggerFactory.getLogger(RoceConnection.class);

    private static final String PEER_LEFT = "the peer closed the connection";
    private static final String REFUSED = "a request of the peer was refused";
    /** Not a constant, whose text would be made when it is first used. */
    private static final String FAULT = String.valueOf("the connection broke: engine fault");

    private static final double NS_PER_S = 1e9;
    private static final int NO_NUMBER = 0;

    private enum State {
        UNCONNECTED,
        CONNECTING,
        STREAM,
        ENDED
    }

    private final RocePorts ports;
    private final int transport;
    private final RnicEngine engine;
    private final Doorbell doorbell;

    private State state = State.UNCONNECTED;
    private @Nullable QueuePairEnd queuePair;
    private @Nullable Handshake handshake;
    private @Nullable RocePort port;
    /** Of datagrams: where it takes packets, too. */
    private final List<RocePort> more = new ArrayList<>(0);

    private final List<RoceGroup> groups = new ArrayList<>(0);

    private @Nullable RocePath path;
    private @Nullable CmConnection manager;
    private @Nullable TransportEnd stream;
    /** Of a connection that the connection manager has made; others may wait for their peer as long as they like. */
    private @Nullable KeepAlive keepAlive;

    private int number = NO_NUMBER;
    /** It is among those that may have something to send. */
    private boolean enqueued;
    /** The queue pair is to be told once all that was begun is complete. */
    private boolean drains;

    /** What waits for the connection to be made. Engine thread. */
    interface Handshake {
        /** Active side: the peer has accepted. */
        void replied(ConnectReply reply);

        /** It will not be made: the peer, or nobody, has answered. */
        void refused(int reason, PrivateData data);

        /** The connection has ended, also if it was made. */
        void ended(String reason);
    }

    /**
     * A reliable connection that is not connected yet. Any thread.
     *
     * @param ports of its engine
     */
    RoceConnection(RocePorts ports) {
        this(ports, RoceOpcode.RC);
    }

    /**
     * One that is not connected yet. Any thread.
     *
     * @param ports of its engine
     * @param transport of its packets
     */
    RoceConnection(RocePorts ports, int transport) {
        this.ports = ports;
        this.transport = transport;
        engine = ports.engine();
        doorbell = new Doorbell(engine, this);
    }

    @Override
    public RnicEngine engine() {
        return engine;
    }

    /** The ports of its engine. */
    RocePorts ports() {
        return ports;
    }

    @Override
    public void attach(QueuePairEnd newQueuePair) {
        queuePair = newQueuePair;
    }

    // ---- connecting

    /** From now on this is told what becomes of it. */
    void attach(Handshake newHandshake) {
        handshake = newHandshake;
    }

    /**
     * Takes the packets of its queue pair's number on a port.
     *
     * @param newPort of its engine
     * @param newPath to the peer; null if it takes packets of everybody
     */
    int open(RocePort newPort, @Nullable RocePath newPath) {
        newPort.open(this, requireQueuePair().number());
        number = requireQueuePair().number();
        port = newPort;
        path = newPath;
        state = State.CONNECTING;
        engine.connections().opened(this);
        return number;
    }

    /** It takes packets of everybody at another port, too, until it is reset or ends. */
    void alsoOpen(RocePort other) {
        other.open(this, requireQueuePair().number());
        more.add(other);
    }

    /** It takes what comes to a group, too, until it leaves that or ends. */
    void join(RoceGroup group) {
        if (!groups.contains(group)) {
            groups.add(group);
            group.add(this);
        }
    }

    /** It takes what comes to the group with an address no more; false if it did not. */
    boolean leaveGroup(InetAddress address) {
        for (int i = 0; i < groups.size(); i++) {
            if (groups.get(i).address().equals(address)) {
                groups.remove(i).remove(this);
                return true;
            }
        }
        return false;
    }

    private void leaveGroups() {
        while (!groups.isEmpty()) {
            groups.removeLast().remove(this);
        }
    }

    private void closeMore() {
        while (!more.isEmpty()) {
            RocePort other = more.removeLast();
            other.close(this, number);
            other.forget(number);
        }
    }

    /** It is known to the connection manager of a port. */
    void managedBy(CmConnection newManager, RocePort newPort) {
        manager = newManager;
        port = newPort;
    }

    /**
     * The two sides have agreed, by the connection manager.
     *
     * @param pair its queue pair
     * @param settings agreed on
     * @param peers what the peer has said
     * @param expectedPsn PSN with which the peer begins
     * @param active the peer is known to be ready
     */
    void begin(QueuePairEnd pair, RcSettings settings, CmEndpoint peers, int expectedPsn, boolean active) {
        ReliableEnd end = reliable(pair, settings, peers.startingPsn(), expectedPsn, peers.queuePair());
        begin(pair, end, RoceAgreement.of(settings), active);
        keepAlive = new KeepAlive(
                engine.limits().timeouts().hostNs(),
                peers.manualProgress(),
                requirePort().nowNs());
    }

    /** An end of a reliable connection on its path. */
    ReliableEnd reliable(QueuePairEnd pair, RcSettings settings, int sendPsn, int expectedPsn, int peerQueuePair) {
        RocePort on = requirePort();
        return new ReliableEnd(
                engine,
                pair,
                requirePath(),
                settings,
                sendPsn,
                expectedPsn,
                peerQueuePair,
                on.counters(),
                on.reads().share(() -> on.isReady(this)));
    }

    /**
     * It can send and receive from now on.
     *
     * @param pair its queue pair
     * @param begun its end of the transport
     * @param agreed what was agreed on
     * @param active the peer is known to be ready, or need not be
     */
    void begin(QueuePairEnd pair, TransportEnd begun, RoceAgreement agreed, boolean active) {
        pair.established(agreed);
        stream(begun);
        if (active) {
            allowRequests();
        }
    }

    /** It takes packets from now on, and answers them; {@link #send} follows. */
    void receive(QueuePairEnd pair, TransportEnd begun) {
        pair.receiving();
        stream(begun);
    }

    /** It sends requests, too. */
    void send(QueuePairEnd pair, RoceAgreement agreed) {
        pair.established(agreed);
        allowRequests();
        resume();
    }

    /** It begins no request any more. */
    void drain() {
        TransportEnd current = stream;
        if (current != null && state == State.STREAM) {
            drains = true;
            current.drain();
            heedDrained(current);
        }
    }

    /** Its terms, or the way to its peer, are others. */
    void changed() {
        if (port != null && state == State.STREAM) {
            port.isReady(this);
            port.turn();
        }
    }

    /** It begins requests again. */
    void resume() {
        TransportEnd current = stream;
        if (current != null && port != null && state == State.STREAM) {
            drains = false;
            current.resume();
            port.isReady(this);
            port.turn();
        }
    }

    private void heedDrained(TransportEnd current) {
        QueuePairEnd pair = queuePair;
        if (drains && pair != null && current.isDrained()) {
            drains = false;
            pair.drained();
        }
    }

    /** As it was before {@link #open}, whatever it has become. No peer is told, and the queue pair is not in its way. */
    void reset() {
        TransportEnd current = stream;
        boolean wasOpen = state == State.CONNECTING || state == State.STREAM;
        boolean wasStream = state == State.STREAM;
        state = State.UNCONNECTED;
        stream = null;
        path = null;
        drains = false;
        if (current != null) {
            current.abandonRequests();
        }
        if (wasStream) {
            engine.counters().increment(Counter.CONNECTIONS_CLOSED);
        }
        RocePort on = port;
        port = null;
        closeMore();
        if (on != null && wasOpen) {
            on.close(this, number);
            engine.connections().closed(this);
            on.forget(number);
            number = NO_NUMBER;
        }
    }

    private void stream(TransportEnd begun) {
        stream = begun;
        state = State.STREAM;
        engine.counters().increment(Counter.CONNECTIONS_ESTABLISHED);
    }

    private void allowRequests() {
        TransportEnd current = stream;
        if (current != null && port != null && state == State.STREAM) {
            current.allowRequests();
            port.isReady(this);
        }
    }

    private QueuePairEnd requireQueuePair() {
        QueuePairEnd current = queuePair;
        if (current == null) {
            throw new IllegalStateException("the connection has no queue pair any more");
        }
        return current;
    }

    /** Its port; only once it has one. */
    RocePort requirePort() {
        RocePort current = port;
        if (current == null) {
            throw new IllegalStateException("the connection has no port yet");
        }
        return current;
    }

    @Override
    public int transport() {
        return transport;
    }

    @Override
    public boolean isFrom(PeerAddress host) {
        return path == null || path.peer().hasSameHost(host);
    }

    /** Its path to the peer; only once it is open. */
    private RocePath requirePath() {
        RocePath current = path;
        if (current == null) {
            throw new IllegalStateException("the connection has no path yet");
        }
        return current;
    }

    /** True before it has ended. */
    boolean isAlive() {
        return state != State.ENDED;
    }

    // ---- events of the connection manager

    @Override
    public void replied(ConnectReply reply) {
        try {
            if (handshake != null) {
                handshake.replied(reply);
            }
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    @Override
    public void established() {
        try {
            allowRequests();
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    @Override
    public void failed(int reason, PrivateData data) {
        try {
            if (handshake != null) {
                handshake.refused(reason, data);
            }
            end(PEER_LEFT);
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    @Override
    public void disconnected() {
        try {
            end(PEER_LEFT);
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    @Override
    public void released() {
        manager = null;
        forgetNumber();
    }

    private void forgetNumber() {
        if (port != null && number != NO_NUMBER && state == State.ENDED) {
            port.forget(number);
            number = NO_NUMBER;
        }
    }

    // ---- turns

    @Override
    public boolean enqueue() {
        boolean added = !enqueued;
        enqueued = true;
        return added;
    }

    @Override
    public void received(Arrival arrival, long packet, int length, long nowNs) {
        try {
            if (manager != null) {
                manager.used();
            }
            TransportEnd current = stream;
            KeepAlive watch = keepAlive;
            if (watch != null) {
                watch.heard(nowNs);
            }
            if (current != null && port != null && state == State.STREAM) {
                current.received(arrival, packet, length, nowNs);
                port.isReady(this);
                heed(current);
            } else if (port != null) {
                port.counters().increment(RoceCounter.UNKNOWN_QUEUE_PAIR);
            }
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    @Override
    public boolean fill(PacketStage stage) {
        enqueued = false;
        TransportEnd current = stream;
        if (current == null || port == null || state != State.STREAM) {
            return false;
        }
        try {
            boolean more = current.fill(stage, port.nowNs());
            heed(current);
            port.due(deadlineNs());
            return more && state == State.STREAM;
        } catch (RuntimeException | Error e) {
            broken(e);
            return false;
        }
    }

    @Override
    public long deadlineNs() {
        return stream == null || state != State.STREAM ? Long.MAX_VALUE : stream.deadlineNs();
    }

    @Override
    public void onTime(long nowNs) {
        TransportEnd current = stream;
        if (current == null || port == null || current.deadlineNs() > nowNs || state != State.STREAM) {
            return;
        }
        try {
            current.onTime(nowNs);
            port.isReady(this);
            heed(current);
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    /** Ends if the stream has to. */
    private void heed(TransportEnd current) {
        if (state != State.STREAM) {
            return;
        }
        if (!current.isOver()) {
            heedDrained(current);
            return;
        }
        CompletionStatus failure = current.failure();
        if (failure != null) {
            end(reason(failure), current.culprit(), failure);
            return;
        }
        QueuePairEnd pair = queuePair;
        if (pair != null && current.isAccessRefused()) {
            pair.accessRefused();
        } else if (pair != null) {
            engine.counters().increment(Counter.PROTOCOL_ERRORS);
            pair.requestRefused();
        }
        end(REFUSED);
    }

    private static String reason(CompletionStatus failure) {
        return switch (failure) {
            case RETRY_EXCEEDED_ERROR -> "the peer does not answer";
            case RECEIVER_NOT_READY_RETRY_EXCEEDED_ERROR -> "the peer posts no RECV";
            default -> "a request failed: " + failure;
        };
    }

    @Override
    public void ring() {
        doorbell.ring();
    }

    @Override
    public void doorbell() {
        doorbell.answered();
        QueuePairEnd pair = queuePair;
        if (pair != null && pair.isInError()) {
            pair.flush();
        } else if (port != null && state == State.STREAM) {
            port.isReady(this);
            port.turn();
        }
    }

    @Override
    public void attempt() {
        if (port != null) {
            port.ready(false);
        }
    }

    @Override
    public void retryReceive() {
        attempt();
    }

    @Override
    public void executeLater(Runnable step) {
        engine.loop().execute(() -> run(step));
    }

    /** Runs a step on the engine's thread: at once if this is that thread, else soon. Any thread. */
    void execute(Runnable step) {
        engine.execute(() -> run(step));
    }

    /** A step in the form that {@link #enqueue} takes, made while there is memory for it. Any thread. */
    Runnable prepared(Runnable step) {
        return engine.loop().careful(() -> run(step));
    }

    /** Runs a prepared step as {@link #execute} does, but waits for memory if there is none to hand it over. Any thread. */
    void enqueue(Runnable prepared) {
        if (engine.loop().inLoop()) {
            prepared.run();
        } else {
            engine.enqueue(prepared);
        }
    }

    private void run(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            broken(e);
        }
        turn();
    }

    @Override
    public void turn() {
        if (port != null) {
            port.turn();
        }
    }

    // ---- the end

    @Override
    public void disconnect(String reason) {
        endAnyway(reason);
        turn();
    }

    @Override
    public void queuePairClosed() {
        endAnyway("the queue pair was closed");
        queuePair = null;
        turn();
    }

    private void endAnyway(String reason) {
        try {
            end(reason);
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    @Override
    public boolean isHostSilent() {
        KeepAlive watch = keepAlive;
        return watch != null
                && state == State.STREAM
                && watch.isSilent(requirePort().nowNs());
    }

    /** Asks the peer whether it is there; if it was asked for long enough, the connection ends. */
    @Override
    public void hostSilent() {
        KeepAlive watch = keepAlive;
        TransportEnd current = stream;
        if (watch == null || current == null || state != State.STREAM) {
            return;
        }
        try {
            RocePort on = requirePort();
            if (watch.isGone(on.nowNs())) {
                engine.counters().increment(Counter.SILENT_HOSTS);
                double seconds = engine.limits().timeouts().hostNs() / NS_PER_S;
                end(String.format(Locale.ROOT, "the peer's host did not answer for %.1f s", seconds));
            } else if (current.ask()) {
                watch.asked();
                on.isReady(this);
            }
            on.turn();
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    @Override
    public void end(String reason) {
        end(reason, -1, CompletionStatus.FLUSHED);
    }

    @Override
    public void abort() {
        end("aborted");
    }

    /**
     * This connection has failed, or the engine in its name: it ends, and no other. It ends before anything is said about it,
     * for which there may be no memory. Never throws.
     */
    void broken(Throwable e) {
        QueuePairEnd pair = queuePair;
        boolean tell = pair != null && !pair.isInError();
        try {
            engine.counters().increment(Counter.ENGINE_FAULTS); // whoever is told of the end may look
            end(FAULT);
        } catch (RuntimeException | Error again) {
            endWithoutMemory();
        }
        try {
            if (pair != null && tell) {
                pair.faulted();
            }
            FaultLog.tell(LOG, Level.ERROR, "engine fault; the connection is ended", e);
        } catch (RuntimeException | Error again) {
            // The completions tell of it.
        }
    }

    /** What the first attempt has left out: each part of an end is done once, however often it is asked for. */
    private void endWithoutMemory() {
        try {
            end(FAULT);
        } catch (RuntimeException | Error again) {
            // Each part was tried twice.
        }
    }

    /**
     * Ends: the queue pair goes to ERROR and is flushed, whatever else fails. It may be asked for again: what has failed is done
     * then.
     *
     * @param reason for messages
     * @param culprit sequence of the request that failed, or -1
     * @param status status of that request's completion
     */
    private void end(String reason, long culprit, CompletionStatus status) {
        boolean wasStream = state == State.STREAM;
        state = State.ENDED;
        try {
            if (stream != null) {
                stream.abandonRequests();
            }
            if (wasStream) {
                engine.counters().increment(Counter.CONNECTIONS_CLOSED);
            }
        } finally {
            try {
                QueuePairEnd pair = queuePair;
                if (pair != null) {
                    pair.enterError(reason, culprit, status, 0);
                }
            } finally {
                leave(reason);
            }
        }
    }

    private void leave(String reason) {
        stream = null; // this connection is remembered for some seconds
        RocePort on = port;
        try {
            closeMore();
            leaveGroups();
            if (on != null) {
                on.close(this, number);
                engine.connections().closed(this);
            }
            if (manager != null && on != null) {
                manager.disconnect(on.nowNs());
            } else {
                forgetNumber();
            }
        } finally {
            if (handshake != null) {
                handshake.ended(reason);
            }
        }
    }
}
