package org.softrdma.sim.pinning;

import java.util.Arrays;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * How many regions each page belongs to.
 *
 * <p>Algorithm: a segment tree with fan-out 8 over the address space counts whole granules. A range is the union of at
 * most 14 nodes on each level, each of which counts it once; a granule is covered if the count of any ancestor is not
 * 0. The two granules at most that a range covers in part are counted page by page. So adding a terabyte takes some
 * microseconds, and a small range one or two steps. Rejected: a count for each granule, which makes the cost of
 * registration proportional to the length.
 *
 * <p>Not thread-safe: under {@link PinTable}'s lock.
 */
final class Coverage {
    private static final int LEVELS = 16;
    private static final int FAN_OUT_SHIFT = 3;
    private static final int FAN_OUT_MASK = (1 << FAN_OUT_SHIFT) - 1;

    private final int pagesShift;
    private final int pages;
    private final Long2LongHashMap[] levels = new Long2LongHashMap[LEVELS];
    private final Long2ObjectHashMap<int[]> parts = new Long2ObjectHashMap<>();

    /**
     * Nothing is covered.
     *
     * @param pagesShift logarithm of the pages in a granule, at most 6
     */
    Coverage(int pagesShift) {
        this.pagesShift = pagesShift;
        pages = 1 << pagesShift;
        Arrays.setAll(levels, level -> new Long2LongHashMap(0));
    }

    /** Increments the counts of a range of pages. */
    void add(long fromPage, long toPage) {
        change(fromPage, toPage, 1);
    }

    /** Decrements the counts of a range that was added. */
    void remove(long fromPage, long toPage) {
        change(fromPage, toPage, -1);
    }

    /** The pages of a granule that belong to any region, as a mask. */
    long mask(long granule) {
        for (int level = 0; level < LEVELS; level++) {
            if (levels[level].get(granule >>> (level * FAN_OUT_SHIFT)) > 0) {
                return allPages();
            }
        }
        int[] counts = parts.get(granule);
        long mask = 0;
        for (int page = 0; counts != null && page < pages; page++) {
            mask |= counts[page] > 0 ? 1L << page : 0;
        }
        return mask;
    }

    /** Number of stored entries: 0 if nothing is covered. */
    int size() {
        int size = parts.size();
        for (Long2LongHashMap level : levels) {
            size += level.size();
        }
        return size;
    }

    private long allPages() {
        return -1L >>> (Long.SIZE - pages);
    }

    private void change(long fromPage, long toPage, int by) {
        long from = fromPage >>> pagesShift;
        long to = toPage >>> pagesShift;
        int head = (int) fromPage & (pages - 1);
        int tail = (int) toPage & (pages - 1);
        if (from == to) {
            changePart(from, head, tail, by);
            return;
        }
        if (head > 0) {
            changePart(from++, head, pages, by);
        }
        if (tail > 0) {
            changePart(to, 0, tail, by);
        }
        for (int level = 0; from < to; level++) {
            while (from < to && (from & FAN_OUT_MASK) != 0) {
                changeNode(level, from++, by);
            }
            while (from < to && (to & FAN_OUT_MASK) != 0) {
                changeNode(level, --to, by);
            }
            from >>>= FAN_OUT_SHIFT;
            to >>>= FAN_OUT_SHIFT;
        }
    }

    private void changeNode(int level, long node, int by) {
        long count = levels[level].get(node) + by;
        if (count == 0) {
            levels[level].remove(node);
        } else {
            levels[level].put(node, count);
        }
    }

    private void changePart(long granule, int fromPage, int toPage, int by) {
        int[] counts = parts.get(granule);
        if (counts == null) {
            counts = new int[pages];
            parts.put(granule, counts);
        }
        for (int page = fromPage; page < toPage; page++) {
            counts[page] += by;
        }
        if (by < 0 && isZero(counts)) {
            parts.remove(granule);
        }
    }

    private static boolean isZero(int[] counts) {
        for (int count : counts) {
            if (count != 0) {
                return false;
            }
        }
        return true;
    }
}
