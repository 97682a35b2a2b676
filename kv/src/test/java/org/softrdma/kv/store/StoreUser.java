package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;

/** Uses a store by strings. */
final class StoreUser {
    private final ItemStore store;
    long now = 1_000_000;

    @Nullable
    NewItem last;

    StoreUser(ItemStore store) {
        this.store = store;
    }

    StoreStatus set(String key, String value) {
        return store(key, value, 0, new StoreRule());
    }

    StoreStatus store(String key, String value, int expiry, StoreRule rule) {
        NewItem item = store.reserve(new KeySlice(bytes(key)), 7, expiry, value.length(), now);
        if (item.status() != NewItem.Status.READY) {
            return item.status() == NewItem.Status.TOO_LARGE ? StoreStatus.TOO_LARGE : StoreStatus.OUT_OF_MEMORY;
        }
        MemorySegment.copy(bytes(value), 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), value.length());
        last = item;
        return store.store(item, rule, now);
    }

    @Nullable
    String get(String key) {
        String[] found = new String[1];
        store.get(new KeySlice(bytes(key)), now, true, item -> found[0] = value(item));
        return found[0];
    }

    long cas(String key) {
        long[] cas = new long[1];
        store.get(new KeySlice(bytes(key)), now, false, item -> cas[0] = item.cas());
        return cas[0];
    }

    @Nullable
    Locator locator(String key) {
        Locator[] found = new Locator[1];
        store.get(new KeySlice(bytes(key)), now, false, item -> found[0] = item.locator());
        return found[0];
    }

    StoreStatus delete(String key) {
        return store.delete(new KeySlice(bytes(key)), 0, now);
    }

    StoreStatus rewrite(String key, ItemRewriter rewriter) {
        return store.rewrite(new KeySlice(bytes(key)), new StoreRule(), rewriter, now, item -> {});
    }

    static String value(StoredItem item) {
        byte[] bytes =
                item.memory().asSlice(item.valueOffset(), item.valueLength()).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
