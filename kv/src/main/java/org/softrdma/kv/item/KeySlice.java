package org.softrdma.kv.item;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A key: bytes of an array that somebody else owns, such as that of the request that names it, so none are copied.
 * Wrapped around one key after the other; whoever is given one may use it during the call, and wraps its own around
 * the same bytes to keep it longer.
 */
public final class KeySlice {
    private static final byte[] NO_BYTES = {};

    private byte[] bytes = NO_BYTES;
    private int offset;
    private int length;

    /** No key yet. */
    public KeySlice() {}

    /**
     * A key that is a whole array.
     *
     * @param key its bytes; kept, not copied
     */
    public KeySlice(byte[] key) {
        wrap(key);
    }

    /**
     * Becomes the key that is a whole array.
     *
     * @param key its bytes; kept, not copied
     */
    public KeySlice wrap(byte[] key) {
        return wrap(key, 0, key.length);
    }

    /** Becomes the same key as another. */
    public KeySlice wrap(KeySlice other) {
        return wrap(other.bytes, other.offset, other.length);
    }

    /**
     * Becomes a key in an array.
     *
     * @param source array that holds the key; kept, not copied
     * @param start where it starts
     * @param count its bytes
     */
    public KeySlice wrap(byte[] source, int start, int count) {
        if (bytes != source) { // storing a reference costs a barrier of the garbage collector
            bytes = source;
        }
        offset = start;
        length = count;
        return this;
    }

    /** The array that holds the key. */
    public byte[] bytes() {
        return bytes;
    }

    /** Where the key starts in {@link #bytes()}. */
    public int offset() {
        return offset;
    }

    /** Bytes of the key. */
    public int length() {
        return length;
    }

    /** A copy of the key. */
    public byte[] toArray() {
        return Arrays.copyOfRange(bytes, offset, offset + length);
    }

    /** The key as text, a character for each byte. */
    @Override
    public String toString() {
        return new String(bytes, offset, length, StandardCharsets.ISO_8859_1);
    }
}
