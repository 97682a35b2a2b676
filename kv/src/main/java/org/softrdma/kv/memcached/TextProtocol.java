package org.softrdma.kv.memcached;

import java.nio.charset.StandardCharsets;

/**
 * The words of memcached's text protocol as memcached 1.6 says them: clients and their tests compare strings. Arrays are
 * shared and never written.
 */
public final class TextProtocol {
    /** The longest key. */
    public static final int MAX_KEY_LENGTH = 250;

    /** Ends every line and value. */
    public static final byte[] CRLF = line("");

    /** Ends the answer to get, gets and stats. */
    public static final byte[] END = line("END");

    /** A set succeeded. */
    public static final byte[] STORED = line("STORED");

    /** A set succeeded; a locator in hexadecimal digits and a line end follow. Only after {@code rdma hello}. */
    public static final byte[] STORED_AT = "STORED ".getBytes(StandardCharsets.US_ASCII);

    /** A delete succeeded. */
    public static final byte[] DELETED = line("DELETED");

    /** There is no such key. */
    public static final byte[] NOT_FOUND = line("NOT_FOUND");

    /** {@code stats reset} succeeded. */
    public static final byte[] RESET = line("RESET");

    /** Unknown command, or a wrong number of words. */
    public static final byte[] ERROR = line("ERROR");

    /** A word that is not what it has to be. */
    public static final byte[] BAD_FORMAT = line("CLIENT_ERROR bad command line format");

    /** A delete with words it does not know. */
    public static final byte[] BAD_DELETE =
            line("CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]");

    /** The value was not followed by a line end. */
    public static final byte[] BAD_DATA_CHUNK = line("CLIENT_ERROR bad data chunk");

    /** The item does not fit into the largest chunk. */
    public static final byte[] TOO_LARGE = line("SERVER_ERROR object too large for cache");

    /** No memory is left. */
    public static final byte[] OUT_OF_MEMORY = line("SERVER_ERROR out of memory storing object");

    /** More connections than allowed; the connection is closed. */
    public static final byte[] TOO_MANY_CONNECTIONS = line("ERROR Too many open connections");

    private static final byte[] VALUE = "VALUE ".getBytes(StandardCharsets.US_ASCII);

    private TextProtocol() {}

    /**
     * A line with its end, as bytes.
     *
     * @param text the line, ASCII
     */
    public static byte[] line(String text) {
        return (text + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** Bytes that {@link #valueLine} may need for a key of the greatest length. */
    public static final int MAX_VALUE_LINE_LENGTH = VALUE.length + MAX_KEY_LENGTH + 1 + 10 + 1 + 10 + 1 + 20 + 2;

    /**
     * Writes the line before a value: {@code VALUE key flags length [cas]}.
     *
     * @param line takes the line from its start, {@link #MAX_VALUE_LINE_LENGTH} bytes are enough
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes
     * @param flags the client's flags, unsigned
     * @param valueLength bytes of the value
     * @param withCas true for gets
     * @param cas the cas number, unsigned
     * @return bytes written
     */
    public static int valueLine(
            byte[] line,
            byte[] key,
            int keyOffset,
            int keyLength,
            int flags,
            int valueLength,
            boolean withCas,
            long cas) {
        System.arraycopy(VALUE, 0, line, 0, VALUE.length);
        int at = VALUE.length;
        System.arraycopy(key, keyOffset, line, at, keyLength);
        at += keyLength;
        line[at++] = ' ';
        at = number(line, at, Integer.toUnsignedLong(flags));
        line[at++] = ' ';
        at = number(line, at, valueLength);
        if (withCas) {
            line[at++] = ' ';
            at = number(line, at, cas);
        }
        line[at++] = '\r';
        line[at++] = '\n';
        return at;
    }

    /**
     * Writes an unsigned number in decimal digits.
     *
     * @param target takes the digits
     * @param from where the first goes
     * @param value the number, unsigned
     * @return where the next byte goes
     */
    public static int number(byte[] target, int from, long value) {
        int digits = 1;
        for (long rest = Long.divideUnsigned(value, 10); rest != 0; rest = Long.divideUnsigned(rest, 10)) {
            digits++;
        }
        long rest = value;
        for (int at = from + digits - 1; at >= from; at--) {
            target[at] = (byte) ('0' + Long.remainderUnsigned(rest, 10));
            rest = Long.divideUnsigned(rest, 10);
        }
        return from + digits;
    }
}
