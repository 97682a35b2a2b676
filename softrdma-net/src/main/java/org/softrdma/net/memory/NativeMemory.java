package org.softrdma.net.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Loads, stores and copies at raw addresses.
 *
 * <p>Nothing checks bounds here: every address must lie in memory that the caller owns, or was granted and still holds. Multi-byte accesses need no alignment; network order is big
 * endian.
 */
public final class NativeMemory {
    private static final MemorySegment ALL = everything();
    private static final ValueLayout.OfShort SHORT_BE =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT_BE = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT_LE = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** An aligned word that other threads look at meanwhile. */
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    /** Indexes of queues that the kernel and this process share. */
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private static final VarHandle SHORT = ValueLayout.JAVA_SHORT.varHandle();
    private static final ValueLayout.OfLong LONG_BE = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private NativeMemory() {}

    @SuppressWarnings("restricted")
    private static MemorySegment everything() {
        return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }

    /** A view of raw memory, for the parts of the JDK that take segments or buffers. */
    public static MemorySegment segment(long address, long length) {
        return ALL.asSlice(address, length);
    }

    /** Writes one byte. */
    public static void putByte(long address, int value) {
        ALL.set(ValueLayout.JAVA_BYTE, address, (byte) value);
    }

    /** Reads one byte, signed. */
    public static byte getByte(long address) {
        return ALL.get(ValueLayout.JAVA_BYTE, address);
    }

    /** Reads one byte, signed, by acquire. */
    public static byte getByteAcquire(long address) {
        return (byte) BYTE.getAcquire(ALL, address);
    }

    /** Writes one byte by release: who reads it by acquire sees what was written before. */
    public static void putByteRelease(long address, byte value) {
        BYTE.setRelease(ALL, address, value);
    }

    /**
     * Writes an aligned word, in the machine's order, by release: who reads it by acquire sees what was written
     * before.
     */
    public static void putWordRelease(long address, long value) {
        WORD.setRelease(ALL, address, value);
    }

    /** Reads an aligned word, in the machine's order, by acquire. */
    public static long getWordAcquire(long address) {
        return (long) WORD.getAcquire(ALL, address);
    }

    /** Reads an aligned word, in the machine's order, as atomics do. */
    public static long getWordVolatile(long address) {
        return (long) WORD.getVolatile(ALL, address);
    }

    /** Replaces an aligned word, in the machine's order, if it is what is expected. */
    public static boolean compareAndSetWord(long address, long expected, long replacement) {
        return WORD.compareAndSet(ALL, address, expected, replacement);
    }

    /** Copies to aligned words, each by one store; the source needs no alignment. */
    public static void storeWords(long source, long target, int words) {
        for (int i = 0; i < words; i++) {
            long at = (long) i * Long.BYTES;
            WORD.setOpaque(ALL, target + at, getNativeLong(source + at));
        }
    }

    /** Copies from aligned words, each by one load; the target needs no alignment. */
    public static void loadWords(long source, long target, int words) {
        for (int i = 0; i < words; i++) {
            long at = (long) i * Long.BYTES;
            putNativeLong(target + at, (long) WORD.getOpaque(ALL, source + at));
        }
    }

    /** Reads two bytes in network order, unsigned. */
    public static int getShort(long address) {
        return ALL.get(SHORT_BE, address) & 0xFFFF;
    }

    /** Writes two bytes in network order. */
    public static void putShort(long address, int value) {
        ALL.set(SHORT_BE, address, (short) value);
    }

    /** Reads four bytes in network order. */
    public static int getInt(long address) {
        return ALL.get(INT_BE, address);
    }

    /** Writes four bytes in network order. */
    public static void putInt(long address, int value) {
        ALL.set(INT_BE, address, value);
    }

    /** Reads four bytes, least significant first. */
    public static int getIntLittleEndian(long address) {
        return ALL.get(INT_LE, address);
    }

    /** Writes four bytes, least significant first. */
    public static void putIntLittleEndian(long address, int value) {
        ALL.set(INT_LE, address, value);
    }

    /** Reads eight bytes in network order. */
    public static long getLong(long address) {
        return ALL.get(LONG_BE, address);
    }

    /** Writes eight bytes in network order. */
    public static void putLong(long address, long value) {
        ALL.set(LONG_BE, address, value);
    }

    /** Reads four bytes in the machine's order. */
    public static int getNativeInt(long address) {
        return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
    }

    /** Writes four bytes in the machine's order. */
    public static void putNativeInt(long address, int value) {
        ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
    }

    /** Reads eight bytes in the machine's order. */
    public static long getNativeLong(long address) {
        return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    /** Writes eight bytes in the machine's order. */
    public static void putNativeLong(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }

    /** Reads an aligned int, in the machine's order, by acquire: what was written before its release is seen. */
    public static int getIntAcquire(long address) {
        return (int) INT.getAcquire(ALL, address);
    }

    /** Writes an aligned int, in the machine's order, by release: who reads it by acquire sees what was written before. */
    public static void putIntRelease(long address, int value) {
        INT.setRelease(ALL, address, value);
    }

    /** Writes an aligned short, in the machine's order, by release. */
    public static void putShortRelease(long address, short value) {
        SHORT.setRelease(ALL, address, value);
    }

    /** Writes two bytes in the machine's order. */
    public static void putNativeShort(long address, int value) {
        ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, (short) value);
    }

    /** Copies bytes; the ranges may overlap. */
    public static void copy(long source, long target, long length) {
        MemorySegment.copy(ALL, source, ALL, target, length);
    }

    /** Sets bytes to zero. */
    public static void clear(long address, long length) {
        ALL.asSlice(address, length).fill((byte) 0);
    }

    /** Copies an array into raw memory. */
    public static void put(long address, byte[] bytes) {
        MemorySegment.copy(bytes, 0, ALL, ValueLayout.JAVA_BYTE, address, bytes.length);
    }

    /** Copies raw memory into a new array. */
    public static byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, address, bytes, 0, length);
        return bytes;
    }
}
