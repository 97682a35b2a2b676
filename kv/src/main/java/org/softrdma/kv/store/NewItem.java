package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;

/**
 * An item whose value is still to come: made by {@link ItemStore#reserve}, filled by its owner, ended by {@link
 * ItemStore#publish} or {@link ItemStore#abandon}. Owned by one thread at a time.
 */
public final class NewItem {
    /** Whether there is room for the item. */
    public enum Status {
        /** Fill it. */
        READY,
        /** It is longer than the longest item. */
        TOO_LARGE,
        /** The memory limit is reached. */
        OUT_OF_MEMORY
    }

    static final NewItem TOO_LARGE = new NewItem(Status.TOO_LARGE, SlabAllocator.NONE, MemorySegment.NULL, 0, 0, 0);
    static final NewItem OUT_OF_MEMORY =
            new NewItem(Status.OUT_OF_MEMORY, SlabAllocator.NONE, MemorySegment.NULL, 0, 0, 0);

    final long chunk;
    final long hash;
    final int keyLength;
    private final Status status;
    private final MemorySegment memory;
    private final int valueLength;
    private boolean ended;

    NewItem(Status status, long chunk, MemorySegment memory, long hash, int keyLength, int valueLength) {
        this.status = status;
        this.chunk = chunk;
        this.memory = memory;
        this.hash = hash;
        this.keyLength = keyLength;
        this.valueLength = valueLength;
    }

    /** What {@link ItemStore#reserve} returns when there is no memory, for owners that find that out by themselves. */
    public static NewItem outOfMemory() {
        return OUT_OF_MEMORY;
    }

    /** Whether there is room; nothing else means anything unless this is {@link Status#READY}. */
    public Status status() {
        return status;
    }

    /** The arena that takes the value. */
    public MemorySegment memory() {
        return memory;
    }

    /** Where in {@link #memory()} the value goes. */
    public long valueOffset() {
        return item() + ItemDescriptor.KEY_OFFSET + keyLength;
    }

    /** Bytes of the value. */
    public int valueLength() {
        return valueLength;
    }

    long item() {
        return SlabAllocator.offset(chunk);
    }

    /** It may be published or abandoned once. */
    void end() {
        if (status != Status.READY || ended) {
            throw new IllegalStateException(
                    "status=" + status + ", ended=" + ended + ": nothing to publish or abandon");
        }
        ended = true;
    }
}
