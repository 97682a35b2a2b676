package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import org.softrdma.ibverbs.device.QueuePairParts;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;

/**
 * The native memory to which a queue pair writes its send work requests when it posts them: a chain of {@code
 * ibv_send_wr} and their entries. Allocated once; the driver has read it when the post returns.
 */
final class PostBuffer {
    /** Maximum number of send work requests per doorbell. */
    static final int CHAIN = 16;

    private final long sends;
    private final long sendEntries;
    private final long sendEntriesStride;
    private final long bad;
    private final ProtectionDomain domain;
    private final int queueKey;
    private final BindBuffer binds;

    /**
     * Allocates.
     *
     * @param arena of the queue pair
     * @param maxEntries of a send
     * @param parts of the queue pair
     * @param bindable what windows can be bound to
     * @param posted binds of the queue pair
     */
    PostBuffer(Arena arena, int maxEntries, QueuePairParts parts, BindableRegions bindable, PostedBinds posted) {
        domain = parts.domain();
        queueKey = parts.queueKey();
        sendEntriesStride = maxEntries * WorkRequestAbi.ENTRY_BYTES;
        sends = arena.allocate(CHAIN * WorkRequestAbi.SEND_BYTES, Long.BYTES).address();
        sendEntries = arena.allocate(CHAIN * sendEntriesStride, Long.BYTES).address();
        bad = arena.allocate(Long.BYTES, Long.BYTES).address();
        binds = new BindBuffer(arena, bindable, posted);
        for (int i = 0; i < CHAIN; i++) {
            CMemory.putLong(send(i) + WorkRequestAbi.SEND_ENTRIES, sendEntries + i * sendEntriesStride);
        }
    }

    private long send(int position) {
        return sends + position * WorkRequestAbi.SEND_BYTES;
    }

    /** The chain. */
    long sends() {
        return sends;
    }

    /** Where the driver says which request it did not take. */
    long bad() {
        return bad;
    }

    /**
     * Writes a send work request, which another one may follow unless it is a bind. After this, {@link #posted} must be
     * called.
     *
     * @param position in the chain
     * @param request what it does
     * @param nativeId {@code wr_id}
     * @param flags {@code enum ibv_send_flags}
     * @param sequence its number in the queue
     * @throws IllegalArgumentException if its window or address handle is another device's; nothing was written
     * @throws IllegalStateException if its window or address handle is closed; nothing was written
     */
    void send(int position, SendWorkRequest request, long nativeId, int flags, long sequence) {
        long at = send(position);
        SendOpcode opcode = request.opcode();
        long handle = request.addressHandle() == null ? 0 : CoreAddressHandle.pointer(request.addressHandle(), domain);
        if (opcode == SendOpcode.BIND_WINDOW) {
            binds.write(at, position, request, sequence);
        }
        CMemory.putLong(at + WorkRequestAbi.SEND_WR_ID, nativeId);
        CMemory.putLong(at + WorkRequestAbi.SEND_NEXT, send(position + 1));
        CMemory.putInt(at + WorkRequestAbi.SEND_ENTRY_COUNT, entries(position, request));
        CMemory.putInt(at + WorkRequestAbi.SEND_OPCODE, code(opcode));
        CMemory.putInt(at + WorkRequestAbi.SEND_FLAGS, flags);
        CMemory.putInt(at + WorkRequestAbi.SEND_IMMEDIATE, immediate(request));
        if (handle != 0) {
            CMemory.putLong(at + WorkRequestAbi.SEND_HANDLE, handle);
            CMemory.putInt(at + WorkRequestAbi.SEND_REMOTE_NUMBER, request.remoteNumber());
            // Devices put their queue pair's own key in place of a negative one (IBTA 10.2.5), but rxe does not.
            int key = request.queueKey() < 0 ? queueKey : request.queueKey();
            CMemory.putInt(at + WorkRequestAbi.SEND_QUEUE_KEY, key);
            return;
        }
        CMemory.putLong(at + WorkRequestAbi.SEND_REMOTE_ADDRESS, request.remoteAddress());
        if (opcode.isAtomic()) {
            CMemory.putLong(at + WorkRequestAbi.SEND_COMPARE_ADD, request.compareAdd());
            CMemory.putLong(at + WorkRequestAbi.SEND_SWAP, request.swap());
            CMemory.putInt(at + WorkRequestAbi.SEND_ATOMIC_RKEY, request.rkey());
        } else {
            CMemory.putInt(at + WorkRequestAbi.SEND_RKEY, request.rkey());
        }
    }

    /** The entry of a bind is the part of the region, not data: librxe refuses a bind with entries. */
    private int entries(int position, SendWorkRequest request) {
        return request.opcode() == SendOpcode.BIND_WINDOW
                ? 0
                : EntryBuffer.write(sendEntries + position * sendEntriesStride, request.local());
    }

    /** The field that is an immediate in network byte order, or a key; librxe refuses a bind where it is not 0. */
    private static int immediate(SendWorkRequest request) {
        return switch (request.opcode()) {
            case SEND_IMMEDIATE, WRITE_IMMEDIATE -> CMemory.networkOrder(request.immediate());
            case SEND_INVALIDATE, INVALIDATE -> request.rkey();
            case SEND, WRITE, READ, COMPARE_AND_SWAP, FETCH_AND_ADD, BIND_WINDOW -> 0;
        };
    }

    /** Ends the chain before it is posted. If a driver fails without naming a request, none was taken. */
    void endChain(int count) {
        CMemory.putLong(send(count - 1) + WorkRequestAbi.SEND_NEXT, 0);
        CMemory.putLong(bad, sends);
    }

    private static int code(SendOpcode opcode) {
        return switch (opcode) {
            case SEND -> WorkRequestAbi.OPCODE_SEND;
            case WRITE -> WorkRequestAbi.OPCODE_WRITE;
            case READ -> WorkRequestAbi.OPCODE_READ;
            case SEND_IMMEDIATE -> WorkRequestAbi.OPCODE_SEND_IMMEDIATE;
            case SEND_INVALIDATE -> WorkRequestAbi.OPCODE_SEND_INVALIDATE;
            case WRITE_IMMEDIATE -> WorkRequestAbi.OPCODE_WRITE_IMMEDIATE;
            case COMPARE_AND_SWAP -> WorkRequestAbi.OPCODE_COMPARE_AND_SWAP;
            case FETCH_AND_ADD -> WorkRequestAbi.OPCODE_FETCH_AND_ADD;
            case INVALIDATE -> WorkRequestAbi.OPCODE_INVALIDATE;
            case BIND_WINDOW -> WorkRequestAbi.OPCODE_BIND_WINDOW;
        };
    }

    // ---- results

    /**
     * Number of requests before the one at which the driver stopped.
     *
     * @param count requests of the chain; all of them if the driver names none, as libsiw does when its doorbell fails
     */
    int countBeforeBad(int count) {
        long stopped = CMemory.getLong(bad);
        return stopped == 0 ? count : (int) ((stopped - sends) / WorkRequestAbi.SEND_BYTES);
    }

    /**
     * The chain was posted.
     *
     * @param taken requests that the driver took
     */
    void posted(int taken) {
        binds.posted(taken);
    }
}
