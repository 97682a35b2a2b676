package org.softrdma.ibverbs.device;

import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.QueuePairTable;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.PostingQueuePair;
import org.softrdma.verbs.provider.PostingRules;

/**
 * An {@code ibv_qp} with the {@code rdma_cm_id} it was made on.
 *
 * <p>It enters ERROR at the first of: a failed completion polled, the connection's end, own disconnect, a failed connect or accept,
 * a rejection. A device that flushes by itself (InfiniBand, RoCE) is then moved to {@code IBV_QPS_ERR}, twice: before the state is
 * visible, so that what is posted in ERROR meets it, and by the disconnect, so that it looks again at what was posted meanwhile. On
 * iWARP, on an unknown transport, and once the native queue pair is gone, what is posted in ERROR stays in the rings, and the completion
 * queue's poll flushes it.
 *
 * <p>Posting goes through a few calls of the provider: a send work request is written to a place of a chain, and the chain given to the
 * device; a RECV is written and given one by one.
 *
 * <p>Threads: posting on application threads under a lock per direction; state changes by whoever notices, under the state lock.
 */
public abstract class IbvQueuePair extends PostingQueuePair {
    private final QueuePairParts parts;
    private final IbvDevice device;
    private final CmId id;
    private final IbvCompletionQueue sendCompletions;
    private final IbvCompletionQueue receiveCompletions;
    private final int number;
    private final boolean signalAll;
    /** siw completes a SEND or WRITE while READs before it are on their way, unless it is fenced. */
    private final int orderFlags;
    /** Of every send: a device that does not flush may end without a word about some, so it has to tell which were done. */
    private final int addedFlags;

    private final WorkRing sends;
    private final WorkRing receives;
    private final ReentrantLock stateLock = new ReentrantLock();
    private final ReentrantLock sendLock = new ReentrantLock();
    private final ReentrantLock receiveLock = new ReentrantLock();
    private final CompletableFuture<String> disconnected = new CompletableFuture<>();
    private volatile EndCause endCause = EndCause.UNKNOWN;

    private volatile QueuePairState state = QueuePairState.INITIAL;
    private volatile @Nullable ConnectionCapabilities connection;
    private volatile boolean deviceFlushes;
    /** No READ is allowed on this connection. */
    private volatile boolean readless;
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
        super(new PostingRules(limits, parts.device().capabilities()));
        this.parts = parts;
        this.number = number;
        device = parts.device();
        id = parts.id();
        sendCompletions = parts.sendCompletions();
        receiveCompletions = parts.receiveCompletions();
        signalAll = parts.signalAll();
        deviceFlushes = !device.isIwarp();
        orderFlags = device.isSoftIwarp() ? SendFlags.FENCE : SendFlags.NONE;
        addedFlags = deviceFlushes ? SendFlags.NONE : SendFlags.SIGNALLED;
        sends = new WorkRing(limits.maxSendWorkRequests(), !deviceFlushes);
        receives = new WorkRing(limits.maxReceiveWorkRequests(), true);
    }

    // ---- what a provider does; posting under the lock of the queue, allocating nothing

    @Override
    protected abstract int longestChain();

    /**
     * Writes a send work request to its place in the chain.
     *
     * @param position in the chain
     * @param request what it does
     * @param nativeId {@code wr_id}
     * @param flags {@code enum ibv_send_flags}, in place of those of the request
     */
    protected abstract void writeSend(int position, SendWorkRequest request, long nativeId, int flags);

    /**
     * {@code ibv_post_send}; what the device does not take is taken out of the ring again, also if this throws.
     *
     * @param ring whose last {@code count} requests they are
     * @param count requests of the chain
     * @return how many the device took; fewer than {@code count} if it is full
     * @throws VerbsException if it refuses one
     */
    protected abstract int postSends(WorkRing ring, int count);

    /**
     * Writes a RECV and gives it to the device ({@code ibv_post_recv}); what the device does not take is taken out of the ring again, also
     * if this throws.
     *
     * @param ring whose last request it is
     * @param request what it does
     * @param nativeId {@code wr_id}
     * @return false if the device is full
     * @throws VerbsException if it refuses it
     */
    protected abstract boolean postReceive(WorkRing ring, ReceiveWorkRequest request, long nativeId);

    /** Makes the device flush; a queue pair that cannot is there already or has no connection. */
    protected abstract void moveToError();

    /** Ends the connection and makes the device flush what was posted meanwhile. */
    protected abstract void quiesce();

    /** Destroys the native queue pair through its id and frees what posting needed; nothing posts any more. */
    protected abstract void destroy();

    // ---- what it is

    @Override
    public final int number() {
        return number;
    }

    @Override
    public final QueuePairState state() {
        return state;
    }

    @Override
    public final ProtectionDomain protectionDomain() {
        return parts.domain();
    }

    @Override
    public final ConnectionCapabilities connectionCapabilities() {
        ConnectionCapabilities agreed = connection;
        if (agreed == null) {
            throw new IllegalStateException("queue pair " + number + " was never connected");
        }
        return agreed;
    }

    // ---- posting

    @Override
    protected final void beginSends() {
        sendLock.lock();
    }

    @Override
    protected final void endSends() {
        sendLock.unlock();
    }

    @Override
    protected final boolean allowsReads() {
        return !readless;
    }

    @Override
    protected final long sendsAccepted() {
        return sends.next();
    }

    @Override
    protected final boolean write(int position, SendWorkRequest request) {
        if (sends.room() == 0) {
            return false;
        }
        int flags = nativeFlags(request);
        if (!isWithheld()) {
            long nativeId = QueuePairTable.sendId(parts.tableNumber(), sends.next());
            writeSend(position, request, nativeId, flags | addedFlags);
        }
        sends.push(request.wrId(), (flags & SendFlags.SIGNALLED) != 0);
        return true;
    }

    /** siw is told to fence what is no READ. */
    private int nativeFlags(SendWorkRequest request) {
        int asked = request.opcode() == SendOpcode.READ ? request.flags() : request.flags() | orderFlags;
        return PostingRules.nativeFlags(asked, request.local().totalLength(), signalAll);
    }

    @Override
    protected final int give(int count) {
        if (isWithheld()) {
            sendCompletions.raise();
            return count;
        }
        return postSends(sends, count);
    }

    /** True if what is posted stays in the rings. Under the lock of either queue. */
    private boolean isWithheld() {
        return state == QueuePairState.ERROR && !deviceFlushes;
    }

    /**
     * True if the device took a request: on iWARP a queue pair that is not connected any more does, and then says so; they are flushed.
     * libsiw returns what write(2) did when the kernel refuses its doorbell, -1, with the request in its queue already.
     *
     * @param errno of the post, positive
     */
    protected final boolean isTaken(int errno) {
        return errno == 0 || (!deviceFlushes && (errno == Errno.ENOTCONN || errno == Errno.EPERM));
    }

    @Override
    protected final void beginReceives() {
        receiveLock.lock();
    }

    @Override
    protected final void endReceives() {
        receiveLock.unlock();
    }

    @Override
    protected final PostStatus take(ReceiveWorkRequest request) {
        if (receives.room() == 0) {
            return PostStatus.QUEUE_FULL;
        }
        long sequence = receives.next();
        receives.push(request.wrId(), true);
        if (isWithheld()) {
            receiveCompletions.raise();
            return PostStatus.ACCEPTED;
        }
        if (!postReceive(receives, request, QueuePairTable.receiveId(parts.tableNumber(), sequence))) {
            return PostStatus.QUEUE_FULL;
        }
        if (state == QueuePairState.ERROR) {
            // A RECV rings no doorbell on rxe, which looks at its queue again when it is told to go to ERROR.
            moveToError();
        }
        return PostStatus.ACCEPTED;
    }

    // ---- polling, under the completion queue's lock

    /** Requests of the send queue. */
    final WorkRing sends() {
        return sends;
    }

    /** Requests of the receive queue. */
    final WorkRing receives() {
        return receives;
    }

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

    /** True if the device completes, in order, whatever is posted in ERROR; else the completion queue does. */
    final boolean deviceFlushes() {
        return deviceFlushes;
    }

    // ---- states

    /**
     * The connection is there. The side that accepts may be told twice, and hear of the end in between.
     *
     * @param outboundReads in flight from this side, empty if unknown
     * @param inboundReads in flight from the peer, empty if unknown
     * @return false if the queue pair was failed or closed before it was connected
     */
    public final boolean established(OptionalInt outboundReads, OptionalInt inboundReads) {
        stateLock.lock();
        try {
            if (state != QueuePairState.INITIAL) {
                return connection != null;
            }
            connection = new ConnectionCapabilities(
                    outboundReads,
                    inboundReads,
                    device.connectionFeatures(),
                    device.capabilities().transport());
            readless = outboundReads.equals(OptionalInt.of(0));
            device.connectionEstablished();
            state = QueuePairState.READY_TO_SEND;
            receiveCompletions.begun();
            return true;
        } finally {
            stateLock.unlock();
        }
    }

    /**
     * Goes to ERROR and begins to flush; once. Any thread, under no lock of a queue.
     *
     * @param reason for people
     */
    public final void enterError(String reason) {
        boolean wasEstablished;
        stateLock.lock();
        try {
            wasEstablished = state == QueuePairState.READY_TO_SEND;
            if (!wasEstablished && state != QueuePairState.INITIAL) {
                return;
            }
            if (deviceFlushes) {
                moveToError();
            }
            withPostingStopped(this::withhold);
        } finally {
            stateLock.unlock();
        }
        boolean connected = wasEstablished;
        id.manager().execute(() -> quiesce(connected, reason));
    }

    private void withhold() {
        state = QueuePairState.ERROR;
        sends.withhold();
        receives.withhold();
        receiveCompletions.begun();
    }

    private void withPostingStopped(Runnable action) {
        sendLock.lock();
        receiveLock.lock();
        try {
            action.run();
        } finally {
            receiveLock.unlock();
            sendLock.unlock();
        }
    }

    /** Ends the connection and makes the device flush, again, for what was posted meanwhile. On the device's thread. */
    private void quiesce(boolean wasEstablished, String reason) {
        stateLock.lock();
        try {
            if (state == QueuePairState.ERROR && !gone) {
                if (id.isConnecting()) {
                    // librdmacm would wait for the call under way, and with it every other connection.
                    id.afterConnecting(() -> quiesce(wasEstablished, reason));
                    return;
                }
                quiesce();
                if (!deviceFlushes) {
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
        sendCompletions.flushPending(this);
        receiveCompletions.flushPending(this);
    }

    /** Counted before it is told. On the device's thread. */
    private void ended(String reason) {
        if (!disconnected.isDone()) {
            device.connectionClosed();
            disconnected.complete(reason);
        }
    }

    /** Goes to ERROR without its native queue pair, where a connect request cannot be rejected while that is there. */
    public final void destroyRejected() {
        stateLock.lock();
        try {
            if (state == QueuePairState.INITIAL) {
                withPostingStopped(() -> {
                    deviceFlushes = false;
                    withhold();
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
        if (state == QueuePairState.READY_TO_SEND) {
            enterError("disconnected by this side");
        } else if (state == QueuePairState.INITIAL) {
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

    /** The device has reported that it refused an access of the peer; no promise that it does, or before it flushes. */
    public final void accessRefused() {
        endCause = EndCause.PEER_ACCESS_ERROR;
    }

    @Override
    public final void close() {
        // Before the lock: the device's thread, which all connections share, takes it too.
        id.awaitConnecting();
        stateLock.lock();
        try {
            if (state == QueuePairState.CLOSED) {
                return;
            }
            withPostingStopped(() -> state = QueuePairState.CLOSED);
            try {
                if (connection != null) {
                    id.disconnect();
                }
                destroyOnce();
            } finally {
                if (connection != null) {
                    id.manager().execute(() -> ended("closed by this side"));
                }
                // Last: from now on everything else may be closed.
                parts.giveBack(this);
            }
        } finally {
            stateLock.unlock();
        }
    }

    @Override
    public final String toString() {
        return "QueuePair[" + number + " " + state + "]";
    }
}
