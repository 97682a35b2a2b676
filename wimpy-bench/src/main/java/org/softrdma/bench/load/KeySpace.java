package org.softrdma.bench.load;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * The pairs of one value size: keys, and values that tell each other apart. Value number n is a window into one random
 * array, starting n words in, so that comparing needs no copies. Immutable.
 */
public final class KeySpace {
    private static final int STEP = Long.BYTES;
    private static final long SEED = 0x5EED;

    private final int valueLength;
    private final byte[][] keys;
    private final MemorySegment pattern;

    public KeySpace(int valueLength, int count) {
        this.valueLength = valueLength;
        keys = new byte[count][];
        for (int i = 0; i < count; i++) {
            keys[i] = ("wimpy:" + valueLength + ":" + i).getBytes(StandardCharsets.US_ASCII);
        }
        byte[] bytes = new byte[valueLength + STEP * count];
        new Random(SEED).nextBytes(bytes);
        pattern = Arena.ofAuto().allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
    }

    public int size() {
        return keys.length;
    }

    public int valueLength() {
        return valueLength;
    }

    /** Bytes of all values together. */
    public long totalBytes() {
        return (long) valueLength * keys.length;
    }

    public byte[] key(int index) {
        return keys[index];
    }

    /** A value, as a copy. */
    public byte[] value(int index) {
        return pattern.asSlice((long) index * STEP, valueLength).toArray(ValueLayout.JAVA_BYTE);
    }

    /** True if these bytes are those of a value from {@code at} on. */
    public boolean matches(int index, long at, MemorySegment memory, long offset, long length) {
        long start = (long) index * STEP + at;
        return MemorySegment.mismatch(pattern, start, start + length, memory, offset, offset + length) < 0;
    }
}
