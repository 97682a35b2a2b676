package org.softrdma.fabric;

import org.agrona.collections.LongHashSet;
import org.softrdma.sim.pinning.AccountedPageLocks;

/**
 * Page locks of a node: they lock nothing, but count what they would have locked, up to a limit as of RLIMIT_MEMLOCK.
 */
final class NodePageLocks extends AccountedPageLocks {
    private static final int ENOMEM = 12;

    private final LongHashSet locked = new LongHashSet();
    private long limitBytes = UNLIMITED;

    NodePageLocks() {
        super("a simulation locks no pages");
    }

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
    public long limitBytes() {
        return limitBytes;
    }

    @Override
    public long lockedBytes() {
        return (long) locked.size() * PAGE_BYTES;
    }
}
