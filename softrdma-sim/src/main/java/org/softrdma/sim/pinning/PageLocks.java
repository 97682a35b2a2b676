package org.softrdma.sim.pinning;

/**
 * Locks pages of this process into RAM, as mlock(2) does. Locks do not nest: a page is locked or not. Used under {@link PinTable}'s
 * lock, by one thread at a time.
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
     * Puts pages that locks of parts have torn out of a huge page into one again, if the kernel can. That changes nothing but the
     * time that accesses take.
     *
     * @param address a multiple of {@link #hugePageBytes()}; all of the huge page is locked
     */
    void joinHugePage(long address);

    /** Bytes of the huge pages that the kernel makes by itself, 0 if it makes none. */
    long hugePageBytes();

    /** Most bytes that this process may lock, or {@link #UNLIMITED}. */
    long limitBytes();

    /** Bytes that this process has locked now, by whomever; 0 if that is not known. */
    long lockedBytes();

    /** Most separate locked ranges that leave the process room to map memory. */
    long maxRanges();

    /** Bytes of a page. */
    int pageBytes();

    /** Empty if pages are really locked; else why they are only accounted, for people. */
    String missing();
}
