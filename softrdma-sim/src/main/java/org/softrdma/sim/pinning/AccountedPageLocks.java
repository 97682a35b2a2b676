package org.softrdma.sim.pinning;

/**
 * Locks nothing and reports success: where pinning is only accounted, for want of mlock. A simulation, which may refuse,
 * extends it.
 */
public class AccountedPageLocks implements PageLocks {
    /** The smallest page of any machine here. */
    protected static final int PAGE_BYTES = 4096;

    private final String missing;

    /**
     * Makes one.
     *
     * @param missing why pages cannot be locked
     */
    public AccountedPageLocks(String missing) {
        this.missing = missing;
    }

    @Override
    public int lock(long address, long length) {
        return OK;
    }

    @Override
    public int lockOnFault(long address, long length) {
        return OK;
    }

    @Override
    public int unlock(long address, long length) {
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
        return UNLIMITED;
    }

    @Override
    public long lockedBytes() {
        return 0;
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
        return missing;
    }
}
