package org.softrdma.ibverbs.device;

import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;

/**
 * An {@code ibv_qp} with the {@code rdma_cm_id} it was made on: its states and its end. {@link IbvWorkQueues} is its
 * posting.
 *
 * <p>It enters ERROR at the first of: a failed completion polled, the connection's end, own disconnect, a failed
 * connect or accept, a rejection. A device that flushes by itself (InfiniBand, RoCE) is then moved to {@code
 * IBV_QPS_ERR}, twice: before the state is visible, so that what is posted in ERROR meets it, and by the disconnect,
 * so that it looks again at what was posted meanwhile. On iWARP, on an unknown transport, and once the native queue
 * pair is gone, what is posted in ERROR stays in the rings, and the completion queue's poll flushes it.
 *
 * <p>Threads: whoever notices changes the state, under the state lock.
 */
public abstract class IbvQueuePair extends IbvWorkQueues implements ConnectionEnd {
    private final QueuePairParts parts;
    private final OpenDevice device;
    private final CmId id;
    private final IbvCompletionQueue sendCompletions;
    private final IbvCompletionQueue receiveCompletions;
    private final ReentrantLock stateLock = new ReentrantLock();
    private final CompletableFuture<String> disconnected = new CompletableFuture<>();
    private volatile EndCause endCause = EndCause.UNKNOWN;
    private volatile @Nullable ConnectionCapabilities connection;
    /** The native queue pair is destroyed. Under the state lock. */
    private boolean gone;

    /**
     * Of a native queue pair just created.
     *
     * @param parts what it is made of
     * @param number of the native queue pair
     * @param limits at least those asked for
     */
    protected IbvQueuePair(QueuePairParts parts, int number, QueuePairLimits limits) {
        super(parts, number, limits);
        this.parts = parts;
        device = parts.device();
        id = parts.id();
        sendCompletions = parts.sendCompletions();
        receiveCompletions = parts.receiveCompletions();
    }

    // ---- what a provider does

    /** Ends the connection and makes the device flush what was posted meanwhile. */
    protected abstract void quiesce();

    /** Destroys the native queue pair through its id and frees what posting needed; nothing posts any more. */
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

    // ---- its completion queues

    /**
     * True if its RECVs complete there.
     *
     * @param queue of any device
     */
    public final boolean receivesTo(IbvCompletionQueue queue) {
        return receiveCompletions == queue;
    }

    /**
     * True if its sends complete there.
     *
     * @param queue of any device
     */
    public final boolean sendsTo(IbvCompletionQueue queue) {
        return sendCompletions == queue;
    }

    // ---- states

    @Override
    public final boolean established(OptionalInt outboundReads, OptionalInt inboundReads) {
        stateLock.lock();
        try {
            if (state() != QueuePairState.INITIAL) {
                return connection != null;
            }
            connection = new ConnectionCapabilities(
                    outboundReads,
                    inboundReads,
                    device.traits().connectionFeatures(),
                    device.traits().capabilities().transport());
            if (outboundReads.equals(OptionalInt.of(0))) {
                forbidReads();
            }
            device.connectionEstablished();
            work.state(QueuePairState.READY_TO_SEND);
            receiveCompletions.begun();
            return true;
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    public final void enterError(String reason) {
        boolean wasEstablished;
        stateLock.lock();
        try {
            wasEstablished = state() == QueuePairState.READY_TO_SEND;
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
        boolean connected = wasEstablished;
        id.thread().execute(() -> quiesce(connected, reason));
    }

    /** With posting stopped. */
    private void stop() {
        work.enterError();
        receiveCompletions.begun();
    }

    /**
     * Ends the connection and makes the device flush, again, for what was posted meanwhile. On the device's thread.
     */
    private void quiesce(boolean wasEstablished, String reason) {
        stateLock.lock();
        try {
            if (state() == QueuePairState.ERROR && !gone) {
                if (id.isConnecting()) {
                    // librdmacm would wait for the call under way, and with it every other connection.
                    id.afterConnecting(() -> quiesce(wasEstablished, reason));
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
        if (wasEstablished) {
            ended(reason);
        }
    }

    /** From now on polling completes what the device does not. Under the state lock. */
    private void flushInJava() {
        sendCompletions.flushPending(work, work.sends());
        receiveCompletions.flushPending(work, work.receives());
    }

    /** Counted before it is told. On the device's thread. */
    private void ended(String reason) {
        if (!disconnected.isDone()) {
            device.connectionClosed();
            disconnected.complete(reason);
        }
    }

    @Override
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
        if (state() == QueuePairState.READY_TO_SEND) {
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
     * The device has reported that it refused an access of the peer; no promise that it does, or before it flushes.
     */
    public final void accessRefused() {
        endCause = EndCause.PEER_ACCESS_ERROR;
    }

    @Override
    public final void close() {
        // Before the lock: the device's thread, which all connections share, takes it too.
        id.awaitConnecting();
        stateLock.lock();
        try {
            if (state() == QueuePairState.CLOSED) {
                return;
            }
            withPostingStopped(() -> work.state(QueuePairState.CLOSED));
            try {
                if (connection != null) {
                    id.disconnect();
                }
                destroyOnce();
            } finally {
                if (connection != null) {
                    id.thread().execute(() -> ended("closed by this side"));
                }
                // Last: from now on everything else may be closed.
                parts.giveBack(work);
            }
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    public final String toString() {
        return "QueuePair[" + number() + " " + state() + "]";
    }
}
