package org.softrdma.stores.pilaf;

import java.util.Arrays;

/**
 * Hands out ranges of an area by powers of two, after SQLite's mem5, which the paper uses (section 4): a range of order
 * n has 2^n atoms of 64 bytes and begins at a multiple of its length. A range that is too large is halved, and the
 * halves of one range, its <em>buddies</em>, are joined again once both are free. Of
 * ranges of one length, the one that was freed last goes first.
 *
 * <p>It knows offsets only, never the memory. Allocates nothing after construction. Owned by one thread.
 */
final class BuddyExtents {
    /** Bytes of the smallest range. */
    static final int ATOM = 64;

    private static final int NONE = -1;
    private static final byte IN_THE_MIDDLE = -1;
    private static final byte FREE = 1 << 6;

    /** By atom: the order of the range that begins here, with FREE if it is; else IN_THE_MIDDLE. */
    private final byte[] ranges;

    private final int[] next;
    private final int[] previous;
    private final int[] firstFree;
    private final int orders;
    private long usedBytes;

    /**
     * An area in which nothing is in use.
     *
     * @param length bytes, a power of two and at least {@link #ATOM}
     */
    BuddyExtents(long length) {
        if (length < ATOM || Long.bitCount(length) != 1 || length / ATOM > 1 << 30) {
            throw new IllegalArgumentException("length=" + length + ": expected a power of two from " + ATOM);
        }
        int atoms = (int) (length / ATOM);
        orders = Integer.numberOfTrailingZeros(atoms) + 1;
        ranges = new byte[atoms];
        next = new int[atoms];
        previous = new int[atoms];
        firstFree = new int[orders];
        Arrays.fill(ranges, IN_THE_MIDDLE);
        Arrays.fill(firstFree, NONE);
        link(0, orders - 1);
    }

    /**
     * Takes a range.
     *
     * @param length bytes that are needed
     * @return its offset, a multiple of {@link #ATOM}; -1 if no range is large enough
     */
    long allocate(int length) {
        int order = order(length);
        int from = order;
        while (from < orders && firstFree[from] == NONE) {
            from++;
        }
        if (from >= orders) {
            return NONE;
        }
        int atom = firstFree[from];
        unlink(atom, from);
        while (from > order) {
            from--;
            link(atom + (1 << from), from);
        }
        ranges[atom] = (byte) order;
        usedBytes += (long) ATOM << order;
        return (long) atom * ATOM;
    }

    /**
     * Gives a range back.
     *
     * @param offset as {@link #allocate} returned it
     * @throws IllegalArgumentException if no range in use begins there
     */
    void free(long offset) {
        int atom = (int) (offset / ATOM);
        if (offset % ATOM != 0 || offset < 0 || atom >= ranges.length || ranges[atom] < 0 || isFree(atom)) {
            throw new IllegalArgumentException("offset=" + offset + ": no range in use begins there");
        }
        int order = ranges[atom];
        usedBytes -= (long) ATOM << order;
        ranges[atom] = IN_THE_MIDDLE;
        while (order < orders - 1) {
            int buddy = atom ^ 1 << order;
            if (ranges[buddy] != (byte) (order | FREE)) {
                break;
            }
            unlink(buddy, order);
            atom = Math.min(atom, buddy);
            order++;
        }
        link(atom, order);
    }

    /** Bytes of all ranges in use. */
    long usedBytes() {
        return usedBytes;
    }

    private static int order(int length) {
        int atoms = Math.max(1, Math.ceilDiv(length, ATOM));
        return Integer.SIZE - Integer.numberOfLeadingZeros(atoms - 1);
    }

    private boolean isFree(int atom) {
        return ranges[atom] >= 0 && (ranges[atom] & FREE) != 0;
    }

    private void link(int atom, int order) {
        ranges[atom] = (byte) (order | FREE);
        next[atom] = firstFree[order];
        previous[atom] = NONE;
        if (firstFree[order] != NONE) {
            previous[firstFree[order]] = atom;
        }
        firstFree[order] = atom;
    }

    private void unlink(int atom, int order) {
        ranges[atom] = IN_THE_MIDDLE;
        if (previous[atom] == NONE) {
            firstFree[order] = next[atom];
        } else {
            next[previous[atom]] = next[atom];
        }
        if (next[atom] != NONE) {
            previous[next[atom]] = previous[atom];
        }
    }
}
