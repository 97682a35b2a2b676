package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendOpcode;

/**
 * The native memory in which a queue pair's work requests are written when they are posted: a chain of {@code ibv_send_wr}, one
 * {@code ibv_recv_wr}, and their entries. Made once; the driver has read it when its post returns.
 *
 * <p>Entries of 0 bytes are left out: their keys are not looked at, and to some devices a length of 0 means 2 GiB.
 */
final class PostBuffer {
    /** Most send work requests with one doorbell. */
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

    /** Writes opcode and only entry of a send work request. */
    void sendEntry(int position, SendOpcode opcode, long address, long length, int lkey) {
        sendEntryCount(position, opcode, entry(sendEntries + position * sendEntriesStride, 0, address, length, lkey));
    }

    /** Writes opcode and entries of a send work request. */
    void sendEntries(int position, SendOpcode opcode, ScatterGatherList list) {
        sendEntryCount(position, opcode, entries(sendEntries + position * sendEntriesStride, list));
    }

    private void sendEntryCount(int position, SendOpcode opcode, int count) {
        long request = send(position);
        CMemory.putInt(request + VerbsAbi.SEND_OPCODE, code(opcode));
        CMemory.putInt(request + VerbsAbi.SEND_ENTRY_COUNT, count);
    }

    /** Writes the rest of it; another one may follow. */
    void send(int position, long nativeId, int flags, long remoteAddress, int rkey) {
        long request = send(position);
        CMemory.putLong(request + VerbsAbi.SEND_WR_ID, nativeId);
        CMemory.putLong(request + VerbsAbi.SEND_NEXT, send(position + 1));
        CMemory.putInt(request + VerbsAbi.SEND_FLAGS, flags);
        CMemory.putLong(request + VerbsAbi.SEND_REMOTE_ADDRESS, remoteAddress);
        CMemory.putInt(request + VerbsAbi.SEND_RKEY, rkey);
    }

    /** Before the first requests are posted: none follows, and a driver that fails without naming where took nothing. */
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

    /** Writes its number. */
    void receiveId(long nativeId) {
        CMemory.putLong(receive + VerbsAbi.RECEIVE_WR_ID, nativeId);
    }

    /** Writes its only entry. */
    void receiveEntry(long address, long length, int lkey) {
        receiveEntryCount(entry(receiveEntries, 0, address, length, lkey));
    }

    /** Writes its entries. */
    void receiveEntries(ScatterGatherList list) {
        receiveEntryCount(entries(receiveEntries, list));
    }

    private void receiveEntryCount(int count) {
        if (count == 0 && needsReceiveEntry) {
            putEntry(receiveEntries, 0, 0, 0);
            CMemory.putInt(receive + VerbsAbi.RECEIVE_ENTRY_COUNT, 1);
        } else {
            CMemory.putInt(receive + VerbsAbi.RECEIVE_ENTRY_COUNT, count);
        }
    }

    private static int entries(long to, ScatterGatherList list) {
        int count = 0;
        for (int i = 0; i < list.size(); i++) {
            count = entry(to, count, list.address(i), list.length(i), list.lkey(i));
        }
        return count;
    }

    /** Writes an entry behind {@code count} others; returns how many there are then. */
    private static int entry(long to, int count, long address, long length, int lkey) {
        if (length == 0) {
            return count;
        }
        putEntry(to + count * VerbsAbi.ENTRY_BYTES, address, length, lkey);
        return count + 1;
    }

    private static void putEntry(long entry, long address, long length, int lkey) {
        CMemory.putLong(entry + VerbsAbi.ENTRY_ADDRESS, address);
        CMemory.putInt(entry + VerbsAbi.ENTRY_LENGTH, (int) length);
        CMemory.putInt(entry + VerbsAbi.ENTRY_LKEY, lkey);
    }

    // ---- results

    /**
     * Requests of the chain before the one at which the driver stopped.
     *
     * @param count requests of the chain; all of them if the driver names none, as libsiw does when its doorbell fails
     */
    int countBeforeBad(int count) {
        long stopped = CMemory.getLong(bad);
        return stopped == 0 ? count : (int) ((stopped - sends) / VerbsAbi.SEND_BYTES);
    }
}
