package org.softrdma.kv.client.place;

import java.util.random.RandomGenerator;

/**
 * What the clients of a loop know of one server's items. Sharing it means that what one of them has learnt the others
 * READ at once, and that eight clients take one client's share of the processor's cache. A wrong entry does no harm,
 * the item itself is checked. Owned by the thread of the loop.
 */
public final class KnownItems {
    private final LocatorCache locators;
    private final long hashSeed;
    private String bootId = "";

    /**
     * Nothing is known.
     *
     * @param locatorCapacity how many places of items there is room for
     * @param random gives the seed of hashes
     */
    public KnownItems(int locatorCapacity, RandomGenerator random) {
        locators = new LocatorCache(locatorCapacity);
        hashSeed = random.nextLong();
    }

    /** Where items are. */
    public LocatorCache locators() {
        return locators;
    }

    /** For the hashes of keys in {@link #locators}. */
    public long hashSeed() {
        return hashSeed;
    }

    /** A connection has reached this life of the server: what was known of another one is forgotten. */
    public void reached(String life) {
        if (!life.equals(bootId)) {
            locators.clear();
            bootId = life;
        }
    }
}
