package org.softrdma.run.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A ring that is empty when it is full but for one element: so the two indexes tell the one from the other.
 *
 * <p>The program can write every byte of it at any time. So nothing is read here but the other side's index, which is masked:
 * whatever it is, it names an element of this ring. This side's index is kept here, and told to the program.
 *
 * @param offset where the program maps it
 * @param bytes of it
 * @param capacity how many elements it takes: a power of two, less one
 * @param elementLength bytes of one
 */
public record RxeRing(long offset, MemorySegment bytes, int capacity, int elementLength) {
    private static final int SHORTEST_ELEMENT = 64;
    private static final VarHandle INDEX = ValueLayout.JAVA_INT.varHandle();

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
        return new RxeRing(offset, bytes, slots - 1, elementLength);
    }

    /** Where the program goes on to write; what is before it can be read. */
    public int producer() {
        return (int) INDEX.getAcquire(bytes, (long) RingDescriptor.PRODUCER_OFFSET) & capacity;
    }

    /** Where the program goes on to read; what is before it can be written. */
    public int consumer() {
        return (int) INDEX.getAcquire(bytes, (long) RingDescriptor.CONSUMER_OFFSET) & capacity;
    }

    /** Gives the elements before an index to the program, which reads. */
    public void produced(int index) {
        INDEX.setRelease(bytes, (long) RingDescriptor.PRODUCER_OFFSET, index);
    }

    /** Gives the elements before an index to the program, which writes. */
    public void consumed(int index) {
        INDEX.setRelease(bytes, (long) RingDescriptor.CONSUMER_OFFSET, index);
    }

    /** How many elements are from an index up to another one. */
    public int count(int from, int to) {
        return (to - from) & capacity;
    }

    /**
     * Copies elements of a ring to the beginning of this one, which has room for them.
     *
     * @param from index of the first one there
     * @param count how many
     */
    public void takeOver(RxeRing other, int from, int count) {
        int length = Math.min(elementLength, other.elementLength);
        for (int i = 0; i < count; i++) {
            MemorySegment.copy(other.bytes, other.element(from + i), bytes, element(i), length);
        }
    }

    /** The index behind another one. */
    public int next(int index) {
        return (index + 1) & capacity;
    }

    /** Where an element is in the bytes. */
    public long element(int index) {
        return RingDescriptor.ELEMENTS_OFFSET + (long) (index & capacity) * elementLength;
    }
}
