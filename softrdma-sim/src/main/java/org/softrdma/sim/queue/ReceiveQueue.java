package org.softrdma.sim.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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
        mask = capacity - 1;
        wrIds = new long[capacity];
        entries = new EntryTable(capacity, maxEntries);
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
        return posted - (long) FREED.getAcquire(this) > mask;
    }

    // ---- polling

    /** A completion was polled: all slots before this sequence are free. */
    public void free(long sequence) {
        if (sequence > freed) {
            FREED.setRelease(this, sequence);
        }
    }

    // ---- engine

    /** True if a RECV is posted. */
    public boolean hasNext() {
        return consumed < (long) POSTED.getAcquire(this);
    }

    /** The slot of the oldest RECV; only if {@link #hasNext}. */
    public int slot() {
        return (int) consumed & mask;
    }

    /** Local entries. */
    public EntryTable entries() {
        return entries;
    }

    /** The oldest RECV succeeded. */
    public void complete(long byteLength, boolean solicited) {
        finish(CompletionStatus.SUCCESS, byteLength, 0, solicited);
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

    /** Flushes every RECV; the oldest tells why it failed, if it did. */
    public void flush(int vendorCode) {
        while (hasNext()) {
            CompletionStatus status = failure;
            int code = status == CompletionStatus.FLUSHED ? vendorCode : failureCode;
            failure = CompletionStatus.FLUSHED;
            finish(status, 0, code, false);
        }
    }

    private void finish(CompletionStatus status, long byteLength, int vendorCode, boolean solicited) {
        long wrId = wrIds[(int) consumed & mask];
        consumed++;
        completions.push(source, wrId, status, CompletionOpcode.RECEIVE, byteLength, vendorCode, consumed, solicited);
    }
}
