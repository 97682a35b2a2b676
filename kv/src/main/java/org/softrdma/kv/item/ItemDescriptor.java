package org.softrdma.kv.item;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Layout of an item in a chunk of registered memory. Little endian; a chunk is 8-byte aligned. The storing thread
 * writes everything before the item is published; afterwards the item never changes except for the generation, the
 * expiry and the forward locator, which the thread that holds the key's lock writes ({@link ItemWriter}). Peers only
 * READ.
 *
 * <pre>
 *  31                                                              0
 * +-----------------------------------------------------------------+
 * |  generation: odd while the item lives, even before and after     |   0   one aligned 64-bit release store with
 * +-----------------------------------------------------------------+       the sequence
 * |  sequence: odd while the chunk is being filled                   |   4
 * +-----------------------------------------------------------------+
 * |  cas, the unique number of this version of the item              |   8
 * |                                                                  |  12
 * +-----------------------------------------------------------------+
 * |  expiry, seconds since 1970; 0 never                             |  16
 * +-----------------------------------------------------------------+
 * |  flags of the client that stored it                              |  20
 * +-----------------------------------------------------------------+
 * |  value length                                                    |  24
 * +--------------------------------+----------------+----------------+
 * |  header version (1)            |  item flags, 0 |  key length    |  28
 * +--------------------------------+----------------+----------------+
 * |  CRC-32 (IEEE) over bytes 8-15, 20-28 and 56 to the end          |  32
 * +-----------------------------------------------------------------+
 * |  CRC-32C over the same                                           |  36
 * +-----------------------------------------------------------------+
 * |  forward: locator of the item that replaced this one, or zero    |  40   16 bytes, {@link Locator}; may be seen torn,
 * |                                                                  |  52   the item it leads to is checked by itself
 * +-----------------------------------------------------------------+
 * |  key, value, zeroes up to a multiple of 8 less 4                 |  56
 * +-----------------------------------------------------------------+
 * |  tail: the sequence again                                        |  length - 4
 * +-----------------------------------------------------------------+
 * </pre>
 *
 * <p>The two CRCs together are as strong as one CRC of degree 64 (their polynomials are coprime), and both are
 * intrinsics of the JVM. They leave out what changes in a published item. They include the tail: of a READ that took
 * head and tail from one life of the chunk and all else from the next (nothing says in which order a device reads),
 * only that tells. Links, reference counts and pointers live outside registered memory.
 */
public final class ItemDescriptor {
    /** The generation; read and written together with the sequence. */
    public static final int GENERATION_OFFSET = 0;

    /** The sequence. */
    public static final int SEQUENCE_OFFSET = GENERATION_OFFSET + Integer.BYTES;

    /** The cas number; start of the first range under the CRCs. */
    public static final int CAS_OFFSET = SEQUENCE_OFFSET + Integer.BYTES;

    /** The expiry. */
    public static final int EXPIRY_OFFSET = CAS_OFFSET + Long.BYTES;

    /** The client's flags; start of the second range under the CRCs. */
    public static final int FLAGS_OFFSET = EXPIRY_OFFSET + Integer.BYTES;

    /** The value length. */
    public static final int VALUE_LENGTH_OFFSET = FLAGS_OFFSET + Integer.BYTES;

    /** The key length, one byte; end of the second range under the CRCs. */
    public static final int KEY_LENGTH_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;

    /** The item flags, one byte. */
    public static final int ITEM_FLAGS_OFFSET = KEY_LENGTH_OFFSET + Byte.BYTES;

    /** The version of this layout, two bytes. */
    public static final int VERSION_OFFSET = ITEM_FLAGS_OFFSET + Byte.BYTES;

    /** The CRC-32. */
    public static final int CRC32_OFFSET = VERSION_OFFSET + Short.BYTES;

    /** The CRC-32C. */
    public static final int CRC32C_OFFSET = CRC32_OFFSET + Integer.BYTES;

    /** The forward locator. */
    public static final int FORWARD_OFFSET = CRC32C_OFFSET + Integer.BYTES;

    /** The key, followed by the value. */
    public static final int KEY_OFFSET = FORWARD_OFFSET + Locator.LENGTH;

    /** Bytes of the tail. */
    public static final int TAIL_LENGTH = Integer.BYTES;

    /** Alignment of chunks and of the length of an item. */
    public static final int ALIGNMENT = Locator.UNIT;

    /** The length of the shortest item: a key of one byte, and no value. */
    public static final int MIN_LENGTH = (KEY_OFFSET + 1 + TAIL_LENGTH + ALIGNMENT - 1) & -ALIGNMENT;

    /** The longest key, that of memcached. */
    public static final int MAX_KEY_LENGTH = 250;

    /** The version that this class describes. */
    public static final int VERSION = 1;

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private ItemDescriptor() {}

    /**
     * Bytes of an item, a multiple of {@link #ALIGNMENT}.
     *
     * @param keyLength bytes of the key
     * @param valueLength bytes of the value
     */
    public static long itemLength(int keyLength, long valueLength) {
        return (KEY_OFFSET + keyLength + valueLength + TAIL_LENGTH + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /**
     * The generation.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static int generation(MemorySegment memory, long item) {
        return memory.get(INT, item + GENERATION_OFFSET);
    }

    /**
     * The sequence at the head.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static int sequence(MemorySegment memory, long item) {
        return memory.get(INT, item + SEQUENCE_OFFSET);
    }

    /**
     * The sequence at the tail.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     * @param itemLength bytes of the item
     */
    public static int tail(MemorySegment memory, long item, long itemLength) {
        return memory.get(INT, item + itemLength - TAIL_LENGTH);
    }

    /**
     * The cas number.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static long cas(MemorySegment memory, long item) {
        return memory.get(LONG, item + CAS_OFFSET);
    }

    /**
     * The expiry in seconds since 1970, 0 for never.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static long expiry(MemorySegment memory, long item) {
        return Integer.toUnsignedLong(memory.get(INT, item + EXPIRY_OFFSET));
    }

    /**
     * The client's flags.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static int flags(MemorySegment memory, long item) {
        return memory.get(INT, item + FLAGS_OFFSET);
    }

    /**
     * The value length as it stands there: of bytes from a peer it may be anything.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static int valueLength(MemorySegment memory, long item) {
        return memory.get(INT, item + VALUE_LENGTH_OFFSET);
    }

    /**
     * The key length, 0 to 255.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static int keyLength(MemorySegment memory, long item) {
        return Byte.toUnsignedInt(memory.get(BYTE, item + KEY_LENGTH_OFFSET));
    }

    /**
     * The version of the layout.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static int version(MemorySegment memory, long item) {
        return Short.toUnsignedInt(memory.get(SHORT, item + VERSION_OFFSET));
    }

    /**
     * Both CRCs, the CRC-32 in the low half.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static long checksum(MemorySegment memory, long item) {
        return memory.get(LONG, item + CRC32_OFFSET);
    }

    /**
     * First half of the forward locator, see {@link Locator}.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static long forwardFirst(MemorySegment memory, long item) {
        return memory.get(LONG, item + FORWARD_OFFSET);
    }

    /**
     * Second half of the forward locator, see {@link Locator}.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static long forwardSecond(MemorySegment memory, long item) {
        return memory.get(LONG, item + FORWARD_OFFSET + Long.BYTES);
    }

    /**
     * Where the value starts.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static long valueOffset(MemorySegment memory, long item) {
        return item + KEY_OFFSET + keyLength(memory, item);
    }

    /**
     * True if the item's key is this one.
     *
     * @param memory arena or landing buffer
     * @param item offset of the item in it
     */
    public static boolean hasKey(MemorySegment memory, long item, KeySlice key) {
        return hasKey(memory, item, key.bytes(), key.offset(), key.length());
    }

    /** The same of a key that is a whole array. */
    public static boolean hasKey(MemorySegment memory, long item, byte[] key) {
        return hasKey(memory, item, key, 0, key.length);
    }

    private static boolean hasKey(MemorySegment memory, long item, byte[] bytes, int keyOffset, int keyLength) {
        if (keyLength(memory, item) != keyLength) {
            return false;
        }
        if (keyLength < Long.BYTES) {
            return hasBytes(memory, item + KEY_OFFSET, bytes, keyOffset, keyLength);
        }
        // Whole words, the last of which may overlap the one before it.
        int last = keyLength - Long.BYTES;
        for (int at = 0; at < last; at += Long.BYTES) {
            if (memory.get(LONG, item + KEY_OFFSET + at) != (long) WORD.get(bytes, keyOffset + at)) {
                return false;
            }
        }
        return memory.get(LONG, item + KEY_OFFSET + last) == (long) WORD.get(bytes, keyOffset + last);
    }

    private static boolean hasBytes(MemorySegment memory, long at, byte[] key, int keyOffset, int length) {
        for (int i = 0; i < length; i++) {
            if (memory.get(BYTE, at + i) != key[keyOffset + i]) {
                return false;
            }
        }
        return true;
    }
}
