package org.softrdma.kv.store;

import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;

/**
 * The chunk sizes of the slab classes: from the smallest item growing by a factor, the last one the longest item.
 * Sizes are memcached's up to half a megabyte (above that memcached chains chunks), so that a class has the number
 * that users know from there. Immutable.
 */
public final class SlabGeometry {
    /** memcached's default growth. */
    public static final double DEFAULT_FACTOR = 1.25;

    /** memcached's default for the smallest key and value together. */
    public static final int DEFAULT_MINIMUM_SPACE = 48;

    /** The header of memcached's items, without the cas number that is part of ours. */
    private static final int MEMCACHED_HEADER_LENGTH = 48;

    /** A page unless the longest item needs more. */
    public static final int DEFAULT_PAGE_LENGTH = 1 << 20;

    /** Most classes there are. */
    public static final int MAX_CLASSES = 63;

    private final int[] chunkLengths;
    private final int pageLength;
    private final int maxItemLength;

    /**
     * Computes the classes of pages of the usual length.
     *
     * @param factor growth from class to class
     * @param minimumSpace memcached's -n
     * @param maxItemLength the longest item
     */
    public SlabGeometry(double factor, int minimumSpace, int maxItemLength) {
        this(factor, minimumSpace, maxItemLength, DEFAULT_PAGE_LENGTH);
    }

    /**
     * Computes the classes.
     *
     * @param factor growth from class to class, 1.01 to 16
     * @param minimumSpace memcached's -n, at least 1: the smallest chunk is 48 bytes more; of the space, 12 bytes go
     *     to what our items have beyond that (the cas number as in memcached, and the tail)
     * @param maxItemLength the longest item, 1024 to {@link Locator#MAX_ITEM_LENGTH}
     * @param leastPageLength bytes of a page at least, a power of two
     */
    public SlabGeometry(double factor, int minimumSpace, int maxItemLength, int leastPageLength) {
        if (!(factor >= 1.01 && factor <= 16)) {
            throw new IllegalArgumentException("factor=" + factor + ": not 1.01 to 16");
        }
        if (maxItemLength < 1024 || maxItemLength > Locator.MAX_ITEM_LENGTH) {
            throw new IllegalArgumentException(
                    "maxItemLength=" + maxItemLength + ": expected 1024 to " + Locator.MAX_ITEM_LENGTH);
        }
        if (minimumSpace < 1 || minimumSpace > maxItemLength / 2) {
            throw new IllegalArgumentException(
                    "minimumSpace=" + minimumSpace + ": expected 1 to half of maxItemLength=" + maxItemLength);
        }
        this.maxItemLength = maxItemLength & -ItemDescriptor.ALIGNMENT;
        this.pageLength = Math.max(leastPageLength, roundUpToPowerOfTwo(maxItemLength));
        this.chunkLengths = chunkLengths(
                factor, Math.max(MEMCACHED_HEADER_LENGTH + minimumSpace, (int) ItemDescriptor.itemLength(1, 0)));
    }

    private int[] chunkLengths(double factor, int smallest) {
        int[] lengths = new int[MAX_CLASSES];
        int count = 0;
        int next = roundUpToAlignment(smallest);
        while (count < MAX_CLASSES - 1 && next < maxItemLength / factor) {
            lengths[count++] = next;
            next = Math.max(next + ItemDescriptor.ALIGNMENT, roundUpToAlignment((int) (next * factor)));
        }
        lengths[count++] = maxItemLength;
        return java.util.Arrays.copyOf(lengths, count);
    }

    /** Number of classes. */
    public int classes() {
        return chunkLengths.length;
    }

    /**
     * Bytes of a chunk of a class.
     *
     * @param sizeClass 0 to {@link #classes()} - 1
     */
    public int chunkLength(int sizeClass) {
        return chunkLengths[sizeClass];
    }

    /** Bytes of a page, which all has chunks of one class; a power of two. */
    public int pageLength() {
        return pageLength;
    }

    /** The longest item. */
    public int maxItemLength() {
        return maxItemLength;
    }

    /**
     * The smallest class whose chunks have room.
     *
     * @param itemLength bytes of the item, at most {@link #maxItemLength()}
     */
    public int sizeClass(long itemLength) {
        if (itemLength > maxItemLength) {
            throw new IllegalArgumentException("itemLength=" + itemLength + " > maxItemLength=" + maxItemLength);
        }
        int found = java.util.Arrays.binarySearch(chunkLengths, (int) itemLength);
        return found >= 0 ? found : -found - 1;
    }

    private static int roundUpToAlignment(int length) {
        return (length + ItemDescriptor.ALIGNMENT - 1) & -ItemDescriptor.ALIGNMENT;
    }

    private static int roundUpToPowerOfTwo(int value) {
        return value == 1 ? 1 : Integer.highestOneBit(value - 1) << 1;
    }
}
