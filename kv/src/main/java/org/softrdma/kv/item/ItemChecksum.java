package org.softrdma.kv.item;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * Computes the CRC pair of an item. Allocates nothing after construction. Owned by one thread.
 *
 * <p>It can copy short items to the heap first. An update over memory of a shared arena enters and leaves the arena by
 * compare-and-swap, twelve times an item, which costs more than the copy (docs/studies/performance.md).
 */
public final class ItemChecksum {
    /** Items of this many bytes are cheaper to copy. */
    public static final int SHORT_ITEM = 4096;

    private final ByteBuffer copy;
    private final CRC32 crc32 = new CRC32();
    private final CRC32C crc32c = new CRC32C();

    /**
     * A calculator.
     *
     * @param copied the longest item that is copied first, in bytes; 0 for none, if it is made for one item only
     */
    public ItemChecksum(int copied) {
        copy = ByteBuffer.allocate(copied);
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
        return length <= copy.capacity()
                ? both(copyOf(memory, item, length), 0, keyLength, valueLength)
                : both(memory, item, keyLength, valueLength);
    }

    private ByteBuffer copyOf(ByteBuffer memory, int item, int length) {
        memory.clear().get(item, copy.array(), 0, length);
        return copy;
    }

    private long both(ByteBuffer memory, int item, int keyLength, int valueLength) {
        return Integer.toUnsignedLong(one(crc32, memory, item, keyLength, valueLength))
                | (long) one(crc32c, memory, item, keyLength, valueLength) << Integer.SIZE;
    }

    private static int one(Checksum crc, ByteBuffer memory, int item, int keyLength, int valueLength) {
        crc.reset();
        range(crc, memory, item + ItemDescriptor.CAS_OFFSET, item + ItemDescriptor.EXPIRY_OFFSET);
        range(crc, memory, item + ItemDescriptor.FLAGS_OFFSET, item + ItemDescriptor.ITEM_FLAGS_OFFSET);
        int key = item + ItemDescriptor.KEY_OFFSET;
        range(crc, memory, key, item + (int) ItemDescriptor.itemLength(keyLength, valueLength));
        return (int) crc.getValue();
    }

    private static void range(Checksum crc, ByteBuffer memory, int from, int to) {
        memory.limit(to).position(from);
        crc.update(memory);
    }
}
