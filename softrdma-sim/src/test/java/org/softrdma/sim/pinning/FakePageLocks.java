package org.softrdma.sim.pinning;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Locks of pages that are not there: a set of page numbers, a limit, and a list of pages that are not mapped. */
final class FakePageLocks implements PageLocks {
    static final int PAGE = 4096;
    private static final int ENOMEM = 12;

    private final BitSet locked = new BitSet();
    /** Pages that were made resident by their lock. */
    final BitSet resident = new BitSet();

    final BitSet unmapped = new BitSet();
    long limitPages = Long.MAX_VALUE;
    long maxRanges = Long.MAX_VALUE;
    int onFault;
    long hugePageBytes;
    final List<Long> joined = new ArrayList<>();
    /** Called when the limit refuses a lock. */
    Runnable onRefusal = () -> {};

    @Override
    public int lock(long address, long length) {
        int error = lockPages(address, length);
        if (error == OK) {
            resident.set(page(address), page(address + length));
        }
        return error;
    }

    private int lockPages(long address, long length) {
        int from = page(address);
        int to = page(address + length);
        int hole = unmapped.nextSetBit(from);
        if (hole >= 0 && hole < to) {
            locked.set(from, hole); // as the kernel does
            return ENOMEM;
        }
        if (locked.cardinality() + (to - from) > limitPages) {
            onRefusal.run();
            return ENOMEM;
        }
        locked.set(from, to);
        return OK;
    }

    @Override
    public int lockOnFault(long address, long length) {
        onFault++;
        return lockPages(address, length);
    }

    @Override
    public int unlock(long address, long length) {
        locked.clear(page(address), page(address + length));
        resident.clear(page(address), page(address + length));
        return OK;
    }

    private static int page(long address) {
        if (address % PAGE != 0) {
            throw new AssertionError("address " + address + " is not that of a page");
        }
        return Math.toIntExact(address / PAGE);
    }

    /** The pages that are locked now; a copy. */
    BitSet locked() {
        return (BitSet) locked.clone();
    }

    boolean isLocked(long address) {
        return locked.get((int) (address / PAGE));
    }

    /** Separate runs of locked pages. */
    long runs() {
        return locked.stream()
                .filter(page -> page == 0 || !locked.get(page - 1))
                .count();
    }

    @Override
    public void joinHugePage(long address) {
        joined.add(address);
    }

    @Override
    public long hugePageBytes() {
        return hugePageBytes;
    }

    @Override
    public long limitBytes() {
        return limitPages == Long.MAX_VALUE ? UNLIMITED : limitPages * PAGE;
    }

    @Override
    public long lockedBytes() {
        return (long) locked.cardinality() * PAGE;
    }

    @Override
    public long maxRanges() {
        return maxRanges;
    }

    @Override
    public int pageBytes() {
        return PAGE;
    }

    @Override
    public String missing() {
        return "";
    }
}
