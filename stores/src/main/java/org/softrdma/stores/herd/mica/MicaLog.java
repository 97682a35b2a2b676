package org.softrdma.stores.herd.mica;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A circular log: what is appended takes the place of the oldest. A position counts the bytes that were appended before,
 * since the beginning, so it tells the age of a pair; its place in memory is the position modulo the capacity. A pair
 * never goes over the end: what is left there is skipped, and counts as appended. Owned by the worker's thread.
 */
final class MicaLog {
    private final MemorySegment memory;
    private final long capacity;
    private long head;

    /**
     * An empty log.
     *
     * @param capacity bytes, a power of two
     * @param head position at which it begins, a multiple of the capacity
     */
    MicaLog(int capacity, long head) {
        if (Integer.bitCount(capacity) != 1 || capacity < Long.BYTES || head % capacity != 0) {
            throw new IllegalArgumentException("capacity=" + capacity + ", head=" + head
                    + ": expected a power of two, at least 8, and a multiple of it");
        }
        this.capacity = capacity;
        this.head = head;
        memory = Arena.ofAuto().allocate(capacity, Long.BYTES);
    }

    MemorySegment memory() {
        return memory;
    }

    long capacity() {
        return capacity;
    }

    /** Where the next pair goes, unless it has to skip. */
    long head() {
        return head;
    }

    /**
     * Takes room for a pair, and forgets the pairs that had it.
     *
     * @param length a multiple of 8, at most the capacity
     * @return its position
     */
    long append(int length) {
        long rest = capacity - place(head);
        if (length > rest) {
            head += rest;
        }
        long position = head;
        head += length;
        return position;
    }

    /** True if what was appended at a position is still there. */
    boolean holds(long position) {
        long age = head - position;
        return age > 0 && age <= capacity;
    }

    /** Where a position is in memory. */
    long place(long position) {
        return position & (capacity - 1);
    }

    /** The last position before the head that has these lower bits, in units of 8 bytes; the head itself if it has. */
    long position(long units) {
        long headUnits = head >>> 3;
        return (headUnits - (headUnits - units & MicaSlotDescriptor.OFFSET_MASK)) << 3;
    }
}
