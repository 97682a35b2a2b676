package org.softrdma.rdmacore.abi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Memory by address, as in C. The caller must know that the address is valid. */
public final class CMemory {
    @SuppressWarnings("restricted")
    private static final MemorySegment EVERYTHING = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private CMemory() {}

    /** Reads 8 bits. */
    public static byte getByte(long address) {
        return EVERYTHING.get(ValueLayout.JAVA_BYTE, address);
    }

    /** Writes 8 bits. */
    public static void putByte(long address, byte value) {
        EVERYTHING.set(ValueLayout.JAVA_BYTE, address, value);
    }

    /** Reads 16 bits. */
    public static short getShort(long address) {
        return EVERYTHING.get(ValueLayout.JAVA_SHORT, address);
    }

    /** Writes 16 bits. */
    public static void putShort(long address, short value) {
        EVERYTHING.set(ValueLayout.JAVA_SHORT, address, value);
    }

    /** Reads 32 bits. */
    public static int getInt(long address) {
        return EVERYTHING.get(ValueLayout.JAVA_INT, address);
    }

    /** Writes 32 bits. */
    public static void putInt(long address, int value) {
        EVERYTHING.set(ValueLayout.JAVA_INT, address, value);
    }

    /** Reads 64 bits. */
    public static long getLong(long address) {
        return EVERYTHING.get(ValueLayout.JAVA_LONG, address);
    }

    /** A number whose bytes in memory are those of another in network byte order; the other way round too. */
    public static int networkOrder(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? value : Integer.reverseBytes(value);
    }

    /** Writes 64 bits. */
    public static void putLong(long address, long value) {
        EVERYTHING.set(ValueLayout.JAVA_LONG, address, value);
    }

    /** A copy of some bytes. */
    public static byte[] getBytes(long address, int length) {
        byte[] bytes = new byte[length];
        MemorySegment.copy(EVERYTHING, ValueLayout.JAVA_BYTE, address, bytes, 0, length);
        return bytes;
    }

    /** Copies bytes there. */
    public static void putBytes(long address, byte[] bytes) {
        MemorySegment.copy(bytes, 0, EVERYTHING, ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    /** A C string of at most {@code most} bytes; a longer one is cut there. */
    public static String getString(long address, int most) {
        int length = 0;
        while (length < most && getByte(address + length) != 0) {
            length++;
        }
        return new String(getBytes(address, length), StandardCharsets.UTF_8);
    }
}
