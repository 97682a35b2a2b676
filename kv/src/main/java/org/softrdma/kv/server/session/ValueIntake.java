package org.softrdma.kv.server.session;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.binary.BinaryRequest;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreStatus;

/**
 * Takes the value of a storage command straight into the store's memory, or skips it if there is no room. Memory is
 * taken when the first bytes come, not when they are announced, and may be lost to others while the rest is awaited
 * ({@link org.softrdma.kv.store.ItemStore#await}). A connection has one for each kind of command; owned by the thread of
 * the connection.
 */
final class ValueIntake {
    /** Longer than the longest item may be: so long is what the binary protocol announces beyond it. */
    private static final int LONGEST_VALUE = Integer.MAX_VALUE / 2;

    private static final byte[] NO_KEY = {};

    private final KvService service;
    private final Conversation conversation;
    private final Consumer<ByteBuffer> taker = this::take;

    /** A value is expected. */
    private boolean expecting;

    // Of the value that is expected; the key stays in its request until that has ended.
    private StoreMode mode = StoreMode.SET;
    private byte[] key = NO_KEY;
    private int keyOffset;
    private int keyLength;
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
     * @param request of the key and the length
     * @param newMode how it is to be stored
     * @param newFlags the client's flags
     * @param newExpiry seconds since 1970, 0 for never
     * @return STORED if it is taken, otherwise why it is skipped
     */
    StoreStatus begin(TextRequest request, StoreMode newMode, int newFlags, int newExpiry) {
        key = request.bytes();
        keyOffset = request.keyOffset(0);
        keyLength = request.keyLength(0);
        flags = newFlags;
        return begin(newMode, newExpiry, request.valueLength());
    }

    /**
     * Says where the value of a binary request goes; see the other.
     *
     * @param newMode that of the operation, whatever its cas number makes of it
     */
    StoreStatus begin(BinaryRequest request, StoreMode newMode, int newExpiry) {
        key = request.bytes();
        keyOffset = request.keyOffset();
        keyLength = request.keyLength();
        flags = request.flags();
        return begin(newMode, newExpiry, (int) Math.min(request.valueLength(), LONGEST_VALUE));
    }

    private StoreStatus begin(StoreMode newMode, int newExpiry, int newLength) {
        mode = newMode;
        expiry = newExpiry;
        valueLength = newLength;
        expecting = !service.store().isTooLarge(keyLength, valueLength);
        if (!expecting) {
            conversation.expectValue(null, valueLength);
            forget();
            return StoreStatus.TOO_LARGE;
        }
        filling = null;
        filled = 0;
        conversation.expectValue(taker, valueLength);
        return StoreStatus.STORED;
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
            item = service.reserve(key, keyOffset, keyLength, flags, expiry, valueLength, service.nowSeconds());
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
        if (mode == StoreMode.SET) {
            service.store().delete(key, keyOffset, keyLength, 0, service.nowSeconds());
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

    /** Counts an item that was refused; the answer that says so. */
    byte[] refusal(StoreStatus status) {
        if (status == StoreStatus.TOO_LARGE) {
            service.counters().tooLarge.increment();
            return TextProtocol.TOO_LARGE;
        }
        service.counters().outOfMemory.increment();
        return TextProtocol.OUT_OF_MEMORY;
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
