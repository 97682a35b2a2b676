package org.softrdma.sim.device;

import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.connection.Connection;
import org.softrdma.sim.connection.NegotiatedStream;
import org.softrdma.sim.connection.QueuePairEnd;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.OnLoopOnce;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.queue.CompletionSource;
import org.softrdma.sim.queue.ReceiveQueue;
import org.softrdma.sim.queue.RingSize;
import org.softrdma.sim.queue.SendQueue;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendWorkRequest;
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
    private final ProtectionDomain domain;
    private final int domainNumber;
    private final Connection connection;
    private final RnicEngine engine;
    private final SoftCompletionQueue sendCompletions;
    private final SoftCompletionQueue receiveCompletions;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final Runnable onClose;
    private final boolean locking;
    private final ReentrantLock postLock = new ReentrantLock();
    private final OnLoopOnce end;
    private final CompletableFuture<String> disconnected = new CompletableFuture<>();

    private volatile boolean closing;
    private volatile QueuePairState state = QueuePairState.INITIAL;
    private volatile @Nullable NegotiatedStream negotiated;

    /** Written by the engine before the state becomes ERROR. */
    private volatile EndCause endCause = EndCause.UNKNOWN;

    /**
     * Makes a queue pair on a connection.
     *
     * @param number unique on the device
     * @param domain its protection domain
     * @param domainNumber number of the domain in the stag table
     * @param attributes sizes and completion queues of the same device
     * @param capabilities limits of the device
     * @param connection its connection
     * @param onClose called once on close
     */
    SoftQueuePair(
            int number,
            ProtectionDomain domain,
            int domainNumber,
            QueuePairAttributes attributes,
            Capabilities capabilities,
            Connection connection,
            Runnable onClose) {
        super(new PostingRules(granted(PostingRules.checked(attributes.limits(), capabilities)), capabilities));
        this.number = number;
        this.domain = domain;
        this.domainNumber = domainNumber;
        this.connection = connection;
        this.onClose = onClose;
        engine = connection.engine();
        end = new OnLoopOnce(engine, this::destroy);
        locking = !engine.isManual();
        QueuePairLimits limits = limits();
        sendCompletions = (SoftCompletionQueue) attributes.sendCompletions();
        receiveCompletions = (SoftCompletionQueue) attributes.receiveCompletions();
        sends = new SendQueue(this, sendCompletions, limits, attributes.signalAll(), engine.memory());
        try {
            receives = new ReceiveQueue(
                    this, receiveCompletions, limits.maxReceiveWorkRequests(), limits.maxReceiveScatterGather());
            attachToCompletionQueues();
        } catch (Throwable e) {
            sends.close();
            throw e;
        }
        connection.attach(this);
    }

    private void attachToCompletionQueues() {
        sendCompletions.attach(this);
        try {
            if (receiveCompletions != sendCompletions) {
                receiveCompletions.attach(this);
            }
        } catch (Throwable e) {
            sendCompletions.detach(this);
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
        NegotiatedStream stream = negotiated;
        if (stream == null) {
            throw new IllegalStateException("queue pair " + number + " was never connected");
        }
        return stream.capabilities();
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
        NegotiatedStream stream = negotiated;
        return stream == null || stream.ord() != 0;
    }

    @Override
    protected boolean write(int position, SendWorkRequest request) {
        return sends.post(request) == PostStatus.ACCEPTED;
    }

    @Override
    protected long sendsAccepted() {
        return sends.posted();
    }

    @Override
    protected void sendsPosted() {
        connection.ring();
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
        return endCause;
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
            new OnLoopOnce(engine, () -> enterError(reason, -1, CompletionStatus.FLUSHED, 0)).run();
        }
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
        return domainNumber;
    }

    @Override
    public boolean isInError() {
        return state == QueuePairState.ERROR || state == QueuePairState.CLOSED;
    }

    @Override
    public void established(NegotiatedStream stream) {
        negotiated = stream;
        state = QueuePairState.READY_TO_SEND;
    }

    @Override
    public void accessRefused() {
        if (!isInError()) {
            endCause = EndCause.PEER_ACCESS_ERROR;
        }
    }

    @Override
    public void enterError(String reason, long culprit, CompletionStatus status, int vendorCode) {
        if (isInError()) {
            return;
        }
        boolean wasEstablished = state == QueuePairState.READY_TO_SEND;
        if (closing) {
            state = QueuePairState.CLOSED;
        } else {
            state = QueuePairState.ERROR;
            // Pairs with the fence in receivesPosted: either the RECV is flushed here, or its poster sees ERROR.
            VarHandle.fullFence();
            flush(culprit, status, vendorCode);
        }
        if (wasEstablished) {
            tell(reason);
        }
    }

    /**
     * In a task of its own, outside any batch, because it runs the application's code; if no task can be made, here.
     */
    private void tell(String reason) {
        try {
            engine.loop().execute(() -> disconnected.complete(reason));
        } catch (RejectedExecutionException e) {
            disconnected.complete(reason); // the device is being closed
        } catch (RuntimeException | Error e) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
            disconnected.complete(reason);
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
            giveBack();
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
                    closeSends();
                } finally {
                    onClose.run();
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
            connection.disconnect("a completion queue was overrun");
            enterError("a completion queue was overrun", -1, CompletionStatus.FLUSHED, 0);
        });
    }

    @Override
    public String toString() {
        return "QueuePair[" + number + " " + state + "]";
    }
}
