package org.softrdma.bench.workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Keys of one length, and for each of them a few values of one length, which PUTs store in turn. All values differ:
 * each is a window into one random array, so that comparing needs no copies. What a store returns is right if it is
 * one of the values of its key, from the first byte to the last; half of one and half of another is not. Owned by the
 * thread that loads.
 */
public final class MixPairs {
    /** Bytes of every key. */
    public static final int KEY_LENGTH = 16;

    private static final int VERSIONS = 4;
    private static final int STEP = Long.BYTES;
    private static final long SEED = 0x5EED;

    private final int valueLength;
    private final byte[][] keys;
    private final byte[] version;
    private final MemorySegment pattern;
    private final MemorySegment[] values;

    /**
     * Makes them.
     *
     * @param count of the pairs
     * @param valueLength bytes of every value, at least 8
     */
    public MixPairs(int count, int valueLength) {
        this.valueLength = valueLength;
        keys = new byte[count][];
        version = new byte[count];
        for (int i = 0; i < count; i++) {
            keys[i] = String.format(Locale.ROOT, "pair%012d", i).getBytes(StandardCharsets.US_ASCII);
        }
        long words = (long) count * VERSIONS + (valueLength + STEP - 1) / STEP;
        pattern = Arena.ofAuto().allocate(words * STEP, STEP);
        SplittableRandom random = new SplittableRandom(SEED);
        for (long word = 0; word < words; word++) {
            pattern.set(java.lang.foreign.ValueLayout.JAVA_LONG, word * STEP, random.nextLong());
        }
        values = new MemorySegment[count * VERSIONS];
        for (int i = 0; i < values.length; i++) {
            values[i] = pattern.asSlice((long) i * STEP, valueLength);
        }
    }

    /** How many there are. */
    public int size() {
        return keys.length;
    }

    /** Bytes of every value. */
    public int valueLength() {
        return valueLength;
    }

    /** A key. */
    public byte[] key(int index) {
        return keys[index];
    }

    /** The value that the next PUT of a key stores. */
    public MemorySegment next(int index) {
        version[index] = (byte) ((version[index] + 1) % VERSIONS);
        return values[index * VERSIONS + version[index]];
    }

    /** True if these bytes are a value of a key. */
    public boolean isValue(int index, MemorySegment memory, long offset, long length) {
        if (length != valueLength) {
            return false;
        }
        for (int i = 0; i < VERSIONS; i++) {
            long start = (long) (index * VERSIONS + i) * STEP;
            if (MemorySegment.mismatch(pattern, start, start + length, memory, offset, offset + length) < 0) {
                return true;
            }
        }
        return false;
    }
}
