package org.softrdma.sim.device;

import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.engine.RunOnce;
import org.softrdma.sim.flight.Flight;
import org.softrdma.sim.link.Agreement;
import org.softrdma.sim.link.LocalRequests;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.StreamWindows;
import org.softrdma.sim.memory.Window;
import org.softrdma.sim.queue.AsyncEvents;
import org.softrdma.sim.queue.CompletionSource;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.queue.RingSize;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.sim.queue.SoftSharedReceiveQueue;
import org.softrdma.sim.samehost.PeerAdmission;
import org.softrdma.sim.samehost.PeerMemory;
import org.softrdma.sim.samehost.SameHost;
import org.softrdma.sim.samehost.SharedMemoryReads;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.provider.PostingQueuePair;
import org.softrdma.verbs.provider.PostingRules;

/**
 * The application's end of a connection: queues requests and rings the engine.
 *
 * <p>Posting runs on application threads under a short lock (none in manual mode); the engine's thread changes the
 * state.
 */
class SoftQueuePair extends PostingQueuePair implements CompletionSource, QueuePairEnd {
    private static final int PEERS_RIGHTS =
            AccessRights.REMOTE_READ | AccessRights.REMOTE_WRITE | AccessRights.REMOTE_ATOMIC;

    private final int number;
    private final DeviceDomain domain;
    private final Capabilities capabilities;
    /** Of a connection. */
    private final Set<Feature> features;

    private final AsyncEvents events;
    private final StreamWindows windows;
    private final WireConnection connection;
    private final RnicEngine engine;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final Runnable onClose;
    private final QueuePairGate gate;
    private final RunOnce end;
    private final RunOnce neverConnected;
    private volatile String abandoned = "";
    /** Another one after each reset. */
    private volatile CompletableFuture<String> disconnected = new CompletableFuture<>();

    private final @Nullable SameHost sameHost;
    /** On the engine's thread: the peer may come for memory while this is open. */
    private @Nullable PeerAdmission admission;
    /** What the peer has handed over; the engine writes it before the state becomes READY_TO_SEND. */
    private volatile @Nullable SharedMemoryReads shared;

    private volatile boolean closing;
    private volatile QueuePairState state = QueuePairState.INITIAL;
    private volatile int remoteRights = PEERS_RIGHTS;
    /** In SEND_QUEUE_DRAIN: not all that was begun is complete. */
    private volatile boolean draining;

    private volatile @Nullable Agreement agreement;

    /** Written by the engine before the state becomes ERROR. */
    private volatile EndCause endCause = EndCause.UNKNOWN;

    /**
     * Makes a queue pair on a connection.
     *
     * @param number unique on the device
     * @param domain its protection domain
     * @param attributes sizes and queues of the same device
     * @param capabilities limits of the device
     * @param features of a connection
     * @param events of the device
     * @param sameHost of the device, or null
     * @param onClose called once on close
     */
    SoftQueuePair(
            int number,
            DeviceDomain domain,
            QueuePairAttributes attributes,
            Capabilities capabilities,
            Set<Feature> features,
            AsyncEvents events,
            WireConnection connection,
            @Nullable SameHost sameHost,
            Runnable onClose) {
        QueuePairGate entrance = new QueuePairGate(connection);
        super(
                new PostingRules(
                        granted(PostingRules.checked(attributes.limits(), capabilities)),
                        capabilities,
                        attributes.type()),
                entrance,
                entrance);
        gate = entrance;
        this.number = number;
        this.domain = domain;
        this.capabilities = capabilities;
        this.features = features;
        this.events = events;
        this.connection = connection;
        this.sameHost = sameHost;
        this.onClose = onClose;
        engine = connection.engine();
        windows = new StreamWindows(engine.stags(), domain.number(), number);
        end = new RunOnce(engine, this::destroy);
        neverConnected = new RunOnce(engine, this::endUnconnected);
        QueuePairLimits limits = limits();
        sendCompletions = (SoftCompletionQueue) attributes.sendCompletions();
        receiveCompletions = (SoftCompletionQueue) attributes.receiveCompletions();
        sends = new SendQueue(
                this, sendCompletions, limits, attributes.signalAll(), attributes.relaxedReads(), engine.memory());
        try {
            receives = receives(attributes.sharedReceives());
            attachToCompletionQueues();
        } catch (Throwable e) {
            sends.close();
            throw e;
        }
        connection.attach(this);
    }

    private ReceiveQueue receives(@Nullable SharedReceiveQueue shared) {
        return shared == null
                ? new ReceiveQueue(
                        this, receiveCompletions, limits().maxReceiveWorkRequests(), limits().maxReceiveScatterGather())
                : new ReceiveQueue(this, receiveCompletions, (SoftSharedReceiveQueue) shared);
    }

    private void attachToCompletionQueues() {
        try {
            sendCompletions.attach(this);
            if (receiveCompletions != sendCompletions) {
                receiveCompletions.attach(this);
            }
        } catch (Throwable e) {
            sendCompletions.detach(this);
            receives.close();
            throw e;
        }
    }

    private static QueuePairLimits granted(QueuePairLimits asked) {
        return new QueuePairLimits(
                RingSize.atLeast(asked.maxSendWorkRequests()),
                RingSize.atLeast(asked.maxReceiveWorkRequests()),
                asked.maxSendScatterGather(),
                asked.maxReceiveScatterGather(),
                asked.maxInline());
    }

    // ---- the application

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public ConnectionCapabilities connectionCapabilities() {
        Agreement agreed = agreement;
        if (agreed == null) {
            throw new IllegalStateException("queue pair " + number + " was never connected");
        }
        return new ConnectionCapabilities(
                OptionalInt.of(agreed.outboundReads()),
                OptionalInt.of(agreed.inboundReads()),
                features,
                agreed.description());
    }

    @Override
    protected PostStatus submit(SendWorkRequest request) {
        Agreement agreed = agreement;
        PostingRules.checkSendable(request.opcode(), number, state, agreed == null || agreed.outboundReads() != 0);
        SharedMemoryReads reads = shared;
        if (reads != null && state == QueuePairState.READY_TO_SEND && reads.post(request)) {
            return PostStatus.ACCEPTED;
        }
        PostStatus status = request.opcode() == SendOpcode.BIND_WINDOW ? submitBind(request) : sends.post(request);
        if (status == PostStatus.ACCEPTED) {
            gate.due();
        }
        return status;
    }

    private PostStatus submitBind(SendWorkRequest request) {
        Window window = domain.window(request.window());
        if (!sends.hasRoom()) {
            return PostStatus.QUEUE_FULL;
        }
        sends.postBind(request, window, AccessRights.of(request.windowAccess()) | window.base());
        return PostStatus.ACCEPTED;
    }

    @Override
    protected PostStatus submit(SendWorkRequestList requests) {
        SharedMemoryReads reads = shared;
        if (reads != null && state == QueuePairState.READY_TO_SEND) {
            reads.fetch(requests);
        }
        for (int i = 0; i < requests.size(); i++) {
            SendWorkRequest request = requests.get(i);
            rules.check(request);
            if (submit(request) != PostStatus.ACCEPTED) {
                return PostStatus.QUEUE_FULL;
            }
            requests.accepted(i + 1);
        }
        return PostStatus.ACCEPTED;
    }

    /** A RECV may be posted while the engine flushes: checks the state again after publishing it. */
    @Override
    protected PostStatus submit(ReceiveWorkRequest request) {
        PostingRules.checkReceivable(number, state, receives.isShared());
        PostStatus status = receives.post(request);
        VarHandle.fullFence();
        if (state == QueuePairState.ERROR) {
            gate.due();
        }
        return status;
    }

    @Override
    public void disconnect() {
        engine.checkThread();
        engine.execute(() -> connection.disconnect("disconnected by this side"));
    }

    @Override
    public CompletionStage<String> disconnected() {
        return disconnected.minimalCompletionStage();
    }

    @Override
    public EndCause endCause() {
        return capabilities.has(Feature.END_CAUSES) ? endCause : EndCause.UNKNOWN;
    }

    @Override
    public void close() {
        engine.checkThread();
        closing = true;
        end.run();
    }

    /**
     * The connection will never be established: goes to ERROR and flushes before this returns. Any thread but another
     * engine's.
     */
    void abandon(String reason) {
        if (!end.isDone()) {
            abandoned = reason;
            neverConnected.run();
        }
    }

    private void endUnconnected() {
        enterError(abandoned, -1, CompletionStatus.FLUSHED, 0);
    }

    /** RECVs are asked for when there is none. Before it is connected. */
    final void suppliedBy(Runnable supplier) {
        receives.suppliedBy(supplier);
    }

    // ---- the engine

    @Override
    public SendQueue sendQueue() {
        return sends;
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receives;
    }

    @Override
    public int domainNumber() {
        return domain.number();
    }

    @Override
    public StreamWindows windows() {
        return windows;
    }

    @Override
    public LocalRequests localRequests() {
        return new LocalRequests(engine, sends, windows, shared);
    }

    @Override
    public void accepting(InetSocketAddress local, InetSocketAddress remote) {
        if (sameHost != null) {
            admission = sameHost.accepting(local, remote, domain.number());
        }
    }

    @Override
    public void accepted(InetSocketAddress local, InetSocketAddress remote) {
        PeerMemory peer = sameHost == null ? null : sameHost.connected(local, remote);
        if (peer != null) {
            shared = new SharedMemoryReads(engine, peer, sends, domain.number());
        }
    }

    @Override
    public int remoteRights() {
        return remoteRights;
    }

    /** What the peer may do from now on. */
    final void permitted(int rights) {
        remoteRights = rights & PEERS_RIGHTS;
    }

    /** Goes to INITIAL, from RESET. */
    final void initial() {
        state = QueuePairState.INITIAL;
    }

    /** Goes to SEND_QUEUE_DRAIN; {@link #drained} follows, perhaps at once. */
    final void drains() {
        draining = true;
        state = QueuePairState.SEND_QUEUE_DRAIN;
    }

    /** Goes to READY_TO_SEND again. */
    final void resumed() {
        draining = false;
        state = QueuePairState.READY_TO_SEND;
    }

    /** True in SEND_QUEUE_DRAIN until {@link #drained}. */
    final boolean drainsStill() {
        return draining && state == QueuePairState.SEND_QUEUE_DRAIN;
    }

    @Override
    public void drained() {
        if (drainsStill()) {
            draining = false;
            raise(QueuePairEvent.Kind.SEND_QUEUE_DRAINED);
        }
    }

    @Override
    public void sendQueueFailed(long culprit, CompletionStatus status) {
        if (!isInError()) {
            draining = false;
            state = QueuePairState.SEND_QUEUE_ERROR;
            flush(culprit, status, 0);
        }
    }

    /** Goes to RESET, and forgets what was posted. The wire has forgotten it. */
    final void forget(String reason) {
        boolean wasUp = isUp();
        gate.lock(); // who posts now finds it in RESET
        try {
            state = QueuePairState.RESET;
            sends.discard();
            receives.discard();
        } finally {
            gate.unlock();
        }
        draining = false;
        agreement = null;
        endCause = EndCause.UNKNOWN;
        remoteRights = PEERS_RIGHTS;
        unbindWindows();
        CompletableFuture<String> told = disconnected;
        if (wasUp) {
            disconnected = new CompletableFuture<>();
            tell(told, reason);
        } else if (told.isDone()) {
            disconnected = new CompletableFuture<>();
        }
    }

    private boolean isUp() {
        QueuePairState now = state; // no switch, whose class would be loaded when there may be no memory
        return now == QueuePairState.READY_TO_RECEIVE
                || now == QueuePairState.READY_TO_SEND
                || now == QueuePairState.SEND_QUEUE_DRAIN
                || now == QueuePairState.SEND_QUEUE_ERROR;
    }

    /** The connection has ended: the peer gets nothing more. */
    private void endAdmission() {
        if (admission != null) {
            admission.close();
            admission = null;
        }
    }

    /** Nobody reads from the peer's memory any more: who posts now finds the queue pair closed. */
    private void endSharedMemory() {
        SharedMemoryReads reads = shared;
        if (reads != null && sameHost != null) {
            shared = null;
            gate.lock();
            gate.unlock();
            sameHost.ended(reads.peer());
        }
    }

    @Override
    public boolean isInError() {
        return state == QueuePairState.ERROR || state == QueuePairState.CLOSED;
    }

    @Override
    public void receiving() {
        state = QueuePairState.READY_TO_RECEIVE;
    }

    @Override
    public void established(Agreement agreed) {
        agreement = agreed;
        Flight.connectionMade(number, agreed::description);
        state = QueuePairState.READY_TO_SEND; // last: if anything fails, it never was
    }

    @Override
    public void agreed(Agreement changed) {
        agreement = changed;
    }

    @Override
    public void accessRefused() {
        if (!isInError()) {
            endCause = EndCause.PEER_ACCESS_ERROR;
            raise(QueuePairEvent.Kind.ACCESS_ERROR);
            Flight.accessRefused(number);
        }
    }

    @Override
    public void requestRefused() {
        raise(QueuePairEvent.Kind.REQUEST_ERROR);
        Flight.connectionLost(number, "the peer asked for what cannot be done");
    }

    @Override
    public void faulted() {
        if (!closing) {
            events.raise(this, QueuePairEvent.Kind.FATAL);
        }
        Flight.connectionLost(number, "a fault of the engine");
    }

    /** Tells the application why the queue pair is about to go to ERROR, unless it is there or is being closed. */
    private void raise(QueuePairEvent.Kind kind) {
        if (!isInError() && !closing) {
            events.raise(this, kind);
        }
    }

    @Override
    public void enterError(String reason, long culprit, CompletionStatus status, int vendorCode) {
        if (isInError()) {
            return;
        }
        boolean wasEstablished = isUp();
        try {
            endAdmission();
        } finally {
            endRequests(culprit, status, vendorCode);
            if (wasEstablished) {
                Flight.connectionEnded(number, reason);
                tell(disconnected, reason);
            }
        }
    }

    private void endRequests(long culprit, CompletionStatus status, int vendorCode) {
        if (closing) {
            state = QueuePairState.CLOSED;
        } else {
            state = QueuePairState.ERROR;
            // Pairs with the fence in submit: either the RECV is flushed here, or its poster sees ERROR.
            VarHandle.fullFence();
            boolean told = !isPeers(status) || capabilities.has(Feature.REMOTE_READ_STATUSES);
            flush(culprit, told ? status : CompletionStatus.FLUSHED, told ? vendorCode : 0);
            if (receives.isShared()) {
                events.raise(this, QueuePairEvent.Kind.LAST_REQUEST_REACHED);
            }
        }
    }

    /** True if the peer has refused the request. */
    private static boolean isPeers(CompletionStatus status) {
        return status == CompletionStatus.REMOTE_ACCESS_ERROR
                || status == CompletionStatus.REMOTE_INVALID_REQUEST_ERROR
                || status == CompletionStatus.REMOTE_OPERATION_ERROR;
    }

    /**
     * In a task of its own, outside any batch, because it runs the application's code; if no task can be made, here.
     */
    private void tell(CompletableFuture<String> told, String reason) {
        try {
            engine.loop().execute(() -> told.complete(reason));
        } catch (RejectedExecutionException e) {
            tellHere(told, reason); // the device is being closed
        } catch (RuntimeException | Error e) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
            tellHere(told, reason);
        }
    }

    private void tellHere(CompletableFuture<String> told, String reason) {
        try {
            told.complete(reason);
        } catch (RuntimeException | Error e) { // out of what the application does then
            engine.counters().increment(Counter.ENGINE_FAULTS);
        }
    }

    @Override
    public void flush() {
        if (state == QueuePairState.ERROR || state == QueuePairState.SEND_QUEUE_ERROR) {
            flush(-1, CompletionStatus.FLUSHED, 0);
        }
    }

    /**
     * Flushes both queues, or in SEND_QUEUE_ERROR that of sends. Continues if a completion event cannot be raised: each
     * failed attempt has still flushed one more request.
     */
    private void flush(long culprit, CompletionStatus status, int vendorCode) {
        boolean whole = false;
        while (!whole) {
            try {
                sends.flush(culprit, status, vendorCode);
                if (state != QueuePairState.SEND_QUEUE_ERROR) {
                    receives.flush(vendorCode);
                }
                whole = true;
            } catch (RuntimeException | Error e) {
                engine.counters().increment(Counter.ENGINE_FAULTS);
            }
        }
    }

    private void destroy() {
        try {
            connection.queuePairClosed();
        } finally {
            state = QueuePairState.CLOSED;
            try {
                unbindWindows();
            } finally {
                endPeer();
            }
        }
    }

    private void unbindWindows() {
        windows.close();
    }

    private void endPeer() {
        try {
            endAdmission();
        } finally {
            try {
                endSharedMemory();
            } finally {
                giveBack();
            }
        }
    }

    /** Releases everything, even if part of it fails. */
    private void giveBack() {
        try {
            sendCompletions.detach(this);
        } finally {
            try {
                receiveCompletions.detach(this); // does nothing if both are the same queue
            } finally {
                try {
                    receives.close(); // behind its completions, whose slots are then free
                } finally {
                    events.forget(this);
                    try {
                        closeSends();
                    } finally {
                        onClose.run();
                    }
                }
            }
        }
    }

    /** Another thread may be posting. */
    private void closeSends() {
        gate.lock();
        try {
            sends.close();
        } finally {
            gate.unlock();
        }
    }

    @Override
    public void releaseSendSlots(long sequence) {
        sends.free(sequence);
    }

    @Override
    public void releaseReceiveSlots(long sequence) {
        receives.free(sequence);
    }

    @Override
    public void completionQueueOverrun() {
        connection.executeLater(() -> {
            raise(QueuePairEvent.Kind.FATAL);
            connection.disconnect("a completion queue was overrun");
            enterError("a completion queue was overrun", -1, CompletionStatus.FLUSHED, 0);
        });
    }

    @Override
    public String toString() {
        return "QueuePair[" + number + " " + state + "]";
    }
}
