package org.softrdma.sim.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ReceiveWorkRequest;

/**
 * The RECVs of a queue pair, in posting order.
 *
 * <p>Three sequences move through a ring of slots: {@code freed <= consumed <= posted}. A message consumes a RECV. Its
 * slot becomes free when the completion is polled, as on hardware.
 *
 * <p>If its RECVs come from a {@link SoftSharedReceiveQueue}, it holds the one that a message is consuming, from the
 * message's first segment on, and slots are that queue's. All others stay there when the queue pair fails.
 *
 * <p>Threads: a RECV is posted under the queue pair's post lock, which publishes {@code posted} by release; the engine
 * consumes; the polling thread moves {@code freed} by release, under the completion queue's lock.
 */
public final class ReceiveQueue {
    private static final VarHandle POSTED;
    private static final VarHandle FREED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            POSTED = lookup.findVarHandle(ReceiveQueue.class, "posted", long.class);
            FREED = lookup.findVarHandle(ReceiveQueue.class, "freed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final CompletionSource source;
    private final SoftCompletionQueue completions;
    private final @Nullable SoftSharedReceiveQueue shared;
    private final int mask;
    private final long[] wrIds;
    private final EntryTable entries;

    // Posting.
    private long posted;
    // Polling.
    private long freed;
    // Engine.
    private CompletionStatus failure = CompletionStatus.FLUSHED;
    private int failureCode;
    private long consumed;
    /** RECVs before this sequence were discarded: their slots are free, also if no completion tells. */
    private volatile long discarded;
    /** Slot of the shared queue that a message is consuming. */
    private int taken = SoftSharedReceiveQueue.NONE;
    /** Posts a RECV when there is none, if it has one; null for nobody. */
    private @Nullable Runnable supplier;

    /**
     * An empty queue.
     *
     * @param source the queue pair
     * @param completions where its completions go
     * @param capacity a power of two
     * @param maxEntries scatter/gather entries of a RECV
     */
    public ReceiveQueue(CompletionSource source, SoftCompletionQueue completions, int capacity, int maxEntries) {
        this.source = source;
        this.completions = completions;
        shared = null;
        mask = capacity - 1;
        wrIds = new long[capacity];
        entries = new EntryTable(capacity, maxEntries);
    }

    /**
     * One whose RECVs come from a shared queue.
     *
     * @param source the queue pair
     * @param completions where its completions go
     * @param shared where its RECVs come from, until {@link #close}
     * @throws IllegalStateException if the shared queue is closed
     */
    public ReceiveQueue(CompletionSource source, SoftCompletionQueue completions, SoftSharedReceiveQueue shared) {
        this.source = source;
        this.completions = completions;
        this.shared = shared;
        mask = 0;
        wrIds = shared.wrIds();
        entries = shared.entries();
        shared.attach();
    }

    /** True if its RECVs come from a shared queue. */
    public boolean isShared() {
        return shared != null;
    }

    /**
     * The domain whose memory its RECVs may name.
     *
     * @param own that of the queue pair
     */
    public int domain(int own) {
        return shared == null ? own : shared.domainNumber();
    }

    /** Nothing arrives any more, and no completion is in any queue. */
    public void close() {
        if (shared != null) {
            shared.detach(this);
        }
    }

    // ---- posting, under the post lock

    /** Fills the next slot with a RECV and publishes it. */
    public PostStatus post(ReceiveWorkRequest request) {
        if (isFull()) {
            return PostStatus.QUEUE_FULL;
        }
        int slot = (int) posted & mask;
        entries.set(slot, request.local());
        wrIds[slot] = request.wrId();
        POSTED.setRelease(this, posted + 1);
        return PostStatus.ACCEPTED;
    }

    private boolean isFull() {
        return posted - Math.max((long) FREED.getAcquire(this), discarded) > mask;
    }

    // ---- polling

    /** A completion was polled: all slots before this sequence are free; of a shared queue, this slot. */
    public void free(long sequence) {
        if (shared != null) {
            shared.free((int) sequence);
        } else if (sequence > freed) {
            FREED.setRelease(this, sequence);
        }
    }

    // ---- engine

    /** True if there is a RECV for a message, which has begun to arrive. */
    public boolean hasNext() {
        return shared == null ? isPosted() || isSupplied() : taken >= 0 || takesOne(shared);
    }

    /**
     * From now on RECVs are asked for when there is none, also for a flush. Before it is connected.
     *
     * @param newSupplier posts some, if there are some
     */
    public void suppliedBy(Runnable newSupplier) {
        supplier = newSupplier;
    }

    private boolean isSupplied() {
        Runnable posts = supplier;
        if (posts == null) {
            return false;
        }
        posts.run();
        return isPosted();
    }

    private boolean isPosted() {
        return consumed < (long) POSTED.getAcquire(this);
    }

    private boolean takesOne(SoftSharedReceiveQueue from) {
        taken = from.take(this);
        return taken >= 0;
    }

    /** The slot of the oldest RECV; only if {@link #hasNext}. */
    public int slot() {
        return shared == null ? (int) consumed & mask : taken;
    }

    /** Local entries. */
    public EntryTable entries() {
        return entries;
    }

    /** The oldest RECV succeeded. */
    public void complete(long byteLength, boolean solicited) {
        finish(CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, byteLength, 0, solicited);
    }

    /**
     * An immediate has consumed the oldest RECV; its buffer is as it was.
     *
     * @param written bytes of the WRITE that came with it
     * @param immediate of the peer
     * @param solicited raises a solicited event
     */
    public void completeImmediate(long written, int immediate, boolean solicited) {
        finish(CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, written, immediate, solicited);
    }

    /** The oldest RECV succeeded, by a SEND with an immediate. */
    public void completeSendImmediate(long byteLength, int immediate, boolean solicited) {
        int slot = slot();
        completions.pushSendImmediate(source, wrIds[slot], byteLength, immediate, consume(slot), solicited);
    }

    /**
     * The oldest RECV succeeded, by a datagram.
     *
     * @param byteLength bytes of the routing header and of the message
     * @param sender number of the queue pair that sent it
     * @param immediate that came with it
     * @param hasImmediate there is one
     * @param solicited raises a solicited event
     */
    public void completeDatagram(long byteLength, int sender, int immediate, boolean hasImmediate, boolean solicited) {
        int slot = slot();
        completions.pushDatagram(
                source, wrIds[slot], byteLength, sender, immediate, hasImmediate, consume(slot), solicited);
    }

    /** The oldest RECV succeeded, by a SEND that has invalidated a key. */
    public void completeInvalidating(long byteLength, boolean solicited, int key) {
        finish(CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, byteLength, key, solicited);
    }

    /**
     * The oldest RECV has failed. Its completion comes with the flush, which follows: by then the queue pair is in
     * error for whoever
     * polls it.
     */
    public void fail(CompletionStatus status, int vendorCode) {
        failure = status;
        failureCode = vendorCode;
    }

    /** Flushes every RECV; the oldest tells why it failed, if it did. Of a shared queue only the one that has begun. */
    public void flush(int vendorCode) {
        while (shared == null ? hasNext() : taken >= 0) {
            CompletionStatus status = failure;
            int code = status == CompletionStatus.FLUSHED ? vendorCode : failureCode;
            failure = CompletionStatus.FLUSHED;
            finish(status, CompletionOpcode.RECEIVE, 0, code, false);
        }
    }

    /** Forgets every RECV, without a completion; of a shared queue only the one that has begun. While nothing is posted. */
    public void discard() {
        failure = CompletionStatus.FLUSHED;
        if (shared == null) {
            consumed = (long) POSTED.getAcquire(this);
            discarded = consumed;
        } else if (taken >= 0) {
            shared.free(taken);
            taken = SoftSharedReceiveQueue.NONE;
        }
    }

    private void finish(
            CompletionStatus status, CompletionOpcode opcode, long byteLength, int vendorCode, boolean solicited) {
        int slot = slot();
        completions.push(source, wrIds[slot], status, opcode, byteLength, vendorCode, consume(slot), solicited);
    }

    /** The RECV in a slot is not waiting any more; returns the sequence of its completion. */
    private long consume(int slot) {
        long sequence = shared == null ? consumed + 1 : slot;
        consumed++;
        taken = SoftSharedReceiveQueue.NONE;
        return sequence;
    }
}
