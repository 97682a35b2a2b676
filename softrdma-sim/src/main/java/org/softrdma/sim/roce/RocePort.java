package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.DatagramLoop;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.FaultLog;
import org.softrdma.net.transport.LoopGuard;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.DrivenConnection;
import org.softrdma.sim.engine.EnduringQueue;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairNumbers;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.cm.CmSettings;
import org.softrdma.sim.roce.cm.CommunicationManager;
import org.softrdma.sim.roce.rc.ReadBudget;
import org.softrdma.sim.roce.unreliable.Drop;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.Deth;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.Mad;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * A UDP socket of an engine, and what shares it: the connections, by the numbers of their queue pairs, and the
 * connection manager, which is queue pair 1.
 *
 * <p>Each event and each doorbell is a turn: packets are received and handled, then connections that have something to
 * send take turns in filling the {@link PacketStage}, which goes to the socket. What a peer sends costs at most its own
 * connection: a packet that is damaged, malformed, or not from the peer of its queue pair is dropped and counted.
 *
 * <p>One timer serves all: it is set for the earliest deadline of the connections and the manager.
 */
final class RocePort implements SocketEvents, DrivenConnection {
    private static final Logger LOG = LoggerFactory.getLogger(RocePort.class);

    /**
     * Cards and SoftRoCE send from ports above this one, chosen to spread packets over paths, and hear at 4791. Whoever
     * sends from a port below hears there: software RNICs of this project do.
     */
    static final int FIRST_SPREADING_PORT = 0xC000;

    private static final int BUFFERS = 16;
    private static final int RECEIVES_PER_TURN = 4;
    /** From one question what the kernel has dropped to the next. */
    private static final long COUNT_NS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Connections that may fill the stage in one turn. */
    private static final int FILLS_PER_TURN = 8;

    private static final int LEAST_READ_WINDOW = 8;
    private static final int MOST_READ_WINDOW = 256;

    private final RnicEngine engine;
    private final QueuePairNumbers numbers;
    private final EventLoop loop;
    private final Counters<RoceCounter> counters;
    private final Counters<Drop> drops;
    private final Icrc icrc = new Icrc();
    private final DatagramSocket socket;
    private final InetSocketAddress local;
    private final Gid address;
    private final PacketReceiver receiver;
    private final PacketStage stage;
    private final CommunicationManager manager;
    private final ReadBudget reads;

    /** By number, those that take packets. */
    private Int2ObjectHashMap<PortQueuePair> queuePairs = new Int2ObjectHashMap<>();

    private final List<PortQueuePair> open = new ArrayList<>();
    /** Connections that may have something to send. */
    private final EnduringQueue<PortQueuePair> ready = new EnduringQueue<>();

    // Made once: there may be no memory for them when they are needed.
    private final Runnable goOnTask;
    private final Runnable timeTask;
    private final Runnable rearming;

    private boolean turning;
    /** Another turn is scheduled. */
    private boolean goingOn;

    /** Somebody waits until all peers know of the ends of their connections. */
    private @Nullable CompletableFuture<Void> farewell;

    /** What the socket has counted, when it was last asked, and when that was. */
    private long dropped;

    private long refused;
    private long countedNs;

    private boolean closed;
    private EventLoop.@Nullable Cancellable timer;
    private long timerNs = Long.MAX_VALUE;

    /**
     * Opens a port.
     *
     * @param engine that drives it
     * @param random source of what peers must not be able to guess
     * @param numbers of the device's queue pairs
     * @param counted by the engine's ports
     * @param wanted address, and port or 0
     * @throws IOException if it cannot be had
     */
    RocePort(
            RnicEngine engine,
            RandomGenerator random,
            QueuePairNumbers numbers,
            RoceCounters counted,
            InetSocketAddress wanted)
            throws IOException {
        this.engine = engine;
        this.numbers = numbers;
        counters = counted.all();
        drops = counted.drops();
        loop = engine.loop();
        if (!(loop instanceof DatagramLoop datagrams)) {
            throw new IOException("this transport has no datagrams, so wire=roce cannot use it");
        }
        countedNs = nowNs();
        goOnTask = loop.careful(this::goOn);
        timeTask = loop.careful(this::timeHasCome);
        socket = datagrams.bind(wanted, this);
        try {
            rearming = socket::rearm;
            local = socket.localAddress();
            address = Gid.of(local.getAddress());
            reads = new ReadBudget(socket.receiveBuffer() / 2);
            receiver = new PacketReceiver(engine, counters, icrc, BUFFERS, local, this::take);
            stage = new PacketStage(socket, engine.memory(), icrc, counters);
            manager = new CommunicationManager(random.nextLong(), random, CmSettings.DEFAULT, this::sendMessage);
            engine.connections().opened(this);
        } catch (RuntimeException | Error e) { // nobody would hear at a port that is open
            engine.connections().closed(this);
            socket.close();
            throw e;
        }
    }

    // ---- what it is

    /** Its address and UDP port. */
    InetSocketAddress localAddress() {
        return local;
    }

    /** Its address as packets have it. */
    Gid address() {
        return address;
    }

    /** The connection manager. */
    CommunicationManager manager() {
        return manager;
    }

    /** The counters of the engine's ports. */
    Counters<RoceCounter> counters() {
        return counters;
    }

    /** Packets of unreliable queue pairs that did nothing, on the engine's ports. */
    Counters<Drop> drops() {
        return drops;
    }

    /** The time. */
    long nowNs() {
        return loop.clock().nanoTime();
    }

    /** True once it takes and sends nothing any more. */
    boolean isClosed() {
        return closed;
    }

    /** Answers to READs of all connections that may be on their way: half of what the socket has room for. */
    ReadBudget reads() {
        return reads;
    }

    /**
     * Packets of answers to READs that may be on their way to a connection: half of what the socket has room for, as the
     * kernel counts it, which is more than the bytes.
     */
    int readWindow(int transferUnit) {
        long packets = socket.receiveBuffer() / 2 / ReadBudget.cost(transferUnit);
        return Math.clamp(packets, LEAST_READ_WINDOW, MOST_READ_WINDOW);
    }

    /**
     * Packets that a new peer may have on their way to this port, beside answers to READs: what the other half of the socket
     * has room for is shared with those that are there. 0 if that is unknown.
     */
    int heldPackets(int transferUnit) {
        int room = socket.receiveBuffer() / 2;
        long packet = ReadBudget.cost(transferUnit);
        return room == 0 ? 0 : Math.clamp(room / (packet * (open.size() + 1)), LEAST_READ_WINDOW, CmEndpoint.MOST_HELD);
    }

    /** A path to a peer. */
    RocePath path(CmPeer peer) {
        return new RocePath(address, local.getPort(), peer, RocePath.scope(local.getAddress()));
    }

    // ---- connections

    /** A queue pair takes its packets from now on, or this throws. Its number is not used by another one before {@link #forget}. */
    void open(PortQueuePair queuePair, int number) {
        makeRoom();
        numbers.keep(number);
        try {
            open.add(queuePair);
            queuePairs.put(number, queuePair);
        } catch (RuntimeException | Error e) {
            close(queuePair, number);
            forget(number);
            throw e;
        }
    }

    /** A map that finds no memory to grow is broken for good: its next entries find no place. So another one is made. */
    private void makeRoom() {
        if (queuePairs.size() >= queuePairs.resizeThreshold()) {
            Int2ObjectHashMap<PortQueuePair> more =
                    new Int2ObjectHashMap<>(2 * queuePairs.capacity(), queuePairs.loadFactor());
            more.putAll(queuePairs);
            queuePairs = more;
        }
    }

    /** A queue pair has ended: its packets are dropped. */
    void close(PortQueuePair queuePair, int number) {
        queuePairs.remove(number);
        open.remove(queuePair);
    }

    /** No peer knows the number of a queue pair any more. */
    void forget(int number) {
        numbers.giveBack(number);
    }

    /** A connection may have something to send, in this turn or the next. */
    void isReady(PortQueuePair queuePair) {
        if (queuePair.enqueue()) {
            ready.addLastAnyway(queuePair);
        }
    }

    /** What a queue pair that others share with this one sends next leaves here. In a turn of another port. */
    void sendsNext(PortQueuePair queuePair) {
        isReady(queuePair);
        goOnLater();
    }

    /** True if this is the stage of what leaves here. */
    boolean has(PacketStage other) {
        return stage == other;
    }

    // ---- turns

    @Override
    public void ready(boolean writable) {
        if (closed) {
            return;
        }
        engine.epoch().enter();
        turning = true;
        try {
            receive();
        } catch (IOException e) {
            broken(e);
        } catch (RuntimeException | Error e) {
            hearAgain(e);
        } finally {
            turning = false;
            engine.epoch().exit();
        }
        turn();
    }

    /**
     * As a rule there was no memory for what has come: part of it is lost, as the network loses packets, and the rest is heard
     * later.
     */
    private void hearAgain(Throwable e) {
        engine.counters().increment(Counter.ENGINE_FAULTS);
        FaultLog.tell(LOG, Level.ERROR, "engine fault while receiving packets", e);
        LoopGuard.pause();
        LoopGuard.insist(rearming);
    }

    /** Runs something on the engine's thread: at once if this is that thread, else soon. Any thread. */
    void execute(Runnable step) {
        engine.execute(step);
    }

    /** Sends what is to be sent, and sets the timer. Within a turn this is left to its end. */
    void turn() {
        if (turning || closed) {
            return;
        }
        engine.epoch().enter();
        turning = true;
        try {
            send();
            countRefused();
            setTimer();
            bidFarewell();
        } catch (Error e) { // as a rule memory; no packet is lost: they wait
            engine.counters().increment(Counter.ENGINE_FAULTS);
            LoopGuard.pause();
            goOnLater();
        } catch (IOException | RuntimeException e) {
            broken(e);
        } finally {
            turning = false;
            engine.epoch().exit();
        }
    }

    /** Done once every peer knows of the end of its connection, or was told often enough. */
    CompletableFuture<Void> peersKnow() {
        CompletableFuture<Void> known = new CompletableFuture<>();
        farewell = known;
        turn();
        return known;
    }

    private void bidFarewell() {
        CompletableFuture<Void> waiting = farewell;
        if (waiting != null && !manager.isDisconnecting()) {
            farewell = null;
            boolean ignored = waiting.complete(null);
        }
    }

    private void send() throws IOException {
        boolean gone = stage.flush();
        for (int i = 0; gone && i < FILLS_PER_TURN && !ready.isEmpty(); i++) {
            PortQueuePair next = ready.pollFirst();
            if (next != null && next.fill(stage)) {
                isReady(next);
            }
            if (!stage.hasRoom()) {
                gone = stage.flush();
            }
        }
        if (!gone || !stage.flush()) {
            socket.awaitRoom();
        } else if (!ready.isEmpty()) {
            goOnLater();
        }
    }

    private void goOnLater() {
        if (!goingOn) {
            engine.enqueue(goOnTask);
            goingOn = true;
        }
    }

    private void goOn() {
        goingOn = false;
        turn();
    }

    // ---- time

    /** Something is due at a time; it may become later, or never, without a word. */
    void due(long deadlineNs) {
        if (deadlineNs < timerNs && !closed) {
            if (timer != null) {
                timer.cancel();
            }
            timerNs = deadlineNs;
            timer = engine.schedule(timeTask, Math.max(0, deadlineNs - nowNs()));
        }
    }

    private void setTimer() {
        due(manager.nextNs());
    }

    private void timeHasCome() {
        timer = null;
        timerNs = Long.MAX_VALUE;
        if (closed) {
            return;
        }
        if (!isDoneInTime(nowNs())) {
            LoopGuard.pause();
            engine.enqueue(timeTask); // or nothing would ever be due again
            return;
        }
        for (int i = 0; i < open.size(); i++) {
            due(open.get(i).deadlineNs());
        }
        turn();
    }

    /** Does what is due; false if there was no memory for a part of it, which is still due then. */
    private boolean isDoneInTime(long nowNs) {
        engine.epoch().enter();
        turning = true;
        try {
            countDropped(nowNs);
            manager.expire(nowNs);
            for (int i = open.size() - 1; i >= 0; i--) { // one that ends takes itself out
                PortQueuePair queuePair = open.get(i);
                queuePair.onTime(nowNs);
            }
        } catch (Error e) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
            return false;
        } catch (RuntimeException e) {
            broken(e);
        } finally {
            turning = false;
            engine.epoch().exit();
        }
        return true;
    }

    // ---- what arrives

    private void receive() throws IOException {
        for (int i = 0; i < RECEIVES_PER_TURN; i++) {
            boolean more = receiver.receive(socket);
            if (receiver.receivedNs() - countedNs >= COUNT_NS) {
                countDropped(receiver.receivedNs());
            }
            if (!more) {
                return;
            }
            send();
        }
        socket.rearm();
    }

    /** Asks the socket now and then: the kernel counts drops, and a call for each packet would be dear. */
    private void countDropped(long nowNs) {
        long nowDropped = socket.dropped();
        counters.add(RoceCounter.SOCKET_DROPPED, nowDropped - dropped);
        dropped = nowDropped;
        countedNs = nowNs;
    }

    private void countRefused() {
        long nowRefused = socket.refused();
        counters.add(RoceCounter.SOCKET_REFUSED, nowRefused - refused);
        refused = nowRefused;
    }

    private void take(long packet, int length, int place, PeerAddress from) {
        if (Bth.destination(packet) == Mad.QUEUE_PAIR) {
            receiveMessage(packet, length, place, from);
        } else {
            PortQueuePair queuePair = queuePairs.get(Bth.destination(packet));
            if (queuePair == null) {
                counters.increment(RoceCounter.UNKNOWN_QUEUE_PAIR);
            } else if ((Bth.opcode(packet) & RoceOpcode.TRANSPORT_MASK) != queuePair.transport()) {
                counters.increment(RoceCounter.WRONG_TRANSPORT);
            } else if (!queuePair.isFrom(from)) {
                counters.increment(RoceCounter.FOREIGN_SOURCE);
            } else if (receiver.isIntact(packet, length, place, from)) {
                queuePair.received(receiver.arrival(), packet, length, receiver.receivedNs());
            }
        }
    }

    private void receiveMessage(long packet, int length, int place, PeerAddress from) {
        int opcode = Bth.opcode(packet);
        if (opcode != (RoceOpcode.UD | RoceOpcode.SEND_ONLY) || Deth.queueKey(packet) != Mad.QUEUE_KEY) {
            counters.increment(RoceCounter.WRONG_TRANSPORT);
            return;
        }
        if (!receiver.isIntact(packet, length, place, from)) {
            return;
        }
        int port = from.port() < FIRST_SPREADING_PORT ? from.port() : RocePacket.UDP_PORT;
        int payload = RocePacket.payloadLength(packet, length);
        try {
            CmPeer peer = new CmPeer(new Gid(from.high(), from.low()), port);
            manager.received(peer, packet + RoceOpcode.headerLength(opcode), payload, receiver.receivedNs());
        } catch (RuntimeException | Error e) { // of one message, which is repeated if it matters: the others go on
            engine.counters().increment(Counter.ENGINE_FAULTS);
            FaultLog.tell(LOG, Level.ERROR, "engine fault while handling a message of the connection manager", e);
        }
    }

    /** A message of the connection manager; lost if there is no room or memory, since it repeats what matters. */
    private void sendMessage(CmPeer peer, long mad) {
        if (closed || !stage.hasRoom() || peer.address().isIpv4() != address.isIpv4()) {
            counters.increment(RoceCounter.MESSAGES_LOST);
            return;
        }
        try {
            addMessage(path(peer), mad);
        } catch (OutOfMemoryError e) {
            counters.increment(RoceCounter.MESSAGES_LOST);
        }
    }

    private void addMessage(RocePath to, long mad) {
        int opcode = RoceOpcode.UD | RoceOpcode.SEND_ONLY;
        long packet = stage.next();
        Bth.put(packet, opcode, Bth.MIGRATED, Mad.LENGTH, Mad.QUEUE_PAIR, 0);
        Deth.put(packet, Mad.QUEUE_KEY, Mad.QUEUE_PAIR);
        NativeMemory.copy(mad, packet + RoceOpcode.headerLength(opcode), Mad.LENGTH);
        stage.add(RocePacket.length(opcode, Mad.LENGTH), to);
    }

    // ---- the end

    /** The socket or this port has failed: all connections end. */
    private void broken(Throwable e) {
        engine.counters().increment(Counter.ENGINE_FAULTS);
        FaultLog.tell(LOG, Level.ERROR, "a port of RoCE has failed; its connections are ended", e);
        end("the port has failed"); // a text that says more needs memory, which may be what is missing
    }

    @Override
    public void end(String reason) {
        if (closed) {
            return;
        }
        boolean nested = turning;
        turning = true;
        try {
            while (!open.isEmpty()) {
                endLast(reason);
            }
            boolean ignored = stage.flush(); // peers should hear of it, but this side waits for nothing
        } catch (IOException | RuntimeException | Error e) {
            LOG.debug("peers do not hear that {} ends", local, e);
        } finally {
            turning = nested;
            closed = true;
            if (timer != null) {
                timer.cancel();
            }
            engine.connections().closed(this);
            socket.close();
            countDropped(nowNs());
            countRefused();
        }
    }

    /** Whatever fails: the others end, too. */
    private void endLast(String reason) {
        PortQueuePair last = open.getLast();
        try {
            last.end(reason);
        } catch (RuntimeException | Error e) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
            FaultLog.tell(LOG, Level.ERROR, "engine fault while ending a queue pair", e);
        }
        open.remove(last);
    }

    @Override
    public void abort() {
        end("aborted");
    }

    @Override
    public void doorbell() {
        turn();
    }

    @Override
    public void attempt() {
        ready(false);
    }

    @Override
    public void retryReceive() {
        ready(false);
    }

    @Override
    public boolean isHostSilent() {
        return false; // each connection has timers of its own
    }

    @Override
    public void hostSilent() {
        // Never.
    }
}
