package org.softrdma.net.peer;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;

/** Contents of tests: patterns that show an offset or a message that was mistaken for another. */
public final class TestBytes {
    private TestBytes() {}

    /** Bytes that differ from one offset to the next, and from one seed to the next. */
    public static byte[] pattern(int seed, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = patternAt(seed, i);
        }
        return bytes;
    }

    /** The byte of a pattern at an offset. */
    public static byte patternAt(int seed, long offset) {
        long x = (offset + 1) * 0x9E37_79B9_7F4A_7C15L + seed * 0xD134_2543L;
        return (byte) (x >>> 40 ^ x >>> 17);
    }

    /** Several arrays as one. */
    public static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    /** Part of an array. */
    public static byte[] slice(byte[] bytes, int from, int to) {
        return Arrays.copyOfRange(bytes, from, to);
    }

    /** For messages. */
    public static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }
}
