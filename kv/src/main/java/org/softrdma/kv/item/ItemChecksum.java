package org.softrdma.kv.item;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * Computes the CRC pair of an item. Allocates nothing after construction. Owned by one thread.
 *
 * <p>It can copy short items to the heap first, and there gather what is under the CRCs. An update over memory of a shared arena
 * enters and leaves the arena by compare-and-swap, and each of the three ranges is an update for either CRC, which together cost
 * more than the copy (docs/studies/performance.md).
 *
 * <pre>
 *   the copy, from byte SHIFT on: the item as it is, but that two ranges stand before the third
 *   0                        FIRST     FIRST + 8                  KEY_OFFSET
 *   | ... not used any more  | cas     | flags to key length      | key, value, zeroes, tail |
 * </pre>
 */
public final class ItemChecksum {
    /** Items of this many bytes are cheaper to copy. */
    public static final int SHORT_ITEM = 4096;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int SECOND_LENGTH = ItemDescriptor.ITEM_FLAGS_OFFSET - ItemDescriptor.FLAGS_OFFSET;
    private static final int SECOND = ItemDescriptor.KEY_OFFSET - SECOND_LENGTH;
    private static final int FIRST = SECOND - Long.BYTES;
    /** So that what is gathered begins at a whole word, from where the CRCs are fastest. */
    private static final int SHIFT = -FIRST & (Long.BYTES - 1);

    private final byte[] copy;
    private final CRC32 crc32 = new CRC32();
    private final CRC32C crc32c = new CRC32C();

    /**
     * A calculator.
     *
     * @param copied the longest item that is copied first, in bytes; 0 for none, if it is made for one item only
     */
    public ItemChecksum(int copied) {
        copy = new byte[copied + SHIFT];
    }

    /**
     * The CRC pair, the CRC-32 in the low half, as {@link ItemDescriptor#checksum} has it.
     *
     * @param memory a direct buffer over the memory of the item; its position and limit are changed
     * @param item offset of the item in it
     * @param keyLength bytes of the key
     * @param valueLength bytes of the value
     */
    public long compute(ByteBuffer memory, int item, int keyLength, int valueLength) {
        int length = (int) ItemDescriptor.itemLength(keyLength, valueLength);
        return length <= copy.length - SHIFT
                ? ofCopy(memory, item, length)
                : pair(inPlace(crc32, memory, item, length), inPlace(crc32c, memory, item, length));
    }

    private static long pair(int low, int high) {
        return Integer.toUnsignedLong(low) | (long) high << Integer.SIZE;
    }

    /** Copies an item, and moves what is under the CRCs together. */
    private long ofCopy(ByteBuffer memory, int item, int length) {
        memory.clear().get(item, copy, SHIFT, length);
        LONG.set(copy, SHIFT + FIRST, (long) LONG.get(copy, SHIFT + ItemDescriptor.CAS_OFFSET));
        LONG.set(copy, SHIFT + SECOND, (long) LONG.get(copy, SHIFT + ItemDescriptor.FLAGS_OFFSET));
        copy[SHIFT + SECOND + Long.BYTES] = copy[SHIFT + ItemDescriptor.KEY_LENGTH_OFFSET];
        return pair(gathered(crc32, length - FIRST), gathered(crc32c, length - FIRST));
    }

    private int gathered(Checksum crc, int length) {
        crc.reset();
        crc.update(copy, SHIFT + FIRST, length);
        return (int) crc.getValue();
    }

    private static int inPlace(Checksum crc, ByteBuffer memory, int item, int length) {
        crc.reset();
        range(crc, memory, item + ItemDescriptor.CAS_OFFSET, item + ItemDescriptor.EXPIRY_OFFSET);
        range(crc, memory, item + ItemDescriptor.FLAGS_OFFSET, item + ItemDescriptor.ITEM_FLAGS_OFFSET);
        range(crc, memory, item + ItemDescriptor.KEY_OFFSET, item + length);
        return (int) crc.getValue();
    }

    private static void range(Checksum crc, ByteBuffer memory, int from, int to) {
        memory.limit(to).position(from);
        crc.update(memory);
    }
}
