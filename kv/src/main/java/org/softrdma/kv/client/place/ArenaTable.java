package org.softrdma.kv.client.place;

import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;
import org.softrdma.verbs.RemoteRegion;

/**
 * The server's arenas by rkey ("arena" registration): a locator names one item for the time of its life, by the place
 * where it is. Owned by one thread.
 */
public final class ArenaTable implements Registration {
    private static final int WORDS = 4;

    /** More than any server has, and few enough for whatever calls itself one. */
    private static final int MOST_ARENAS = 1 << 17;

    private final Int2ObjectHashMap<RemoteRegion> arenas = new Int2ObjectHashMap<>();

    /** Nothing is known yet. */
    public ArenaTable() {}

    /** {@code ARENA <rkey> <address> <length>}. */
    @Override
    public boolean add(String[] words) {
        if (words.length != WORDS || !words[0].equals("ARENA") || arenas.size() == MOST_ARENAS) {
            return false;
        }
        int rkey = Integer.parseUnsignedInt(words[1]);
        arenas.put(rkey, new RemoteRegion(Long.parseUnsignedLong(words[2]), Long.parseLong(words[3]), rkey));
        return true;
    }

    @Override
    public boolean knows(int rkey) {
        return arenas.containsKey(rkey);
    }

    @Override
    public long address(long first, long second, int maxLength) {
        @Nullable RemoteRegion arena = arenas.get(Locator.rkey(first));
        int length = Locator.length(second);
        boolean covered = arena != null
                && length >= ItemDescriptor.MIN_LENGTH
                && length % ItemDescriptor.ALIGNMENT == 0
                && length <= maxLength
                && Locator.offset(first) + length <= arena.length();
        return covered ? arena.address() + Locator.offset(first) : NOT_COVERED;
    }

    @Override
    public boolean namesChunks() {
        return false;
    }
}
