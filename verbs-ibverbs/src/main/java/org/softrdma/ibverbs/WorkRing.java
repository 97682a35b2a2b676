package org.softrdma.ibverbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The outstanding requests of one queue of a queue pair, in posting order: the application's number of each, and
 * whether its success produces a completion. Decides when the queue is full, and which request a native completion
 * belongs to.
 *
 * <p>Two sequences move over it, {@code freed <= posted}. Threads: posting holds the queue's lock and moves
 * {@code posted} by release; polling holds the completion queue's lock and moves {@code freed} by release. Each side
 * reads the other's sequence by acquire.
 */
public final class WorkRing {
    /** Bits of a sequence that a native {@code wr_id} carries; a ring holds fewer entries than they can number. */
    public static final int SEQUENCE_BITS = 24;

    public static final long SEQUENCE_MASK = (1L << SEQUENCE_BITS) - 1;
    private static final long NONE = -1;

    private static final VarHandle POSTED;
    private static final VarHandle FREED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            POSTED = lookup.findVarHandle(WorkRing.class, "posted", long.class);
            FREED = lookup.findVarHandle(WorkRing.class, "freed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int capacity;
    private final boolean allReported;
    private final int mask;
    private final long[] wrIds;
    private final boolean[] signalled;

    // Posting.
    private long posted;
    /** Sequence of the first request that was not given to the device. */
    private volatile long withheldFrom = Long.MAX_VALUE;

    // Polling.
    private long freed;
    private boolean failing;
    /** The first request that the device reported as flushed, perhaps out of order. */
    private long flushedFrom = Long.MAX_VALUE;

    /**
     * An empty ring.
     *
     * @param capacity entries, less than 2^24
     * @param allReported the device reports every success, even of unsignalled requests
     */
    public WorkRing(int capacity, boolean allReported) {
        this.capacity = capacity;
        this.allReported = allReported;
        int slots = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        mask = slots - 1;
        wrIds = new long[slots];
        signalled = new boolean[slots];
    }

    // ---- posting

    /** How many more requests may be posted. */
    public int room() {
        return capacity - (int) (posted - (long) FREED.getAcquire(this));
    }

    /** Sequence of the next request. */
    public long next() {
        return posted;
    }

    /** Adds the next request. Before the device gets it, because its completion may arrive at once. */
    public void push(long wrId, boolean givesCompletion) {
        int slot = (int) posted & mask;
        wrIds[slot] = wrId;
        signalled[slot] = givesCompletion;
        POSTED.setRelease(this, posted + 1);
    }

    /** Removes requests that the device did not accept. */
    public void takeBack(long sequence) {
        POSTED.setRelease(this, sequence);
    }

    /** From now on requests are not given to the device. */
    public void withhold() {
        if (withheldFrom == Long.MAX_VALUE) {
            withheldFrom = posted;
        }
    }

    /** Forgets every request: completions that the device has given for them are obsolete. While nothing is posted or polled. */
    public void discard() {
        FREED.setRelease(this, posted);
        withheldFrom = Long.MAX_VALUE;
        flushedFrom = Long.MAX_VALUE;
        failing = false;
    }

    // ---- polling

    /**
     * The sequence that a native completion refers to.
     *
     * @param lowBits the low bits of it
     * @return the sequence, or -1 if that request has been completed already
     */
    public long resolve(long lowBits) {
        long sequence = freed + ((lowBits - freed) & SEQUENCE_MASK);
        return sequence < (long) POSTED.getAcquire(this) ? sequence : NONE;
    }

    /**
     * True if the success of a request produces a completion.
     *
     * @param sequence of {@link #resolve}
     */
    public boolean givesCompletion(long sequence) {
        return signalled[(int) sequence & mask];
    }

    /**
     * Completes a request, and frees it and all requests before it.
     *
     * @param sequence of {@link #resolve} or {@link #nextToFlush}
     * @param success true if it succeeded
     * @return the application's number
     */
    public long complete(long sequence, boolean success) {
        long wrId = wrIds[(int) sequence & mask];
        failing |= !success;
        FREED.setRelease(this, sequence + 1);
        return wrId;
    }

    /**
     * The device reports that it flushed a request; {@link #nextToFlush} returns the request in its turn.
     *
     * @param sequence of {@link #resolve}
     */
    public void flushed(long sequence) {
        flushedFrom = Math.min(flushedFrom, sequence);
    }

    /**
     * The next request that the device will never complete, once all its completions have been taken: a request that
     * was withheld from it, or that it took and ignored. Unsignalled requests at the head, before any failure, have
     * succeeded, unless the device reports every success.
     *
     * @return its sequence, or -1
     */
    public long nextToFlush() {
        long end = (long) POSTED.getAcquire(this);
        long sequence = freed;
        long deviceEnd = Math.min(Math.min(withheldFrom, flushedFrom), end);
        while (!allReported && !failing && sequence < deviceEnd && !signalled[(int) sequence & mask]) {
            sequence++;
        }
        FREED.setRelease(this, sequence);
        return sequence < end ? sequence : NONE;
    }
}
