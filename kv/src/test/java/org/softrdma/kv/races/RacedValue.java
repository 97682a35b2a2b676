package org.softrdma.kv.races;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;

/**
 * Values of keys that are written in numbered versions: key and version, repeated to the end, so that a value that is torn or
 * of another key shows. Versions that remove the key have none.
 */
final class RacedValue {
    /** Every seventh version removes the key, every other of them by an expiry in the past. */
    static final int REMOVE_EVERY = 7;

    private static final int KEY_SHIFT = 48;
    private static final long VERSION_MASK = (1L << KEY_SHIFT) - 1;

    private RacedValue() {}

    /** True if a version removes the key. */
    static boolean isRemoval(long version) {
        return version % REMOVE_EVERY == 0;
    }

    /** The value of a version. */
    static byte[] of(int key, long version, int length) {
        ByteBuffer value = ByteBuffer.allocate(length);
        while (value.hasRemaining()) {
            value.putLong((long) key << KEY_SHIFT | version);
        }
        return value.array();
    }

    /**
     * The version that a value is of.
     *
     * @param key the key asked for
     * @param got the value
     * @throws AssertionError if it is not whole, not of this key, or of a version that removes the key
     */
    static long version(int key, byte[] got) {
        ByteBuffer value = ByteBuffer.wrap(got);
        long word = value.getLong();
        while (value.hasRemaining()) {
            assertEquals(
                    word,
                    value.getLong(),
                    () -> "key " + key + ": torn at " + value.position() + " of " + value.limit());
        }
        assertEquals(key, word >>> KEY_SHIFT, () -> "foreign value for key " + key);
        long version = word & VERSION_MASK;
        assertTrue(!isRemoval(version), () -> "key " + key + ": got version " + version + ", which expired at once");
        return version;
    }
}
