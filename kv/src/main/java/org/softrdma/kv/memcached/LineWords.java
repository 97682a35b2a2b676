package org.softrdma.kv.memcached;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The words of a command line, separated by blanks, and the numbers among them as memcached reads them. Reused. */
final class LineWords {
    private static final int INITIAL_WORDS = 24;
    private static final int MAX_SIGNED_DIGITS = 18;
    private static final int MAX_UNSIGNED_DIGITS = 20;

    private byte[] line = {};
    private int[] bounds = new int[2 * INITIAL_WORDS];
    private int count;

    /**
     * Cuts a line.
     *
     * @param source array that holds the line from its start; it is kept, not copied
     * @param lineLength bytes of the line without its end
     */
    void split(byte[] source, int lineLength) {
        line = source;
        count = 0;
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
            if (2 * count == bounds.length) {
                bounds = Arrays.copyOf(bounds, 2 * bounds.length);
            }
            bounds[2 * count] = start;
            bounds[2 * count + 1] = at;
            count++;
        }
    }

    byte[] bytes() {
        return line;
    }

    int count() {
        return count;
    }

    int start(int word) {
        return bounds[2 * word];
    }

    int length(int word) {
        return bounds[2 * word + 1] - bounds[2 * word];
    }

    byte first(int word) {
        return line[bounds[2 * word]];
    }

    /** A word got shorter in place. */
    void shorten(int word, int length) {
        bounds[2 * word + 1] = bounds[2 * word] + length;
    }

    String text(int word) {
        return new String(line, start(word), length(word), StandardCharsets.ISO_8859_1);
    }

    boolean is(int word, String text) {
        return length(word) == text.length() && startsWith(word, text);
    }

    boolean startsWith(int word, String text) {
        int start = start(word);
        if (length(word) < text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (line[start + i] != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** True if a word, without its first {@code skip} bytes, is a whole decimal number from {@code min} to {@code max}. */
    boolean isNumber(int word, int skip, long min, long max) {
        int start = start(word) + skip;
        int length = length(word) - skip;
        boolean signed = length > 0 && (line[start] == '-' || line[start] == '+');
        int digits = length - (signed ? 1 : 0);
        if (digits < 1 || digits > MAX_SIGNED_DIGITS || !areDigits(start + (signed ? 1 : 0), digits)) {
            return false;
        }
        long value = number(word, skip);
        return value >= min && value <= max;
    }

    /** True if a word, without its first {@code skip} bytes, is a number of 64 bits without a sign. */
    boolean isUnsigned64(int word, int skip) {
        int start = start(word) + skip;
        int digits = length(word) - skip;
        if (digits < 1 || digits > MAX_UNSIGNED_DIGITS || !areDigits(start, digits)) {
            return false;
        }
        return digits < MAX_UNSIGNED_DIGITS
                || (Long.compareUnsigned(number(word, skip), Long.MIN_VALUE) >= 0 && line[start] == '1');
    }

    /** The value of a word that was checked; as an unsigned one where it is that long. */
    long number(int word, int skip) {
        int start = start(word) + skip;
        boolean negative = line[start] == '-';
        long value = 0;
        for (int i = start + (negative || line[start] == '+' ? 1 : 0); i < bounds[2 * word + 1]; i++) {
            value = value * 10 + (line[i] - '0');
        }
        return negative ? -value : value;
    }

    private boolean areDigits(int start, int digits) {
        for (int i = start; i < start + digits; i++) {
            if (line[i] < '0' || line[i] > '9') {
                return false;
            }
        }
        return true;
    }
}
