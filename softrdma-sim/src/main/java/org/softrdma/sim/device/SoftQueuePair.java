package org.softrdma.sim.device;

import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.OnLoopOnce;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.flight.Flight;
import org.softrdma.sim.link.Agreement;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.NearMemory;
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
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
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
final class SoftQueuePair extends PostingQueuePair implements CompletionSource, QueuePairEnd {
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
    private final boolean locking;
    private final ReentrantLock postLock = new ReentrantLock();
    private final OnLoopOnce end;
    private final OnLoopOnce neverConnected;
    private volatile String abandoned = "";
    private final CompletableFuture<String> disconnected = new CompletableFuture<>();

    private final @Nullable SameHost sameHost;
    /** The READ that is written next cannot be done by the posting thread. Under the post lock. */
    private boolean tried;
    /** Something was put into the send queue, and the engine was not told yet. */
    private volatile boolean bell;
    /** On the engine's thread: the peer may come for memory while this is open. */
    private @Nullable PeerAdmission admission;
    /** What the peer has handed over; the engine writes it before the state becomes READY_TO_SEND. */
    private volatile @Nullable NearPosting near;

    private volatile boolean closing;
    private volatile QueuePairState state = QueuePairState.INITIAL;
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
     * @param connection its connection
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
        super(new PostingRules(granted(PostingRules.checked(attributes.limits(), capabilities)), capabilities));
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
        end = new OnLoopOnce(engine, this::destroy);
        neverConnected = new OnLoopOnce(engine, this::endUnconnected);
        locking = !engine.isManual();
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
    protected void beginSends() {
        engine.checkThread();
        lock();
    }

    @Override
    protected void endSends() {
        unlock();
    }

    @Override
    protected boolean allowsReads() {
        Agreement agreed = agreement;
        return agreed == null || agreed.outboundReads() != 0;
    }

    @Override
    protected void announce(SendWorkRequestList requests) {
        NearPosting posting = near;
        if (posting != null && state == QueuePairState.READY_TO_SEND) {
            posting.fetch(requests, sends);
        }
    }

    @Override
    protected boolean readNow(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        NearPosting posting = near;
        if (posting == null || state != QueuePairState.READY_TO_SEND || !(local instanceof SoftMemoryRegion mine)) {
            return false;
        }
        boolean done = posting.read(wrId, mine, offset, length, remoteAddress, rkey, flags, sends);
        tried = !done;
        return done;
    }

    @Override
    protected boolean write(int position, SendWorkRequest request) {
        NearPosting posting = tried ? null : near;
        tried = false;
        if (posting != null && state == QueuePairState.READY_TO_SEND && posting.read(request, sends)) {
            return true;
        }
        boolean written = request.opcode() == SendOpcode.BIND_WINDOW
                ? writeBind(request)
                : sends.post(request) == PostStatus.ACCEPTED;
        if (written) {
            bell = true;
        }
        return written;
    }

    private boolean writeBind(SendWorkRequest request) {
        Window window = domain.window(request.window());
        boolean room = sends.hasRoom();
        if (room) {
            sends.postBind(request, window, AccessRights.of(request.windowAccess()));
        }
        return room;
    }

    @Override
    protected long sendsAccepted() {
        return sends.accepted();
    }

    /** Nothing rings for a READ that the posting thread has done. Whoever finds the bell set rings for all. */
    @Override
    protected void sendsPosted() {
        if (bell) {
            bell = false;
            connection.ring();
        }
    }

    @Override
    protected void beginReceives() {
        engine.checkThread();
        lock();
    }

    @Override
    protected void endReceives() {
        unlock();
    }

    @Override
    protected boolean sharesReceives() {
        return receives.isShared();
    }

    @Override
    protected PostStatus take(ReceiveWorkRequest request) {
        return receives.post(request);
    }

    /** A RECV may be posted while the engine flushes: checks the state again after publishing it. */
    @Override
    protected void receivesPosted() {
        VarHandle.fullFence();
        if (state == QueuePairState.ERROR) {
            connection.ring();
        }
    }

    private void lock() {
        if (locking) {
            postLock.lock();
        }
    }

    private void unlock() {
        if (locking) {
            postLock.unlock();
        }
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
    public NearMemory near() {
        NearPosting posting = near;
        return posting == null ? NearMemory.NONE : posting.peer();
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
            near = new NearPosting(engine, peer, domain.number());
        }
    }

    /** The connection has ended: the peer gets nothing more. */
    private void endAdmission() {
        if (admission != null) {
            admission.close();
            admission = null;
        }
    }

    /** Nobody reads from the peer's memory any more: who posts now finds the queue pair closed. */
    private void endNear() {
        NearPosting posting = near;
        if (posting != null && sameHost != null) {
            near = null;
            lock();
            unlock();
            sameHost.ended(posting.peer());
        }
    }

    @Override
    public boolean isInError() {
        return state == QueuePairState.ERROR || state == QueuePairState.CLOSED;
    }

    @Override
    public void established(Agreement agreed) {
        agreement = agreed;
        Flight.connectionMade(number, agreed::description);
        state = QueuePairState.READY_TO_SEND; // last: if anything fails, it never was
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
        boolean wasEstablished = state == QueuePairState.READY_TO_SEND;
        try {
            endAdmission();
        } finally {
            endRequests(culprit, status, vendorCode);
            if (wasEstablished) {
                Flight.connectionEnded(number, reason);
                tell(reason);
            }
        }
    }

    private void endRequests(long culprit, CompletionStatus status, int vendorCode) {
        if (closing) {
            state = QueuePairState.CLOSED;
        } else {
            state = QueuePairState.ERROR;
            // Pairs with the fence in receivesPosted: either the RECV is flushed here, or its poster sees ERROR.
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
    private void tell(String reason) {
        try {
            engine.loop().execute(() -> disconnected.complete(reason));
        } catch (RejectedExecutionException e) {
            tellHere(reason); // the device is being closed
        } catch (RuntimeException | Error e) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
            tellHere(reason);
        }
    }

    private void tellHere(String reason) {
        try {
            disconnected.complete(reason);
        } catch (RuntimeException | Error e) { // out of what the application does then
            engine.counters().increment(Counter.ENGINE_FAULTS);
        }
    }

    @Override
    public void flush() {
        if (state == QueuePairState.ERROR) {
            flush(-1, CompletionStatus.FLUSHED, 0);
        }
    }

    /** Continues if a completion event cannot be raised: each failed attempt has still flushed one more request. */
    private void flush(long culprit, CompletionStatus status, int vendorCode) {
        boolean whole = false;
        while (!whole) {
            try {
                sends.flush(culprit, status, vendorCode);
                receives.flush(vendorCode);
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
                windows.close();
            } finally {
                endPeer();
            }
        }
    }

    private void endPeer() {
        try {
            endAdmission();
        } finally {
            try {
                endNear();
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
        lock();
        try {
            sends.close();
        } finally {
            unlock();
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
