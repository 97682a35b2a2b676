package org.softrdma.kv.item;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.softrdma.kv.turns.StepPoint;
import org.softrdma.kv.turns.Turns;

/**
 * Every change of an item in registered memory. Peers may READ before, after and in the middle of each:
 * {@link #beginFill}, {@link #header}, the value, {@link #endFill}, {@link #seal}, {@link #publish}; later
 * {@link #kill}, {@link #forward}, {@link #wipe}. {@link ItemDescriptor} has the layout, the store the order of a
 * replacement. Called by the thread that fills the chunk, later by the one that holds the lock of the key. Between the
 * stores of a change are {@link StepPoint}s, which are nothing but in a simulation.
 */
public final class ItemWriter {
    private static final ValueLayout.OfInt INT = ItemDescriptor.INT;
    private static final ValueLayout.OfLong LONG = ItemDescriptor.LONG;
    private static final ValueLayout.OfShort SHORT = ItemDescriptor.SHORT;
    private static final ValueLayout.OfByte BYTE = ItemDescriptor.BYTE;
    private static final VarHandle STATE =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final Turns turns;

    /**
     * A writer.
     *
     * @param turns where in each change another thread may run
     */
    public ItemWriter(Turns turns) {
        this.turns = turns;
    }

    /** The generation and sequence as one number, by acquire. */
    private static long state(MemorySegment memory, long item) {
        return (long) STATE.getAcquire(memory, item);
    }

    /** Writes generation and sequence in one store, by release: what was written before is seen by whoever sees it. */
    private static void state(MemorySegment memory, long item, int generation, int sequence) {
        STATE.setRelease(memory, item, Integer.toUnsignedLong(generation) | (long) sequence << Integer.SIZE);
    }

    private static int generationOf(long state) {
        return (int) state;
    }

    private static int sequenceOf(long state) {
        return (int) (state >>> Integer.SIZE);
    }

    /**
     * A generation of dead items that is later than those of a chunk.
     *
     * @param memory the arena
     * @param item offset of the chunk in it
     * @param least an even number, the least that is returned
     */
    public int laterGeneration(MemorySegment memory, long item, int least) {
        long state = state(memory, item);
        int generation = (generationOf(state) + 2) & ~1;
        int sequence = (sequenceOf(state) + 2) & ~1;
        int later = Integer.compareUnsigned(generation, sequence) > 0 ? generation : sequence;
        return Integer.compareUnsigned(later, least) > 0 ? later : least;
    }

    /**
     * Makes a chunk where there were others, or parts of them: a dead item without a successor. Nobody uses it yet, but
     * peers may READ it by what they once knew. No other thread runs meanwhile: the caller holds locks of the allocator.
     *
     * @param memory the arena
     * @param item offset of the chunk in it
     * @param generation an even number, later than those of all chunks of which bytes are here; also the sequence
     */
    public void begin(MemorySegment memory, long item, int generation) {
        state(memory, item, generation, generation);
        VarHandle.storeStoreFence();
        memory.asSlice(item + ItemDescriptor.CAS_OFFSET, ItemDescriptor.KEY_OFFSET - ItemDescriptor.CAS_OFFSET)
                .fill((byte) 0);
    }

    /**
     * Starts to fill a chunk: readers see an odd sequence before they can see anything else that is new.
     *
     * @param memory the arena
     * @param item offset of the chunk in it
     */
    public void beginFill(MemorySegment memory, long item) {
        long state = state(memory, item);
        state(memory, item, generationOf(state), (sequenceOf(state) + 1) | 1);
        VarHandle.storeStoreFence();
        turns.step(StepPoint.FILL_BEGUN);
        // A READ that has passed the sequence must not find an item whose expiry alone, which no CRC covers, is new.
        memory.set(LONG, item + ItemDescriptor.CRC32_OFFSET, ~ItemDescriptor.checksum(memory, item));
        VarHandle.storeStoreFence();
        turns.step(StepPoint.CHECKSUM_SPOILT);
        memory.set(LONG, item + ItemDescriptor.FORWARD_OFFSET, 0L);
        turns.step(StepPoint.FORWARD_CLEARED);
        memory.set(LONG, item + ItemDescriptor.FORWARD_OFFSET + Long.BYTES, 0L);
    }

    /**
     * Writes what is known of an item before its value has arrived.
     *
     * @param memory the arena
     * @param item offset of the chunk in it
     * @param expiry seconds since 1970, 0 for never
     * @param flags the client's flags
     * @param valueLength bytes of the value
     */
    public void header(MemorySegment memory, long item, int expiry, int flags, KeySlice key, int valueLength) {
        int keyLength = key.length();
        memory.set(INT, item + ItemDescriptor.EXPIRY_OFFSET, expiry);
        memory.set(INT, item + ItemDescriptor.FLAGS_OFFSET, flags);
        memory.set(INT, item + ItemDescriptor.VALUE_LENGTH_OFFSET, valueLength);
        memory.set(BYTE, item + ItemDescriptor.KEY_LENGTH_OFFSET, (byte) keyLength);
        memory.set(BYTE, item + ItemDescriptor.ITEM_FLAGS_OFFSET, (byte) 0);
        memory.set(SHORT, item + ItemDescriptor.VERSION_OFFSET, (short) ItemDescriptor.VERSION);
        turns.step(StepPoint.HEADER_WRITTEN);
        MemorySegment.copy(key.bytes(), key.offset(), memory, BYTE, item + ItemDescriptor.KEY_OFFSET, keyLength);
        turns.step(StepPoint.KEY_WRITTEN);
        long tail = item + ItemDescriptor.itemLength(keyLength, valueLength) - ItemDescriptor.TAIL_LENGTH;
        for (long at = item + ItemDescriptor.KEY_OFFSET + keyLength + valueLength; at < tail; at++) {
            memory.set(BYTE, at, (byte) 0);
        }
    }

    /**
     * Ends the filling of a chunk whose value and header are there; now the CRCs can be computed.
     *
     * @param memory the arena
     * @param item offset of the chunk in it
     * @param cas the number of this version of the item
     */
    public void endFill(MemorySegment memory, long item, long cas) {
        memory.set(LONG, item + ItemDescriptor.CAS_OFFSET, cas);
        turns.step(StepPoint.CAS_WRITTEN);
        int keyLength = ItemDescriptor.keyLength(memory, item);
        long end = item + ItemDescriptor.itemLength(keyLength, ItemDescriptor.valueLength(memory, item));
        memory.set(INT, end - ItemDescriptor.TAIL_LENGTH, ItemDescriptor.sequence(memory, item) + 1);
        turns.step(StepPoint.TAIL_WRITTEN);
    }

    /**
     * Makes a chunk whose filling has ended a whole item, which does not live yet.
     *
     * @param memory the arena
     * @param item offset of the item in it
     * @param checksum the CRC pair, as {@link ItemChecksum#compute} returns it
     */
    public void seal(MemorySegment memory, long item, long checksum) {
        memory.set(INT, item + ItemDescriptor.CRC32_OFFSET, (int) checksum);
        turns.step(StepPoint.CHECKSUM_WRITTEN);
        memory.set(INT, item + ItemDescriptor.CRC32C_OFFSET, (int) (checksum >>> Integer.SIZE));
        long state = state(memory, item);
        state(memory, item, generationOf(state), sequenceOf(state) + 1);
        turns.step(StepPoint.SEALED);
    }

    /**
     * Begins the life of a sealed item: from now on a reader may take it.
     *
     * @param memory the arena
     * @param item offset of the item in it
     */
    public void publish(MemorySegment memory, long item) {
        long state = state(memory, item);
        state(memory, item, generationOf(state) | 1, sequenceOf(state));
        turns.step(StepPoint.PUBLISHED);
    }

    /**
     * Ends the life of an item for every reader that comes from now on.
     *
     * @param memory the arena
     * @param item offset of the item in it
     */
    public void kill(MemorySegment memory, long item) {
        long state = state(memory, item);
        state(memory, item, generationOf(state) + 1, sequenceOf(state));
        turns.step(StepPoint.KILLED);
    }

    /**
     * Overwrites key and value of an item that does not live, and its checksums, from which eight bytes can be
     * computed and every guess be checked. A READ under way that still found it alive gets bytes that the checksums
     * it gets do not fit; what a dead item is good for, its generation and forward locator, stays.
     *
     * @param memory the arena
     * @param item offset of the item in it
     */
    public void wipe(MemorySegment memory, long item) {
        VarHandle.storeStoreFence(); // no reader finds a byte of this and an item that lives
        memory.set(LONG, item + ItemDescriptor.CRC32_OFFSET, 0L);
        turns.step(StepPoint.CHECKSUM_WIPED);
        long from = item + ItemDescriptor.KEY_OFFSET;
        long end = ItemDescriptor.valueOffset(memory, item) + ItemDescriptor.valueLength(memory, item);
        memory.asSlice(from, end - from).fill((byte) 0);
    }

    /**
     * Changes the expiry of an item, which no CRC covers.
     *
     * @param memory the arena
     * @param item offset of the item in it
     * @param expiry seconds since 1970, 0 for never
     */
    public void setExpiry(MemorySegment memory, long item, int expiry) {
        memory.set(INT, item + ItemDescriptor.EXPIRY_OFFSET, expiry);
        turns.step(StepPoint.EXPIRY_CHANGED);
    }

    /**
     * Says by which item a dead one was replaced.
     *
     * @param memory the arena
     * @param item offset of the dead item in it
     * @param first first half of the new item's {@link Locator}
     * @param second second half of it
     */
    public void forward(MemorySegment memory, long item, long first, long second) {
        memory.set(LONG, item + ItemDescriptor.FORWARD_OFFSET, first);
        turns.step(StepPoint.FORWARDED);
        memory.set(LONG, item + ItemDescriptor.FORWARD_OFFSET + Long.BYTES, second);
    }
}
