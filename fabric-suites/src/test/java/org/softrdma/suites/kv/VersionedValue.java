package org.softrdma.suites.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;

/**
 * Values with a number each: key and number, repeated to the end, so that a value that is torn or of another key shows.
 */
final class VersionedValue {
    private static final int KEY_SHIFT = 48;
    private static final long NUMBER_MASK = (1L << KEY_SHIFT) - 1;

    private VersionedValue() {}

    /** The value with a number. */
    static byte[] of(int key, long number, int words) {
        ByteBuffer value = ByteBuffer.allocate(words * Long.BYTES);
        while (value.hasRemaining()) {
            value.putLong((long) key << KEY_SHIFT | number);
        }
        return value.array();
    }

    /**
     * The number of a value.
     *
     * @throws AssertionError if it is not whole, or not of this key
     */
    static long number(int key, byte[] got) {
        ByteBuffer value = ByteBuffer.wrap(got);
        long word = value.getLong();
        while (value.hasRemaining()) {
            assertEquals(word, value.getLong(), () -> "key " + key + ": torn at " + value.position());
        }
        assertEquals(key, word >>> KEY_SHIFT, () -> "foreign value for key " + key);
        return word & NUMBER_MASK;
    }
}
