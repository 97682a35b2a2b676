package org.softrdma.farm.memory;

import java.util.Arrays;
import java.util.function.LongPredicate;
import org.agrona.collections.LongArrayList;

/**
 * Objects of a region: blocks of equal size, each for objects of one class. A freed object is reused first for its
 * class. A block keeps its class for ever, so that the header of an object stays a header whatever a reader does with
 * an old pointer ("type stability"); the paper's reuse of a block for another class, after an epoch of all machines, is
 * not implemented.
 *
 * <p>A machine that was not its region's primary knows no free list. It {@link #learn learns} the class of a block from
 * an object that was written there, and {@link #rescan scans} a block for free objects when it first needs one of them.
 * Owned by the thread that owns the region.
 */
public final class FarmSlabs {
    /** No room. */
    public static final long FULL = -1;

    private static final int FREE = -1;

    /** What is known of a block. */
    private enum Block {
        /** Perhaps no object of it was ever written: it may be forgotten. */
        TAKEN,
        /** An object of it was written. */
        LEARNT,
        /** The same, and its free objects are not in the list yet. */
        NOT_SCANNED
    }

    private final SizeClasses classes = new SizeClasses();
    private final int blockLength;
    /** The class of each block, or FREE. */
    private final int[] blocks;

    private final Block[] states;
    private LongPredicate isAllocated = object -> true;

    private final LongArrayList[] freed = new LongArrayList[classes.count()];
    /** Where in its newest block a class goes on, and where that block ends. */
    private final long[] next = new long[classes.count()];

    private final long[] end = new long[classes.count()];
    private long used;

    /**
     * All blocks are free.
     *
     * @param length bytes of the region; what is left behind the last whole block is not used
     * @param blockLength bytes of a block, a multiple of a line
     */
    public FarmSlabs(long length, int blockLength) {
        if (blockLength < ObjectLines.LINE || blockLength % ObjectLines.LINE != 0 || length < blockLength) {
            throw new IllegalArgumentException("length=" + length + ", blockLength=" + blockLength
                    + ": expected blocks of whole lines, and at least one");
        }
        this.blockLength = blockLength;
        blocks = new int[Math.toIntExact(length / blockLength)];
        Arrays.fill(blocks, FREE);
        states = new Block[blocks.length];
        Arrays.fill(states, Block.TAKEN);
        for (int i = 0; i < freed.length; i++) {
            freed[i] = new LongArrayList(0, Long.MIN_VALUE);
        }
    }

    /**
     * Takes adjacent blocks at the start of the region, for an array of objects. Call it before anything else.
     *
     * @param length bytes
     * @return bytes taken
     * @throws IllegalArgumentException if the region has not so many
     */
    public long reserve(long length) {
        long count = (length + blockLength - 1) / blockLength;
        if (count > blocks.length || blocks[0] != FREE) {
            throw new IllegalArgumentException(
                    length + " bytes do not fit in " + blocks.length + " free blocks of " + blockLength);
        }
        Arrays.fill(blocks, 0, (int) count, classes.count());
        used += length;
        return count * blockLength;
    }

    /**
     * Takes an object.
     *
     * @param bytes with its line versions
     * @return its offset in the region, or {@link #FULL}
     */
    public long allocate(int bytes) {
        int sizeClass = classes.of(bytes);
        int size = classes.size(sizeClass);
        LongArrayList again = freed[sizeClass];
        boolean room = next[sizeClass] + size <= end[sizeClass];
        for (int block = 0; again.isEmpty() && !room && block < blocks.length; block++) {
            scan(block, sizeClass);
        }
        if (!again.isEmpty()) {
            used += size;
            return again.removeAt(again.size() - 1);
        }
        if (!room && !newBlock(sizeClass)) {
            return FULL;
        }
        long object = next[sizeClass];
        next[sizeClass] += size;
        used += size;
        return object;
    }

    /**
     * Takes an object near another one: in the same block if that is of the same class and has room, else anywhere.
     *
     * @param bytes with its line versions
     * @param neighbour offset of the other one; 0 if of none
     * @return its offset in the region, or {@link #FULL}
     */
    public long allocate(int bytes, long neighbour) {
        int sizeClass = classes.of(bytes);
        int block = (int) (neighbour / blockLength);
        if (neighbour > 0 && block < blocks.length && blocks[block] == sizeClass) {
            scan(block, sizeClass);
            LongArrayList again = freed[sizeClass];
            for (int i = again.size() - 1; i >= 0; i--) {
                if (again.getLong(i) / blockLength == block) {
                    used += classes.size(sizeClass);
                    return again.fastUnorderedRemove(i);
                }
            }
            if (next[sizeClass] / blockLength == block && next[sizeClass] + classes.size(sizeClass) <= end[sizeClass]) {
                long object = next[sizeClass];
                next[sizeClass] += classes.size(sizeClass);
                used += classes.size(sizeClass);
                return object;
            }
        }
        return allocate(bytes);
    }

    /**
     * Takes objects whose places lie one behind the other, in a block of their own.
     *
     * @param bytes of each with its line versions
     * @param count how many
     * @return offset of the first in the region, or {@link #FULL}
     */
    public long allocateAdjacent(int bytes, int count) {
        int sizeClass = classes.of(bytes);
        long size = classes.size(sizeClass);
        long left = next[sizeClass];
        long endOfLeft = end[sizeClass];
        if (count < 1 || size * count > blockLength || !newBlock(sizeClass)) {
            return FULL;
        }
        for (; left + size <= endOfLeft; left += size) {
            freed[sizeClass].addLong(left); // the class goes on in the new block
        }
        long first = next[sizeClass];
        next[sizeClass] += size * count;
        used += size * count;
        return first;
    }

    private boolean newBlock(int sizeClass) {
        for (int block = 0; block < blocks.length; block++) {
            if (blocks[block] == FREE && classes.size(sizeClass) <= blockLength) {
                blocks[block] = sizeClass;
                next[sizeClass] = (long) block * blockLength;
                end[sizeClass] = next[sizeClass] + blockLength;
                return true;
            }
        }
        return false;
    }

    /**
     * Gives an object back. Its incarnation must have gone up before.
     *
     * @param object its offset in the region; nothing happens if no object can be there
     */
    public void free(long object) {
        int block = (int) (object / blockLength);
        if (isPlace(object, slotLength(object)) && states[block] != Block.NOT_SCANNED) { // else the scan will find it
            freed[blocks[block]].addLong(object);
            used -= classes.size(blocks[block]);
        }
    }

    /** True if an object of a class may be at an offset. */
    private boolean isPlace(long object, int size) {
        return size > 0 && object % blockLength % size == 0 && object % blockLength + size <= blockLength;
    }

    /** Bytes of each object of a block, or 0 if it has none. */
    public int slotLength(long object) {
        int sizeClass = blocks[(int) (object / blockLength)];
        return sizeClass == FREE || sizeClass == classes.count() ? 0 : classes.size(sizeClass);
    }

    /**
     * The first place of an object that is not before an offset.
     *
     * @param from the offset
     * @return the offset of the object, or {@link #FULL} if there is none
     */
    public long placeFrom(long from) {
        for (long at = from; at / blockLength < blocks.length; at = (at / blockLength + 1) * blockLength) {
            long start = at - at % blockLength;
            int size = slotLength(at);
            long place = size == 0 ? start : start + (at - start + size - 1) / size * size;
            if (size > 0 && place + size <= start + blockLength) {
                return place;
            }
        }
        return FULL;
    }

    /**
     * An object was written, by whoever has allocated it.
     *
     * @param object its offset in the region
     * @param bytes with its line versions
     * @return false if none of this size can be there
     */
    public boolean learn(long object, int bytes) {
        int block = (int) (object / blockLength);
        if (object < 0 || block >= blocks.length || bytes < 1 || bytes > SizeClasses.LARGEST) {
            return false;
        }
        int sizeClass = classes.of(bytes);
        if (!isPlace(object, classes.size(sizeClass))) {
            return false;
        }
        if (states[block] == Block.TAKEN && blocks[block] != classes.count()) {
            blocks[block] = sizeClass; // also if this machine had taken it for another one, when it was primary
            states[block] = Block.LEARNT;
        }
        return blocks[block] == sizeClass;
    }

    /**
     * Forgets what is taken and was never written: what is free, the objects say.
     *
     * @param whether says of an object's offset whether it is allocated; it is asked when a block is first needed
     */
    public void rescan(LongPredicate whether) {
        isAllocated = whether;
        Arrays.fill(next, 0);
        Arrays.fill(end, 0);
        for (LongArrayList list : freed) {
            list.clear();
        }
        used = 0;
        for (int block = 0; block < blocks.length; block++) {
            if (blocks[block] == classes.count()) {
                used += blockLength;
            } else if (states[block] == Block.TAKEN) {
                blocks[block] = FREE;
            } else {
                states[block] = Block.NOT_SCANNED;
                int size = classes.size(blocks[block]);
                used += blockLength - blockLength % size;
            }
        }
    }

    private void scan(int block, int sizeClass) {
        if (states[block] != Block.NOT_SCANNED || blocks[block] != sizeClass) {
            return;
        }
        states[block] = Block.LEARNT;
        int size = classes.size(sizeClass);
        long start = (long) block * blockLength;
        for (long object = start + blockLength - blockLength % size - size; object >= start; object -= size) {
            if (!isAllocated.test(object)) {
                free(object);
            }
        }
    }

    /** Bytes of all objects, and of what was reserved; of a block that is not scanned yet, all. */
    public long used() {
        return used;
    }
}
