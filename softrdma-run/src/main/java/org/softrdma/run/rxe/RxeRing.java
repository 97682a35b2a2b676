package org.softrdma.run.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A ring that is empty when it is full but for one element: so the two indexes tell the one from the other.
 *
 * @param offset where the program maps it
 * @param bytes of it
 * @param capacity how many elements it takes
 */
public record RxeRing(long offset, MemorySegment bytes, int capacity) {
    private static final int SHORTEST_ELEMENT = 64;

    /** Bytes of an element: a power of two, and no two in a cache line. */
    static int elementLength(int given) {
        return Integer.highestOneBit(Math.max(given, SHORTEST_ELEMENT) * 2 - 1);
    }

    /** How many elements have place in the memory of a ring for that many. */
    static int slots(int elements) {
        return Integer.highestOneBit((elements + 1) * 2 - 1);
    }

    /** Bytes of a ring. */
    static long length(int slots, int elementLength) {
        return RingDescriptor.ELEMENTS_OFFSET + (long) slots * elementLength;
    }

    /** Begins an empty ring in memory that is zero. */
    static RxeRing begin(long offset, MemorySegment bytes, int slots, int elementLength) {
        bytes.set(ValueLayout.JAVA_INT, RingDescriptor.LOGARITHM_OFFSET, Integer.numberOfTrailingZeros(elementLength));
        bytes.set(ValueLayout.JAVA_INT, RingDescriptor.MASK_OFFSET, slots - 1);
        return new RxeRing(offset, bytes, slots - 1);
    }
}
