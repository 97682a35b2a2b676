package org.softrdma.sim.pinning;

import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * How the address space is divided into granules, and granules into pages. A mask names pages of a granule: one bit for
 * each page, the lowest bit for the lowest address.
 *
 * @param granuleShift logarithm of the bytes of a granule
 * @param pageShift logarithm of the bytes of a page
 */
record Granularity(int granuleShift, int pageShift) {
    /** Addresses of a process have at most this many bits. */
    static final int ADDRESS_BITS = 48;

    private static final int MOST_PAGES = Long.SIZE;

    /**
     * The granularity for a device.
     *
     * @param pageBytes bytes of a page, a power of two
     * @param granuleBytes requested bytes of a granule, a power of two; clamped to 1 to 64 pages
     */
    static Granularity of(int pageBytes, int granuleBytes) {
        int bytes = Math.clamp(granuleBytes, pageBytes, MOST_PAGES * pageBytes);
        return new Granularity(Integer.numberOfTrailingZeros(bytes), Integer.numberOfTrailingZeros(pageBytes));
    }

    /** Bytes of a granule. */
    long granuleBytes() {
        return 1L << granuleShift;
    }

    /** Pages of a granule, 1 to 64. */
    int pages() {
        return 1 << pagesShift();
    }

    /** Logarithm of the pages of a granule. */
    int pagesShift() {
        return granuleShift - pageShift;
    }

    /** Address of a granule's first byte. */
    long address(long granule) {
        return granule << granuleShift;
    }

    /** Bytes of some pages. */
    long bytes(long pages) {
        return (long) Long.bitCount(pages) << pageShift;
    }

    /** Bytes of a range. */
    long bytes(PageRange range) {
        return (range.to() - range.from()) << pageShift;
    }

    /** Address of the first byte of a range. */
    long address(PageRange range) {
        return range.from() << pageShift;
    }

    /** The first granule that a range touches. */
    long firstGranule(PageRange range) {
        return range.from() >>> pagesShift();
    }

    /** The last granule that a range touches. */
    long lastGranule(PageRange range) {
        return (range.to() - 1) >>> pagesShift();
    }

    /**
     * The pages of a region.
     *
     * @param address its first byte
     * @param length its bytes
     * @param mappedFrom first byte known to be mapped around it
     * @param mappedTo behind the last byte known to be mapped
     * @throws VerbsException {@code NOT_SUPPORTED} if it lies above the addresses that a process can have
     */
    PageRange range(long address, long length, long mappedFrom, long mappedTo) {
        long granule = granuleBytes();
        long from = Math.min(address, Math.max(mappedFrom, address & -granule));
        long to = Math.max(address + length, Math.min(mappedTo, (address + length + granule - 1) & -granule));
        long page = 1L << pageShift;
        if (to >>> ADDRESS_BITS != 0) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED, "memory above 2^" + ADDRESS_BITS + " cannot be pinned");
        }
        return new PageRange(from >>> pageShift, (to + page - 1) >>> pageShift);
    }
}
