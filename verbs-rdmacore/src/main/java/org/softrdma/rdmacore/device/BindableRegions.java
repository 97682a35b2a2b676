package org.softrdma.rdmacore.device;

import java.util.Arrays;
import java.util.concurrent.locks.StampedLock;
import java.util.function.IntSupplier;

/**
 * The native regions that windows can be bound to, by their local keys: a work request names its region by key, and
 * {@code ibv_send_wr} by pointer. Whoever posts binds holds it; whoever frees such a region, or a window, waits. Binds
 * of several threads do not wait for each other. Allocates only when a region comes.
 */
final class BindableRegions {
    private static final int FIRST = 8;

    private final StampedLock lock = new StampedLock();

    // Under the lock, in the order of the keys.
    private int[] keys = new int[FIRST];
    private long[] pointers = new long[FIRST];
    private int size;

    /** None. */
    BindableRegions() {}

    /** Begins to post binds; returns what {@link #release} takes, never 0. */
    long hold() {
        return lock.readLock();
    }

    /** Binds were posted. */
    void release(long stamp) {
        lock.unlockRead(stamp);
    }

    /**
     * The region with a key. Held.
     *
     * @return its pointer, or 0
     */
    long find(int lkey) {
        int index = Arrays.binarySearch(keys, 0, size, lkey);
        return index < 0 ? 0 : pointers[index];
    }

    /**
     * Frees something that a bind may name, while none is posted.
     *
     * @param free frees it: 0 or an errno
     * @return its result
     */
    int alone(IntSupplier free) {
        long stamp = lock.writeLock();
        try {
            return free.getAsInt();
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    /** Adds a region. */
    void add(int lkey, long pointer) {
        long stamp = lock.writeLock();
        try {
            if (size == keys.length) {
                keys = Arrays.copyOf(keys, 2 * size);
                pointers = Arrays.copyOf(pointers, 2 * size);
            }
            int found = Arrays.binarySearch(keys, 0, size, lkey);
            int at = found < 0 ? -1 - found : found;
            if (found < 0) {
                System.arraycopy(keys, at, keys, at + 1, size - at);
                System.arraycopy(pointers, at, pointers, at + 1, size - at);
                size++;
            }
            keys[at] = lkey;
            pointers[at] = pointer;
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    /** Removes a region that is not freed. */
    void remove(int lkey) {
        remove(lkey, () -> 0);
    }

    /**
     * Frees a region while no bind is posted, and removes it.
     *
     * @param lkey its key
     * @param free frees it: 0 or an errno
     * @return its result; if that says that the region is not freed, it stays
     */
    int remove(int lkey, IntSupplier free) {
        return alone(() -> {
            int errno = free.getAsInt();
            int at = Arrays.binarySearch(keys, 0, size, lkey);
            if (at >= 0 && NativeErrors.isClosed(errno)) {
                size--;
                System.arraycopy(keys, at + 1, keys, at, size - at);
                System.arraycopy(pointers, at + 1, pointers, at, size - at);
            }
            return errno;
        });
    }
}
