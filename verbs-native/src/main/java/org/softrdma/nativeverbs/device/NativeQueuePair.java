package org.softrdma.nativeverbs.device;

import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.nativeverbs.Errno;
import org.softrdma.nativeverbs.QueuePairTable;
import org.softrdma.nativeverbs.WorkRing;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.VerbsException;
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
 * <p>Posting goes through a few calls of the provider: a send work request is written to a place of a chain, entries first, and the chain
 * given to the device; a RECV is written and given one by one.
 *
 * <p>Threads: posting on application threads under a lock per direction; state changes by whoever notices, under the state lock.
 */
public abstract class NativeQueuePair implements QueuePair {
    private final QueuePairParts parts;
    private final NativeDevice device;
    private final CmId id;
    private final NativeCompletionQueue sendCompletions;
    private final NativeCompletionQueue receiveCompletions;
    private final int number;
    private final QueuePairLimits limits;
    private final PostingRules rules;
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
    protected NativeQueuePair(QueuePairParts parts, int number, QueuePairLimits limits) {
        this.parts = parts;
        this.number = number;
        this.limits = limits;
        device = parts.device();
        id = parts.id();
        sendCompletions = parts.sendCompletions();
        receiveCompletions = parts.receiveCompletions();
        signalAll = parts.signalAll();
        rules = new PostingRules(limits, device.capabilities());
        deviceFlushes = !device.isIwarp();
        orderFlags = device.isSoftIwarp() ? SendFlags.FENCE : SendFlags.NONE;
        addedFlags = deviceFlushes ? SendFlags.NONE : SendFlags.SIGNALLED;
        sends = new WorkRing(limits.maxSendWorkRequests(), !deviceFlushes);
        receives = new WorkRing(limits.maxReceiveWorkRequests(), true);
    }

    // ---- what a provider does; posting under the lock of the queue, allocating nothing

    /** Most send work requests that are given to the device together, at least 1. */
    protected abstract int longestChain();

    /**
     * Writes opcode and only entry of a send work request.
     *
     * @param position in the chain
     * @param opcode what it does
     * @param address of the entry
     * @param length of the entry
     * @param lkey of the entry
     */
    protected abstract void writeSend(int position, SendOpcode opcode, long address, long length, int lkey);

    /**
     * Writes opcode and entries of a send work request.
     *
     * @param position in the chain
     * @param opcode what it does
     * @param local entries
     */
    protected abstract void writeSend(int position, SendOpcode opcode, ScatterGatherList local);

    /**
     * Writes the rest of it.
     *
     * @param position in the chain
     * @param nativeId {@code wr_id}
     * @param flags {@code enum ibv_send_flags}
     * @param remoteAddress of READ and WRITE
     * @param rkey of READ and WRITE
     */
    protected abstract void finishSend(int position, long nativeId, int flags, long remoteAddress, int rkey);

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
     * Writes the only entry of a RECV.
     *
     * @param address of the entry
     * @param length of the entry
     * @param lkey of the entry
     */
    protected abstract void writeReceive(long address, long length, int lkey);

    /**
     * Writes the entries of a RECV.
     *
     * @param local entries
     */
    protected abstract void writeReceive(ScatterGatherList local);

    /**
     * {@code ibv_post_recv}; what the device does not take is taken out of the ring again, also if this throws.
     *
     * @param ring whose last request it is
     * @param nativeId {@code wr_id}
     * @return false if the device is full
     * @throws VerbsException if it refuses it
     */
    protected abstract boolean postReceive(WorkRing ring, long nativeId);

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
    public final QueuePairLimits limits() {
        return limits;
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
    public final PostStatus postRead(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return post(SendOpcode.READ, wrId, local, offset, length, remoteAddress, rkey, flags);
    }

    @Override
    public final PostStatus postWrite(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return post(SendOpcode.WRITE, wrId, local, offset, length, remoteAddress, rkey, flags);
    }

    @Override
    public final PostStatus postSend(long wrId, MemoryRegion local, long offset, long length, int flags) {
        return post(SendOpcode.SEND, wrId, local, offset, length, 0, 0, flags);
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
        long address = PostingRules.source(local, offset, length, flags);
        int lkey = local.lkey();
        sendLock.lock();
        try {
            checkSendable(opcode);
            if (sends.room() == 0) {
                return PostStatus.QUEUE_FULL;
            }
            if (!isWithheld()) {
                writeSend(0, opcode, address, length, lkey);
            }
            push(0, wrId, nativeFlags(opcode, flags, length), remoteAddress, rkey);
            return give(1) == 1 ? PostStatus.ACCEPTED : PostStatus.QUEUE_FULL;
        } finally {
            sendLock.unlock();
        }
    }

    @Override
    public final PostStatus post(SendWorkRequest request) {
        rules.check(request);
        sendLock.lock();
        try {
            checkSendable(request.opcode());
            if (sends.room() == 0) {
                return PostStatus.QUEUE_FULL;
            }
            push(0, request);
            return give(1) == 1 ? PostStatus.ACCEPTED : PostStatus.QUEUE_FULL;
        } finally {
            sendLock.unlock();
        }
    }

    @Override
    public final PostStatus post(SendWorkRequestList requests) {
        requests.accepted(0);
        sendLock.lock();
        try {
            int next = 0;
            while (next < requests.size()) {
                int end = Math.min(requests.size(), next + longestChain());
                int chained = 0;
                RuntimeException refusal = null;
                for (int i = next; i < end; i++) {
                    try {
                        rules.check(requests.get(i));
                        checkSendable(requests.get(i).opcode());
                    } catch (IllegalArgumentException | IllegalStateException e) {
                        refusal = e;
                        break;
                    }
                    if (sends.room() == 0) {
                        break;
                    }
                    push(chained++, requests.get(i));
                }
                int taken = chained == 0 ? 0 : giveChain(requests, next, chained);
                next += taken;
                if (refusal != null && taken == chained) {
                    throw refusal;
                }
                if (next < end) {
                    return PostStatus.QUEUE_FULL;
                }
            }
            return PostStatus.ACCEPTED;
        } finally {
            sendLock.unlock();
        }
    }

    /** Posts the chain, and says how much of the list was accepted, also if this throws. Under the send lock. */
    private int giveChain(SendWorkRequestList requests, int before, int count) {
        long first = sends.next() - count;
        try {
            return give(count);
        } finally {
            requests.accepted(before + (int) (sends.next() - first));
        }
    }

    /** Puts a checked request into chain and ring. Under the send lock. */
    private void push(int position, SendWorkRequest request) {
        if (!isWithheld()) {
            writeSend(position, request.opcode(), request.local());
        }
        int flags =
                nativeFlags(request.opcode(), request.flags(), request.local().totalLength());
        push(position, request.wrId(), flags, request.remoteAddress(), request.rkey());
    }

    /** Puts a request, whose entries are written, into chain and ring. Under the send lock. */
    private void push(int position, long wrId, int flags, long remoteAddress, int rkey) {
        if (!isWithheld()) {
            long nativeId = QueuePairTable.sendId(parts.tableNumber(), sends.next());
            finishSend(position, nativeId, flags | addedFlags, remoteAddress, rkey);
        }
        sends.push(wrId, (flags & SendFlags.SIGNALLED) != 0);
    }

    /** Gives the device the chain; returns how many it took, the others are out of the ring again. Under the send lock. */
    private int give(int count) {
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
    public final PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        rules.checkLength(length);
        receiveLock.lock();
        try {
            checkReceivable();
            if (receives.room() == 0) {
                return PostStatus.QUEUE_FULL;
            }
            if (!isWithheld()) {
                writeReceive(local.address() + offset, length, local.lkey());
            }
            return giveReceive(wrId);
        } finally {
            receiveLock.unlock();
        }
    }

    @Override
    public final PostStatus post(ReceiveWorkRequest request) {
        rules.check(request);
        receiveLock.lock();
        try {
            checkReceivable();
            if (receives.room() == 0) {
                return PostStatus.QUEUE_FULL;
            }
            if (!isWithheld()) {
                writeReceive(request.local());
            }
            return giveReceive(request.wrId());
        } finally {
            receiveLock.unlock();
        }
    }

    /** Puts a RECV, whose entries are written, into the ring and gives it to the device. Under the receive lock. */
    private PostStatus giveReceive(long wrId) {
        long sequence = receives.next();
        receives.push(wrId, true);
        if (isWithheld()) {
            receiveCompletions.raise();
            return PostStatus.ACCEPTED;
        }
        if (!postReceive(receives, QueuePairTable.receiveId(parts.tableNumber(), sequence))) {
            return PostStatus.QUEUE_FULL;
        }
        if (state == QueuePairState.ERROR) {
            // A RECV rings no doorbell on rxe, which looks at its queue again when it is told to go to ERROR.
            moveToError();
        }
        return PostStatus.ACCEPTED;
    }

    private int nativeFlags(SendOpcode opcode, int flags, long length) {
        return PostingRules.nativeFlags(opcode == SendOpcode.READ ? flags : flags | orderFlags, length, signalAll);
    }

    /** Under the send lock. */
    private void checkSendable(SendOpcode opcode) {
        QueuePairState now = state;
        if (now == QueuePairState.INITIAL || now == QueuePairState.CLOSED) {
            throw new IllegalStateException(
                    opcode + " on queue pair " + number + " in state " + now + ": expected READY_TO_SEND");
        }
        if (opcode == SendOpcode.READ && readless) {
            throw new IllegalStateException(
                    "READ on queue pair " + number + ": the connection allows none (outbound reads 0)");
        }
    }

    /** Under the receive lock. */
    private void checkReceivable() {
        if (state == QueuePairState.CLOSED) {
            throw new IllegalStateException("RECV on queue pair " + number + " in state CLOSED");
        }
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
    public final boolean receivesTo(NativeCompletionQueue queue) {
        return receiveCompletions == queue;
    }

    /**
     * True if its sends complete there.
     *
     * @param queue of any device
     */
    public final boolean sendsTo(NativeCompletionQueue queue) {
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
