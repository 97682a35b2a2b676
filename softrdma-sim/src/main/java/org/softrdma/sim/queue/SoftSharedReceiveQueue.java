package org.softrdma.sim.queue;

import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.Closing;
import org.softrdma.verbs.provider.PostingRules;

/**
 * RECVs for several queue pairs. A slot is free, posted, or taken by the {@link ReceiveQueue} of one queue pair; posted
 * ones are taken oldest first. A slot becomes free again when its completion is polled, in any order, or when the queue
 * pair that took it is closed.
 *
 * <p>Threads: any thread posts, the engines of the queue pairs take, polling threads free, each under one short lock
 * and for a few stores. What a slot holds is written under the lock before it is posted, and belongs to the engine that
 * takes it.
 */
public final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    /** No RECV is posted. */
    static final int NONE = -1;

    private final Progress progress;
    private final AsyncEvents events;
    private final ProtectionDomain domain;
    private final int domainNumber;
    private final PostingRules rules;
    private final Runnable onClose;
    private final Closing closing = new Closing();
    private final QueueLock lock;
    private final int mask;
    private final long[] wrIds;
    private final EntryTable entries;

    // Under the lock.
    private final ReceiveWorkRequest one = new ReceiveWorkRequest();
    private final int[] free;
    private int freeCount;
    /** A ring of slots, oldest RECV first. */
    private final int[] posted;

    private long head;
    private long tail;
    /** The queue pair that has taken a slot. */
    private final Object[] takers;

    private int limit;
    /** Posts a RECV when there is none, if it has one; null for nobody. Set before the queue is used. */
    private @Nullable Runnable supplier;

    private int queuePairs;
    private boolean closed;

    /**
     * An empty queue.
     *
     * @param size RECVs and their entries; those of the receive queue count
     * @param domain its protection domain
     * @param domainNumber number of the domain in the stag table
     * @param capabilities limits of the device
     * @param progress of the device
     * @param events of the device
     * @param onClose called once on close
     */
    public SoftSharedReceiveQueue(
            Size size,
            ProtectionDomain domain,
            int domainNumber,
            Capabilities capabilities,
            Progress progress,
            AsyncEvents events,
            Runnable onClose) {
        this.domain = domain;
        this.domainNumber = domainNumber;
        this.progress = progress;
        this.events = events;
        this.onClose = onClose;
        int capacity = RingSize.atLeast(size.maxWorkRequests);
        rules = new PostingRules(new QueuePairLimits(1, capacity, 1, size.maxScatterGather, 0), capabilities);
        lock = new QueueLock(progress);
        mask = capacity - 1;
        wrIds = new long[capacity];
        entries = new EntryTable(capacity, size.maxScatterGather);
        posted = new int[capacity];
        takers = new Object[capacity];
        free = new int[capacity];
        freeCount = capacity;
        for (int i = 0; i < capacity; i++) {
            free[i] = i;
        }
    }

    /**
     * How much it holds.
     *
     * @param maxWorkRequests RECVs, rounded up to a power of two
     * @param maxScatterGather entries of a RECV
     */
    public record Size(int maxWorkRequests, int maxScatterGather) {}

    /**
     * From now on RECVs are asked for when there is none. Before a queue pair has the queue.
     *
     * @param newSupplier posts some, if there are some; on the thread of an engine
     */
    public void suppliedBy(Runnable newSupplier) {
        supplier = newSupplier;
    }

    /** True if it belongs to the device that this progress drives. */
    public boolean isOf(Progress device) {
        return progress == device;
    }

    /** Number in the stag table of the domain whose memory its RECVs may name. */
    int domainNumber() {
        return domainNumber;
    }

    // ---- the application

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int maxWorkRequests() {
        return mask + 1;
    }

    @Override
    public int maxScatterGather() {
        return rules.limits().maxReceiveScatterGather();
    }

    @Override
    public PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        rules.checkLength(length);
        begin();
        try {
            return add(one.receive(wrId).add(local, offset, length));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public PostStatus post(ReceiveWorkRequest request) {
        rules.check(request);
        begin();
        try {
            return add(request);
        } finally {
            lock.unlock();
        }
    }

    private void begin() {
        progress.checkThread();
        lock.lock();
    }

    private PostStatus add(ReceiveWorkRequest request) {
        checkOpen();
        if (freeCount == 0) {
            return PostStatus.QUEUE_FULL;
        }
        int slot = free[freeCount - 1];
        entries.set(slot, request.local()); // first: the slot stays free if the request changes meanwhile
        wrIds[slot] = request.wrId();
        freeCount--;
        posted[(int) tail & mask] = slot;
        tail++;
        return PostStatus.ACCEPTED;
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the shared receive queue is closed");
        }
    }

    @Override
    public void arm(int newLimit) {
        if (newLimit < 0 || newLimit > maxWorkRequests()) {
            throw new IllegalArgumentException("limit=" + newLimit + ": expected 0 to " + maxWorkRequests());
        }
        begin();
        try {
            checkOpen();
            limit = newLimit;
            raiseIfFew();
        } finally {
            lock.unlock();
        }
    }

    private void raiseIfFew() {
        if (tail - head < limit) {
            limit = 0;
            events.raise(this, SharedReceiveQueueEvent.Kind.LIMIT_REACHED);
        }
    }

    @Override
    public void close() {
        progress.checkThread();
        closing.once(() -> {
            closeUnused();
            onClose.run();
        });
    }

    private void closeUnused() {
        lock.lock();
        try {
            if (queuePairs > 0) {
                closing.stillOpen();
                throw new VerbsException(
                        VerbsErrorCode.BUSY, queuePairs + " queue pairs still use this shared receive queue");
            }
            closed = true;
            events.forget(this);
        } finally {
            lock.unlock();
        }
    }

    // ---- queue pairs

    /** A queue pair begins to use it. */
    void attach() {
        lock.lock();
        try {
            checkOpen();
            queuePairs++;
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair is gone: the slots that it has taken are free. */
    void detach(Object taker) {
        lock.lock();
        try {
            for (int slot = 0; slot <= mask; slot++) {
                if (takers[slot] == taker) {
                    giveBack(slot);
                }
            }
            queuePairs--;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the oldest RECV for a message that has begun to arrive; {@link #NONE} if there is none. Engine threads. */
    int take(Object taker) {
        int slot = takePosted(taker);
        Runnable posts = supplier;
        if (slot != NONE || posts == null) {
            return slot;
        }
        posts.run();
        return takePosted(taker);
    }

    private int takePosted(Object taker) {
        lock.lock();
        try {
            if (head == tail) {
                return NONE;
            }
            int slot = posted[(int) head & mask];
            head++;
            takers[slot] = taker;
            raiseIfFew();
            return slot;
        } finally {
            lock.unlock();
        }
    }

    /** The completion of a RECV was polled: its slot is free. Any thread. */
    void free(int slot) {
        lock.lock();
        try {
            giveBack(slot);
        } finally {
            lock.unlock();
        }
    }

    private void giveBack(int slot) {
        takers[slot] = null;
        free[freeCount] = slot;
        freeCount++;
    }

    /** Local entries of the slots. */
    EntryTable entries() {
        return entries;
    }

    /** Numbers that the RECVs of the slots were posted with. */
    long[] wrIds() {
        return wrIds;
    }
}
