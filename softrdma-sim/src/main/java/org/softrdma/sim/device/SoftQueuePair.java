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
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.provider.PostingRules;

/**
 * The application's end of a connection: checks and queues requests, and rings the engine.
 *
 * <p>Posting runs on application threads under a short lock (none in manual mode); the engine thread moves the state.
 */
final class SoftQueuePair implements QueuePair, CompletionSource, QueuePairEnd {
    private final int number;
    private final ProtectionDomain domain;
    private final int domainNumber;
    private final QueuePairLimits limits;
    private final PostingRules rules;
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

    /** By the engine, before the state is ERROR. */
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
     * @param onClose called once when it is closed
     */
    SoftQueuePair(
            int number,
            ProtectionDomain domain,
            int domainNumber,
            QueuePairAttributes attributes,
            Capabilities capabilities,
            Connection connection,
            Runnable onClose) {
        this.number = number;
        this.domain = domain;
        this.domainNumber = domainNumber;
        this.connection = connection;
        this.onClose = onClose;
        engine = connection.engine();
        end = new OnLoopOnce(engine, this::destroy);
        locking = !engine.isManual();
        limits = granted(PostingRules.checked(attributes.limits(), capabilities));
        rules = new PostingRules(limits, capabilities);
        sendCompletions = (SoftCompletionQueue) attributes.sendCompletions();
        receiveCompletions = (SoftCompletionQueue) attributes.receiveCompletions();
        sends = new SendQueue(
                this,
                sendCompletions,
                limits.maxSendWorkRequests(),
                limits.maxSendScatterGather(),
                limits.maxInline(),
                attributes.signalAll(),
                engine.memory());
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
    public QueuePairLimits limits() {
        return limits;
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
    public PostStatus postRead(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return post(SendOpcode.READ, wrId, local, offset, length, remoteAddress, rkey, flags);
    }

    @Override
    public PostStatus postWrite(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return post(SendOpcode.WRITE, wrId, local, offset, length, remoteAddress, rkey, flags);
    }

    @Override
    public PostStatus postSend(long wrId, MemoryRegion local, long offset, long length, int flags) {
        return post(SendOpcode.SEND, wrId, local, offset, length, 0, 0, flags);
    }

    @Override
    public PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        checkReceivable();
        rules.checkLength(length);
        PostStatus status;
        lock();
        try {
            status = receives.post(wrId, local.address() + offset, length, local.lkey());
        } finally {
            unlock();
        }
        receivePosted();
        return status;
    }

    @Override
    public PostStatus post(SendWorkRequest request) {
        rules.check(request);
        checkSendable(request.opcode());
        PostStatus status;
        lock();
        try {
            status = sends.post(request);
        } finally {
            unlock();
        }
        if (status == PostStatus.ACCEPTED) {
            connection.ring();
        }
        return status;
    }

    @Override
    public PostStatus post(SendWorkRequestList requests) {
        requests.accepted(0);
        PostStatus status = PostStatus.ACCEPTED;
        lock();
        try {
            for (int i = 0; i < requests.size() && status == PostStatus.ACCEPTED; i++) {
                SendWorkRequest request = requests.get(i);
                rules.check(request);
                checkSendable(request.opcode());
                status = sends.post(request);
                requests.accepted(status == PostStatus.ACCEPTED ? i + 1 : i);
            }
        } finally {
            unlock();
            if (requests.accepted() > 0) {
                connection.ring();
            }
        }
        return status;
    }

    @Override
    public PostStatus post(ReceiveWorkRequest request) {
        checkReceivable();
        rules.check(request);
        PostStatus status;
        lock();
        try {
            status = receives.post(request);
        } finally {
            unlock();
        }
        receivePosted();
        return status;
    }

    private PostStatus post(
            SendOpcode opcode,
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            long remoteAddress,
            int rkey,
            int flags) {
        rules.check(opcode, flags, length);
        checkSendable(opcode);
        long address = PostingRules.source(local, offset, length, flags);
        int lkey = local.lkey();
        PostStatus status;
        lock();
        try {
            status = sends.post(opcode, wrId, address, length, lkey, remoteAddress, rkey, flags);
        } finally {
            unlock();
        }
        if (status == PostStatus.ACCEPTED) {
            connection.ring();
        }
        return status;
    }

    /** A RECV may have been posted while the engine was flushing: look again after publishing it. */
    private void receivePosted() {
        VarHandle.fullFence();
        if (state == QueuePairState.ERROR) {
            connection.ring();
        }
    }

    private void checkSendable(SendOpcode opcode) {
        engine.checkThread();
        QueuePairState now = state;
        if (now == QueuePairState.INITIAL || now == QueuePairState.CLOSED) {
            throw new IllegalStateException(
                    opcode + " on queue pair " + number + " in state " + now + ": expected READY_TO_SEND");
        }
        NegotiatedStream stream = negotiated;
        if (opcode == SendOpcode.READ && stream != null && stream.ord() == 0) {
            throw new IllegalStateException(
                    "READ on queue pair " + number + ": the connection allows none (outbound reads 0)");
        }
    }

    private void checkReceivable() {
        engine.checkThread();
        if (state == QueuePairState.CLOSED) {
            throw new IllegalStateException("RECV on queue pair " + number + " in state CLOSED");
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

    /** The connection will never be made: goes to ERROR and flushes before this returns. Any thread but another engine's. */
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
            // Pairs with the fence of receivePosted: either the RECV is flushed here, or its poster sees ERROR.
            VarHandle.fullFence();
            flush(culprit, status, vendorCode);
        }
        if (wasEstablished) {
            tell(reason);
        }
    }

    /** In a task of its own, outside of any batch, because the application's code runs there; if there can be no task, here. */
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

    /** Goes on if a completion event cannot be raised: each attempt that fails has flushed one request more. */
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

    /** Whatever of it fails, the rest is given back. */
    private void giveBack() {
        try {
            sendCompletions.detach(this);
        } finally {
            try {
                receiveCompletions.detach(this); // none is left of it if they are the same
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
