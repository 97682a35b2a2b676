package org.softrdma.ibverbs.device;

import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.ibverbs.QueuePairTable;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.PostingRules;

/** An {@code ibv_srq}. Thread-safe, under one lock; {@link SharedReceives} is the part that completion queues see. */
public abstract class IbvSharedReceiveQueue implements SharedReceiveQueue {
    private final Parts parts;
    private final int maxWorkRequests;
    private final int maxScatterGather;
    private final SharedReceives receives;
    private final PostingRules rules;
    private final ReentrantLock lock = new ReentrantLock();

    // Under the lock.
    private final ReceiveWorkRequest oneReceive = new ReceiveWorkRequest();
    private int queuePairs;
    private volatile boolean closed;

    /**
     * What a shared receive queue is made of.
     *
     * @param domain its domain, which counts it already
     * @param tableNumber its number in the device's table
     * @param maxWorkRequests RECVs asked for
     * @param maxScatterGather entries of a RECV asked for
     * @param whenClosed runs on close: the domain counts its queues
     */
    public record Parts(
            OpenDevice device,
            ProtectionDomain domain,
            long tableNumber,
            int maxWorkRequests,
            int maxScatterGather,
            Runnable whenClosed) {}

    /**
     * Wraps a native queue that was just created.
     *
     * @param parts what was asked for
     * @param maxWorkRequests RECVs granted, at least those asked for
     * @param maxScatterGather entries of a RECV granted, at least those asked for
     */
    protected IbvSharedReceiveQueue(Parts parts, int maxWorkRequests, int maxScatterGather) {
        this.parts = parts;
        this.maxWorkRequests = maxWorkRequests;
        this.maxScatterGather = maxScatterGather;
        receives = new SharedReceives(maxWorkRequests);
        rules = new PostingRules(
                new QueuePairLimits(1, maxWorkRequests, 1, maxScatterGather, 0),
                parts.device().traits().capabilities());
    }

    // ---- what a provider does, under the lock

    /**
     * Writes a RECV and posts it ({@code ibv_post_srq_recv}). Allocates nothing.
     *
     * @param request what it does
     * @param nativeId {@code wr_id}
     * @return false if the device is full
     * @throws VerbsException if it refuses it
     */
    protected abstract boolean postNatively(ReceiveWorkRequest request, long nativeId);

    /** {@code ibv_modify_srq}: the limit below which the device raises an event once; 0 for none. */
    protected abstract void limit(int limit);

    /** {@code ibv_destroy_srq}; frees all memory. */
    protected abstract void destroy();

    // ---- its queue pairs

    final boolean isOf(OpenDevice other) {
        return parts.device() == other;
    }

    SharedReceives receives() {
        return receives;
    }

    /** A queue pair begins to use it. */
    final void attach() {
        lock.lock();
        try {
            checkOpen();
            queuePairs++;
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair is gone, or was never created. */
    final void detach() {
        lock.lock();
        try {
            queuePairs--;
        } finally {
            lock.unlock();
        }
    }

    // ---- what it is

    @Override
    public final ProtectionDomain protectionDomain() {
        return parts.domain();
    }

    @Override
    public final int maxWorkRequests() {
        return maxWorkRequests;
    }

    @Override
    public final int maxScatterGather() {
        return maxScatterGather;
    }

    // ---- RECVs

    @Override
    public final PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        rules.checkLength(length);
        lock.lock();
        try {
            return take(oneReceive.receive(wrId).add(local, offset, length));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public final PostStatus post(ReceiveWorkRequest request) {
        rules.check(request);
        lock.lock();
        try {
            return take(request);
        } finally {
            lock.unlock();
        }
    }

    private PostStatus take(ReceiveWorkRequest request) {
        checkOpen();
        int slot = receives.take(request.wrId());
        if (slot == SharedReceives.FULL) {
            return PostStatus.QUEUE_FULL;
        }
        boolean posted = false;
        try {
            posted = postNatively(request, QueuePairTable.sharedId(parts.tableNumber(), slot));
        } finally {
            if (!posted) {
                receives.free(slot);
            }
        }
        return posted ? PostStatus.ACCEPTED : PostStatus.QUEUE_FULL;
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the shared receive queue is closed");
        }
    }

    // ---- the limit

    /**
     * A device looks at the limit only when it takes a RECV. So if fewer are left now, the event is raised here: RECVs
     * whose completions were not polled count as left, for nobody knows of them.
     */
    @Override
    public final void arm(int limit) {
        if (limit < 0 || limit > maxWorkRequests) {
            throw new IllegalArgumentException("limit=" + limit + ": expected 0 to " + maxWorkRequests);
        }
        if (!parts.device().traits().capabilities().has(Feature.ASYNC_EVENTS)) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "arm: " + parts.device().traits().name() + " has no " + Feature.ASYNC_EVENTS);
        }
        lock.lock();
        try {
            checkOpen();
            boolean now = receives.outstanding() < limit;
            limit(now ? 0 : limit);
            if (now) {
                happened(SharedReceiveQueueEvent.Kind.LIMIT_REACHED);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Tells the application what has happened to it.
     *
     * @param kind what
     */
    public final void happened(SharedReceiveQueueEvent.Kind kind) {
        parts.device().events().add(new SharedReceiveQueueEvent(this, kind), () -> !closed);
    }

    // ---- the end

    @Override
    public final void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (queuePairs > 0) {
                throw new VerbsException(
                        VerbsErrorCode.BUSY, queuePairs + " queue pairs still use this shared receive queue");
            }
            closed = true;
            try {
                destroy();
            } finally {
                parts.device().sharedReceives().giveBack(parts.tableNumber());
                parts.whenClosed().run();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public final String toString() {
        return "SharedReceiveQueue[" + maxWorkRequests + " RECVs]";
    }
}
