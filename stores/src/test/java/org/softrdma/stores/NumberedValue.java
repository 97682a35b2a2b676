package org.softrdma.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/** Values that tell by each of their words which key they are of, and their number. Stateless. */
public final class NumberedValue {
    private static final int KEY_SHIFT = 48;
    private static final long NUMBER_MASK = (1L << KEY_SHIFT) - 1;

    private NumberedValue() {}

    /** The value with a number. */
    public static MemorySegment of(int key, long number, int words) {
        ByteBuffer value = ByteBuffer.allocate(words * Long.BYTES);
        while (value.hasRemaining()) {
            value.putLong((long) key << KEY_SHIFT | number);
        }
        return MemorySegment.ofArray(value.array());
    }

    /**
     * The number of a value.
     *
     * @throws AssertionError if it is not whole, or not of this key
     */
    public static long number(int key, MemorySegment memory, long offset, long length) {
        ByteBuffer value = ByteBuffer.wrap(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
        long word = value.getLong();
        while (value.hasRemaining()) {
            assertEquals(word, value.getLong(), () -> "key " + key + ": torn at " + value.position());
        }
        assertEquals(key, word >>> KEY_SHIFT, () -> "foreign value for key " + key);
        return word & NUMBER_MASK;
    }
}
