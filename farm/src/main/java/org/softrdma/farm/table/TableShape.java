package org.softrdma.farm.table;

import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectLines;

/**
 * What server and clients of a table must agree on. Immutable.
 *
 * @param neighbourhood H of the paper, even: a key is in one of two buckets of H/2 slots, or in a chain
 * @param inline true if pairs are in the slots
 * @param keyLength bytes of every key, if inline
 * @param valueLength bytes of every value, if inline
 * @param checksums whether objects end in a checksum
 * @param homes buckets that keys hash to, of each shard; behind the last one there is another
 * @param shards how many there are, one in each region
 * @param seed of the hash
 */
public record TableShape(
        int neighbourhood,
        boolean inline,
        int keyLength,
        int valueLength,
        boolean checksums,
        int homes,
        int shards,
        long seed) {
    private static final int OVERFLOW_SLOTS = 2;
    private static final int MOST_NEIGHBOURS = 16;

    /** Checks. */
    public TableShape {
        if (neighbourhood < 2 || neighbourhood > MOST_NEIGHBOURS || neighbourhood % 2 != 0) {
            throw new IllegalArgumentException(
                    "neighbourhood=" + neighbourhood + ": expected an even number of 2 to " + MOST_NEIGHBOURS);
        }
        if (homes < 1 || shards < 1 || (inline && keyLength < 1) || valueLength < 0) {
            throw new IllegalArgumentException("homes=" + homes + ", shards=" + shards + ", keyLength=" + keyLength
                    + ", valueLength=" + valueLength + ": expected at least 1, values of at least 0");
        }
    }

    /** Bytes of a slot. */
    public int slotLength() {
        return inline ? keyLength + valueLength : Long.BYTES + FatPointerDescriptor.LENGTH;
    }

    /** The layout of buckets. */
    public FarmBucketDescriptor bucket() {
        return new FarmBucketDescriptor(neighbourhood / 2, slotLength());
    }

    /** The layout of overflow blocks. */
    public FarmBucketDescriptor block() {
        return new FarmBucketDescriptor(OVERFLOW_SLOTS, slotLength());
    }

    /**
     * Bytes that an object takes in memory, wherever it is.
     *
     * @param length of header and payload
     */
    public int lengthInMemory(int length) {
        return ObjectLines.slotLength(FarmObjectDescriptor.lengthWithChecksum(length, checksums));
    }

    /** Bytes from one bucket to the next. */
    public int stride() {
        return lengthInMemory(bucket().length());
    }

    /** Bytes of all buckets of a shard. */
    public long bucketsLength() {
        return (homes + 1L) * stride();
    }

    /** The shard of a key, by its hash. */
    public int shard(long hash) {
        return (int) (((hash >>> Integer.SIZE) * shards) >>> Integer.SIZE);
    }

    /** The bucket of a key in its shard, by its hash. */
    public int home(long hash) {
        return (int) ((Integer.toUnsignedLong((int) hash) * homes) >>> Integer.SIZE);
    }
}
