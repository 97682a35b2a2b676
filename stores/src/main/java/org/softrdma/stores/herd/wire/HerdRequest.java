package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.softrdma.stores.client.OperationKind;

/**
 * A request: what a client asks, or what a server has copied out of a slot. Used again and again. Owned by the thread of
 * its client or server.
 */
public final class HerdRequest {
    final ByteBuffer view;
    final MemorySegment memory;
    OperationKind operation = OperationKind.GET;
    long key;
    int keyLength;
    long hash;
    long value;
    int valueLength;
    int slot;
    int number;
    int attempt;

    /**
     * A request with memory for the longest one.
     *
     * @param length bytes
     */
    public HerdRequest(int length) {
        view = ByteBuffer.allocateDirect(length + Long.BYTES)
                .alignedSlice(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        memory = MemorySegment.ofBuffer(view);
    }

    /** What is asked. */
    public OperationKind operation() {
        return operation;
    }

    /** Where key and value are. */
    public MemorySegment memory() {
        return memory;
    }

    /** Where the key begins. */
    public long key() {
        return key;
    }

    /** Bytes of the key. */
    public int keyLength() {
        return keyLength;
    }

    /** The hash of the key. */
    public long hash() {
        return hash;
    }

    /** Where the value begins. */
    public long value() {
        return value;
    }

    /** Bytes of the value. */
    public int valueLength() {
        return valueLength;
    }

    /** The slot that it is in. */
    public int slot() {
        return slot;
    }

    /** Its number in the slot; 0 if it has none. */
    public int number() {
        return number;
    }

    /** Which WRITE of this number it is, from 1; 0 if that is not told. */
    public int attempt() {
        return attempt;
    }
}
