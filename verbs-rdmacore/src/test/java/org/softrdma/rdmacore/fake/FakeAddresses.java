package org.softrdma.rdmacore.fake;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;

/** The GIDs of the device, and its {@code ibv_ah}s. Under the fake's lock. */
final class FakeAddresses {
    /** Length of the table of GIDs. */
    static final int TABLE = 4;

    /** A link-local address, as every interface has it, then 10.0.2.15 and fd00::2, and 127.0.0.1, where ids are bound. */
    private static final byte[][] GIDS = {
        {-2, -128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 10, 0, 2, 15},
        {-3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 127, 0, 0, 1},
    };

    /** By pointer: where a handle leads, and from which GID. */
    private final Map<Long, Way> handles = new HashMap<>();

    /** A way. */
    @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
    record Way(byte[] from, byte[] to) {
        /** The routing header of a datagram that takes it. */
        byte[] header() {
            boolean mapped = from[10] == -1;
            byte[] header = new byte[40];
            if (mapped) {
                header[20] = 0x45;
                System.arraycopy(from, 12, header, 32, 4);
                System.arraycopy(to, 12, header, 36, 4);
            } else {
                header[0] = 0x60;
                System.arraycopy(from, 0, header, 8, 16);
                System.arraycopy(to, 0, header, 24, 16);
            }
            return header;
        }
    }

    int live() {
        return handles.size();
    }

    int query(int index, long gid) {
        if (index >= TABLE) {
            return Errno.EINVAL;
        }
        CMemory.putBytes(gid, index < GIDS.length ? GIDS[index] : new byte[VerbsAbi.GID_BYTES]);
        return 0;
    }

    /** An {@code ibv_ah_attr}; null if no host of this network is meant. */
    static @Nullable Way way(long attributes) {
        byte[] to = CMemory.getBytes(attributes + VerbsAbi.HANDLE_GID, VerbsAbi.GID_BYTES);
        byte[] from = GIDS[CMemory.getByte(attributes + VerbsAbi.HANDLE_OWN_GID_INDEX)];
        boolean known = Arrays.stream(GIDS).anyMatch(gid -> Arrays.equals(gid, to));
        return known && CMemory.getByte(attributes + VerbsAbi.HANDLE_IS_GLOBAL) == 1 ? new Way(from, to) : null;
    }

    long create(long domain, long attributes) {
        Way way = way(attributes);
        if (way == null) {
            return -Errno.EHOSTUNREACH;
        }
        long handle = FakeMemory.allocate(24);
        CMemory.putLong(handle + Long.BYTES, domain);
        handles.put(handle, way);
        return handle;
    }

    int destroy(long handle) {
        return handles.remove(handle) == null ? Errno.EINVAL : 0;
    }

    /** A driver would read freed memory. */
    Way require(long handle) {
        Way way = handles.get(handle);
        if (way == null) {
            throw new IllegalStateException("a datagram was posted with an address handle that is destroyed");
        }
        return way;
    }
}
