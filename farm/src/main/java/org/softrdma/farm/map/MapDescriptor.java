package org.softrdma.farm.map;

import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.table.TableShape;

/**
 * The object that says where a map is, little endian. Whoever makes the map writes it, and nobody changes it.
 *
 * <pre>
 *  16 u32 neighbourhood | 20 u32 bytes of a key | 24 u32 bytes of a value | 28 u32 homes of a shard | 32 u32 shards | 36 u32 0
 *  40 u64 seed of the hash | 48 each shard: u64 address of its first bucket
 * </pre>
 */
final class MapDescriptor {
    private static final int NEIGHBOURHOOD_OFFSET = FarmObjectDescriptor.PAYLOAD_OFFSET;
    private static final int KEY_OFFSET = NEIGHBOURHOOD_OFFSET + Integer.BYTES;
    private static final int VALUE_OFFSET = KEY_OFFSET + Integer.BYTES;
    private static final int HOMES_OFFSET = VALUE_OFFSET + Integer.BYTES;
    private static final int SHARDS_OFFSET = HOMES_OFFSET + Integer.BYTES;
    private static final int SEED_OFFSET = SHARDS_OFFSET + Long.BYTES;
    private static final int BUCKETS_OFFSET = SEED_OFFSET + Long.BYTES;

    private MapDescriptor() {}

    /** Bytes of header and payload. */
    static int length(int shards) {
        return BUCKETS_OFFSET + shards * Long.BYTES;
    }

    /** Writes it into an object of zeroes. */
    static void put(ObjectImage image, TableShape shape, long[] buckets) {
        image.putInt(NEIGHBOURHOOD_OFFSET, shape.neighbourhood());
        image.putInt(KEY_OFFSET, shape.keyLength());
        image.putInt(VALUE_OFFSET, shape.valueLength());
        image.putInt(HOMES_OFFSET, shape.homes());
        image.putInt(SHARDS_OFFSET, buckets.length);
        image.putLong(SEED_OFFSET, shape.seed());
        for (int shard = 0; shard < buckets.length; shard++) {
            image.putLong(BUCKETS_OFFSET + shard * Long.BYTES, buckets[shard]);
        }
    }

    /**
     * The shape of its table.
     *
     * @param image of the object
     * @param checksums whether objects end in a checksum
     * @throws IllegalArgumentException if it is that of no map
     */
    static TableShape shape(ObjectImage image, boolean checksums) {
        return new TableShape(
                image.getInt(NEIGHBOURHOOD_OFFSET),
                true,
                image.getInt(KEY_OFFSET),
                image.getInt(VALUE_OFFSET),
                checksums,
                image.getInt(HOMES_OFFSET),
                image.getInt(SHARDS_OFFSET),
                image.getLong(SEED_OFFSET));
    }

    /** Address of the first bucket of each shard. */
    static long[] buckets(ObjectImage image) {
        long[] buckets = new long[(image.length() - BUCKETS_OFFSET) / Long.BYTES];
        for (int shard = 0; shard < buckets.length; shard++) {
            buckets[shard] = image.getLong(BUCKETS_OFFSET + shard * Long.BYTES);
        }
        return buckets;
    }
}
