package org.softrdma.kv.client;

import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.store.Locator;
import org.softrdma.verbs.RemoteRegion;

/**
 * The server's arenas by rkey: what turns a locator into an address, and what keeps a torn one from being read out of
 * bounds, which would end the queue pair. Owned by one thread.
 */
final class ArenaTable {
    private final Int2ObjectHashMap<RemoteRegion> arenas = new Int2ObjectHashMap<>();

    void put(RemoteRegion arena) {
        arenas.put(arena.rkey(), arena);
    }

    boolean knows(int rkey) {
        return arenas.containsKey(rkey);
    }

    /** True if all that a locator names lies in a known arena, is no longer than this, and can be an item. */
    boolean covers(long first, long second, int maxLength) {
        @Nullable RemoteRegion arena = arenas.get(Locator.rkey(first));
        int length = Locator.length(second);
        return arena != null
                && length >= 64
                && length % 8 == 0
                && length <= maxLength
                && Locator.offset(first) + length <= arena.length();
    }

    /** Where a locator that is covered starts. */
    long address(long first) {
        return arenas.get(Locator.rkey(first)).address() + Locator.offset(first);
    }
}
