package org.softrdma.farm.memory;

import java.lang.foreign.MemorySegment;

/**
 * Checks the bytes of an object that a READ has fetched, as in section 3.4 of the paper: the header is not locked
 * against readers, and every line has the low bits of the header's version.
 *
 * <p>That proves consistency only if the device copies each line of 64 bytes at one instant, as DMA on a coherent bus
 * does: "FaRM relies on cache coherent DMA". A device that copies by CPU may take the version of a line before a write
 * and its data after it. So in safe mode there is a checksum behind the payload, which decides.
 *
 * <p>Stateless except for its mode.
 */
public final class LockFreeReader {
    private final boolean checksums;

    /**
     * A reader.
     *
     * @param checksums whether objects end in a checksum
     */
    public LockFreeReader(boolean checksums) {
        this.checksums = checksums;
    }

    /**
     * Judges an object.
     *
     * @param memory where the READ has put it
     * @param at where it begins in that memory
     * @param start its offset in the region
     * @param image gets its bytes, whatever the verdict
     */
    public ReadVerdict read(MemorySegment memory, long at, long start, int length, ObjectImage image) {
        image.resize(length);
        int all = FarmObjectDescriptor.lengthWithChecksum(length, checksums);
        ObjectLines.gather(memory, at, start, all, image.segment());
        long version = image.version();
        if ((version & FarmObjectDescriptor.EXCLUSIVE) != 0) {
            return ReadVerdict.LOCKED;
        }
        short lineVersion = FarmObjectDescriptor.lineVersion(version);
        if (!ObjectLines.haveVersion(memory, at, start, all, lineVersion)) {
            return ReadVerdict.LINES_DIFFER;
        }
        image.version(version & ~FarmObjectDescriptor.LOCK_MASK);
        if (checksums && image.checksum() != image.storedChecksum()) {
            return ReadVerdict.TORN_UNSEEN;
        }
        return ReadVerdict.CONSISTENT;
    }
}
