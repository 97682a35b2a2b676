package org.softrdma.kv.server.session;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.store.NewItem;

/**
 * Takes the value of a storage command straight into the store's memory, or skips it if there is no room. Memory is
 * taken when the first bytes come, not when they are announced, and may be lost to others while the rest is awaited
 * ({@link org.softrdma.kv.store.ItemStore#await}). Owned by the
 * thread of the connection.
 */
final class ValueIntake {
    private final KvService service;
    private final Conversation conversation;
    private final Consumer<ByteBuffer> taker = this::take;

    /** A value is expected. */
    private boolean expecting;

    // Of the value that is expected; the key stays in its request until that has ended.
    private boolean forgets;
    private final KeySlice key = new KeySlice();
    private int flags;
    private int expiry;
    private int valueLength;

    /** What takes the value: null before its first byte, and not READY where there is no room. */
    private @Nullable NewItem filling;

    private int filled;

    /** It may be lost meanwhile. */
    private boolean awaiting;

    ValueIntake(KvService service, Conversation conversation) {
        this.service = service;
        this.conversation = conversation;
    }

    /**
     * Says where the value goes.
     *
     * @param newKey whose bytes are unchanged until the value has come
     * @param newForgets whether an older value goes if there is no room for this one
     * @param newFlags the client's flags
     * @param newExpiry seconds since 1970, 0 for never
     * @param newLength bytes of the value
     * @return false if it is too large, and skipped
     */
    boolean begin(KeySlice newKey, boolean newForgets, int newFlags, int newExpiry, int newLength) {
        key.wrap(newKey);
        forgets = newForgets;
        flags = newFlags;
        expiry = newExpiry;
        valueLength = newLength;
        filling = null;
        filled = 0;
        expecting = !service.store().isTooLarge(key.length(), valueLength);
        if (!expecting) {
            forget();
        }
        conversation.expectValue(expecting ? taker : null, valueLength);
        return expecting;
    }

    /** Takes a piece of the value. */
    private void take(ByteBuffer piece) {
        NewItem item = item();
        int length = piece.remaining();
        if (item.status() == NewItem.Status.READY) {
            service.store()
                    .turns()
                    .copy(MemorySegment.ofBuffer(piece), 0, item.memory(), item.valueOffset() + filled, length);
        }
        filled += length;
    }

    /** What takes the value. */
    private NewItem item() {
        NewItem item = filling;
        if (item == null) {
            item = service.reserve(key, flags, expiry, valueLength, service.nowSeconds());
        } else if (awaiting && !service.store().goOn(item)) {
            item = NewItem.outOfMemory();
        }
        awaiting = false;
        if (item != filling && item.status() != NewItem.Status.READY) {
            forget();
        }
        filling = item;
        return item;
    }

    /** Like memcached: a set that failed must not leave the older value behind. */
    private void forget() {
        if (forgets) {
            service.store().delete(key, 0, service.nowSeconds());
        }
    }

    /** All that has come is used up. */
    void await() {
        NewItem item = filling;
        if (item != null && item.status() == NewItem.Status.READY && !awaiting) {
            awaiting = true;
            service.store().await(item, filled, service.nowSeconds());
        }
    }

    /** Takes the item once its value has come; null if the value was skipped, and the request is answered. */
    @Nullable
    NewItem end() {
        if (!expecting) {
            return null;
        }
        expecting = false;
        NewItem item = item();
        filling = null;
        return item;
    }

    /** Gives back what it holds. */
    void release() {
        NewItem item = filling;
        filling = null;
        expecting = false;
        if (item != null
                && item.status() == NewItem.Status.READY
                && (!awaiting || service.store().goOn(item))) {
            service.store().abandon(item);
        }
        awaiting = false;
    }
}
