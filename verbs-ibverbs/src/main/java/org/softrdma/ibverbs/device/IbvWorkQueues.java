package org.softrdma.ibverbs.device;

import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.QueuePairTable;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.ChainingQueuePair;
import org.softrdma.verbs.provider.LockedGate;
import org.softrdma.verbs.provider.PostingRules;

/**
 * The posting half of an {@code ibv_qp}: its two queues, and what they pass to the device. Send work requests are
 * written to a chain, which the device gets as a whole; RECVs are passed one by one. Requests posted in ERROR to a
 * device that does not flush stay in the rings.
 *
 * <p>Threads: application threads, under a lock per direction.
 */
public abstract class IbvWorkQueues extends ChainingQueuePair {
    /** The part of it that its completion queues see. */
    final QueuePairWork work;

    private final WorkRing sends;
    private final WorkRing receives;
    private final IbvCompletionQueue sendCompletions;
    private final IbvCompletionQueue receiveCompletions;
    private final long tableNumber;
    private final boolean signalAll;
    private final boolean sharesReceives;
    /** siw completes a SEND or WRITE while earlier READs are in flight, unless it is fenced. */
    private final int orderFlags;
    /**
     * Flags of every send: a device that does not flush may end without reporting some requests, so it must report
     * which were done.
     */
    private final int addedFlags;

    /** Entered while requests are written and given to the device. */
    final LockedGate sendGate;

    private final LockedGate receiveGate;
    /** No READ is allowed on this connection. */
    private volatile boolean readless;

    /**
     * Of a native queue pair just created.
     *
     * @param parts what it is made of
     * @param number of the native queue pair
     * @param limits at least those asked for
     */
    @SuppressWarnings("this-escape") // kept, not called
    IbvWorkQueues(QueuePairParts parts, int number, QueuePairLimits limits) {
        this(parts, number, limits, new LockedGate(), new LockedGate());
    }

    @SuppressWarnings("this-escape") // likewise
    private IbvWorkQueues(
            QueuePairParts parts, int number, QueuePairLimits limits, LockedGate sendGate, LockedGate receiveGate) {
        super(new PostingRules(limits, parts.device().traits().capabilities(), parts.type()), sendGate, receiveGate);
        this.sendGate = sendGate;
        this.receiveGate = receiveGate;
        DeviceTraits device = parts.device().traits();
        boolean deviceFlushes = !device.isIwarp();
        sends = new WorkRing(limits.maxSendWorkRequests(), !deviceFlushes);
        receives = new WorkRing(limits.maxReceiveWorkRequests(), true);
        work = new QueuePairWork(
                number,
                parts.type(),
                new QueuePairWork.Rings(sends, receives),
                deviceFlushes,
                this::enterError,
                this::sendFailed);
        sendCompletions = parts.sendCompletions();
        receiveCompletions = parts.receiveCompletions();
        tableNumber = parts.tableNumber();
        signalAll = parts.signalAll();
        sharesReceives = parts.sharedReceives() != null;
        orderFlags = device.isSoftIwarp() ? SendFlags.FENCE : SendFlags.NONE;
        addedFlags = deviceFlushes ? SendFlags.NONE : SendFlags.SIGNALLED;
    }

    // ---- what a provider does, under the lock of the queue, allocating nothing

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
     * {@code ibv_post_send}. Requests that the device does not take are removed from the ring, even if this throws.
     *
     * @param ring whose last {@code count} requests they are
     * @param count requests of the chain
     * @return how many the device took; fewer than {@code count} if it is full
     * @throws VerbsException if it refuses one
     */
    protected abstract int postSends(WorkRing ring, int count);

    /**
     * Writes a RECV and posts it ({@code ibv_post_recv}). If the device does not take it, it is removed from the ring,
     * even if this throws.
     *
     * @param ring whose last request it is
     * @param request what it does
     * @param nativeId {@code wr_id}
     * @return false if the device is full
     * @throws VerbsException if it refuses it
     */
    protected abstract boolean postReceive(WorkRing ring, ReceiveWorkRequest request, long nativeId);

    /**
     * A send did not succeed. Under the lock of its completion queue; its place in the ring is not free yet.
     *
     * @param sequence its number in the send queue
     */
    protected void sendFailed(long sequence) {
        // Only where something was changed when it was posted.
    }

    /** Makes the device flush. A queue pair for which this fails is in error already, or not connected. */
    protected abstract void moveToError();

    // ---- what the states do

    /**
     * Goes to ERROR and begins to flush; once. Any thread that holds no lock of a queue.
     *
     * @param reason for messages
     */
    public abstract void enterError(String reason);

    /** What the connection allows: READs in flight, or none. */
    final void allowReads(boolean allowed) {
        readless = !allowed;
    }

    /** Runs an action while nothing is posted. */
    final void withPostingStopped(Runnable action) {
        sendGate.enter();
        receiveGate.enter();
        try {
            action.run();
        } finally {
            receiveGate.exit();
            sendGate.exit();
        }
    }

    @Override
    public final int number() {
        return work.number();
    }

    @Override
    public final QueuePairState state() {
        return work.state();
    }

    // ---- posting

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
        if (!work.isWithheld()) {
            long nativeId = QueuePairTable.sendId(tableNumber, sends.next());
            writeSend(position, request, nativeId, flags | addedFlags);
        }
        sends.push(request.wrId(), (flags & SendFlags.SIGNALLED) != 0);
        return true;
    }

    /** On siw, fences everything but READs. */
    private int nativeFlags(SendWorkRequest request) {
        int asked = request.opcode().isAnswered() ? request.flags() : request.flags() | orderFlags;
        return PostingRules.nativeFlags(asked, request.local().totalLength(), signalAll);
    }

    @Override
    protected final int give(int count) {
        if (work.isWithheld()) {
            sendCompletions.raise();
            return count;
        }
        return postSends(sends, count);
    }

    /**
     * True if the device took a request although the post failed. On iWARP a queue pair that is no longer connected
     * takes requests and reports an error; they are flushed. If the kernel refuses libsiw's doorbell, it returns
     * write(2)'s -1, with the request in its queue already.
     *
     * @param errno of the post, positive
     */
    protected final boolean isTaken(int errno) {
        return errno == 0 || (!work.deviceFlushes() && (errno == Errno.ENOTCONN || errno == Errno.EPERM));
    }

    @Override
    protected final boolean sharesReceives() {
        return sharesReceives;
    }

    @Override
    protected final PostStatus take(ReceiveWorkRequest request) {
        if (receives.room() == 0) {
            return PostStatus.QUEUE_FULL;
        }
        long sequence = receives.next();
        receives.push(request.wrId(), true);
        if (work.isWithheld()) {
            receiveCompletions.raise();
            return PostStatus.ACCEPTED;
        }
        if (!postReceive(receives, request, QueuePairTable.receiveId(tableNumber, sequence))) {
            return PostStatus.QUEUE_FULL;
        }
        if (work.state() == QueuePairState.ERROR) {
            // On rxe a RECV rings no doorbell; rxe looks at its queue again when it is moved to ERROR.
            moveToError();
        }
        return PostStatus.ACCEPTED;
    }
}
