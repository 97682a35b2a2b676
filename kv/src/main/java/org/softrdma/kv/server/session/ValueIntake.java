package org.softrdma.kv.server.session;

import org.jspecify.annotations.Nullable;
import org.softrdma.kv.binary.BinaryRequest;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreStatus;

/**
 * Takes the value of a storage command straight into the store's memory, or skips it if there is no room. A
 * connection has one for each kind of command; owned by the thread of the connection.
 */
final class ValueIntake {
    /** Longer than the longest item may be: so long is what the binary protocol announces beyond it. */
    private static final long LONGEST_VALUE = Integer.MAX_VALUE / 2;

    private final KvService service;
    private final Conversation conversation;
    private @Nullable NewItem filling;

    ValueIntake(KvService service, Conversation conversation) {
        this.service = service;
        this.conversation = conversation;
    }

    /**
     * Says where the value goes.
     *
     * @param request of the key and the length
     * @param mode how it is to be stored
     * @param flags the client's flags
     * @param expiry seconds since 1970, 0 for never
     * @param nowSeconds the time
     * @return STORED if it is taken, otherwise why it is skipped
     */
    StoreStatus begin(TextRequest request, StoreMode mode, int flags, int expiry, long nowSeconds) {
        NewItem item = service.reserve(
                request.bytes(),
                request.keyOffset(0),
                request.keyLength(0),
                flags,
                expiry,
                request.valueLength(),
                nowSeconds);
        StoreStatus begun = begin(item, request.valueLength());
        if (begun != StoreStatus.STORED && mode == StoreMode.SET) {
            forget(request.bytes(), request.keyOffset(0), request.keyLength(0), nowSeconds);
        }
        return begun;
    }

    /**
     * Says where the value of a binary request goes; see the other.
     *
     * @param mode that of the operation, whatever its cas number makes of it
     */
    StoreStatus begin(BinaryRequest request, StoreMode mode, int expiry, long nowSeconds) {
        int length = (int) Math.min(request.valueLength(), LONGEST_VALUE);
        NewItem item = service.reserve(
                request.bytes(), request.keyOffset(), request.keyLength(), request.flags(), expiry, length, nowSeconds);
        StoreStatus begun = begin(item, length);
        if (begun != StoreStatus.STORED && mode == StoreMode.SET) {
            forget(request.bytes(), request.keyOffset(), request.keyLength(), nowSeconds);
        }
        return begun;
    }

    private StoreStatus begin(NewItem item, int valueLength) {
        if (item.status() == NewItem.Status.READY) {
            filling = item;
            conversation.expectValue(item.memory(), item.valueOffset(), item.valueLength());
            return StoreStatus.STORED;
        }
        conversation.expectValue(null, 0, valueLength);
        return item.status() == NewItem.Status.TOO_LARGE ? StoreStatus.TOO_LARGE : StoreStatus.OUT_OF_MEMORY;
    }

    /** Like memcached: a set that failed must not leave the older value behind. */
    private void forget(byte[] key, int offset, int length, long nowSeconds) {
        service.store().delete(key, offset, length, 0, nowSeconds);
    }

    /** Takes the filled item once its value has come; null if the value was skipped, and the request is answered. */
    @Nullable
    NewItem take() {
        NewItem item = filling;
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
        NewItem item = take();
        if (item != null) {
            service.store().abandon(item);
        }
    }
}
