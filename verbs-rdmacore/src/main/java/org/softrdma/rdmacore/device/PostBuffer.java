package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;

/**
 * The native memory to which a queue pair writes its work requests when it posts them: a chain of {@code ibv_send_wr},
 * one {@code ibv_recv_wr}, and their entries. Allocated once; the driver has read it when the post returns.
 *
 * <p>Entries of 0 bytes are left out: their keys are not checked, and some devices take a length of 0 for 2 GiB.
 */
final class PostBuffer {
    /** Maximum number of send work requests per doorbell. */
    static final int CHAIN = 16;

    private final long sends;
    private final long sendEntries;
    private final long sendEntriesStride;
    private final long receive;
    private final long receiveEntries;
    private final long bad;
    private final long badReceive;
    private final boolean needsReceiveEntry;

    /**
     * Allocates.
     *
     * @param arena of the queue pair
     * @param maxSendEntries of a send
     * @param maxReceiveEntries of a RECV
     * @param needsReceiveEntry the driver refuses a RECV without entries (libsiw); it gets one of 0 bytes
     */
    PostBuffer(Arena arena, int maxSendEntries, int maxReceiveEntries, boolean needsReceiveEntry) {
        this.needsReceiveEntry = needsReceiveEntry;
        sendEntriesStride = maxSendEntries * VerbsAbi.ENTRY_BYTES;
        sends = arena.allocate(CHAIN * VerbsAbi.SEND_BYTES, Long.BYTES).address();
        sendEntries = arena.allocate(CHAIN * sendEntriesStride, Long.BYTES).address();
        receive = arena.allocate(VerbsAbi.RECEIVE_BYTES, Long.BYTES).address();
        receiveEntries = arena.allocate(maxReceiveEntries * VerbsAbi.ENTRY_BYTES, Long.BYTES)
                .address();
        bad = arena.allocate(Long.BYTES, Long.BYTES).address();
        badReceive = arena.allocate(Long.BYTES, Long.BYTES).address();
        for (int i = 0; i < CHAIN; i++) {
            CMemory.putLong(send(i) + VerbsAbi.SEND_ENTRIES, sendEntries + i * sendEntriesStride);
        }
        CMemory.putLong(receive + VerbsAbi.RECEIVE_ENTRIES, receiveEntries);
    }

    private long send(int position) {
        return sends + position * VerbsAbi.SEND_BYTES;
    }

    // ---- send work requests

    long sends() {
        return sends;
    }

    long bad() {
        return bad;
    }

    /** Writes a send work request, which another one may follow. */
    void send(int position, SendWorkRequest request, long nativeId, int flags) {
        long at = send(position);
        CMemory.putLong(at + VerbsAbi.SEND_WR_ID, nativeId);
        CMemory.putLong(at + VerbsAbi.SEND_NEXT, send(position + 1));
        CMemory.putInt(
                at + VerbsAbi.SEND_ENTRY_COUNT, entries(sendEntries + position * sendEntriesStride, request.local()));
        CMemory.putInt(at + VerbsAbi.SEND_OPCODE, code(request.opcode()));
        CMemory.putInt(at + VerbsAbi.SEND_FLAGS, flags);
        CMemory.putLong(at + VerbsAbi.SEND_REMOTE_ADDRESS, request.remoteAddress());
        CMemory.putInt(at + VerbsAbi.SEND_RKEY, request.rkey());
    }

    /** Ends the chain before it is posted. If a driver fails without naming a request, none was taken. */
    void endChain(int count) {
        CMemory.putLong(send(count - 1) + VerbsAbi.SEND_NEXT, 0);
        CMemory.putLong(bad, sends);
    }

    private static int code(SendOpcode opcode) {
        return switch (opcode) {
            case SEND -> VerbsAbi.OPCODE_SEND;
            case WRITE -> VerbsAbi.OPCODE_WRITE;
            case READ -> VerbsAbi.OPCODE_READ;
        };
    }

    // ---- the RECV

    long receive() {
        return receive;
    }

    long badReceive() {
        return badReceive;
    }

    /** Writes it. */
    void receive(ReceiveWorkRequest request, long nativeId) {
        CMemory.putLong(receive + VerbsAbi.RECEIVE_WR_ID, nativeId);
        int count = entries(receiveEntries, request.local());
        if (count == 0 && needsReceiveEntry) {
            putEntry(receiveEntries, 0, 0, 0);
            count = 1;
        }
        CMemory.putInt(receive + VerbsAbi.RECEIVE_ENTRY_COUNT, count);
    }

    /** Writes entries; returns how many there are without those of 0 bytes. */
    private static int entries(long to, ScatterGatherList list) {
        int count = 0;
        for (int i = 0; i < list.size(); i++) {
            if (list.length(i) != 0) {
                putEntry(to + count * VerbsAbi.ENTRY_BYTES, list.address(i), list.length(i), list.lkey(i));
                count++;
            }
        }
        return count;
    }

    private static void putEntry(long entry, long address, long length, int lkey) {
        CMemory.putLong(entry + VerbsAbi.ENTRY_ADDRESS, address);
        CMemory.putInt(entry + VerbsAbi.ENTRY_LENGTH, (int) length);
        CMemory.putInt(entry + VerbsAbi.ENTRY_LKEY, lkey);
    }

    // ---- results

    /**
     * Number of requests before the one at which the driver stopped.
     *
     * @param count requests of the chain; all of them if the driver names none, as libsiw does when its doorbell fails
     */
    int countBeforeBad(int count) {
        long stopped = CMemory.getLong(bad);
        return stopped == 0 ? count : (int) ((stopped - sends) / VerbsAbi.SEND_BYTES);
    }
}
