package org.softrdma.sim.fabric;

import org.agrona.collections.LongHashSet;
import org.softrdma.sim.pinning.PageLocks;

/**
 * Page locks of a node: they lock nothing, but count what they would have locked, up to a limit as of RLIMIT_MEMLOCK.
 * Whoever holds the baton.
 */
final class NodePageLocks implements PageLocks {
    private static final int PAGE_BYTES = 4096;
    private static final int ENOMEM = 12;

    private final LongHashSet locked = new LongHashSet();
    private long limitBytes = UNLIMITED;

    void limit(long newLimitBytes) {
        limitBytes = newLimitBytes;
    }

    @Override
    public int lock(long address, long length) {
        long more = 0;
        for (long page = address; page < address + length; page += PAGE_BYTES) {
            more += locked.contains(page) ? 0 : PAGE_BYTES;
        }
        if (more > 0 && more > limitBytes - lockedBytes()) {
            return ENOMEM;
        }
        for (long page = address; page < address + length; page += PAGE_BYTES) {
            locked.add(page);
        }
        return OK;
    }

    @Override
    public int lockOnFault(long address, long length) {
        return lock(address, length);
    }

    @Override
    public int unlock(long address, long length) {
        for (long page = address; page < address + length; page += PAGE_BYTES) {
            locked.remove(page);
        }
        return OK;
    }

    @Override
    public void joinHugePage(long address) {
        throw new IllegalStateException("there are no huge pages");
    }

    @Override
    public long hugePageBytes() {
        return 0;
    }

    @Override
    public long limitBytes() {
        return limitBytes;
    }

    @Override
    public long lockedBytes() {
        return (long) locked.size() * PAGE_BYTES;
    }

    @Override
    public long maxRanges() {
        return Long.MAX_VALUE;
    }

    @Override
    public int pageBytes() {
        return PAGE_BYTES;
    }

    @Override
    public String missing() {
        return "a simulation locks no pages";
    }
}
