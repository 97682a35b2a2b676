package org.softrdma.kv.store;

/**
 * How an item is to be stored. Reused by its owner; not thread-safe.
 */
public final class StoreRule {
    StoreMode mode = StoreMode.SET;
    long compareCas;
    long newCas;
    boolean staleIfOlder;
    boolean createIfMissing;
    int createExpiry;
    boolean tokenSent;
    boolean keyBinary;

    /** {@link StoreMode#SET} without conditions. */
    public StoreRule() {}

    /**
     * Begins a rule anew.
     *
     * @param newMode the mode; nothing else is asked for
     */
    public StoreRule reset(StoreMode newMode) {
        mode = newMode;
        compareCas = 0;
        newCas = 0;
        staleIfOlder = false;
        createIfMissing = false;
        createExpiry = 0;
        tokenSent = false;
        keyBinary = false;
        return this;
    }

    /** The mode. */
    public StoreMode mode() {
        return mode;
    }

    /**
     * Sets the cas number that the present item must have; 0 compares nothing, except that
     * {@link StoreMode#CAS} then never stores.
     *
     * @param cas the number, unsigned
     */
    public StoreRule compareCas(long cas) {
        compareCas = cas;
        return this;
    }

    /**
     * Sets the cas number that the new item gets.
     *
     * @param cas the number, unsigned; 0 for the next of the store
     */
    public StoreRule newCas(long cas) {
        newCas = cas;
        return this;
    }

    /**
     * With {@link StoreMode#CAS}: an older cas number than the present item's stores as well, but the item is stale
     * from the start and keeps the expiry of the one that it replaces ({@code ms} with {@code I}).
     *
     * @param wanted true for that
     */
    public StoreRule staleIfOlder(boolean wanted) {
        staleIfOlder = wanted;
        return this;
    }

    /**
     * With {@link StoreMode#APPEND} and {@link StoreMode#PREPEND}: stores the part alone if there is no item.
     *
     * @param expiry of the item in that case, seconds since 1970, 0 for never
     */
    public StoreRule createIfMissing(int expiry) {
        createIfMissing = true;
        createExpiry = expiry;
        return this;
    }

    /**
     * The item starts with its token given away: somebody else is about to fill it.
     *
     * @param sent true for that
     */
    public StoreRule tokenSent(boolean sent) {
        tokenSent = sent;
        return this;
    }

    /**
     * The key was given in base 64, and is to be answered so.
     *
     * @param binary true for that
     */
    public StoreRule keyBinary(boolean binary) {
        keyBinary = binary;
        return this;
    }
}
