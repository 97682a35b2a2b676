package org.softrdma.sim.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.UnsafeApi;

/**
 * Loads, stores and copies at raw addresses.
 *
 * <p>Nothing checks bounds here: every address must lie in memory that the caller owns, or in an access that
 * {@link StagTable} has granted in the current epoch. Multi-byte accesses need no alignment unless they say so; network
 * order is big endian.
 *
 * <p>Single values go by {@link UnsafeApi}, not by a segment over all memory: the compiler needs hundreds of nodes for
 * each access to a segment, and stopped inlining in the middle of a READ on the same host
 * (docs/studies/performance.md).
 */
public final class NativeMemory {
    private static final MemorySegment ALL = everything();
    private static final boolean BIG_ENDIAN = true;
    private static final boolean LITTLE_ENDIAN = false;

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
        UnsafeApi.putByte(address, (byte) value);
    }

    /** Reads one byte, signed. */
    public static byte getByte(long address) {
        return UnsafeApi.getByte(address);
    }

    /** Reads one byte, signed, by acquire. */
    static byte getByteAcquire(long address) {
        return UnsafeApi.getByteAcquire(null, address);
    }

    /** Writes one byte by release: who reads it by acquire sees what was written before. */
    static void putByteRelease(long address, byte value) {
        UnsafeApi.putByteRelease(null, address, value);
    }

    /**
     * Writes an aligned word, in the machine's order, by release: who reads it by acquire sees what was written
     * before.
     */
    static void putWordRelease(long address, long value) {
        UnsafeApi.putLongRelease(null, address, value);
    }

    /** Reads an aligned word, in the machine's order, as atomics do. */
    static long getWordVolatile(long address) {
        return UnsafeApi.getLongVolatile(null, address);
    }

    /** Replaces an aligned word, in the machine's order, if it is what is expected. */
    static boolean compareAndSetWord(long address, long expected, long replacement) {
        return UnsafeApi.compareAndSetLong(null, address, expected, replacement);
    }

    /** Copies to aligned words, each by one store; the source needs no alignment. */
    static void storeWords(long source, long target, int words) {
        for (int i = 0; i < words; i++) {
            long at = (long) i * Long.BYTES;
            UnsafeApi.putLongOpaque(null, target + at, getNativeLong(source + at));
        }
    }

    /** Copies from aligned words, each by one load; the target needs no alignment. */
    static void loadWords(long source, long target, int words) {
        for (int i = 0; i < words; i++) {
            long at = (long) i * Long.BYTES;
            putNativeLong(target + at, UnsafeApi.getLongOpaque(null, source + at));
        }
    }

    /** Reads two bytes in network order, unsigned. */
    public static int getShort(long address) {
        return UnsafeApi.getShortUnaligned(null, address, BIG_ENDIAN) & 0xFFFF;
    }

    /** Writes two bytes in network order. */
    public static void putShort(long address, int value) {
        UnsafeApi.putShortUnaligned(null, address, (short) value, BIG_ENDIAN);
    }

    /** Reads four bytes in network order. */
    public static int getInt(long address) {
        return UnsafeApi.getIntUnaligned(null, address, BIG_ENDIAN);
    }

    /** Writes four bytes in network order. */
    public static void putInt(long address, int value) {
        UnsafeApi.putIntUnaligned(null, address, value, BIG_ENDIAN);
    }

    /** Reads four bytes, least significant first. */
    public static int getIntLittleEndian(long address) {
        return UnsafeApi.getIntUnaligned(null, address, LITTLE_ENDIAN);
    }

    /** Writes four bytes, least significant first. */
    public static void putIntLittleEndian(long address, int value) {
        UnsafeApi.putIntUnaligned(null, address, value, LITTLE_ENDIAN);
    }

    /** Reads eight bytes in network order. */
    public static long getLong(long address) {
        return UnsafeApi.getLongUnaligned(null, address, BIG_ENDIAN);
    }

    /** Writes eight bytes in network order. */
    public static void putLong(long address, long value) {
        UnsafeApi.putLongUnaligned(null, address, value, BIG_ENDIAN);
    }

    /** Reads four bytes in the machine's order. */
    public static int getNativeInt(long address) {
        return UnsafeApi.getIntUnaligned(null, address);
    }

    /** Writes four bytes in the machine's order. */
    public static void putNativeInt(long address, int value) {
        UnsafeApi.putIntUnaligned(null, address, value);
    }

    /** Reads eight bytes in the machine's order. */
    public static long getNativeLong(long address) {
        return UnsafeApi.getLongUnaligned(null, address);
    }

    /** Writes eight bytes in the machine's order. */
    public static void putNativeLong(long address, long value) {
        UnsafeApi.putLongUnaligned(null, address, value);
    }

    /** Reads an aligned int, in the machine's order, by acquire: what was written before its release is seen. */
    public static int getIntAcquire(long address) {
        return UnsafeApi.getIntAcquire(null, address);
    }

    /** Writes an aligned int, in the machine's order, by release: who reads it by acquire sees what was written before. */
    public static void putIntRelease(long address, int value) {
        UnsafeApi.putIntRelease(null, address, value);
    }

    /** Writes an aligned short, in the machine's order, by release. */
    public static void putShortRelease(long address, short value) {
        UnsafeApi.putShortRelease(null, address, value);
    }

    /** Writes two bytes in the machine's order. */
    public static void putNativeShort(long address, int value) {
        UnsafeApi.putShortUnaligned(null, address, (short) value);
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
