package org.softrdma.kv.item;

import java.util.HexFormat;

/**
 * Where an item is and which life of its chunk is meant: what a client needs to READ it. Sixteen bytes, little
 * endian, written by the store only; on the memcached connection as 32 hexadecimal digits in byte order.
 *
 * <pre>
 *  31                            24 23                             0
 * +-----------------------------------------------------------------+
 * |  rkey of the arena                                               |   0   "first"
 * +-----------------------------------------------------------------+
 * |  offset in the arena / 8                                         |   4
 * +--------------------------------+--------------------------------+
 * |  class        |  length: bytes of the item, a multiple of 8      |   8   "second"
 * +--------------------------------+--------------------------------+
 * |  generation: odd                                                 |  12
 * +-----------------------------------------------------------------+
 * </pre>
 *
 * <p>Where locators are many they are kept as two longs, {@code first} and {@code second}; the static methods read
 * those.
 *
 * @param rkey key of the arena
 * @param offset bytes from the start of the arena, a multiple of 8, below 32 GiB
 * @param length bytes of the item, a multiple of 8, below 16 MiB
 * @param sizeClass slab class of its chunk, 0 to 255
 * @param generation generation of the item
 */
public record Locator(int rkey, long offset, int length, int sizeClass, int generation) {
    /** Of offsets and lengths. */
    static final int UNIT = Long.BYTES;

    /** Bytes of a locator. */
    public static final int LENGTH = 2 * Long.BYTES;

    /** Hexadecimal digits of a locator. */
    public static final int HEX_LENGTH = 2 * LENGTH;

    /** The longest item that a locator can name. */
    public static final int MAX_ITEM_LENGTH = (1 << 24) - UNIT;

    private static final long MAX_OFFSET = 0xFFFF_FFFFL * UNIT;
    private static final int LENGTH_MASK = 0xFF_FFFF;
    private static final int CLASS_SHIFT = 24;
    private static final HexFormat HEX = HexFormat.of();

    /** Checks the ranges. */
    public Locator {
        if (offset < 0 || offset > MAX_OFFSET || offset % UNIT != 0) {
            throw new IllegalArgumentException("offset=" + offset + ": not a multiple of 8 up to " + MAX_OFFSET);
        }
        if (length < 0 || length > MAX_ITEM_LENGTH || length % UNIT != 0) {
            throw new IllegalArgumentException("length=" + length + ": not a multiple of 8 up to " + MAX_ITEM_LENGTH);
        }
        if (sizeClass < 0 || sizeClass > 255) {
            throw new IllegalArgumentException("sizeClass=" + sizeClass + ": not 0 to 255");
        }
    }

    /**
     * Takes a locator apart that was kept as two longs. The length is rounded down to a multiple of 8.
     *
     * @param first its first half
     * @param second its second half
     */
    public static Locator of(long first, long second) {
        return new Locator(rkey(first), offset(first), length(second) & -UNIT, sizeClass(second), generation(second));
    }

    /** The first half. */
    public long first() {
        return Integer.toUnsignedLong(rkey) | (offset / UNIT) << Integer.SIZE;
    }

    /** The second half. */
    public long second() {
        return Integer.toUnsignedLong(length | sizeClass << CLASS_SHIFT) | (long) generation << Integer.SIZE;
    }

    /**
     * The rkey in a first half.
     *
     * @param first first half of a locator
     */
    public static int rkey(long first) {
        return (int) first;
    }

    /**
     * The offset in a first half.
     *
     * @param first first half of a locator
     */
    public static long offset(long first) {
        return (first >>> Integer.SIZE) * UNIT;
    }

    /**
     * The length in a second half.
     *
     * @param second second half of a locator
     */
    public static int length(long second) {
        return (int) second & LENGTH_MASK;
    }

    /**
     * The slab class in a second half.
     *
     * @param second second half of a locator
     */
    public static int sizeClass(long second) {
        return (int) second >>> CLASS_SHIFT;
    }

    /**
     * The generation in a second half.
     *
     * @param second second half of a locator
     */
    public static int generation(long second) {
        return (int) (second >>> Integer.SIZE);
    }

    /** The locator as it goes over a memcached connection. */
    public String toHex() {
        return HEX.toHexDigits(Long.reverseBytes(first())) + HEX.toHexDigits(Long.reverseBytes(second()));
    }

    /**
     * Reads the form of {@link #toHex()}.
     *
     * @param hex exactly {@link #HEX_LENGTH} hexadecimal digits
     * @throws IllegalArgumentException if they are not
     */
    public static Locator ofHex(CharSequence hex) {
        if (hex.length() != HEX_LENGTH) {
            throw new IllegalArgumentException("locator of " + hex.length() + " digits, expected " + HEX_LENGTH);
        }
        return of(
                Long.reverseBytes(HexFormat.fromHexDigitsToLong(hex, 0, HEX_LENGTH / 2)),
                Long.reverseBytes(HexFormat.fromHexDigitsToLong(hex, HEX_LENGTH / 2, HEX_LENGTH)));
    }
}
