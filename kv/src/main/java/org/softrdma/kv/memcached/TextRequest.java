package org.softrdma.kv.memcached;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One command line, taken apart. Reused: what it says holds until the next line is parsed. The order of the checks is
 * memcached's, so that a line with two faults gets the answer that memcached gives.
 */
public final class TextRequest {
    private static final int INITIAL_WORDS = 24;

    private static final byte[] NO_ERROR = {};

    private byte[] line = {};
    private int[] bounds = new int[2 * INITIAL_WORDS];
    private int words;

    private TextCommand command = TextCommand.INVALID;
    private byte[] error = NO_ERROR;
    private boolean noreply;
    private int key;
    private int flags;
    private int exptime;
    private int valueLength;
    private int rkey;
    private long address;
    private long length;
    private long opaque;

    /** An empty request. */
    public TextRequest() {}

    /** What it asks for. */
    public TextCommand command() {
        return command;
    }

    /** The line that answers an invalid request; empty for others. Shared, not to be written. */
    public byte[] error() {
        return error;
    }

    /** True if nothing may be answered, not even {@link #error()}. */
    public boolean noreply() {
        return noreply;
    }

    /** The array that holds the keys. */
    public byte[] bytes() {
        return line;
    }

    /** Number of keys. */
    public int keyCount() {
        return command == TextCommand.GET || command == TextCommand.GETS ? words - 1 : 1;
    }

    /**
     * Where a key starts in {@link #bytes()}.
     *
     * @param index 0 to {@link #keyCount()} - 1
     */
    public int keyOffset(int index) {
        return bounds[2 * (key + index)];
    }

    /**
     * Bytes of a key, 1 to 250.
     *
     * @param index 0 to {@link #keyCount()} - 1
     */
    public int keyLength(int index) {
        return length(key + index);
    }

    /** Flags of a set. */
    public int flags() {
        return flags;
    }

    /** Exptime of a set as the client gave it, see {@link Expiry}. */
    public int exptime() {
        return exptime;
    }

    /** Bytes of the value of a set, without the line end behind it. */
    public int valueLength() {
        return valueLength;
    }

    /** Key of the client's buffer, of an rget. */
    public int rkey() {
        return rkey;
    }

    /** Address of the client's buffer, of an rget. */
    public long address() {
        return address;
    }

    /** Bytes of the client's buffer, of an rget. */
    public long length() {
        return length;
    }

    /** The number that the answer to an rget repeats. */
    public long opaque() {
        return opaque;
    }

    /**
     * A word behind the command, or an empty string.
     *
     * @param index 1 for the first
     */
    public String argument(int index) {
        return index < words ? new String(line, bounds[2 * index], length(index), StandardCharsets.ISO_8859_1) : "";
    }

    /**
     * Parses a line; afterwards this object is about it.
     *
     * @param source array that holds the line from its start; it is kept, not copied
     * @param lineLength bytes of the line without its end
     */
    void parse(byte[] source, int lineLength) {
        line = source;
        error = NO_ERROR;
        noreply = false;
        split(lineLength);
        command = words == 0 || length(0) < 2 ? invalid(TextProtocol.ERROR) : recognise();
    }

    private TextCommand recognise() {
        if (is(0, "get")) {
            return get(TextCommand.GET);
        }
        if (is(0, "gets")) {
            return get(TextCommand.GETS);
        }
        if (is(0, "set")) {
            return set();
        }
        if (is(0, "delete")) {
            return delete();
        }
        if (is(0, "rget")) {
            return rget();
        }
        if (is(0, "version")) {
            return TextCommand.VERSION;
        }
        if (is(0, "stats")) {
            return TextCommand.STATS;
        }
        if (is(0, "quit")) {
            return TextCommand.QUIT;
        }
        if (is(0, "rdma")) {
            return rdma();
        }
        boolean isHttp = length(words - 1) >= 5 && startsWith(words - 1, "HTTP/");
        return isHttp ? TextCommand.CLOSE : invalid(TextProtocol.ERROR);
    }

    private TextCommand get(TextCommand which) {
        if (words < 2) {
            return invalid(TextProtocol.ERROR);
        }
        key = 1;
        for (int i = 1; i < words; i++) {
            if (length(i) > TextProtocol.MAX_KEY_LENGTH) {
                return invalid(TextProtocol.BAD_FORMAT);
            }
        }
        return which;
    }

    private TextCommand set() {
        if (words != 5 && words != 6) {
            return invalid(TextProtocol.ERROR);
        }
        key = 1;
        noreply = is(words - 1, "noreply");
        if (length(1) > TextProtocol.MAX_KEY_LENGTH
                || !isNumber(2, 0, 0xFFFF_FFFFL)
                || !isNumber(3, Integer.MIN_VALUE, Integer.MAX_VALUE)
                || !isNumber(4, 0, Integer.MAX_VALUE - 2)) {
            return invalid(TextProtocol.BAD_FORMAT);
        }
        flags = (int) number(2);
        exptime = (int) number(3);
        valueLength = (int) number(4);
        return TextCommand.SET;
    }

    private TextCommand delete() {
        if (words < 2 || words > 4) {
            return invalid(TextProtocol.ERROR);
        }
        key = 1;
        if (words > 2) {
            boolean zero = is(2, "0");
            noreply = is(words - 1, "noreply");
            if (!(words == 3 && (zero || noreply)) && !(words == 4 && zero && noreply)) {
                return invalid(TextProtocol.BAD_DELETE);
            }
        }
        return length(1) > TextProtocol.MAX_KEY_LENGTH ? invalid(TextProtocol.BAD_FORMAT) : TextCommand.DELETE;
    }

    private TextCommand rdma() {
        if (words == 3 && is(1, "hello")) {
            return TextCommand.RDMA_HELLO;
        }
        return words == 2 && is(1, "arenas") ? TextCommand.RDMA_ARENAS : invalid(TextProtocol.ERROR);
    }

    private TextCommand rget() {
        if (words != 6) {
            return invalid(TextProtocol.ERROR);
        }
        key = 1;
        if (length(1) > TextProtocol.MAX_KEY_LENGTH
                || !isNumber(2, 0, 0xFFFF_FFFFL)
                || !isUnsigned64(3)
                || !isNumber(4, 0, Integer.MAX_VALUE)
                || !isUnsigned64(5)) {
            return invalid(TextProtocol.BAD_FORMAT);
        }
        rkey = (int) number(2);
        address = number(3);
        length = number(4);
        opaque = number(5);
        return TextCommand.RGET;
    }

    private TextCommand invalid(byte[] answer) {
        error = answer;
        return TextCommand.INVALID;
    }

    private void split(int lineLength) {
        words = 0;
        int at = 0;
        while (at < lineLength) {
            if (line[at] == ' ') {
                at++;
                continue;
            }
            int start = at;
            while (at < lineLength && line[at] != ' ') {
                at++;
            }
            if (2 * words == bounds.length) {
                bounds = Arrays.copyOf(bounds, 2 * bounds.length);
            }
            bounds[2 * words] = start;
            bounds[2 * words + 1] = at;
            words++;
        }
    }

    private int length(int word) {
        return bounds[2 * word + 1] - bounds[2 * word];
    }

    private boolean is(int word, String text) {
        return length(word) == text.length() && startsWith(word, text);
    }

    private boolean startsWith(int word, String text) {
        int start = bounds[2 * word];
        for (int i = 0; i < text.length(); i++) {
            if (line[start + i] != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** True if a word is a whole decimal number from {@code min} to {@code max}; at most 18 digits can be one. */
    private boolean isNumber(int word, long min, long max) {
        int start = bounds[2 * word];
        boolean signed = line[start] == '-' || line[start] == '+';
        int digits = length(word) - (signed ? 1 : 0);
        if (digits < 1 || digits > 18 || !areDigits(start + (signed ? 1 : 0), digits)) {
            return false;
        }
        long value = number(word);
        return value >= min && value <= max;
    }

    private boolean isUnsigned64(int word) {
        int start = bounds[2 * word];
        int digits = length(word);
        if (digits > 20 || !areDigits(start, digits)) {
            return false;
        }
        return digits < 20 || (Long.compareUnsigned(number(word), Long.MIN_VALUE) >= 0 && line[start] == '1');
    }

    private boolean areDigits(int start, int digits) {
        for (int i = start; i < start + digits; i++) {
            if (line[i] < '0' || line[i] > '9') {
                return false;
            }
        }
        return true;
    }

    /** The value of a word that was checked; as an unsigned one where it is that long. */
    private long number(int word) {
        int start = bounds[2 * word];
        boolean negative = line[start] == '-';
        long value = 0;
        for (int i = start + (negative || line[start] == '+' ? 1 : 0); i < bounds[2 * word + 1]; i++) {
            value = value * 10 + (line[i] - '0');
        }
        return negative ? -value : value;
    }
}
