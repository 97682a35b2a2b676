package org.softrdma.kv.client.place;

import java.util.Arrays;
import org.softrdma.kv.item.Locator;

/**
 * Where items are, as far as the client knows: hash of the key to locator, and a word that the client notes with it.
 * Packed (32 bytes an entry) and bounded. A key has two sets of eight ways: its entry is in the second one only if the
 * first one was full. When both are full, the first entry of the first set goes that was not used since the clock hand
 * passed it. A wrong entry does no harm, the item itself is checked. Owned by one thread.
 */
public final class LocatorCache {
    /** No such entry. */
    public static final int NONE = -1;

    private static final int WAYS = 8;
    private static final int LONGS = 4;
    private static final int HASH = 0;
    private static final int FIRST = 1;
    private static final int SECOND = 2;
    private static final int NOTE = 3;

    private final long[] entries;
    /** A bit for each entry of a set. */
    private final byte[] used;

    private final byte[] hands;
    private final int setMask;
    private int size;

    /**
     * An empty cache.
     *
     * @param capacity entries wanted, 1 to 2^25; rounded up to a power of two, at least eight
     */
    public LocatorCache(int capacity) {
        if (capacity < 1 || capacity > 1 << 25) {
            throw new IllegalArgumentException("capacity=" + capacity + ": expected 1 to " + (1 << 25));
        }
        int sets = 1;
        while (sets * WAYS < capacity) {
            sets *= 2;
        }
        entries = new long[sets * WAYS * LONGS];
        used = new byte[sets];
        hands = new byte[sets];
        setMask = sets - 1;
    }

    /** Entries it can hold. */
    public int capacity() {
        return used.length * WAYS;
    }

    /** Entries it holds. */
    public int size() {
        return size;
    }

    /**
     * Prefetches the first entry that {@link #find} will look at; in a cache that is at most a quarter full, that is most
     * often enough. A caller that does so for several hashes before the first find waits for memory once.
     *
     * @param hash hash of a key
     * @return a number that the caller keeps, or nothing is fetched
     */
    public long fetch(long hash) {
        return entries[firstSet(hash) * WAYS * LONGS + HASH];
    }

    /**
     * Finds an entry and marks it used.
     *
     * @param hash hash of the key, not 0
     * @return the entry, or {@link #NONE}
     */
    public int find(long hash) {
        int entry = lookUp(hash);
        if (entry != NONE && !isUsed(entry)) {
            used[entry / WAYS] |= (byte) bit(entry);
        }
        return entry;
    }

    /**
     * First half of an entry's locator, see {@link Locator}.
     *
     * @param entry from {@link #find}
     */
    public long first(int entry) {
        return entries[entry * LONGS + FIRST];
    }

    /**
     * Second half of an entry's locator, see {@link Locator}.
     *
     * @param entry from {@link #find}
     */
    public long second(int entry) {
        return entries[entry * LONGS + SECOND];
    }

    /**
     * Finds the entry of a locator that is still known; does not mark it.
     *
     * @param likely the entry that it had
     * @param hash hash of the key, not 0
     * @param first first half of the locator
     * @param second second half of the locator
     * @return the entry, or {@link #NONE}
     */
    public int entryOf(int likely, long hash, long first, long second) {
        return holds(likely, hash, first, second) ? likely : entryOf(hash, first, second);
    }

    private int entryOf(long hash, long first, long second) {
        int entry = lookUp(hash);
        return entry != NONE && holds(entry, hash, first, second) ? entry : NONE;
    }

    private boolean holds(int entry, long hash, long first, long second) {
        return entries[entry * LONGS + HASH] == hash && first(entry) == first && second(entry) == second;
    }

    /**
     * What was noted with an entry; 0 if nothing was since it has this locator.
     *
     * @param entry from {@link #find} or {@link #entryOf}
     */
    public long note(int entry) {
        return entries[entry * LONGS + NOTE];
    }

    /**
     * Notes a word with an entry.
     *
     * @param entry from {@link #find} or {@link #entryOf}
     * @param word any
     */
    public void note(int entry, long word) {
        entries[entry * LONGS + NOTE] = word;
    }

    /**
     * Adds or changes an entry; another one may have to go.
     *
     * @param hash hash of the key, not 0
     * @param first first half of the locator
     * @param second second half of the locator
     */
    public void put(long hash, long first, long second) {
        int entry = lookUp(hash);
        if (entry != NONE && holds(entry, hash, first, second)) {
            return;
        }
        if (entry == NONE) {
            entry = place(hash);
            forgetUse(entry);
        }
        entries[entry * LONGS + HASH] = hash;
        entries[entry * LONGS + FIRST] = first;
        entries[entry * LONGS + SECOND] = second;
        entries[entry * LONGS + NOTE] = 0;
    }

    /**
     * Removes an entry if there is one.
     *
     * @param hash hash of the key, not 0
     */
    public void remove(long hash) {
        int entry = lookUp(hash);
        if (entry != NONE) {
            entries[entry * LONGS + HASH] = 0;
            size--;
        }
    }

    /**
     * Removes an entry if it still is this one.
     *
     * @param hash hash of the key, not 0
     * @param first first half of the locator
     * @param second second half of the locator
     */
    public void remove(long hash, long first, long second) {
        int entry = entryOf(hash, first, second);
        if (entry != NONE) {
            entries[entry * LONGS + HASH] = 0;
            size--;
        }
    }

    /** Removes all entries. */
    public void clear() {
        Arrays.fill(entries, 0);
        Arrays.fill(used, (byte) 0);
        size = 0;
    }

    private int firstSet(long hash) {
        return (int) hash & setMask;
    }

    private int secondSet(long hash) {
        return (int) (hash >>> Integer.SIZE) & setMask;
    }

    private int lookUp(long hash) {
        int entry = inSet(firstSet(hash), hash);
        return entry != NONE ? entry : inSet(secondSet(hash), hash);
    }

    private int inSet(int set, long hash) {
        int start = set * WAYS;
        for (int entry = start; entry < start + WAYS; entry++) {
            if (entries[entry * LONGS + HASH] == hash) {
                return entry;
            }
        }
        return NONE;
    }

    /** A free entry for a hash, or the one that goes. */
    private int place(long hash) {
        int free = inSet(firstSet(hash), 0);
        if (free == NONE) {
            free = inSet(secondSet(hash), 0);
        }
        if (free == NONE) {
            return victim(firstSet(hash));
        }
        size++;
        return free;
    }

    /** The entry of a full set that goes. */
    private int victim(int set) {
        int start = set * WAYS;
        while (true) { // at most one round: each step clears a mark
            int entry = start + hands[set];
            hands[set] = (byte) ((hands[set] + 1) % WAYS);
            if (!isUsed(entry)) {
                return entry;
            }
            forgetUse(entry);
        }
    }

    private boolean isUsed(int entry) {
        return (used[entry / WAYS] & bit(entry)) != 0;
    }

    private void forgetUse(int entry) {
        used[entry / WAYS] &= (byte) ~bit(entry);
    }

    private static int bit(int entry) {
        return 1 << entry % WAYS;
    }
}
