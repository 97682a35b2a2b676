package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;

/**
 * An item whose value is still to come: made by {@link ItemStore#reserve}, filled by its owner, ended by {@link
 * ItemStore#store} or {@link ItemStore#abandon}. Owned by one thread at a time.
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

    /** There was no such item. */
    public static final int NO_CLASS = -1;

    /** Fewer bytes than this do not count as going on. */
    private static final int LEAST_PROGRESS = 4096;

    /** Its owner has it. */
    static final int NOWHERE = -1;

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

    // While it is among the UnfinishedItems, under their lock.
    private int place = NOWHERE;
    private int received;
    private long awaitedSince;

    private long locatorFirst;
    private long locatorSecond;
    private long cas;
    private int oldSizeClass = NO_CLASS;

    NewItem(Status status, long chunk, MemorySegment memory, long hash, int keyLength, int valueLength) {
        this.status = status;
        this.chunk = chunk;
        this.memory = memory;
        this.hash = hash;
        this.keyLength = keyLength;
        this.valueLength = valueLength;
    }

    /** The class of the item that its key had, when it was to be stored, or {@link #NO_CLASS}. */
    public int oldSizeClass() {
        return oldSizeClass;
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

    /** Where clients find what was stored; once it was. */
    public Locator locator() {
        return Locator.of(locatorFirst, locatorSecond);
    }

    /** The cas number of what was stored; once it was. */
    public long cas() {
        return cas;
    }

    long item() {
        return SlabAllocator.offset(chunk);
    }

    /** It may be stored or abandoned once. */
    void end() {
        if (status != Status.READY || ended) {
            throw new IllegalStateException("status=" + status + ", ended=" + ended + ": nothing to store or abandon");
        }
        ended = true;
    }

    /**
     * Its owner waits for the rest of the value.
     *
     * @param bytes that have come
     * @param nowSeconds the time
     * @param where it is among those that wait
     */
    void awaits(int bytes, long nowSeconds, int where) {
        if (received == 0 || bytes - received >= LEAST_PROGRESS) {
            received = bytes;
            awaitedSince = nowSeconds;
        }
        place = where;
    }

    void moved(int where) {
        place = where;
    }

    /** Where it is among those that wait, or {@link #NOWHERE}. */
    int place() {
        return place;
    }

    /** Bytes of the value that had come when it last went on. */
    int received() {
        return received;
    }

    /** When it last went on, in seconds since 1970. */
    long awaitedSince() {
        return awaitedSince;
    }

    void found(int sizeClass) {
        oldSizeClass = sizeClass;
    }

    void stored(Locator locator, long newCas) {
        locatorFirst = locator.first();
        locatorSecond = locator.second();
        cas = newCas;
    }
}
