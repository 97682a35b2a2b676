package org.softrdma.kv.memcached;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The words of a command line, separated by blanks, and the numbers among them as memcached reads them, by C's
 * strtol. Reused.
 */
final class LineWords {
    private static final int INITIAL_WORDS = 24;

    /** Bounds of so many words are kept for the next line. */
    private static final int KEPT_WORDS = 128;

    private static final int RADIX = 10;
    private static final long UNSIGNED_MAX = -1;

    /** So many digits are less than any limit of 64 bits. */
    private static final int SAFE_DIGITS = 18;

    private static final byte[] NO_LINE = {};

    private byte[] line = NO_LINE;
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

    /** The words with a blank in between. */
    byte[] join() {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            if (i > 0) {
                joined.write(' ');
            }
            joined.write(line, start(i), length(i));
        }
        return joined.toByteArray();
    }

    /** Forgets a line, and gives back what a long one has taken. */
    void release() {
        count = 0;
        line = NO_LINE;
        if (bounds.length > 2 * KEPT_WORDS) {
            bounds = new int[2 * INITIAL_WORDS];
        }
    }

    byte[] bytes() {
        return line;
    }

    int capacity() {
        return bounds.length / 2;
    }

    int count() {
        return count;
    }

    int start(int word) {
        return bounds[2 * word];
    }

    int end(int word) {
        return bounds[2 * word + 1];
    }

    int length(int word) {
        return end(word) - start(word);
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

    /**
     * True if a word, without its first {@code skip} bytes, is a number of 64 bits with or without a sign, as
     * memcached's safe_strtol has it. Its lower half is what memcached makes of it where it keeps 32 bits.
     */
    boolean isSigned64(int word, int skip) {
        int start = start(word) + skip;
        int end = numberEnd(start, end(word));
        return end > 0 && !overflows(start, end, isNegative(start, end) ? Long.MIN_VALUE : Long.MAX_VALUE);
    }

    /**
     * True if a word, without its first {@code skip} bytes, is a number of 64 bits, as memcached's safe_strtoull has
     * it: a minus is refused only where the number would come out above the largest signed one.
     */
    boolean isUnsigned64(int word, int skip) {
        int start = start(word) + skip;
        int end = numberEnd(start, end(word));
        return end > 0 && !overflows(start, end, UNSIGNED_MAX) && !(isNegative(start, end) && number(word, skip) < 0);
    }

    /** True if a word is a number from {@code min} to {@code max}. */
    boolean isNumber(int word, long min, long max) {
        return isSigned64(word, 0) && number(word, 0) >= min && number(word, 0) <= max;
    }

    /** The value of a word that was checked, all 64 bits of it. */
    long number(int word, int skip) {
        int start = start(word) + skip;
        int end = numberEnd(start, end(word));
        long value = 0;
        for (int i = firstDigit(start, end); i < end; i++) {
            value = value * RADIX + (line[i] - '0');
        }
        return isNegative(start, end) ? -value : value;
    }

    /**
     * Where a number ends: behind blanks, a sign and digits, at the end of the word or at another blank; 0 if it is
     * none.
     */
    private int numberEnd(int start, int limit) {
        int digits = firstDigit(start, limit);
        int at = digits;
        while (at < limit && line[at] >= '0' && line[at] <= '9') {
            at++;
        }
        return at > digits && (at == limit || isBlank(line[at])) ? at : 0;
    }

    private int firstDigit(int start, int limit) {
        int at = skipBlanks(start, limit);
        return at < limit && (line[at] == '-' || line[at] == '+') ? at + 1 : at;
    }

    private boolean isNegative(int start, int limit) {
        int at = skipBlanks(start, limit);
        return at < limit && line[at] == '-';
    }

    private int skipBlanks(int start, int limit) {
        int at = start;
        while (at < limit && isBlank(line[at])) {
            at++;
        }
        return at;
    }

    /** True if digits up to an end are more than a number without a sign. */
    private boolean overflows(int start, int end, long most) {
        int first = firstDigit(start, end);
        if (end - first <= SAFE_DIGITS) {
            return false;
        }
        long value = 0;
        for (int i = first; i < end; i++) {
            int digit = line[i] - '0';
            if (Long.compareUnsigned(value, Long.divideUnsigned(most - digit, RADIX)) > 0) {
                return true;
            }
            value = value * RADIX + digit;
        }
        return false;
    }

    /** What C's isspace takes, of bytes that stand within words. */
    private static boolean isBlank(byte c) {
        return c >= '\t' && c <= '\r';
    }
}
