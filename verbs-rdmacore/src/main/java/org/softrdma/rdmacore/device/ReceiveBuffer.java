package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.verbs.ReceiveWorkRequest;

/**
 * The native memory to which RECVs are written when they are posted: one {@code ibv_recv_wr} and its entries. Allocated
 * once; the driver has read it when the post returns.
 */
final class ReceiveBuffer {
    private final long request;
    private final long entries;
    private final long bad;
    private final boolean needsEntry;

    /**
     * Allocates.
     *
     * @param arena of the queue pair or shared receive queue
     * @param maxEntries of a RECV
     * @param needsEntry the driver refuses a RECV without entries (libsiw); it gets one of 0 bytes
     */
    ReceiveBuffer(Arena arena, int maxEntries, boolean needsEntry) {
        this.needsEntry = needsEntry;
        request = arena.allocate(WorkRequestAbi.RECEIVE_BYTES, Long.BYTES).address();
        entries = arena.allocate(maxEntries * WorkRequestAbi.ENTRY_BYTES, Long.BYTES)
                .address();
        bad = arena.allocate(Long.BYTES, Long.BYTES).address();
        CMemory.putLong(request + WorkRequestAbi.RECEIVE_ENTRIES, entries);
    }

    /** The RECV. */
    long request() {
        return request;
    }

    /** Where the driver says which one it did not take. */
    long bad() {
        return bad;
    }

    /** Writes a RECV. */
    void write(ReceiveWorkRequest from, long nativeId) {
        CMemory.putLong(request + WorkRequestAbi.RECEIVE_WR_ID, nativeId);
        int count = EntryBuffer.write(entries, from.local());
        if (count == 0 && needsEntry) {
            EntryBuffer.write(entries, 0, 0, 0);
            count = 1;
        }
        CMemory.putInt(request + WorkRequestAbi.RECEIVE_ENTRY_COUNT, count);
    }
}
