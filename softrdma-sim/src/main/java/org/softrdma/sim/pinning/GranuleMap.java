package org.softrdma.sim.pinning;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What engines read about a granule before they use it: which pages are locked, and when it was last used.
 *
 * <pre>
 *   directory: one reference for each 2^14 granules of the address space, null until one of them was pinned
 *   table: two numbers for each granule, beside each other
 *   +-----------------------------------------------------------------+
 *   |  locked pages, a bit for each; 0 while it is being evicted       |   written under PinTable's lock
 *   +-----------------------------------------------------------------+
 *   |  tick of its last use                                            |   written by engines, without a lock: a lost update
 *   +-----------------------------------------------------------------+   makes a granule look older than it is by one use
 * </pre>
 *
 * <p>Engines read it inside a batch, other threads under {@link PinTable}'s lock. Everything but the tick is written
 * under that lock.
 */
final class GranuleMap {
    private static final int TABLE_SHIFT = 14;
    /** All pages of a granule of 64 pages: the common case within a large region, and quick to check. */
    private static final long WHOLE = -1;

    private static final int TABLE_MASK = (1 << TABLE_SHIFT) - 1;
    private static final VarHandle TABLE = MethodHandles.arrayElementVarHandle(long[][].class);
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle TICK;

    static {
        try {
            TICK = MethodHandles.lookup().findVarHandle(GranuleMap.class, "tick", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int granuleShift;
    private final int pageShift;
    private final long granuleMask;
    private final long[][] directory;

    @SuppressWarnings("FieldMayBeFinal")
    private long tick = 1;

    /**
     * Nothing is locked.
     *
     * @param granularity of the table
     */
    GranuleMap(Granularity granularity) {
        granuleShift = granularity.granuleShift();
        pageShift = granularity.pageShift();
        granuleMask = (1L << granuleShift) - 1;
        directory = new long[1 << (Granularity.ADDRESS_BITS - granuleShift - TABLE_SHIFT)][];
    }

    /** The granule of an address. */
    long granule(long address) {
        return address >>> granuleShift;
    }

    /** The pages of a granule that a range of at least 1 byte touches, a bit for each. */
    long pages(long granule, long address, long length) {
        long start = granule << granuleShift;
        long first = Math.max(address, start) & granuleMask;
        long last = Math.min(address + length - 1, start + granuleMask) & granuleMask;
        return (-1L << (first >>> pageShift)) & (-1L >>> (Long.SIZE - 1 - (last >>> pageShift)));
    }

    /** True if every page of a range of at least 1 byte is locked; then it counts as used now. */
    boolean isWarm(long address, long length) {
        long first = granule(address);
        long last = granule(address + length - 1);
        boolean warm = areLocked(first, address, length);
        for (long granule = first + 1; granule <= last; granule++) {
            warm &= areLocked(granule, address, length);
        }
        return warm;
    }

    /** True if all pages of a granule that a range touches are locked; then the granule counts as used now. */
    private boolean areLocked(long granule, long address, long length) {
        long[] table = table(granule);
        if (table == null) {
            return false;
        }
        int at = index(granule);
        long locked = (long) WORD.getOpaque(table, at);
        if (locked != WHOLE && (~locked & pages(granule, address, length)) != 0) {
            return false;
        }
        long now = (long) TICK.getOpaque(this);
        if ((long) WORD.getOpaque(table, at + 1) != now) {
            WORD.setOpaque(table, at + 1, now);
        }
        return true;
    }

    /** When a granule was used last. */
    long lastUse(long granule) {
        long[] table = table(granule);
        return table == null ? 0 : (long) WORD.getOpaque(table, index(granule) + 1);
    }

    /** Changes which pages of a granule engines see as locked. */
    void show(long granule, long pages) {
        long[] table = table(granule);
        if (table == null) {
            table = new long[2 << TABLE_SHIFT];
            // Pairs with the acquire of table: engines see its zeros.
            TABLE.setRelease(directory, (int) (granule >>> TABLE_SHIFT), table);
        }
        WORD.setOpaque(table, index(granule), pages);
    }

    /** A granule was pinned: it counts as used now, and everything used from here on as used later. */
    void pinned(long granule) {
        long now = tick;
        long[] table = table(granule);
        if (table != null) {
            WORD.setOpaque(table, index(granule) + 1, now);
        }
        TICK.setOpaque(this, now + 1);
    }

    private long @Nullable [] table(long granule) {
        // Pairs with the release of show.
        return (long[]) TABLE.getAcquire(directory, (int) (granule >>> TABLE_SHIFT));
    }

    private static int index(long granule) {
        return ((int) granule & TABLE_MASK) << 1;
    }
}
