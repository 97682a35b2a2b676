package org.softrdma.farm.table;

import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;

/**
 * A bucket, or an overflow block: an object with slots for pairs. Little endian; offsets are those of an object, without
 * line versions.
 *
 * <pre>
 *  63            40 39            16 15     8 7      0
 * +---------------------------------------------------+
 * |  header of the object                             |   0
 * +---------------------------------------------------+
 * |  slots, of equal length                           |  16  inline: key | value
 * |  ...                                              |      else:   hash of the key, 8 bytes | fat pointer to the pair
 * +----------------+----------------+--------+--------+
 * |  forward joint |  backward joint|    0   | used   |      used: one bit for each slot
 * +----------------+----------------+--------+--------+
 * |  fat pointer to the next block of the chain       |
 * +---------------------------------------------------+
 * </pre>
 *
 * <p>The forward joint version of bucket b is the backward joint version of bucket b + 1, and both go up in every change
 * that touches both: who has READ the two, and finds these numbers different, has not READ them at one instant. Blocks
 * leave them at 0. With keys of 16 bytes, values of 32 and H = 6, a bucket is 192 bytes with its line versions, and a
 * block of two slots 144.
 *
 * <p>The text of the paper names slots, joint versions and chain; their order and width are ours.
 *
 * @param slots how many pairs it has room for, at most 8
 * @param slotLength bytes of a slot
 */
public record FarmBucketDescriptor(int slots, int slotLength) {
    /** Where the first slot is. */
    public static final int SLOTS_OFFSET = FarmObjectDescriptor.PAYLOAD_OFFSET;

    private static final int MOST_SLOTS = 8;
    private static final int JOINT_BITS = 24;
    private static final int BACKWARD_SHIFT = 16;
    private static final int FORWARD_SHIFT = BACKWARD_SHIFT + JOINT_BITS;
    private static final long JOINT_MASK = (1L << JOINT_BITS) - 1;

    /** Checks. */
    public FarmBucketDescriptor {
        if (slots < 1 || slots > MOST_SLOTS || slotLength < 1) {
            throw new IllegalArgumentException("slots=" + slots + ", slotLength=" + slotLength + ": expected 1 to "
                    + MOST_SLOTS + " slots of at least a byte");
        }
    }

    /** Where a slot is. */
    public int slotOffset(int slot) {
        return SLOTS_OFFSET + slot * slotLength;
    }

    /** Where the word with used bits and joint versions is. */
    public int stateOffset() {
        return slotOffset(slots);
    }

    /** Where the pointer to the next block is. */
    public int nextOffset() {
        return stateOffset() + Long.BYTES;
    }

    /** Bytes of header and payload. */
    public int length() {
        return nextOffset() + FatPointerDescriptor.LENGTH;
    }

    private long state(ObjectImage image) {
        return image.getLong(stateOffset());
    }

    /** True if a slot has a pair. */
    public boolean isUsed(ObjectImage image, int slot) {
        return (state(image) >>> slot & 1) != 0;
    }

    /** Says whether a slot has a pair. */
    public void use(ObjectImage image, int slot, boolean used) {
        long bit = 1L << slot;
        image.putLong(stateOffset(), used ? state(image) | bit : state(image) & ~bit);
    }

    /** A slot without a pair, or -1. */
    public int freeSlot(long state) {
        int free = Long.numberOfTrailingZeros(~state);
        return free < slots ? free : -1;
    }

    /** A slot without a pair, or -1. */
    public int freeSlot(ObjectImage image) {
        return freeSlot(state(image));
    }

    /** The last slot with a pair, or -1. */
    public int lastSlot(ObjectImage image) {
        long used = state(image) & (1L << slots) - 1;
        return Long.SIZE - 1 - Long.numberOfLeadingZeros(used);
    }

    /** What it shares with the bucket before. */
    public int backward(ObjectImage image) {
        return (int) (state(image) >>> BACKWARD_SHIFT & JOINT_MASK);
    }

    /** What it shares with the bucket behind. */
    public int forward(ObjectImage image) {
        return (int) (state(image) >>> FORWARD_SHIFT & JOINT_MASK);
    }

    /**
     * Bumps the joint version of two neighbours.
     *
     * @param image of a bucket
     * @param next of the one behind it
     */
    public void join(ObjectImage image, ObjectImage next) {
        long joint = forward(image) + 1 & JOINT_MASK;
        image.putLong(stateOffset(), (state(image) & ~(JOINT_MASK << FORWARD_SHIFT)) | joint << FORWARD_SHIFT);
        next.putLong(stateOffset(), (state(next) & ~(JOINT_MASK << BACKWARD_SHIFT)) | joint << BACKWARD_SHIFT);
    }
}
