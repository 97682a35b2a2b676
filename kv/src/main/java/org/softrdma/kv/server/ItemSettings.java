package org.softrdma.kv.server;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.store.LruRules;
import org.softrdma.kv.store.PageBalance;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.verbs.MemorySource;

/**
 * The memory for items, how it is divided and registered, and when it is freed: a part of {@link KvServerContext}. Not
 * thread-safe.
 */
public final class ItemSettings {
    /** The unit of memory that has its own rkey. */
    public enum Registration {
        /** Each arena; an item is found by its offset. Works on every device. */
        ARENA("arena"),
        /**
         * Each chunk; a key keeps its rkey when its item is replaced by one of the same slab class. Needs a device
         * with ZERO_BASED and REGION_SWAP, and a memory region for each chunk.
         */
        CHUNK("chunk");

        private final String word;

        Registration(String word) {
            this.word = word;
        }

        /** Its name in options and in the protocol. */
        public String word() {
            return word;
        }
    }

    /** memcached's default memory limit. */
    public static final long DEFAULT_MEMORY_LIMIT = 64L << 20;

    /** memcached's default for the longest item. */
    public static final int DEFAULT_MAX_ITEM_LENGTH = 1 << 20;

    private final SettingsLock lock;
    private long memoryLimit = DEFAULT_MEMORY_LIMIT;
    private boolean takenAtStart;
    private int maxItemLength = DEFAULT_MAX_ITEM_LENGTH;
    private int pageLength = SlabGeometry.DEFAULT_PAGE_LENGTH;
    private double slabFactor = SlabGeometry.DEFAULT_FACTOR;
    private int minimumSpace = SlabGeometry.DEFAULT_MINIMUM_SPACE;
    private Registration registration = Registration.ARENA;
    private boolean evicting = true;
    private MemorySource memory = new MemorySource.Anonymous();
    private boolean wiping;
    private boolean casNumbers = true;
    private boolean tailsReclaimed = true;
    private boolean crawling = true;
    private Consumer<LruRules> lru = rules -> {};
    private Consumer<PageBalance> balance = rules -> {};

    ItemSettings(SettingsLock lock) {
        this.lock = lock;
    }

    /**
     * Sets how much memory items may take.
     *
     * @param bytes at least a slab page
     */
    public ItemSettings memoryLimit(long bytes) {
        memoryLimit = lock.changed(bytes);
        return this;
    }

    /** How much memory items may take. */
    public long memoryLimit() {
        return memoryLimit;
    }

    /**
     * Sets whether all of that memory is taken, and locked if the device locks what it registers, before the server
     * serves; otherwise a part whenever it is needed.
     *
     * @param all false unless set
     */
    public ItemSettings takenAtStart(boolean all) {
        takenAtStart = lock.changed(all);
        return this;
    }

    /** Whether all memory is taken before the server serves. */
    public boolean takenAtStart() {
        return takenAtStart;
    }

    /**
     * Sets the longest item, with key and header.
     *
     * @param bytes 1024 to {@link Locator#MAX_ITEM_LENGTH}
     */
    public ItemSettings maxItemLength(int bytes) {
        maxItemLength = lock.changed(bytes);
        return this;
    }

    /** The longest item. */
    public int maxItemLength() {
        return maxItemLength;
    }

    /**
     * Sets how much memory is divided into chunks of one class at a time; more if the longest item needs it.
     *
     * @param bytes a power of two, at least 1024; a megabyte unless set
     */
    public ItemSettings pageLength(int bytes) {
        pageLength = lock.changed(bytes);
        return this;
    }

    /** How much memory is divided into chunks of one class at a time. */
    public int pageLength() {
        return pageLength;
    }

    /**
     * Sets the growth of chunk sizes.
     *
     * @param factor 1.01 to 16
     */
    public ItemSettings slabFactor(double factor) {
        slabFactor = lock.changed(factor);
        return this;
    }

    /** The growth of chunk sizes. */
    public double slabFactor() {
        return slabFactor;
    }

    /**
     * Sets the length of the smallest chunk, as memcached's -n does.
     *
     * @param bytes at least 1; the chunk is 48 bytes longer
     */
    public ItemSettings minimumSpace(int bytes) {
        minimumSpace = lock.changed(bytes);
        return this;
    }

    /** The length of the smallest chunk, less 48. */
    public int minimumSpace() {
        return minimumSpace;
    }

    /**
     * Sets how memory for items is registered.
     *
     * @param choice the registration
     */
    public ItemSettings registration(Registration choice) {
        registration = lock.changed(choice);
        return this;
    }

    /** How memory for items is registered. */
    public Registration registration() {
        return registration;
    }

    /**
     * Sets whether items make room for others once the memory limit is reached; otherwise storing fails.
     *
     * @param allowed memcached's -M is false
     */
    public ItemSettings evicting(boolean allowed) {
        evicting = lock.changed(allowed);
        return this;
    }

    /** Whether items make room for others. */
    public boolean evicting() {
        return evicting;
    }

    /**
     * Sets where the memory of the items comes from.
     *
     * @param source by default anonymous memory; with a file, each arena creates one and removes its name at once
     */
    public ItemSettings memory(MemorySource source) {
        memory = lock.changed(source);
        return this;
    }

    /** Where the memory of the items comes from. */
    public MemorySource memory() {
        return memory;
    }

    /**
     * Sets whether the key and value of a dead item are overwritten once they are no longer being sent to a client.
     * Otherwise they stay in memory, where clients can READ them, until the memory is reused.
     *
     * @param on false is the default: it costs a pass over each item
     */
    public ItemSettings wiping(boolean on) {
        wiping = lock.changed(on);
        return this;
    }

    /** Whether dead items are overwritten. */
    public boolean wiping() {
        return wiping;
    }

    /**
     * Sets whether items have cas numbers; otherwise all have 0, and no cas stores.
     *
     * @param on memcached's -C is false
     */
    public ItemSettings casNumbers(boolean on) {
        casNumbers = lock.changed(on);
        return this;
    }

    /** Whether items have cas numbers. */
    public boolean casNumbers() {
        return casNumbers;
    }

    /**
     * Sets whether expired items at the ends of the LRU lists are removed every second, memcached's lru_maintainer.
     *
     * @param on true is the default
     */
    public ItemSettings tailsReclaimed(boolean on) {
        tailsReclaimed = lock.changed(on);
        return this;
    }

    /** Whether expired items at the ends of the LRU lists are removed every second. */
    public boolean tailsReclaimed() {
        return tailsReclaimed;
    }

    /**
     * Sets whether all items are searched for expired ones from the start, memcached's lru_crawler; clients may
     * change it.
     *
     * @param on true is the default
     */
    public ItemSettings crawling(boolean on) {
        crawling = lock.changed(on);
        return this;
    }

    /** Whether all items are searched for expired ones from the start. */
    public boolean crawling() {
        return crawling;
    }

    /**
     * Sets in which order items are evicted.
     *
     * @param settings applied to memcached's defaults
     */
    public ItemSettings lru(Consumer<LruRules> settings) {
        Consumer<LruRules> before = lru;
        lru = lock.changed(before.andThen(settings));
        return this;
    }

    /** Settings of the order in which items are evicted, to be applied to the defaults. */
    public Consumer<LruRules> lru() {
        return lru;
    }

    /**
     * Changes when pages move from slab class to slab class, memcached's {@code -o} words. Several calls add up.
     *
     * @param settings applied to memcached's defaults
     */
    public ItemSettings balance(Consumer<PageBalance> settings) {
        Consumer<PageBalance> before = balance;
        balance = lock.changed(before.andThen(settings));
        return this;
    }

    /** When pages move, to be applied to the defaults. */
    public Consumer<PageBalance> balance() {
        return balance;
    }

    void check(List<String> faults) {
        SettingsLock.check(faults, "maxItemLength", maxItemLength, 1024, Locator.MAX_ITEM_LENGTH);
        SettingsLock.check(faults, "pageLength", pageLength, 1024, 1 << 30);
        if (Integer.bitCount(pageLength) != 1) {
            faults.add("pageLength=" + pageLength + ": expected a power of two");
        }
        SettingsLock.check(faults, "memoryLimit", memoryLimit, Math.max(pageLength, 2L * maxItemLength), 1L << 46);
        SettingsLock.check(faults, "minimumSpace", minimumSpace, 1, maxItemLength / 2);
        if (!(slabFactor >= 1.01 && slabFactor <= 16)) {
            faults.add(String.format(Locale.ROOT, "slabFactor=%s: expected 1.01 to 16", slabFactor));
        }
    }
}
