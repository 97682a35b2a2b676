package org.softrdma.kv.memcached;

import java.util.Arrays;
import java.util.Base64;
import org.softrdma.kv.item.KeySlice;

/** Builds one line of an answer; reused. Not thread-safe. */
public final class ReplyLine {
    private static final int INITIAL_LENGTH = 512;
    private static final int MAX_NUMBER_LENGTH = 20;

    private byte[] bytes = new byte[INITIAL_LENGTH];
    private int length;

    /** An empty line. */
    public ReplyLine() {}

    /**
     * Begins a line.
     *
     * @param text its start, ASCII
     */
    public ReplyLine begin(String text) {
        length = 0;
        return add(text);
    }

    /**
     * Adds text.
     *
     * @param text ASCII
     */
    public ReplyLine add(String text) {
        ensure(text.length());
        for (int i = 0; i < text.length(); i++) {
            bytes[length++] = (byte) text.charAt(i);
        }
        return this;
    }

    /**
     * Adds bytes.
     *
     * @param source array that holds them
     * @param offset where they start
     * @param count how many
     */
    public ReplyLine add(byte[] source, int offset, int count) {
        ensure(count);
        System.arraycopy(source, offset, bytes, length, count);
        length += count;
        return this;
    }

    /**
     * Adds a number.
     *
     * @param value the number, unsigned
     */
    public ReplyLine add(long value) {
        ensure(MAX_NUMBER_LENGTH);
        length = TextProtocol.number(bytes, length, value);
        return this;
    }

    /** Adds a key. */
    public ReplyLine add(KeySlice key) {
        return add(key.bytes(), key.offset(), key.length());
    }

    /** Adds a key in base 64. */
    public ReplyLine addBase64(KeySlice key) {
        byte[] encoded = Base64.getEncoder().encode(key.toArray());
        return add(encoded, 0, encoded.length);
    }

    /** Ends the line. */
    public ReplyLine end() {
        return add(TextProtocol.CRLF, 0, TextProtocol.CRLF.length);
    }

    /** The array that holds the line from its start. */
    public byte[] bytes() {
        return bytes;
    }

    /** Bytes of the line. */
    public int length() {
        return length;
    }

    private void ensure(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }
}
