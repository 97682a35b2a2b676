package org.softrdma.kv.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.kv.item.ItemChecksum;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;

/**
 * Decides from its bytes alone whether what a READ brought is the item asked for. The order of the checks matters:
 * the generation first (a dead item is stale, whatever else is true of it), then whether the bytes belong together,
 * and only of such bytes key and expiry mean anything. Allocates nothing. Owned by one thread.
 */
public final class ItemCheck {
    /** For {@link #check}: the item cannot have expired, its expiry was looked at elsewhere. */
    public static final long NO_EXPIRY = 0;

    private final ItemChecksum checksum = new ItemChecksum();
    private int keyLength;
    private int valueLength;

    /** A checker. */
    public ItemCheck() {}

    /**
     * Checks an item that was READ at its locator. Only an odd generation is one of a living item: a locator with
     * another is not the store's, and must not make a dead item look alive.
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
     * Checks what was READ from a whole chunk, in which any item may live.
     *
     * <p>A living item of the key is the one: the store never lets two of one key live at a time
     * ({@link org.softrdma.kv.store.ItemStore}), and lets the old one die before it answers a change, so one that
     * lived while the READ saw its head is no older than the last change acknowledged before. A dead one says
     * nothing; where its forward locator leads is not asked for, because half of that may be of another life of the
     * chunk, and a key with the length of another class would be an access out of bounds.
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
        if (!ItemDescriptor.hasKey(memory, item, key, 0, key.length)) {
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
