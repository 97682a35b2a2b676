package org.softrdma.kv.store;

/**
 * What the store keeps about the chunks of a page outside registered memory. The page's own fields never change. What
 * is kept per chunk has two owners: {@code states} and {@code times} belong to the lock of the key that the chunk
 * holds (times and pins are looked at without it, for ages and by eviction); {@code lru}, {@code next} and
 * {@code previous} to the lock of the class's {@link SegmentedLru}.
 */
final class SlabPage {
    private static final int LINKED = 1 << 31;
    private static final int FETCHED = 1 << 30;
    private static final int STALE = 1 << 29;
    private static final int TOKEN_SENT = 1 << 28;
    private static final int KEY_BINARY = 1 << 27;
    private static final int PINS_MASK = KEY_BINARY - 1;

    final int sizeClass;
    final int chunkLength;

    /** Number of the page among those of its class. */
    final int ordinal;

    /** What peers call its chunks. */
    final RemotePage names;

    /** The first chunk as {@link SlabAllocator} numbers them. */
    final long firstChunk;

    final byte[] lru;
    final int[] next;
    final int[] previous;
    final int[] times;
    private final int[] states;

    SlabPage(int sizeClass, int chunkLength, int ordinal, long firstChunk, int chunks, RemotePage names) {
        this.sizeClass = sizeClass;
        this.chunkLength = chunkLength;
        this.ordinal = ordinal;
        this.firstChunk = firstChunk;
        this.names = names;
        states = new int[chunks];
        times = new int[chunks];
        lru = new byte[chunks];
        next = new int[chunks];
        previous = new int[chunks];
    }

    int chunks() {
        return states.length;
    }

    long chunk(int index) {
        return firstChunk + (long) index * chunkLength;
    }

    /** The index names this chunk. */
    void link(int index, int nowSeconds) {
        states[index] = LINKED | (states[index] & KEY_BINARY);
        times[index] = nowSeconds;
    }

    /** The index names this chunk instead of another one with the same item. */
    void relocate(SlabPage from, int fromIndex, int index) {
        states[index] = from.states[fromIndex] & ~PINS_MASK;
        times[index] = from.times[fromIndex];
    }

    /** The index names this chunk no more; true if nobody else uses it. */
    boolean unlink(int index) {
        states[index] &= PINS_MASK;
        return states[index] == 0;
    }

    /** Somebody needs the bytes of this chunk for a while; false if too many do already. */
    boolean pin(int index) {
        if ((states[index] & PINS_MASK) == PINS_MASK) {
            return false;
        }
        states[index]++;
        return true;
    }

    /** True if somebody needs its bytes; a glance, if the lock of the key is not held. */
    boolean isPinned(int index) {
        return (states[index] & PINS_MASK) != 0;
    }

    /** One less; true if nobody uses the chunk any more. */
    boolean unpin(int index) {
        if ((states[index] & PINS_MASK) == 0) {
            throw new IllegalStateException("chunk " + index + " of class " + sizeClass + " is not pinned");
        }
        states[index]--;
        return (states[index] & (LINKED | PINS_MASK)) == 0;
    }

    /** It was read since it was stored. */
    boolean isFetched(int index) {
        return (states[index] & FETCHED) != 0;
    }

    void setFetched(int index) {
        states[index] |= FETCHED;
    }

    /** Invalidated by {@code md I}, but still served. */
    boolean isStale(int index) {
        return (states[index] & STALE) != 0;
    }

    void setStale(int index) {
        states[index] |= STALE;
    }

    /** A client was told to recache it. */
    boolean isTokenSent(int index) {
        return (states[index] & TOKEN_SENT) != 0;
    }

    void setTokenSent(int index) {
        states[index] |= TOKEN_SENT;
    }

    /** Its key was given in base 64. */
    boolean isKeyBinary(int index) {
        return (states[index] & KEY_BINARY) != 0;
    }

    void setKeyBinary(int index) {
        states[index] |= KEY_BINARY;
    }
}
