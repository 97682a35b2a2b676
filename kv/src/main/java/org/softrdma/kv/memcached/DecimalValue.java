package org.softrdma.kv.memcached;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Values that incr and decr take: an unsigned number of 64 bits in decimal digits, with blanks and a sign before it and
 * anything after the blank or NUL that ends it.
 */
public final class DecimalValue {
    /** Most digits of a number, leading zeros aside. */
    public static final int MAX_LENGTH = 20;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private DecimalValue() {}

    /**
     * True if a value is such a number, as memcached's safe_strtoull has it.
     *
     * @param memory holds it
     * @param offset where it starts
     * @param length its bytes
     */
    public static boolean isNumber(MemorySegment memory, long offset, int length) {
        int start = digitsStart(memory, offset, length);
        int end = digitsEnd(memory, offset, start, length);
        if (end == start || (end < length && !endsNumber(memory.get(BYTE, offset + end)))) {
            return false;
        }
        int first = start;
        while (first < end - 1 && memory.get(BYTE, offset + first) == '0') {
            first++;
        }
        int digits = end - first;
        long magnitude = magnitude(memory, offset, first, end);
        boolean tooLarge = digits > MAX_LENGTH
                || (digits == MAX_LENGTH && (memory.get(BYTE, offset + first) != '1' || magnitude >= 0));
        return !tooLarge && (!isNegative(memory, offset, start) || -magnitude >= 0);
    }

    /**
     * The number that a value is.
     *
     * @param memory holds it
     * @param offset where it starts
     * @param length its bytes
     * @return the number, unsigned
     */
    public static long number(MemorySegment memory, long offset, int length) {
        int start = digitsStart(memory, offset, length);
        long magnitude = magnitude(memory, offset, start, digitsEnd(memory, offset, start, length));
        return isNegative(memory, offset, start) ? -magnitude : magnitude;
    }

    private static long magnitude(MemorySegment memory, long offset, int start, int end) {
        long magnitude = 0;
        for (int i = start; i < end; i++) {
            magnitude = magnitude * 10 + (memory.get(BYTE, offset + i) - '0');
        }
        return magnitude;
    }

    /** Behind blanks and a sign. */
    private static int digitsStart(MemorySegment memory, long offset, int length) {
        int at = 0;
        while (at < length && isBlank(memory.get(BYTE, offset + at))) {
            at++;
        }
        boolean signed = at < length && (memory.get(BYTE, offset + at) == '+' || memory.get(BYTE, offset + at) == '-');
        return signed ? at + 1 : at;
    }

    private static boolean isNegative(MemorySegment memory, long offset, int digitsStart) {
        return digitsStart > 0 && memory.get(BYTE, offset + digitsStart - 1) == '-';
    }

    private static int digitsEnd(MemorySegment memory, long offset, int start, int length) {
        int at = start;
        while (at < length && memory.get(BYTE, offset + at) >= '0' && memory.get(BYTE, offset + at) <= '9') {
            at++;
        }
        return at;
    }

    private static boolean endsNumber(byte c) {
        return c == 0 || isBlank(c);
    }

    private static boolean isBlank(byte c) {
        return c == ' ' || (c >= '\t' && c <= '\r');
    }
}
