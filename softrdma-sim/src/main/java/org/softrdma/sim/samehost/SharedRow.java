package org.softrdma.sim.samehost;

import java.lang.invoke.VarHandle;
import org.softrdma.net.memory.NativeMemory;

/**
 * A row of the table of regions that peers can see. The responder writes it under the lock of its stag table; peers
 * read
 * it through a mapping for reading only.
 *
 * <pre>
 *   64 bytes, native byte order, aligned
 *   +--------------------------------+--------------------------------+
 *   |  version, odd during a change  |  rkey, 0 = cannot be read      |   0
 *   +--------------------------------+--------------------------------+
 *   |  protection domain             |  number of the allocation      |   8
 *   +--------------------------------+--------------------------------+
 *   |  first address as peers name it                                 |  16
 *   +-----------------------------------------------------------------+
 *   |  length in bytes                                                |  24
 *   +-----------------------------------------------------------------+
 *   |  bytes from the start of the allocation                         |  32
 *   +-----------------------------------------------------------------+
 *   |  not used                                                       |  40
 * </pre>
 *
 * <p>A reader takes the version, the fields, the bytes that they name, and the version again. If it is another one, or
 * was odd, what was read counts for nothing. A writer that has made a row invalid issues a full fence before it
 * returns,
 * so bytes that are written afterwards are seen together with the new version.
 */
final class SharedRow {
    /** Bytes of a row. */
    static final int BYTES = 64;

    private static final int VERSION_OFFSET = 0;
    private static final int RKEY_OFFSET = VERSION_OFFSET + Integer.BYTES;
    private static final int DOMAIN_OFFSET = RKEY_OFFSET + Integer.BYTES;
    private static final int ALLOCATION_OFFSET = DOMAIN_OFFSET + Integer.BYTES;
    private static final int BASE_OFFSET = ALLOCATION_OFFSET + Integer.BYTES;
    private static final int LENGTH_OFFSET = BASE_OFFSET + Long.BYTES;
    private static final int START_OFFSET = LENGTH_OFFSET + Long.BYTES;

    private SharedRow() {}

    // ---- the responder

    /** The row says nothing any more. */
    static void clear(long row) {
        int version = begin(row);
        NativeMemory.putNativeInt(row + RKEY_OFFSET, 0);
        end(row, version);
    }

    /**
     * The row says something else.
     *
     * @param row its address
     * @param rkey key for peers
     * @param domain protection domain
     * @param base first address as peers name it
     * @param length bytes
     * @param allocation number of the allocation
     * @param start bytes from its start
     */
    static void put(long row, int rkey, int domain, long base, long length, int allocation, long start) {
        int version = begin(row);
        NativeMemory.putNativeInt(row + RKEY_OFFSET, rkey);
        NativeMemory.putNativeInt(row + DOMAIN_OFFSET, domain);
        NativeMemory.putNativeInt(row + ALLOCATION_OFFSET, allocation);
        NativeMemory.putNativeLong(row + BASE_OFFSET, base);
        NativeMemory.putNativeLong(row + LENGTH_OFFSET, length);
        NativeMemory.putNativeLong(row + START_OFFSET, start);
        end(row, version);
    }

    private static int begin(long row) {
        int version = NativeMemory.getNativeInt(row + VERSION_OFFSET) + 1;
        NativeMemory.putIntRelease(row + VERSION_OFFSET, version);
        VarHandle.fullFence(); // no field is seen before the odd version
        return version;
    }

    private static void end(long row, int version) {
        NativeMemory.putIntRelease(row + VERSION_OFFSET, version + 1);
        VarHandle.fullFence(); // nothing that this thread writes later is seen before the new version
    }

    // ---- a requester

    /** The version; pairs with the release of {@link #end}. */
    static int version(long row) {
        return NativeMemory.getIntAcquire(row + VERSION_OFFSET);
    }

    /** True if a row is being changed. */
    static boolean isChanging(int version) {
        return (version & 1) != 0;
    }

    /** True if nothing has changed since a version was taken; for whatever was read in between. */
    static boolean isStill(long row, int version) {
        VarHandle.acquireFence();
        return NativeMemory.getIntAcquire(row + VERSION_OFFSET) == version;
    }

    static int rkey(long row) {
        return NativeMemory.getNativeInt(row + RKEY_OFFSET);
    }

    static int domain(long row) {
        return NativeMemory.getNativeInt(row + DOMAIN_OFFSET);
    }

    static int allocation(long row) {
        return NativeMemory.getNativeInt(row + ALLOCATION_OFFSET);
    }

    static long base(long row) {
        return NativeMemory.getNativeLong(row + BASE_OFFSET);
    }

    static long length(long row) {
        return NativeMemory.getNativeLong(row + LENGTH_OFFSET);
    }

    static long start(long row) {
        return NativeMemory.getNativeLong(row + START_OFFSET);
    }
}
