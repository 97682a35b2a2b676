package org.softrdma.kv.store;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.turns.Turns;

/**
 * Keys and their items. Items are immutable once published (but for their expiry) and readable by peers all the time,
 * so the order of changes is what keeps this promise: <em>no GET that starts after a set, delete or flush was
 * acknowledged returns an older state</em>, be it over TCP (which takes the lock of the key) or by READ (which takes
 * none and checks the bytes).
 *
 * <ul>
 *   <li>Replace: the new item is sealed in its own chunk; the old item is killed (its generation bumped); the chunks
 *       change names, if names can move ({@link RemotePage}); the new item begins to live; the index names it; the
 *       old one gets a forward locator; only then the caller answers. Any other order of death, birth and answer lets
 *       one reader see the new item and a later reader the old one. Meanwhile a READ finds a dead item and its reader
 *       asks over TCP.
 *   <li>So at no time two items of one key live, and an item that was refused never does. A client that takes any
 *       living item of its key, wherever it found it, relies on this: names move, and a chunk that once held the key
 *       may hold it again.
 *   <li>Delete, expiry, eviction and flush: kill, then unlink, then answer.
 *   <li>Values that depend on the old value (append, incr) are new items too.
 *   <li>Reuse of a chunk: the sequence turns odd before anything else changes, and generations of living items are
 *       odd and only grow, so a locator of an earlier life never matches.
 * </ul>
 *
 * <p>Keys are spread over stripes by hash, each with a lock and a {@link HashIndex}: any thread may call, a single
 * hot key is serialised and nothing else is. Rejected: one store thread, because every set would cross threads twice;
 * a concurrent map, because kill, link and forward must be one step for readers over TCP.
 *
 * <p>Locks: a stripe's, then its classes' {@link SegmentedLru#lock}, then the allocator's. Eviction starts from the
 * LRU and therefore only tries the lock of the stripe. Memory is taken with no lock held.
 */
public final class ItemStore {
    private static final ItemVisitor NOTHING = item -> {};

    private final SlabAllocator slabs;
    private final ItemTable table;
    private final UnfinishedItems unfinished;
    private final ItemRoom room;
    private final ItemWalk walk;
    private final ItemChanges changes;
    private final PageMover mover;
    private final PageBalance balance;

    /**
     * An empty store.
     *
     * @param slabs where items live
     * @param hashSeed a random number that clients do not know
     * @param evicting whether items make room for others when memory is used up
     */
    public ItemStore(SlabAllocator slabs, long hashSeed, boolean evicting) {
        this(slabs, hashSeed, evicting, true);
    }

    /**
     * An empty store.
     *
     * @param slabs where items live
     * @param hashSeed a random number that clients do not know
     * @param evicting whether items make room for others when memory is used up
     * @param numbering whether each item gets a cas number of its own; otherwise all have 0, and no cas stores
     */
    public ItemStore(SlabAllocator slabs, long hashSeed, boolean evicting, boolean numbering) {
        this.slabs = slabs;
        table = new ItemTable(slabs, hashSeed, numbering);
        unfinished = new UnfinishedItems(slabs);
        room = new ItemRoom(slabs, table, unfinished, evicting);
        walk = new ItemWalk(slabs, table);
        changes = new ItemChanges(slabs, table, room);
        mover = new PageMover(slabs, table, room, unfinished);
        balance = new PageBalance(slabs, table, mover);
        room.onEvictionFrom(balance::evictedFrom);
    }

    /** How threads that change the store take turns. */
    public Turns turns() {
        return slabs.turns();
    }

    /**
     * Takes memory for an item and writes everything but its value. Nobody finds it before {@link #store}.
     *
     * @param key 1 to {@link ItemDescriptor#MAX_KEY_LENGTH} bytes
     * @param flags the client's flags
     * @param expiry seconds since 1970, 0 for never
     * @param valueLength bytes of the value
     * @param nowSeconds the time: expired items make room first
     */
    public NewItem reserve(KeySlice key, int flags, int expiry, int valueLength, long nowSeconds) {
        return room.reserve(key, flags, expiry, valueLength, nowSeconds);
    }

    /**
     * True if there is no room for such an item, whatever else is stored.
     *
     * @param keyLength bytes of its key
     * @param valueLength bytes of its value
     */
    public boolean isTooLarge(int keyLength, int valueLength) {
        return room.isTooLarge(keyLength, valueLength);
    }

    /**
     * The rest of the value has not come yet. Until {@link #goOn} the caller does not touch the item, and it may lose
     * it: what all such items hold is bounded.
     *
     * @param begun a reserved item, some of whose value is in place
     * @param received bytes of the value that have come
     * @param nowSeconds the time
     */
    public void await(NewItem begun, int received, long nowSeconds) {
        unfinished.await(begun, received, nowSeconds);
    }

    /**
     * The caller of {@link #await} goes on.
     *
     * @param begun that item
     * @return false if it has lost the item, which is ended
     */
    public boolean goOn(NewItem begun) {
        return unfinished.goOn(begun);
    }

    /**
     * Stores a filled item if the rule allows it; ends it in any case.
     *
     * @param filled the item with its value in place
     * @param rule under which conditions, and as what
     * @param nowSeconds the time, for expiry
     * @return {@link StoreStatus#STORED}, then the item knows its locator and cas number, or why not
     */
    public StoreStatus store(NewItem filled, StoreRule rule, long nowSeconds) {
        filled.end();
        if (rule.mode == StoreMode.APPEND || rule.mode == StoreMode.PREPEND) {
            return changes.join(filled, rule, nowSeconds);
        }
        StoreStatus status = changes.storeWhole(filled, rule, nowSeconds);
        if (status != StoreStatus.STORED) {
            slabs.free(filled.chunk);
        }
        return status;
    }

    /**
     * Gives back an item that is not to be stored.
     *
     * @param unused a reserved item
     */
    public void abandon(NewItem unused) {
        unused.end();
        slabs.free(unused.chunk);
    }

    /**
     * Replaces an item by one whose value is made from the old value. Flags and expiry stay.
     *
     * @param rule its cas numbers; the mode does not matter
     * @param rewriter makes the value
     * @param nowSeconds the time, for expiry
     * @param result shown the item that was stored, with the lock of the key held
     * @return STORED; NOT_FOUND; EXISTS if the cas number differs; NON_NUMERIC if the rewriter refused; BUSY; or
     *     TOO_LARGE or OUT_OF_MEMORY
     */
    public StoreStatus rewrite(
            KeySlice key, StoreRule rule, ItemRewriter rewriter, long nowSeconds, ItemVisitor result) {
        return changes.rewrite(key, rule, rewriter, nowSeconds, result);
    }

    /**
     * Finds an item.
     *
     * @param nowSeconds the time, for expiry
     * @param bump whether it counts as used
     * @param visitor called with the item if there is one, before it counts as used
     * @return true if there is one
     */
    public boolean get(KeySlice key, long nowSeconds, boolean bump, ItemVisitor visitor) {
        long hash = table.hash(key);
        Stripe stripe = table.stripe(hash);
        stripe.lock.lock();
        try {
            int slot = table.findLiving(stripe, hash, key, nowSeconds);
            if (slot == HashIndex.NONE) {
                return false;
            }
            StoredItem item = stripe.view.wrap(stripe.index.chunk(slot));
            visitor.visit(item);
            if (bump) {
                table.bump(item, nowSeconds);
            }
            return true;
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * Removes an item.
     *
     * @param compareCas the cas number that it must have, 0 for any
     * @param nowSeconds the time, for expiry
     * @return STORED if it was removed, NOT_FOUND, or EXISTS if its cas number differs
     */
    public StoreStatus delete(KeySlice key, long compareCas, long nowSeconds) {
        return delete(key, compareCas, nowSeconds, NOTHING);
    }

    /**
     * Removes an item.
     *
     * @param compareCas the cas number that it must have, 0 for any
     * @param nowSeconds the time, for expiry
     * @param removed shown the item before it goes
     * @return STORED if it was removed, NOT_FOUND, or EXISTS if its cas number differs
     */
    public StoreStatus delete(KeySlice key, long compareCas, long nowSeconds, ItemVisitor removed) {
        long hash = table.hash(key);
        Stripe stripe = table.stripe(hash);
        stripe.lock.lock();
        try {
            int slot = table.findLiving(stripe, hash, key, nowSeconds);
            if (slot == HashIndex.NONE) {
                return StoreStatus.NOT_FOUND;
            }
            StoredItem item = stripe.view.wrap(stripe.index.chunk(slot));
            if (compareCas != 0 && item.cas() != compareCas) {
                return StoreStatus.EXISTS;
            }
            removed.visit(item);
            table.remove(stripe, slot);
            return StoreStatus.STORED;
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * Finds an item and keeps its bytes from being reused until {@link #unpin}; it may be replaced or deleted
     * meanwhile.
     *
     * @param nowSeconds the time, for expiry
     * @return the item, or {@link PinnedItem#NONE} if there is none (or, which takes 134 million of them, it has too
     *     many pins)
     */
    public PinnedItem pin(KeySlice key, long nowSeconds) {
        long hash = table.hash(key);
        Stripe stripe = table.stripe(hash);
        stripe.lock.lock();
        try {
            int slot = table.findLiving(stripe, hash, key, nowSeconds);
            if (slot == HashIndex.NONE) {
                return PinnedItem.NONE;
            }
            StoredItem item = stripe.view.wrap(stripe.index.chunk(slot));
            if (!item.page().pin(item.index())) {
                return PinnedItem.NONE;
            }
            table.bump(item, nowSeconds);
            return pinned(item, hash);
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * Keeps the bytes of an item that was found from being reused until {@link #unpin}.
     *
     * @param item of an {@link ItemVisitor}, in its call
     * @return the item, or {@link PinnedItem#NONE} if it has too many pins
     */
    public PinnedItem pin(StoredItem item) {
        if (!item.page().pin(item.index())) {
            return PinnedItem.NONE;
        }
        return pinned(item, table.hashOf(item.chunk()));
    }

    private PinnedItem pinned(StoredItem item, long hash) {
        return new PinnedItem(item.chunk(), hash, slabs.arena(item.chunk()), (int) item.itemLength(), item.locator());
    }

    /**
     * Ends a pin.
     *
     * @param pinned what {@link #pin} returned, once
     */
    public void unpin(PinnedItem pinned) {
        table.unpin(table.stripe(pinned.hash()), pinned.chunk());
    }

    /**
     * A client has READ an item: it counts as used as if it had been asked for.
     *
     * @param first first half of the locator that the client used; of a peer, it may be anything
     * @param generation the generation that the client found
     * @param hits how often
     * @param nowSeconds the time
     * @return true if that item still is there
     */
    public boolean touched(long first, int generation, int hits, long nowSeconds) {
        long chunk = slabs.chunkAt(first);
        if (chunk == SlabAllocator.NONE) {
            return false;
        }
        KeySlice key = table.keyPerhaps(chunk);
        if (key.length() == 0) {
            return false;
        }
        long hash = table.hash(key);
        Stripe stripe = table.stripe(hash);
        stripe.lock.lock();
        try {
            if (stripe.index.find(hash, chunk) == HashIndex.NONE
                    || ItemDescriptor.generation(slabs.memory(chunk), SlabAllocator.offset(chunk)) != generation) {
                return false;
            }
            StoredItem found = stripe.view.wrap(chunk);
            for (int i = 0; i < Math.min(hits, 2); i++) {
                table.bump(found, nowSeconds);
            }
            return true;
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * How long a client need not report an item again that it has reported twice: a minute, because memcached moves
     * an item in the LRU no more often than that; a second while items are evicted.
     *
     * @param nowSeconds the time
     */
    public int touchIntervalSeconds(long nowSeconds) {
        return room.touchIntervalSeconds(nowSeconds);
    }

    /**
     * Removes all items, as they are found; items stored meanwhile may go with them. They count as reclaimed. Takes a
     * while; any thread.
     */
    public void flush() {
        for (int part = 0; part < parts(); part++) {
            room.sweep(table.part(part), Long.MAX_VALUE);
        }
    }

    /**
     * Removes expired items from a part of the keys. Called now and then by one thread in the background.
     *
     * @param part which part, 0 to {@link #parts()} - 1
     * @param nowSeconds the time
     */
    public void reclaim(int part, long nowSeconds) {
        room.sweep(table.part(part), nowSeconds);
    }

    /**
     * Removes expired items from the ends of the LRU lists, up to the first that still lives. Called now and then by
     * one thread in the background; quick.
     *
     * @param nowSeconds the time
     */
    public void reclaimTails(long nowSeconds) {
        room.reclaimTails(nowSeconds);
    }

    /**
     * Changes the memory limit. Pages above a lower limit stay, and are used for their class.
     *
     * @param bytes the limit
     */
    public void memoryLimit(long bytes) {
        slabs.memoryLimit(bytes);
    }

    /** Moves pages between classes. */
    public PageMover mover() {
        return mover;
    }

    /** When pages move by themselves. */
    public PageBalance balance() {
        return balance;
    }

    /** Looks at what is there. */
    public ItemWalk walk() {
        return walk;
    }

    /** In which order items are evicted. */
    public LruRules lru() {
        return slabs.lruRules();
    }

    /**
     * Sets who is shown each item that has to make room for others, before it goes.
     *
     * @param visitor called by any thread with locks held: quick, and without a call of the store
     */
    public void onEviction(ItemVisitor visitor) {
        room.onEviction(visitor);
    }

    /**
     * The slab class of an item that is being stored.
     *
     * @param item READY
     */
    public int sizeClass(NewItem item) {
        return slabs.page(item.chunk).sizeClass;
    }

    /** Number of parts for {@link #reclaim}. */
    public int parts() {
        return ItemTable.STRIPES;
    }

    /** What the store counts. */
    public StoreStatistics statistics() {
        return table.statistics();
    }

    /**
     * What is counted for the slab classes that have pages.
     *
     * @param nowSeconds the time, for ages
     */
    public List<SizeClassStatistics> classStatistics(long nowSeconds) {
        List<SizeClassStatistics> all = new ArrayList<>();
        for (int i = 0; i < table.classes(); i++) {
            SizeClassStatistics.Slab slab = slabs.statistics(i);
            if (slab.pages() > 0) {
                all.add(new SizeClassStatistics(
                        i,
                        slab,
                        slabs.lru(i).statistics((int) nowSeconds),
                        table.events(i).statistics()));
            }
        }
        return all;
    }

    /** Resets the counters of events. */
    public void resetStatistics() {
        table.resetStatistics();
        mover.resetCounts();
    }
}
