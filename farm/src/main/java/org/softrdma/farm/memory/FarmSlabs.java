package org.softrdma.farm.memory;

import java.util.Arrays;
import org.agrona.collections.LongArrayList;

/**
 * Objects of a region: blocks of equal size, each for objects of one class. A freed object is reused first for its
 * class. A block keeps its class for ever, so that the header of an object stays a header whatever a reader does with
 * an old pointer ("type stability"); the paper's reuse of a block for another class, after an epoch of all machines, is
 * not implemented. Owned by the thread that owns the region.
 */
public final class FarmSlabs {
    /** No room. */
    public static final long FULL = -1;

    private static final int FREE = -1;

    private final SizeClasses classes = new SizeClasses();
    private final int blockLength;
    /** The class of each block, or FREE. */
    private final int[] blocks;

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
        if (!again.isEmpty()) {
            used += size;
            return again.removeAt(again.size() - 1);
        }
        if (next[sizeClass] + size > end[sizeClass] && !newBlock(sizeClass)) {
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
     * @param object its offset in the region
     */
    public void free(long object) {
        int sizeClass = blocks[(int) (object / blockLength)];
        freed[sizeClass].addLong(object);
        used -= classes.size(sizeClass);
    }

    /** Bytes of all objects, and of what was reserved. */
    public long used() {
        return used;
    }
}
