package org.softrdma.kv.memcached;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Values that incr and decr take: an unsigned number of 64 bits in decimal digits, with blanks around it. */
public final class DecimalValue {
    /** Most digits of a number. */
    public static final int MAX_LENGTH = 20;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private DecimalValue() {}

    /**
     * True if a value is such a number.
     *
     * @param memory holds it
     * @param offset where it starts
     * @param length its bytes
     */
    public static boolean isNumber(MemorySegment memory, long offset, int length) {
        int start = skipBlanks(memory, offset, length);
        int end = digitsEnd(memory, offset, start, length);
        int digits = end - start;
        if (digits < 1 || digits > MAX_LENGTH || (end < length && !isBlank(memory.get(BYTE, offset + end)))) {
            return false;
        }
        return digits < MAX_LENGTH
                || (memory.get(BYTE, offset + start) == '1'
                        && Long.compareUnsigned(number(memory, offset, length), Long.MIN_VALUE) >= 0);
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
        int start = skipBlanks(memory, offset, length);
        int end = digitsEnd(memory, offset, start, length);
        long value = 0;
        for (int i = start; i < end; i++) {
            value = value * 10 + (memory.get(BYTE, offset + i) - '0');
        }
        return value;
    }

    private static int skipBlanks(MemorySegment memory, long offset, int length) {
        int at = 0;
        while (at < length && isBlank(memory.get(BYTE, offset + at))) {
            at++;
        }
        return at;
    }

    private static int digitsEnd(MemorySegment memory, long offset, int start, int length) {
        int at = start;
        while (at < length && memory.get(BYTE, offset + at) >= '0' && memory.get(BYTE, offset + at) <= '9') {
            at++;
        }
        return at;
    }

    private static boolean isBlank(byte c) {
        return c == ' ' || (c >= '\t' && c <= '\r');
    }
}
