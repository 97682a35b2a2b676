package org.softrdma.kv.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.kv.item.ItemChecksum;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;

/**
 * Decides from the bytes alone whether a READ has returned the requested item. The order of the checks matters: first
 * the generation (a dead item is stale, whatever else its bytes say), then whether the bytes belong together; only then
 * key and expiry are meaningful. Allocates nothing. Owned by one thread.
 */
public final class ItemCheck {
    /** For {@link #check}: the item cannot have expired, because its expiry was checked elsewhere. */
    public static final long NO_EXPIRY = 0;

    private final ItemChecksum checksum = new ItemChecksum(ItemChecksum.SHORT_ITEM);
    private int keyLength;
    private int valueLength;

    /** A checker. */
    public ItemCheck() {}

    /**
     * Checks an item that was READ at its locator. Only living items have odd generations: a locator with an even one
     * does not come from the store, and must not make a dead item look alive.
     *
     * @param memory where it landed
     * @param view a direct buffer over all of {@code memory}; its position and limit are changed
     * @param item offset of the item in it
     * @param second second half of the locator
     * @param key the key asked for
     * @param latestServerSeconds the latest that it can be on the server's clock
     */
    public ReadOutcome check(
            MemorySegment memory, ByteBuffer view, int item, long second, byte[] key, long latestServerSeconds) {
        int generation = ItemDescriptor.generation(memory, item);
        if (generation != Locator.generation(second) || (generation & 1) == 0) {
            return ItemDescriptor.forwardSecond(memory, item) != 0 ? ReadOutcome.FORWARDED : ReadOutcome.STALE;
        }
        return checkContent(memory, view, item, Locator.length(second), key, latestServerSeconds);
    }

    /**
     * Checks the bytes of a whole chunk, in which any item may live.
     *
     * <p>A living item with the right key is current: the store never lets two items of one key live at a time ({@link
     * org.softrdma.kv.store.ItemStore}), and lets the old one die before it answers a change, so an item that was alive
     * when the READ saw its head is no older than the last change acknowledged before. A dead item proves nothing; its
     * forward locator is not followed, because half of it may belong to another life of the chunk, and an rkey with the
     * length of another class would be an access out of bounds.
     *
     * @param memory where it landed
     * @param view a direct buffer over all of {@code memory}; its position and limit are changed
     * @param item offset of the chunk in it
     * @param chunkLength bytes that landed
     * @param key the key asked for
     * @param latestServerSeconds the latest that it can be on the server's clock
     */
    public ReadOutcome checkLiving(
            MemorySegment memory, ByteBuffer view, int item, int chunkLength, byte[] key, long latestServerSeconds) {
        if ((ItemDescriptor.generation(memory, item) & 1) == 0) {
            return ReadOutcome.STALE;
        }
        int foundLength = ItemDescriptor.valueLength(memory, item);
        long length = ItemDescriptor.itemLength(ItemDescriptor.keyLength(memory, item), foundLength);
        if (foundLength < 0 || length > chunkLength) {
            return ReadOutcome.TORN;
        }
        return checkContent(memory, view, item, (int) length, key, latestServerSeconds);
    }

    /**
     * Checks an item that the server wrote for us; it was alive then, so its generation does not matter.
     *
     * @param memory where it landed
     * @param view a direct buffer over all of {@code memory}; its position and limit are changed
     * @param item offset of the item in it
     * @param length bytes that landed
     * @param key the key asked for
     * @param latestServerSeconds the latest that it can be on the server's clock, or {@link #NO_EXPIRY}
     */
    public ReadOutcome checkContent(
            MemorySegment memory, ByteBuffer view, int item, int length, byte[] key, long latestServerSeconds) {
        int sequence = ItemDescriptor.sequence(memory, item);
        keyLength = ItemDescriptor.keyLength(memory, item);
        valueLength = ItemDescriptor.valueLength(memory, item);
        if ((sequence & 1) != 0
                || sequence != ItemDescriptor.tail(memory, item, length)
                || valueLength < 0
                || ItemDescriptor.itemLength(keyLength, valueLength) != length
                || ItemDescriptor.version(memory, item) != ItemDescriptor.VERSION
                || checksum.compute(view, item, keyLength, valueLength) != ItemDescriptor.checksum(memory, item)) {
            return ReadOutcome.TORN;
        }
        if (!ItemDescriptor.hasKey(memory, item, key)) {
            return ReadOutcome.KEY_MISMATCH;
        }
        long expiry = ItemDescriptor.expiry(memory, item);
        boolean expired = expiry != 0 && latestServerSeconds != NO_EXPIRY && expiry <= latestServerSeconds;
        return expired ? ReadOutcome.EXPIRED : ReadOutcome.HIT;
    }

    /**
     * Bytes of the key of the last item that was found whole. To be used instead of those in its header, which a bad
     * server may have changed since: it may write where its items land.
     */
    public int keyLength() {
        return keyLength;
    }

    /** Bytes of its value. */
    public int valueLength() {
        return valueLength;
    }
}
