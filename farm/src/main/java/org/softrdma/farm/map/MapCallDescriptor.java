package org.softrdma.farm.map;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.softrdma.farm.table.TableShape;

/**
 * What a function of a map is given, little endian. It is shipped to the first bucket of a shard; RESERVE to any address of
 * the region.
 *
 * <pre>
 *  each     0 u32 neighbourhood | 4 u32 bytes of a key | 8 u32 bytes of a value | 12 u32 homes | 16 u64 seed of the hash
 *  RESERVE 24 u64 0
 *  CREATE  24 u32 number of a bucket | 28 u32 how many are made from there on | 32 u32 epoch | 36 u32 0
 *  PUT     24 u32 buckets that are looked at for a free slot | 28 u32 0 | 32 key | value
 *  REMOVE  24 u64 0 | 32 key
 * </pre>
 */
final class MapCallDescriptor {
    private static final int NEIGHBOURHOOD_OFFSET = 0;
    private static final int KEY_LENGTH_OFFSET = NEIGHBOURHOOD_OFFSET + Integer.BYTES;
    private static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;
    private static final int HOMES_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;
    private static final int SEED_OFFSET = HOMES_OFFSET + Integer.BYTES;
    private static final int FROM_OFFSET = SEED_OFFSET + Long.BYTES;
    private static final int COUNT_OFFSET = FROM_OFFSET + Integer.BYTES;
    private static final int EPOCH_OFFSET = COUNT_OFFSET + Integer.BYTES;
    private static final int CREATE_LENGTH = EPOCH_OFFSET + Long.BYTES;
    private static final int PROBES_OFFSET = FROM_OFFSET;

    /** Where the key is. */
    static final int KEY_OFFSET = PROBES_OFFSET + Long.BYTES;

    private MapCallDescriptor() {}

    private static ByteBuffer call(TableShape shape, int length) {
        return ByteBuffer.allocate(length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(NEIGHBOURHOOD_OFFSET, shape.neighbourhood())
                .putInt(KEY_LENGTH_OFFSET, shape.keyLength())
                .putInt(VALUE_LENGTH_OFFSET, shape.valueLength())
                .putInt(HOMES_OFFSET, shape.homes())
                .putLong(SEED_OFFSET, shape.seed());
    }

    static byte[] reserve(TableShape shape) {
        return call(shape, KEY_OFFSET).array();
    }

    static byte[] create(TableShape shape, int from, int count, int epoch) {
        return call(shape, CREATE_LENGTH)
                .putInt(FROM_OFFSET, from)
                .putInt(COUNT_OFFSET, count)
                .putInt(EPOCH_OFFSET, epoch)
                .array();
    }

    static byte[] put(TableShape shape, int probes, byte[] key, byte[] value) {
        return call(shape, KEY_OFFSET + key.length + value.length)
                .putInt(PROBES_OFFSET, probes)
                .put(KEY_OFFSET, key)
                .put(KEY_OFFSET + key.length, value)
                .array();
    }

    static byte[] remove(TableShape shape, byte[] key) {
        return call(shape, KEY_OFFSET + key.length).put(KEY_OFFSET, key).array();
    }

    // ---- at the primary

    /**
     * The shape of the shard.
     *
     * @throws IllegalArgumentException if there is none
     */
    static TableShape shape(ByteBuffer call, boolean checksums) {
        requireLength(call, KEY_OFFSET);
        return new TableShape(
                call.getInt(NEIGHBOURHOOD_OFFSET),
                true,
                call.getInt(KEY_LENGTH_OFFSET),
                call.getInt(VALUE_LENGTH_OFFSET),
                checksums,
                call.getInt(HOMES_OFFSET),
                1,
                call.getLong(SEED_OFFSET));
    }

    /** Checks that a call has so many bytes. */
    static void requireLength(ByteBuffer call, long bytes) {
        if (call.limit() < bytes) {
            throw new IllegalArgumentException(call.limit() + " bytes are no call of a map: expected " + bytes);
        }
    }

    /** CREATE: the first bucket that is made. */
    static int from(ByteBuffer call) {
        requireLength(call, CREATE_LENGTH);
        return call.getInt(FROM_OFFSET);
    }

    /** CREATE: how many are made. */
    static int count(ByteBuffer call) {
        return call.getInt(COUNT_OFFSET);
    }

    /** CREATE: the epoch in which their places are reserved. */
    static int epoch(ByteBuffer call) {
        return call.getInt(EPOCH_OFFSET);
    }

    /** PUT: buckets that are looked at. */
    static int probes(ByteBuffer call) {
        return call.getInt(PROBES_OFFSET);
    }
}
