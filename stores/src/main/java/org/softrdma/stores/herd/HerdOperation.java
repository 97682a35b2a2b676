package org.softrdma.stores.herd;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.client.ClientOperation;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.herd.wire.HerdAsked;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;

/** An operation of a client, used again and again. Owned by the client's thread. */
final class HerdOperation extends ClientOperation implements HerdAsked {
    /** What it waits for once it is started. */
    enum Phase {
        /** A connection, or a slot. */
        UNSENT,
        /** An answer. */
        SENT,
        /** Its handler: nobody knows what became of it. */
        UNKNOWN
    }

    private final MemorySegment memory;
    private final long valueAt;
    OperationKind kind = OperationKind.GET;
    Phase phase = Phase.UNSENT;
    int keyLength;
    int valueLength;
    int worker;
    int slot;
    int number;
    int attempt;

    /** An operation with memory for its key and value. */
    HerdOperation(int index, int maxKeyLength, int maxValueLength) {
        super(index);
        memory = MemorySegment.ofArray(new byte[maxKeyLength + maxValueLength]);
        valueAt = maxKeyLength;
    }

    /** True if it is started, and waits for that. */
    boolean isIn(Phase which) {
        return phase == which && isStarted();
    }

    void putKey(byte[] key) {
        keyLength = key.length;
        MemorySegment.copy(key, 0, memory, ValueLayout.JAVA_BYTE, 0, key.length);
    }

    void putValue(MemorySegment value) {
        valueLength = (int) value.byteSize();
        MemorySegment.copy(value, 0, memory, valueAt, valueLength);
    }

    @Override
    public OperationKind operation() {
        return kind;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long keyAt() {
        return 0;
    }

    @Override
    public int keyLength() {
        return keyLength;
    }

    @Override
    public long valueAt() {
        return valueAt;
    }

    @Override
    public int valueLength() {
        return valueLength;
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public int attempt() {
        return attempt;
    }

    /** What a status of an answer means for it. */
    Outcome outcome(byte status) {
        if (status == HerdReplyDescriptor.MISSING) {
            return Outcome.MISSING;
        }
        if (status == HerdReplyDescriptor.FULL) {
            return Outcome.FULL;
        }
        return kind.success();
    }
}
