package org.softrdma.sim.pinning;

/**
 * Locks pages of this process into RAM, as mlock(2) does. Locks do not nest: a page is locked or not. Used by one
 * thread at a time, under the lock of {@link CountedPageLocks}.
 */
public interface PageLocks {
    /** No error. */
    int OK = 0;
    /** There is no limit. */
    long UNLIMITED = Long.MAX_VALUE;

    /**
     * Makes pages resident and locks them.
     *
     * @param address of the first page
     * @param length bytes, whole pages
     * @return {@link #OK} or the kernel's error number; part of the range may be locked then
     */
    int lock(long address, long length);

    /**
     * Locks what is resident, and the rest as soon as it is touched (mlock2(2), MLOCK_ONFAULT).
     *
     * @param address of the first page
     * @param length bytes, whole pages
     * @return {@link #OK} or the kernel's error number; part of the range may be locked then
     */
    int lockOnFault(long address, long length);

    /**
     * Unlocks pages, locked or not.
     *
     * @param address of the first page
     * @param length bytes, whole pages
     * @return {@link #OK} or the kernel's error number
     */
    int unlock(long address, long length);

    /**
     * Rebuilds a huge page that locks of its parts have split, if the kernel can. This affects nothing but the time of
     * accesses.
     *
     * @param address a multiple of {@link #hugePageBytes()}; all of the huge page is locked
     */
    void joinHugePage(long address);

    /** Size of the kernel's transparent huge pages in bytes, 0 if none are worth asking for. */
    long hugePageBytes();

    /** Most bytes that this process may lock, or {@link #UNLIMITED}. */
    long limitBytes();

    /** Bytes that this process has locked now, by any means; 0 if unknown. */
    long lockedBytes();

    /** Maximum number of separate locked ranges that leaves the process room to map memory. */
    long maxRanges();

    /** Size of a page in bytes. */
    int pageBytes();

    /** Empty if pages are really locked; else why locks are only accounted, for messages. */
    String missing();
}
