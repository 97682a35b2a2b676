package org.softrdma.sim.pinning;

import java.util.concurrent.locks.ReentrantLock;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The page locks of the process, shared by the pin tables of all its devices. The kernel's locks do not nest, so this
 * class counts how many tables have locked a page, and unlocks it when the last one does. It also counts separate
 * locked ranges, because a process can have only a limited number.
 *
 * <p>Pages are counted in blocks of 64: a mask of the locked ones, and counts only in a block where two tables have
 * locked the same page.
 *
 * <p>Thread-safe. Its lock is taken inside those of the tables, and nothing inside it. System calls are made under its
 * lock, a granule at a time, so that no table believes a page to be locked that another one is still locking or
 * unlocking.
 */
public final class CountedPageLocks {
    private static final int BLOCK_SHIFT = 6;
    private static final int BLOCK_MASK = (1 << BLOCK_SHIFT) - 1;

    /** Fair, like the tables' locks: a device that registers without end must not starve another device's engine. */
    private final ReentrantLock lock = new ReentrantLock(true);

    private final PageLocks locks;
    private final int pageShift;
    private final Long2ObjectHashMap<Block> blocks = new Long2ObjectHashMap<>();
    private long ranges;

    /** Pages of a block. */
    private static final class Block {
        /** A bit for each page that is locked. */
        long locked;
        /** For each page, how many tables beyond the first have locked it; null until there is one. */
        int @Nullable [] others;
    }

    /** Created when the first device asks. */
    private static final class OfThisProcess {
        static final CountedPageLocks LOCKS = new CountedPageLocks(KernelPageLocks.find());
    }

    /**
     * Nothing is locked.
     *
     * @param locks locks pages; nothing else may unlock pages with it
     */
    public CountedPageLocks(PageLocks locks) {
        this.locks = locks;
        pageShift = Integer.numberOfTrailingZeros(locks.pageBytes());
    }

    /** The locks shared by all devices of this process. */
    public static CountedPageLocks ofThisProcess() {
        return OfThisProcess.LOCKS;
    }

    /**
     * Locks pages that the caller has not locked.
     *
     * @param address of a granule of at most 64 pages, a multiple of its length
     * @param pages of it, a bit for each
     * @param onFault those that are not resident, as soon as they are touched
     * @return {@link PageLocks#OK} or the kernel's error number; then nothing has changed
     */
    int lock(long address, long pages, boolean onFault) {
        lock.lock();
        try {
            long number = block(address);
            long wanted = pages << offset(address);
            Block block = blocks.get(number);
            if (block == null) {
                block = new Block();
                blocks.put(number, block); // before anything is locked, because there may be no memory for it
            }
            if ((block.locked & wanted) != 0 && block.others == null) {
                block.others = new int[1 << BLOCK_SHIFT];
            }
            // A page that another table locked on fault may not be resident. One that it locked is, and counts as
            // locked on fault.
            int error = lockRuns(number, onFault ? wanted & ~block.locked : wanted, block.locked, onFault);
            if (error == PageLocks.OK) {
                count(number, block, wanted);
            } else if (block.locked == 0) {
                blocks.remove(number);
            }
            return error;
        } finally {
            lock.unlock();
        }
    }

    private int lockRuns(long number, long wanted, long lockedBefore, boolean onFault) {
        long tried = 0;
        for (long left = wanted; left != 0; left &= ~run(left)) {
            long run = run(left);
            tried |= run;
            int error = onFault
                    ? locks.lockOnFault(address(number, run), bytes(run))
                    : locks.lock(address(number, run), bytes(run));
            if (error != PageLocks.OK) {
                unlockRuns(number, tried & ~lockedBefore); // part of the last run may be locked
                return error;
            }
        }
        return PageLocks.OK;
    }

    private void count(long number, Block block, long pages) {
        int[] others = block.others;
        for (long again = block.locked & pages; others != null && again != 0; again &= again - 1) {
            others[Long.numberOfTrailingZeros(again)]++;
        }
        ranges += addedRanges(number, block.locked | pages);
        block.locked |= pages;
    }

    /**
     * Unlocks pages that the caller has locked. The only possible failure is that they are no longer mapped, and then
     * they are not locked.
     *
     * @param address of a granule of at most 64 pages, a multiple of its length
     * @param pages of it, a bit for each
     */
    void unlock(long address, long pages) {
        lock.lock();
        try {
            long number = block(address);
            Block block = blocks.get(number);
            if (block != null) {
                long last = uncount(block, pages << offset(address));
                unlockRuns(number, last);
                ranges += addedRanges(number, block.locked & ~last);
                block.locked &= ~last;
                if (block.locked == 0) {
                    blocks.remove(number);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Decrements the counts of pages; returns the pages that no table needs any more. */
    private static long uncount(Block block, long pages) {
        long last = pages;
        int[] others = block.others;
        for (long left = pages; others != null && left != 0; left &= left - 1) {
            int page = Long.numberOfTrailingZeros(left);
            if (others[page] > 0) {
                others[page]--;
                last &= ~(1L << page);
            }
        }
        return last;
    }

    private void unlockRuns(long number, long pages) {
        for (long left = pages; left != 0; left &= ~run(left)) {
            long run = run(left);
            int ignored = locks.unlock(address(number, run), bytes(run));
        }
    }

    /** Separate locked ranges of the process. */
    long ranges() {
        lock.lock();
        try {
            return ranges;
        } finally {
            lock.unlock();
        }
    }

    /** Separate locked ranges of the process if some more pages of a granule were locked. */
    long rangesWith(long address, long pages) {
        lock.lock();
        try {
            long number = block(address);
            return ranges + addedRanges(number, locked(number) | pages << offset(address));
        } finally {
            lock.unlock();
        }
    }

    /** What the kernel offers, for limits and messages. */
    PageLocks kernel() {
        return locks;
    }

    // ---- under the lock

    /** How the number of separate locked ranges changes if a block's locked pages change. */
    private int addedRanges(long number, long pages) {
        long locked = locked(number);
        long before = locked(number - 1) >>> BLOCK_MASK;
        long after = locked(number + 1) & 1;
        int change = starts(pages, before) - starts(locked, before);
        // A range starts at the first page of the next block only while this block's last page is not locked.
        return after == 0 ? change : change + (int) ((locked >>> BLOCK_MASK) - (pages >>> BLOCK_MASK));
    }

    private static int starts(long pages, long before) {
        return Long.bitCount(pages & ~((pages << 1) | before));
    }

    private long locked(long number) {
        Block block = blocks.get(number);
        return block == null ? 0 : block.locked;
    }

    private long block(long address) {
        return address >>> pageShift >>> BLOCK_SHIFT;
    }

    private int offset(long address) {
        return (int) (address >>> pageShift) & BLOCK_MASK;
    }

    /** The lowest run of set bits. */
    private static long run(long bits) {
        long lowest = bits & -bits;
        return bits & ~(bits + lowest);
    }

    private long address(long number, long run) {
        return ((number << BLOCK_SHIFT) + Long.numberOfTrailingZeros(run)) << pageShift;
    }

    private long bytes(long run) {
        return (long) Long.bitCount(run) << pageShift;
    }
}
