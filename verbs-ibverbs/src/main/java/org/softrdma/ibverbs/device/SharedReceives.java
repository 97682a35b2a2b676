package org.softrdma.ibverbs.device;

import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.WorkRing;

/**
 * The RECVs of a shared receive queue that the device has, each in a slot, which its native {@code wr_id} carries: they
 * complete in any order. And the queue pairs that take them, by number, because a completion of such a RECV names its
 * queue pair by {@code qp_num} alone.
 *
 * <p>Some drivers drop the completions of a queue pair that is destroyed, with the slots of the RECVs it had taken, and
 * do not say so. So once a queue pair has left, there are more slots when none is free, and the driver decides whether
 * its queue is full.
 *
 * <p>Thread-safe: posts and polls of several completion queues meet here. Allocates nothing unless a queue pair joins or
 * leaves, or slots were lost.
 */
final class SharedReceives {
    /** Result of {@link #take}: there is no free slot. */
    static final int FULL = -1;

    private static final int LAST = -1;
    private static final int TAKEN = -2;
    private static final int MOST_SLOTS = (int) WorkRing.SEQUENCE_MASK;

    private final ReentrantLock lock = new ReentrantLock();

    // Under the lock.
    private long[] wrIds;
    /** The next free slot of a free one, {@link #LAST}, or {@link #TAKEN}. */
    private int[] following;

    private int firstFree = LAST;
    private int outstanding;
    private boolean anyLeft;

    /** In the order of their numbers; replaced as a whole. */
    private volatile QueuePairWork[] queuePairs = {};

    /**
     * No RECV yet.
     *
     * @param capacity RECVs that it holds, less than 2^24
     */
    SharedReceives(int capacity) {
        wrIds = new long[0];
        following = new int[0];
        grow(capacity);
    }

    private void grow(int slots) {
        int from = wrIds.length;
        wrIds = Arrays.copyOf(wrIds, slots);
        following = Arrays.copyOf(following, slots);
        for (int slot = slots - 1; slot >= from; slot--) {
            following[slot] = firstFree;
            firstFree = slot;
        }
    }

    // ---- RECVs

    /**
     * Takes a slot for a RECV, before the device gets it.
     *
     * @param wrId the application's number
     * @return the slot, or {@link #FULL}
     */
    int take(long wrId) {
        lock.lock();
        try {
            if (firstFree == LAST && anyLeft && wrIds.length < MOST_SLOTS) {
                grow(Math.min(MOST_SLOTS, 2 * wrIds.length));
            }
            if (firstFree == LAST) {
                return FULL;
            }
            int slot = firstFree;
            firstFree = following[slot];
            following[slot] = TAKEN;
            wrIds[slot] = wrId;
            outstanding++;
            return slot;
        } finally {
            lock.unlock();
        }
    }

    /** True if a slot holds a RECV. */
    boolean isTaken(int slot) {
        lock.lock();
        try {
            return slot < following.length && following[slot] == TAKEN;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Frees a slot: its RECV has completed, or the device did not take it.
     *
     * @param slot of {@link #take}
     * @return the application's number
     */
    long free(int slot) {
        lock.lock();
        try {
            following[slot] = firstFree;
            firstFree = slot;
            outstanding--;
            return wrIds[slot];
        } finally {
            lock.unlock();
        }
    }

    /** RECVs that were posted and whose completions were not polled. */
    int outstanding() {
        lock.lock();
        try {
            return outstanding;
        } finally {
            lock.unlock();
        }
    }

    // ---- queue pairs

    /** A queue pair was created, and can take RECVs once it is connected. */
    void joined(QueuePairWork queuePair) {
        lock.lock();
        try {
            QueuePairWork[] more = Arrays.copyOf(queuePairs, queuePairs.length + 1);
            more[queuePairs.length] = queuePair;
            Arrays.sort(more, Comparator.comparingInt(QueuePairWork::number));
            queuePairs = more;
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair is gone. */
    void left(QueuePairWork queuePair) {
        lock.lock();
        try {
            anyLeft = true;
            queuePairs =
                    Arrays.stream(queuePairs).filter(each -> each != queuePair).toArray(QueuePairWork[]::new);
        } finally {
            lock.unlock();
        }
    }

    /**
     * The queue pair of a completion.
     *
     * @param number {@code qp_num}
     * @return null if it is gone
     */
    @Nullable
    QueuePairWork queuePair(int number) {
        QueuePairWork[] current = queuePairs;
        int low = 0;
        int high = current.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int found = current[middle].number();
            if (found == number) {
                return current[middle];
            }
            if (found < number) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return null;
    }
}
