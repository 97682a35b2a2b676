package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.softrdma.stores.client.OperationKind;

/**
 * The client's message slots: as many requests as the server has RECVs for. A slot is in use until its reply has come
 * and its SEND has completed, even if nobody waits for the reply any more; else there might be more requests on their
 * way than the server can take. Owned by the client's thread.
 */
final class PilafMessages {
    /** Nobody's. */
    static final int NOBODY = -1;

    private final PilafBuffers buffers;
    private final int[] operations;
    private final boolean[] used;
    private final boolean[] sending;
    private final boolean[] answered;
    private final long[] tickets;
    private final int[] lengths;
    private long lastNumber;

    PilafMessages(PilafBuffers buffers, int window) {
        this.buffers = buffers;
        operations = new int[window];
        used = new boolean[window];
        sending = new boolean[window];
        answered = new boolean[window];
        tickets = new long[window];
        lengths = new int[window];
        Arrays.fill(operations, NOBODY);
    }

    /** A free slot of those that the server allows, or {@link #NOBODY}. */
    int free(int credits) {
        int most = Math.min(credits, used.length);
        for (int slot = 0; slot < most; slot++) {
            if (!used[slot]) {
                return slot;
            }
        }
        return NOBODY;
    }

    /** Writes the request of an operation into a free slot. */
    void fill(int slot, PilafOperation operation) {
        MemorySegment memory = buffers.segment();
        int at = buffers.requestAt(slot);
        int valueLength = operation.kind == OperationKind.PUT ? operation.valueLength : 0;
        PilafRequestDescriptor.putHeader(
                memory, at, code(operation.kind), operation.keyLength, valueLength, ++lastNumber, slot);
        long key = at + (long) PilafRequestDescriptor.KEY_OFFSET;
        MemorySegment.copy(memory, buffers.keyAt(operation.index()), memory, key, operation.keyLength);
        MemorySegment.copy(memory, buffers.valueAt(operation.index()), memory, key + operation.keyLength, valueLength);
        used[slot] = true;
        operations[slot] = operation.index();
        tickets[slot] = PilafRequestDescriptor.ticket(memory, at);
        lengths[slot] = PilafRequestDescriptor.length(operation.keyLength, valueLength);
    }

    private static byte code(OperationKind kind) {
        return switch (kind) {
            case GET -> PilafRequestDescriptor.GET;
            case PUT -> PilafRequestDescriptor.PUT;
            case REMOVE -> PilafRequestDescriptor.REMOVE;
        };
    }

    /** Sends the request, for the first time or again. */
    void send(int slot, PilafLink link) {
        sending[slot] = true;
        answered[slot] = false;
        link.send(slot, lengths[slot]);
    }

    /** The SEND of a slot has completed. */
    void sent(int slot) {
        sending[slot] = false;
        release(slot);
    }

    /** A reply has come; whose it is, or {@link #NOBODY}. */
    int answered(long ticket) {
        int slot = PilafRequestDescriptor.slot(ticket);
        if (slot >= used.length || !used[slot] || answered[slot] || tickets[slot] != ticket) {
            return NOBODY;
        }
        answered[slot] = true;
        int operation = operations[slot];
        operations[slot] = NOBODY;
        release(slot);
        return operation;
    }

    private void release(int slot) {
        used[slot] = sending[slot] || !answered[slot];
    }

    /**
     * Nobody waits for the reply any more.
     *
     * @param connected true if it may come still: then the slot stays in use until it has
     */
    void abandon(int slot, boolean connected) {
        operations[slot] = NOBODY;
        used[slot] &= connected;
    }

    /** The connection is gone, and the buffers are this side's again; slots without an operation are free. */
    void disconnected() {
        for (int slot = 0; slot < used.length; slot++) {
            sending[slot] = false;
            used[slot] = operations[slot] != NOBODY;
        }
    }

    int slots() {
        return used.length;
    }

    /** Whose request is in a slot, or {@link #NOBODY}. */
    int operation(int slot) {
        return operations[slot];
    }

    /** Its request is not to be sent again. The connection is gone. */
    void drop(int slot) {
        operations[slot] = NOBODY;
        used[slot] = false;
    }
}
