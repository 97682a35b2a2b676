package org.softrdma.farm.memory;

import java.util.Arrays;

/**
 * Sizes of objects, with their line versions: from 64 bytes to one MiB in 256 steps of equal ratio, so that rounding up
 * to the next wastes at most 3.7 %. Objects begin at multiples of 16, so each size is rounded up to one, and small
 * sizes that become equal are one class. Immutable.
 */
public final class SizeClasses {
    /** Sizes of the paper. */
    static final int STEPS = 256;

    /** The smallest. */
    static final int SMALLEST = 64;

    /** The largest. */
    public static final int LARGEST = 1 << 20;

    private final int[] sizes;

    /** All classes. */
    public SizeClasses() {
        int[] all = new int[STEPS];
        for (int step = 0; step < STEPS; step++) {
            all[step] = (exact(step) + FarmObjectDescriptor.ALIGNMENT - 1) & -FarmObjectDescriptor.ALIGNMENT;
        }
        sizes = Arrays.stream(all).distinct().toArray();
    }

    /** The size of a step before it is rounded to the alignment. */
    static int exact(int step) {
        double ratio = Math.pow((double) LARGEST / SMALLEST, (double) step / (STEPS - 1));
        return (int) Math.ceil(SMALLEST * ratio - 1e-6);
    }

    /** How many there are. */
    public int count() {
        return sizes.length;
    }

    /** Bytes of a class. */
    public int size(int sizeClass) {
        return sizes[sizeClass];
    }

    /**
     * The smallest class that an object fits in.
     *
     * @param bytes of the object with its line versions
     * @throws IllegalArgumentException if it fits in none
     */
    public int of(int bytes) {
        if (bytes > LARGEST) {
            throw new IllegalArgumentException("bytes=" + bytes + " > largest object=" + LARGEST);
        }
        int at = Arrays.binarySearch(sizes, bytes);
        return at >= 0 ? at : -at - 1;
    }
}
