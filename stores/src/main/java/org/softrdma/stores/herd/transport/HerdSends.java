package org.softrdma.stores.herd.transport;

import java.util.concurrent.atomic.AtomicLong;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.SendFlags;

/**
 * Counts what is in a send queue where few requests are signalled: a completion is that of its request and of all that
 * were posted before. So a buffer is free, and there is room, once a later request has completed. Owned by who posts;
 * another thread may take completions.
 */
final class HerdSends {
    /** Most bytes that are sent inline: those of the cards that the paper used (section 3.2.1). */
    static final int MOST_INLINE = 256;

    /** One request in so many is signalled (paper, section 2.2.2). */
    private static final int MOST_INTERVAL = 64;

    /** Bits of a wrId that {@link #nextSequence} takes: far more requests than a queue holds. */
    private static final long SEQUENCE_MASK = (1L << 24) - 1;

    private final int capacity;
    private final int interval;
    private final int inline;
    private long posted;
    private long signalled;
    private final AtomicLong completed = new AtomicLong();

    /**
     * An empty queue.
     *
     * @param capacity requests that it takes
     * @param inline bytes of the longest inline request
     */
    HerdSends(int capacity, int inline) {
        this.capacity = capacity;
        this.inline = inline;
        interval = Math.min(MOST_INTERVAL, Math.max(1, capacity / 2));
    }

    /** Most completions that nobody has polled, of a queue with this capacity. */
    static int completions(int capacity) {
        return capacity;
    }

    boolean isFull() {
        return !hasRoom(1);
    }

    /** True if so many more may be posted. */
    boolean hasRoom(int requests) {
        return posted - completed.getAcquire() + requests <= capacity;
    }

    boolean fitsInline(int length) {
        return length <= inline;
    }

    /**
     * Flags of the next request.
     *
     * @param length its bytes
     * @param waited true if somebody waits for its completion
     */
    int flags(int length, boolean waited) {
        boolean signal = waited || posted + 1 - signalled >= interval;
        return (signal ? SendFlags.SIGNALLED : SendFlags.NONE)
                | (fitsInline(length) ? SendFlags.INLINE : SendFlags.NONE);
    }

    /** The lower 24 bits of the wrId of the next request. */
    long nextSequence() {
        return posted + 1 & SEQUENCE_MASK;
    }

    /** The next request is posted; returns its number, for {@link #isDone}. */
    long posted(PostStatus status, int flags) {
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for " + capacity + " requests");
        }
        posted++;
        if ((flags & SendFlags.SIGNALLED) != 0) {
            signalled = posted;
        }
        return posted;
    }

    /** A signalled request has completed. Who takes completions. */
    void completed(long wrId) {
        long before = completed.getPlain();
        long behind = (wrId & SEQUENCE_MASK) - before & SEQUENCE_MASK;
        completed.setRelease(before + behind); // acquired by who uses its buffer again
    }

    /** True if a signalled request has not completed, as far as it is known. */
    boolean isWaiting() {
        return signalled > completed.getAcquire();
    }

    /** True if a request has completed, as far as it is known. */
    boolean isDone(long number) {
        return number <= completed.getAcquire();
    }
}
