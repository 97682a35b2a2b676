package org.softrdma.ibverbs.device;

import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.PostingRules;

/**
 * An {@code ibv_qp}, with the {@code rdma_cm_id} it was created on or without: its states and its end. {@link
 * IbvWorkQueues} does the posting.
 *
 * <p>It enters ERROR at the first of: a polled failed completion, the connection's end, its own disconnect, a failed
 * connect or accept, a rejection. On a device that flushes (InfiniBand, RoCE) the native queue pair is then moved to
 * {@code IBV_QPS_ERR} twice: before the state becomes visible, so that requests posted in ERROR are flushed, and by the
 * disconnect, so that the device looks again at requests posted meanwhile. On iWARP, on an unknown transport, and once
 * the native queue pair is gone, requests posted in ERROR stay in the rings, and polling the completion queue flushes
 * them.
 *
 * <p>Threads: any thread that notices a cause changes the state, under the state lock.
 */
public abstract class IbvQueuePair extends IbvWorkQueues implements UnconnectedQueuePair {
    private final QueuePairParts parts;
    private final OpenDevice device;
    /** Null if the application connects it. */
    private final @Nullable CmId id;

    private final ConnectionThread thread;
    private final IbvCompletionQueue sendCompletions;
    private final IbvCompletionQueue receiveCompletions;
    /** Held while the application connects it, which may wait for the network. Before the state lock. */
    private final ReentrantLock connectLock = new ReentrantLock();

    private final ReentrantLock stateLock = new ReentrantLock();
    /** Another one after each reset. */
    private volatile CompletableFuture<String> disconnected = new CompletableFuture<>();
    /** In SEND_QUEUE_DRAIN: the device has not said yet that all is complete. */
    private volatile boolean draining;

    private volatile EndCause endCause = EndCause.UNKNOWN;
    private volatile @Nullable ConnectionCapabilities connection;
    /** READs in flight that the peer was granted. Under the connect lock. */
    private int inboundReads;

    /** The native queue pair is destroyed. Under the state lock. */
    private boolean gone;

    /**
     * Wraps a native queue pair that was just created.
     *
     * @param number of the native queue pair
     * @param limits granted, at least those requested
     */
    protected IbvQueuePair(QueuePairParts parts, int number, QueuePairLimits limits) {
        super(parts, number, limits);
        this.parts = parts;
        device = parts.device();
        id = parts.id();
        thread = parts.connection().thread();
        sendCompletions = parts.sendCompletions();
        receiveCompletions = parts.receiveCompletions();
    }

    // ---- what a provider does

    /** Ends the connection, and makes the device flush requests posted meanwhile. */
    protected abstract void quiesce();

    /** {@link UnconnectedQueuePair#address}, of one without an id. */
    protected QueuePairAddress localAddress() {
        throw new IllegalStateException(
                "queue pair " + number() + " has a connection manager, which knows its address");
    }

    /**
     * {@code ibv_modify_qp} to RTR, of one without an id.
     *
     * @param attributes within the limits of the device
     * @throws VerbsException if it is refused
     */
    protected void receiveNatively(ReceiveAttributes attributes) {
        throw new IllegalStateException("queue pair " + number() + " has a connection manager, which connects it");
    }

    /**
     * {@code ibv_modify_qp} to RTS, of one without an id.
     *
     * @param attributes within the limits of the device
     * @throws VerbsException if it is refused
     */
    protected void sendNatively(SendAttributes attributes) {
        throw new IllegalStateException("queue pair " + number() + " has a connection manager, which connects it");
    }

    /**
     * {@code ibv_modify_qp} to SQD, of one without an id; the device tells of the end.
     *
     * @throws VerbsException if it is refused
     */
    protected void drainNatively() {
        throw new IllegalStateException("queue pair " + number() + " has a connection manager");
    }

    /**
     * {@code ibv_modify_qp} from SQD to RTS, of one without an id.
     *
     * @param changed what is to change before; null for nothing
     * @throws VerbsException if it is refused
     */
    protected void resumeNatively(@Nullable SendAttributes changed) {
        throw new IllegalStateException("queue pair " + number() + " has a connection manager");
    }

    /**
     * {@code ibv_modify_qp} with {@code IBV_QP_ACCESS_FLAGS}, of one without an id.
     *
     * @param rights of the peer
     * @throws VerbsException if it is refused
     */
    protected void permitNatively(Set<AccessFlag> rights) {
        throw new IllegalStateException("queue pair " + number() + " has a connection manager");
    }

    /**
     * {@code ibv_modify_qp} to RESET, of one without an id.
     *
     * @throws VerbsException if it is refused
     */
    protected void resetNatively() {
        throw new IllegalStateException("queue pair " + number() + " has a connection manager");
    }

    /**
     * {@code ibv_modify_qp} from RESET to INIT, of one without an id; of datagrams to RTS.
     *
     * @param rights of the peer
     * @throws VerbsException if it is refused
     */
    protected void initialiseNatively(Set<AccessFlag> rights) {
        throw new IllegalStateException("queue pair " + number() + " has a connection manager");
    }

    /** Destroys the native queue pair through its id, if it has one, and frees the memory for posting. Nothing posts any more. */
    protected abstract void destroy();

    // ---- what it is

    @Override
    public final ProtectionDomain protectionDomain() {
        return parts.domain();
    }

    @Override
    public final ConnectionCapabilities connectionCapabilities() {
        ConnectionCapabilities agreed = connection;
        if (agreed == null) {
            throw new IllegalStateException("queue pair " + number() + " was never connected");
        }
        return agreed;
    }

    // ---- without a connection manager

    @Override
    public final QueuePairAddress address() {
        return localAddress();
    }

    /** Everything of it is in place: one of datagrams takes requests from now on. */
    final void begin() {
        if (type() == QueuePairType.UNRELIABLE_DATAGRAM) {
            parts.domain().posts(sendGate);
            established(OptionalInt.of(0), OptionalInt.of(0));
        }
    }

    @Override
    public final void readyToReceive(ReceiveAttributes attributes) {
        ReceiveAttributes granted =
                attributes.atMost(reads(device.traits().capabilities().maxInboundReads()));
        move("readyToReceive", QueuePairState.INITIAL, () -> {
            receiveNatively(granted);
            inboundReads = granted.inboundReads();
            return receiving();
        });
    }

    @Override
    public final void readyToSend(SendAttributes attributes) {
        SendAttributes granted =
                attributes.atMost(reads(device.traits().capabilities().maxOutboundReads()));
        if (state() == QueuePairState.SEND_QUEUE_DRAIN) {
            resume(granted);
            return;
        }
        move("readyToSend", QueuePairState.READY_TO_RECEIVE, () -> {
            sendNatively(granted);
            return established(OptionalInt.of(granted.outboundReads()), OptionalInt.of(inboundReads));
        });
    }

    private void resume(SendAttributes changed) {
        if (changed.sequence().isPresent()) {
            throw new IllegalArgumentException("sequence=" + changed.sequence().getAsInt() + " of queue pair "
                    + number() + ", which has begun to send: expected none");
        }
        step("readyToSend", Set.of(QueuePairState.SEND_QUEUE_DRAIN), () -> {
            if (draining) {
                throw new IllegalStateException("readyToSend of queue pair " + number()
                        + ", which is draining: expected SEND_QUEUE_DRAINED to come first");
            }
            resumeNatively(changed);
            agreed(OptionalInt.of(changed.outboundReads()), OptionalInt.of(inboundReads));
            work.state(QueuePairState.READY_TO_SEND);
        });
    }

    @Override
    public final void permit(Set<AccessFlag> rights) {
        PostingRules.checkPeersRights(rights);
        step(
                "permit",
                Set.of(QueuePairState.INITIAL, QueuePairState.READY_TO_SEND, QueuePairState.SEND_QUEUE_DRAIN),
                () -> permitNatively(rights));
    }

    @Override
    public final void drain() {
        step("drain", Set.of(QueuePairState.READY_TO_SEND), () -> {
            draining = true; // first: the device may be done at once
            try {
                drainNatively();
            } catch (VerbsException e) {
                draining = false;
                throw e;
            }
            work.state(QueuePairState.SEND_QUEUE_DRAIN);
        });
    }

    @Override
    public final boolean isDraining() {
        return draining && state() == QueuePairState.SEND_QUEUE_DRAIN;
    }

    /** The device has said that all that was begun is complete. */
    public final void drained() {
        draining = false;
        happened(QueuePairEvent.Kind.SEND_QUEUE_DRAINED);
    }

    @Override
    public final void resume() {
        step("resume", Set.of(QueuePairState.SEND_QUEUE_DRAIN), () -> {
            resumeNatively(null);
            draining = false;
            work.state(QueuePairState.READY_TO_SEND);
        });
    }

    @Override
    public final void reset() {
        connectLock.lock();
        stateLock.lock();
        try {
            if (state() == QueuePairState.CLOSED) {
                throw new IllegalStateException("reset of queue pair " + number() + " in state CLOSED");
            }
            boolean wasUp = isUp();
            withPostingStopped(() -> {
                resetNatively();
                work.reset();
                sendCompletions.discard(work, work.sends());
                receiveCompletions.discard(work, work.receives());
            });
            receiveCompletions.begun();
            forget(wasUp);
        } finally {
            stateLock.unlock();
            connectLock.unlock();
        }
    }

    /** Under both locks. */
    private void forget(boolean wasUp) {
        draining = false;
        connection = null;
        inboundReads = 0;
        endCause = EndCause.UNKNOWN;
        allowReads(true);
        CompletableFuture<String> told = disconnected;
        disconnected = new CompletableFuture<>();
        if (wasUp) {
            thread.execute(() -> ended(told, "reset by this side"));
        }
    }

    @Override
    public final void initialise(Set<AccessFlag> rights) {
        PostingRules.checkPeersRights(rights);
        step("initialise", Set.of(QueuePairState.RESET), () -> {
            initialiseNatively(rights);
            work.state(QueuePairState.INITIAL);
        });
        if (type() == QueuePairType.UNRELIABLE_DATAGRAM) {
            established(OptionalInt.of(0), OptionalInt.of(0));
        }
    }

    /** Does something in some states, under the state lock; what throws has changed nothing. */
    private void step(String what, Set<QueuePairState> from, Runnable step) {
        connectLock.lock();
        stateLock.lock();
        try {
            QueuePairState now = state();
            if (now == QueuePairState.ERROR && !from.contains(QueuePairState.RESET)) {
                throw new VerbsException(
                        VerbsErrorCode.CONNECTION_LOST,
                        what + " of queue pair " + number() + ": it has gone to ERROR meanwhile");
            }
            if (!from.contains(now)) {
                throw new IllegalStateException(
                        what + " of queue pair " + number() + " in state " + now + ": expected one of " + from);
            }
            step.run();
        } finally {
            stateLock.unlock();
            connectLock.unlock();
        }
    }

    private int reads(int most) {
        return type() == QueuePairType.RELIABLE_CONNECTION ? most : 0;
    }

    /** Takes a step from a state; false of the step if the queue pair is in that state no more. */
    private void move(String what, QueuePairState from, BooleanSupplier step) {
        connectLock.lock();
        try {
            QueuePairState now = state();
            boolean lost = now == QueuePairState.ERROR && from == QueuePairState.READY_TO_RECEIVE;
            if (now != from && !lost) {
                throw new IllegalStateException(
                        what + " of queue pair " + number() + " in state " + now + ": expected " + from);
            }
            if (lost || !step.getAsBoolean()) {
                throw new VerbsException(
                        VerbsErrorCode.CONNECTION_LOST,
                        what + " of queue pair " + number() + ": it has gone to " + state() + " meanwhile");
            }
        } catch (VerbsException e) {
            enterError("not connected: " + e.getMessage());
            throw e;
        } finally {
            connectLock.unlock();
        }
    }

    private boolean receiving() {
        stateLock.lock();
        try {
            if (state() != QueuePairState.INITIAL) {
                return false;
            }
            device.connectionEstablished();
            work.state(QueuePairState.READY_TO_RECEIVE);
            receiveCompletions.begun();
            return true;
        } finally {
            stateLock.unlock();
        }
    }

    // ---- its completion queues

    /**
     * True if its RECVs complete on a queue.
     *
     * @param queue of any device
     */
    public final boolean receivesTo(IbvCompletionQueue queue) {
        return receiveCompletions == queue;
    }

    /**
     * True if its sends complete on a queue.
     *
     * @param queue of any device
     */
    public final boolean sendsTo(IbvCompletionQueue queue) {
        return sendCompletions == queue;
    }

    // ---- states

    /**
     * The connection is established. The accepting side may be told twice, and of the end in between.
     *
     * @param outboundReads maximum number of READs in flight from this side, empty if unknown
     * @param inboundReads maximum number of READs in flight from the peer, empty if unknown
     * @return false if the queue pair was failed or closed before it was connected
     */
    public final boolean established(OptionalInt outboundReads, OptionalInt inboundReads) {
        stateLock.lock();
        try {
            boolean received = state() == QueuePairState.READY_TO_RECEIVE;
            if (state() != QueuePairState.INITIAL && !received) {
                return connection != null;
            }
            agreed(outboundReads, inboundReads);
            if (isConnection() && !received) {
                device.connectionEstablished();
            }
            work.state(QueuePairState.READY_TO_SEND);
            receiveCompletions.begun();
            return true;
        } finally {
            stateLock.unlock();
        }
    }

    private void agreed(OptionalInt outboundReads, OptionalInt inbound) {
        connection = new ConnectionCapabilities(
                outboundReads,
                inbound,
                type() == QueuePairType.RELIABLE_CONNECTION ? device.traits().connectionFeatures() : Set.of(),
                device.traits().capabilities().transport());
        allowReads(!outboundReads.equals(OptionalInt.of(0)));
    }

    /** Packets of a peer are taken. */
    private boolean isUp() {
        return switch (state()) {
            case READY_TO_RECEIVE, READY_TO_SEND, SEND_QUEUE_DRAIN, SEND_QUEUE_ERROR -> true;
            case RESET, INITIAL, ERROR, CLOSED -> false;
        };
    }

    private boolean isConnection() {
        return type() != QueuePairType.UNRELIABLE_DATAGRAM;
    }

    @Override
    public final void enterError(String reason) {
        boolean wasEstablished;
        stateLock.lock();
        try {
            wasEstablished = isUp();
            if (!wasEstablished && state() != QueuePairState.INITIAL) {
                return;
            }
            if (work.deviceFlushes()) {
                moveToError();
            }
            withPostingStopped(this::stop);
        } finally {
            stateLock.unlock();
        }
        CompletableFuture<String> told = wasEstablished ? disconnected : null;
        thread.execute(() -> quiesce(told, reason));
    }

    /** With posting stopped. */
    private void stop() {
        work.enterError();
        receiveCompletions.begun();
    }

    /** Ends the connection and makes the device flush again, for requests posted meanwhile. On the device's thread. */
    private void quiesce(@Nullable CompletableFuture<String> told, String reason) {
        stateLock.lock();
        try {
            if (state() == QueuePairState.ERROR && !gone) {
                if (id != null && id.isConnecting()) {
                    // librdmacm would wait for the call under way, and so would every other connection.
                    id.afterConnecting(() -> quiesce(told, reason));
                    return;
                }
                quiesce();
                if (!work.deviceFlushes()) {
                    flushInJava();
                }
            }
        } finally {
            stateLock.unlock();
        }
        if (told != null) {
            ended(told, reason);
        }
    }

    /** From now on polling completes the requests that the device does not. Under the state lock. */
    private void flushInJava() {
        sendCompletions.flushPending(work, work.sends());
        receiveCompletions.flushPending(work, work.receives());
    }

    /** Counts the end before it reports it. On the device's thread. */
    private void ended(CompletableFuture<String> told, String reason) {
        if (!told.isDone()) {
            if (isConnection()) {
                device.connectionClosed();
            }
            told.complete(reason);
        }
    }

    /**
     * Goes to ERROR and destroys the native queue pair, where a connect request cannot be rejected while that exists.
     */
    public final void destroyRejected() {
        stateLock.lock();
        try {
            if (state() == QueuePairState.INITIAL) {
                withPostingStopped(() -> {
                    work.deviceWillNotFlush();
                    stop();
                });
                destroyOnce();
                flushInJava();
            }
        } finally {
            stateLock.unlock();
        }
    }

    /** Under the state lock. Nothing posts any more. */
    private void destroyOnce() {
        if (!gone) {
            gone = true;
            destroy();
        }
    }

    @Override
    public final void disconnect() {
        if (isUp()) {
            enterError("disconnected by this side");
        } else if (state() == QueuePairState.INITIAL) {
            enterError("disconnected before it was connected");
        }
    }

    @Override
    public final CompletionStage<String> disconnected() {
        return disconnected.minimalCompletionStage();
    }

    @Override
    public final EndCause endCause() {
        return endCause;
    }

    /**
     * Tells the application what has happened to it.
     *
     * @param kind what
     */
    public final void happened(QueuePairEvent.Kind kind) {
        device.events().add(new QueuePairEvent(this, kind), () -> state() != QueuePairState.CLOSED);
    }

    /** The device has reported that it refused an access of the peer. A device may report that late or never. */
    public final void accessRefused() {
        endCause = EndCause.PEER_ACCESS_ERROR;
    }

    @Override
    public final void close() {
        // Before taking the lock: the device's thread, which all connections share, takes it too.
        if (id != null) {
            id.awaitConnecting();
        }
        connectLock.lock();
        stateLock.lock();
        try {
            if (state() == QueuePairState.CLOSED) {
                return;
            }
            boolean wasUp = connection != null || isUp();
            CompletableFuture<String> told = disconnected;
            withPostingStopped(() -> work.state(QueuePairState.CLOSED));
            try {
                if (connection != null && id != null) {
                    id.disconnect();
                }
                destroyOnce();
            } finally {
                if (wasUp) {
                    thread.execute(() -> ended(told, "closed by this side"));
                }
                parts.domain().postsNoMore(sendGate);
                // Last, because from now on everything else may be closed.
                parts.giveBack(work);
            }
        } finally {
            stateLock.unlock();
            connectLock.unlock();
        }
    }

    @Override
    public final String toString() {
        return "QueuePair[" + number() + " " + state() + "]";
    }
}
