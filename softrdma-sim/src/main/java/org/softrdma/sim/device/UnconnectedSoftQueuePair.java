package org.softrdma.sim.device;

import java.io.IOException;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.AddressText;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.engine.RunOnce;
import org.softrdma.sim.link.AddressedEnd;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.queue.AsyncEvents;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.PostingRules;

/**
 * A queue pair without a connection manager, whose owner takes it from state to state. INIT is its {@link #open}; of
 * datagrams that is RTR and RTS, too.
 *
 * <p>Threads as of {@link SoftQueuePair}.
 */
final class UnconnectedSoftQueuePair extends SoftQueuePair implements UnconnectedQueuePair {
    private static final Set<QueuePairState> FROM_RESET = EnumSet.of(QueuePairState.RESET);
    private static final Set<QueuePairState> FROM_INITIAL = EnumSet.of(QueuePairState.INITIAL);
    private static final Set<QueuePairState> FROM_READY_TO_SEND = EnumSet.of(QueuePairState.READY_TO_SEND);
    private static final Set<QueuePairState> TO_READY_TO_SEND =
            EnumSet.of(QueuePairState.READY_TO_RECEIVE, QueuePairState.SEND_QUEUE_DRAIN);
    private static final Set<QueuePairState> SENDS =
            EnumSet.of(QueuePairState.READY_TO_SEND, QueuePairState.SEND_QUEUE_DRAIN);
    private static final Set<QueuePairState> STOPPED =
            EnumSet.of(QueuePairState.SEND_QUEUE_DRAIN, QueuePairState.SEND_QUEUE_ERROR);
    /** Where ibv_modify_qp(3) takes IBV_QP_ACCESS_FLAGS without another state. */
    private static final Set<QueuePairState> MAY_BE_PERMITTED = EnumSet.of(
            QueuePairState.INITIAL,
            QueuePairState.READY_TO_SEND,
            QueuePairState.SEND_QUEUE_DRAIN,
            QueuePairState.SEND_QUEUE_ERROR);

    private static final Set<QueuePairState> OPEN = EnumSet.complementOf(EnumSet.of(QueuePairState.CLOSED));
    /** States that a failure ends at any time. */
    private static final Set<QueuePairState> MAY_BE_LOST = EnumSet.of(
            QueuePairState.READY_TO_RECEIVE,
            QueuePairState.READY_TO_SEND,
            QueuePairState.SEND_QUEUE_DRAIN,
            QueuePairState.SEND_QUEUE_ERROR);

    private final RnicEngine engine;
    private final Capabilities capabilities;
    private final AddressedEnd end;
    /** Another one after each reset. */
    private volatile RunOnce leaving;
    /** From {@link #open} on. */
    private volatile @Nullable QueuePairAddress address;

    /**
     * Makes one, which is to be opened.
     *
     * @param number unique on the device
     * @param domain its protection domain
     * @param attributes sizes and queues of the same device, and its type
     * @param capabilities limits of the device
     * @param features of a reliable connection; others have none
     * @param events of the device
     * @param end what the wire has for it
     * @param onClose called once on close
     */
    UnconnectedSoftQueuePair(
            int number,
            DeviceDomain domain,
            QueuePairAttributes attributes,
            Capabilities capabilities,
            Set<Feature> features,
            AsyncEvents events,
            AddressedEnd end,
            Runnable onClose) {
        super(
                number,
                domain,
                attributes,
                capabilities,
                attributes.type() == QueuePairType.RELIABLE_CONNECTION ? features : Set.of(),
                events,
                end.connection(),
                null,
                onClose);
        this.capabilities = capabilities;
        engine = end.connection().engine();
        this.end = end;
        leaving = new RunOnce(engine, this::leave);
    }

    /** Makes it ready for peers; once, before anybody has it. On the engine's thread. */
    void open() throws IOException {
        address = end.open(this);
    }

    @Override
    public QueuePairAddress address() {
        QueuePairAddress own = address;
        if (own == null) {
            throw new IllegalStateException("queue pair " + number() + " is not open yet");
        }
        return own;
    }

    @Override
    public void readyToReceive(ReceiveAttributes attributes) {
        ReceiveAttributes granted = granted(attributes);
        move("readyToReceive", FROM_INITIAL, () -> end.readyToReceive(granted));
    }

    private ReceiveAttributes granted(ReceiveAttributes attributes) {
        QueuePairAddress peer = attributes.peer();
        InetAddress host = peer.host().getAddress();
        InetAddress own = address().host().getAddress();
        if (host == null || !host.getClass().equals(own.getClass())) {
            throw new IllegalArgumentException("peer " + AddressText.of(peer.host())
                    + ": expected an address of the family of " + own.getHostAddress() + ", which is this device's");
        }
        return attributes.atMost(reads(capabilities.maxInboundReads()));
    }

    @Override
    public void readyToSend(SendAttributes attributes) {
        SendAttributes granted = granted(attributes);
        if (state() == QueuePairState.SEND_QUEUE_DRAIN) {
            checkDrained(granted);
        }
        move("readyToSend", TO_READY_TO_SEND, () -> end.readyToSend(granted));
    }

    private SendAttributes granted(SendAttributes attributes) {
        return attributes.atMost(reads(capabilities.maxOutboundReads()));
    }

    /** Goes on by other terms, without another state. */
    void change(ReceiveAttributes receives, SendAttributes sends) {
        ReceiveAttributes served = granted(receives);
        SendAttributes wanted = granted(sends);
        move("change", SENDS, () -> end.change(served, wanted));
    }

    private void checkDrained(SendAttributes attributes) {
        if (attributes.sequence().isPresent()) {
            throw new IllegalArgumentException("sequence="
                    + attributes.sequence().getAsInt() + " of queue pair " + number()
                    + ", which has begun to send: expected none");
        }
        if (isDraining()) {
            throw new IllegalStateException("readyToSend of queue pair " + number()
                    + ", which is draining: expected SEND_QUEUE_DRAINED to come first");
        }
    }

    @Override
    public void permit(Set<AccessFlag> rights) {
        PostingRules.checkPeersRights(rights);
        int allowed = AccessRights.of(rights);
        move("permit", MAY_BE_PERMITTED, () -> permitted(allowed));
    }

    @Override
    public void drain() {
        move("drain", FROM_READY_TO_SEND, () -> {
            drains();
            end.drain();
        });
    }

    @Override
    public boolean isDraining() {
        return drainsStill();
    }

    @Override
    public void resume() {
        move("resume", STOPPED, () -> {
            resumed();
            end.resume();
        });
    }

    @Override
    public void reset() {
        move("reset", OPEN, () -> {
            RunOnce next = new RunOnce(engine, this::leave);
            address = end.reset();
            forget("reset by this side");
            leaving = next;
        });
    }

    @Override
    public void initialise(Set<AccessFlag> rights) {
        PostingRules.checkPeersRights(rights);
        int allowed = AccessRights.of(rights);
        move("initialise", FROM_RESET, () -> {
            permitted(allowed);
            initial();
            end.initialise();
        });
    }

    /** Goes to another address of this host. */
    void useAddress(InetAddress local) {
        move("useAddress", FROM_INITIAL, () -> address = end.useAddress(local));
    }

    /** Takes datagrams at another address of this host, too. */
    void alsoUseAddress(InetAddress local) {
        move("alsoUseAddress", FROM_RESET, () -> end.alsoUseAddress(local));
    }

    /** Takes what comes to a multicast group, too. */
    void join(InetAddress group, List<InetAddress> locals) {
        move("join", OPEN, () -> end.join(group, locals));
    }

    /** Takes it no more; false if it did not. */
    boolean leave(InetAddress group) {
        boolean[] left = new boolean[1];
        move("leave", OPEN, () -> left[0] = end.leave(group));
        return left[0];
    }

    /** Datagrams must carry another key. */
    void useQueueKey(int key) {
        move("useQueueKey", OPEN, () -> end.queueKey(key));
    }

    private int reads(int most) {
        return type() == QueuePairType.RELIABLE_CONNECTION ? most : 0;
    }

    /** Takes a step from some states; another thread, or the peer, may have moved it before the engine comes to it. */
    private void move(String what, Set<QueuePairState> from, RnicEngine.Task step) {
        engine.checkThread();
        check(what, from);
        boolean[] late = new boolean[1];
        Waiting.onLoop(engine, () -> {
            late[0] = !from.contains(state());
            if (!late[0]) {
                step.run();
            }
        });
        if (late[0]) {
            check(what, from);
        }
    }

    private void check(String what, Set<QueuePairState> from) {
        QueuePairState now = state();
        if (from.contains(now)) {
            return;
        }
        if (now == QueuePairState.ERROR && from.stream().anyMatch(MAY_BE_LOST::contains)) {
            throw new VerbsException(
                    VerbsErrorCode.CONNECTION_LOST,
                    what + " of queue pair " + number() + ": it has gone to ERROR meanwhile");
        }
        throw new IllegalStateException(what + " of queue pair " + number() + " in state " + now + ": expected "
                + from.stream().map(QueuePairState::name).collect(Collectors.joining(" or ")));
    }

    @Override
    protected PostStatus submit(SendWorkRequest request) {
        AddressHandle host = request.addressHandle();
        if (host != null) {
            end.checkDestination(host, protectionDomain());
        }
        return super.submit(request);
    }

    /** {@inheritDoc} No peer is told, so this waits until it is in ERROR. */
    @Override
    public void disconnect() {
        engine.checkThread();
        leaving.run();
    }

    private void leave() {
        end.connection().disconnect("disconnected by this side");
    }
}
