package org.softrdma.farm.table;

import java.lang.foreign.MemorySegment;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.stores.hash.SeededHash;

/** A key with its hash, in a buffer that is used again and again. One thread. */
public final class TableKey {
    private final TableShape shape;
    private final int slotLength;
    private byte[] bytes = new byte[64];
    private MemorySegment segment = MemorySegment.ofArray(bytes);
    private int length;
    private long hash;

    /** No key yet. */
    public TableKey(TableShape shape) {
        this.shape = shape;
        slotLength = shape.slotLength();
    }

    /**
     * Becomes another key.
     *
     * @param memory that has it
     * @param offset where
     * @param newLength its bytes
     */
    public void set(MemorySegment memory, long offset, int newLength) {
        if (newLength > bytes.length) {
            bytes = new byte[newLength];
            segment = MemorySegment.ofArray(bytes);
        }
        MemorySegment.copy(memory, offset, segment, 0, newLength);
        length = newLength;
        hash = SeededHash.of(segment, 0, length, shape.seed());
    }

    /** Its bytes. */
    public int length() {
        return length;
    }

    /** Its hash. */
    public long hash() {
        return hash;
    }

    /** True if it is the same. */
    public boolean isSame(TableKey other) {
        return hash == other.hash && segment.asSlice(0, length).mismatch(other.segment.asSlice(0, other.length)) < 0;
    }

    /** Puts it into an image. */
    void putInto(ObjectImage image, int offset) {
        MemorySegment.copy(segment, 0, image.segment(), offset, length);
    }

    /** True if it is in an image. */
    public boolean isAt(ObjectImage image, int offset) {
        return MemorySegment.mismatch(segment, 0, length, image.segment(), offset, (long) offset + length) < 0;
    }

    /**
     * The next slot that may hold this key: it does, if pairs are inline; else its hash is the same.
     *
     * @param image of a bucket or block
     * @param layout of it
     * @param from first slot to look at
     * @return the slot, or -1
     */
    public int slotIn(ObjectImage image, FarmBucketDescriptor layout, int from) {
        for (int slot = from; slot < layout.slots(); slot++) {
            if (layout.isUsed(image, slot)) {
                int at = FarmBucketDescriptor.SLOTS_OFFSET + slot * slotLength;
                if (shape.inline() ? isAt(image, at) : image.getLong(at) == hash) {
                    return slot;
                }
            }
        }
        return -1;
    }
}
