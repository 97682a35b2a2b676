package org.softrdma.bench.workload;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/**
 * Keys, and for each of them one value or a few of one length, which PUTs store in turn. All values of at least 8 bytes
 * differ: each is a window into one random array, so that comparing needs no copies. What a store returns is right if it
 * is one of the values of its key, from the first byte to the last; half of one and half of another is not. Owned by the
 * thread that loads.
 */
public final class MixPairs {
    /** Bytes of every key, unless keys say how long the values are. */
    public static final int KEY_LENGTH = 16;

    private static final int VERSIONS = 4;
    private static final int STEP = Long.BYTES;
    private static final long SEED = 0x5EED;

    private final int valueLength;
    private final int versions;
    private final byte[][] keys;
    private final byte[] version;
    private final MemorySegment pattern;
    private final MemorySegment[] values;

    /**
     * Makes pairs of a few values each.
     *
     * @param count of the pairs
     * @param valueLength bytes of every value
     */
    public MixPairs(int count, int valueLength) {
        this(count, valueLength, VERSIONS, i -> String.format(Locale.ROOT, "pair%012d", i));
    }

    private MixPairs(int count, int valueLength, int versions, IntFunction<String> keyOf) {
        this.valueLength = valueLength;
        this.versions = versions;
        keys = new byte[count][];
        version = new byte[count];
        for (int i = 0; i < count; i++) {
            keys[i] = keyOf.apply(i).getBytes(StandardCharsets.US_ASCII);
        }
        long words = (long) count * versions + (valueLength + STEP - 1) / STEP;
        pattern = Arena.ofAuto().allocate(words * STEP, STEP);
        SplittableRandom random = new SplittableRandom(SEED);
        for (long word = 0; word < words; word++) {
            pattern.set(ValueLayout.JAVA_LONG, word * STEP, random.nextLong());
        }
        values = new MemorySegment[count * versions];
        for (int i = 0; i < values.length; i++) {
            values[i] = pattern.asSlice((long) i * STEP, valueLength);
        }
    }

    /**
     * Makes pairs of one value each, with keys that say how long it is: pairs of several lengths fit into one store.
     *
     * @param count of the pairs
     * @param valueLength bytes of every value
     */
    public static MixPairs keyedByLength(int count, int valueLength) {
        return new MixPairs(count, valueLength, 1, i -> "wimpy:" + valueLength + ":" + i);
    }

    /** How many there are. */
    public int size() {
        return keys.length;
    }

    /** Bytes of every value. */
    public int valueLength() {
        return valueLength;
    }

    /** Bytes of all first values together. */
    public long totalBytes() {
        return (long) valueLength * keys.length;
    }

    /** A key. */
    public byte[] key(int index) {
        return keys[index];
    }

    /** The value that the next PUT of a key stores. */
    public MemorySegment next(int index) {
        version[index] = (byte) ((version[index] + 1) % versions);
        return values[index * versions + version[index]];
    }

    /** The first value of a key, as a copy. */
    public byte[] value(int index) {
        return values[index * versions].toArray(ValueLayout.JAVA_BYTE);
    }

    /** True if these bytes are those of the first value of a key from {@code at} on. */
    public boolean matches(int index, long at, MemorySegment memory, long offset, long length) {
        long start = (long) index * versions * STEP + at;
        return MemorySegment.mismatch(pattern, start, start + length, memory, offset, offset + length) < 0;
    }

    /** True if these bytes are a value of a key. */
    public boolean isValue(int index, MemorySegment memory, long offset, long length) {
        if (length != valueLength) {
            return false;
        }
        for (int i = 0; i < versions; i++) {
            long start = (long) (index * versions + i) * STEP;
            if (MemorySegment.mismatch(pattern, start, start + length, memory, offset, offset + length) < 0) {
                return true;
            }
        }
        return false;
    }
}
