package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.kv.item.ItemChecksum;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.ItemWriter;
import org.softrdma.kv.item.KeyHash;
import org.softrdma.kv.item.Locator;

/**
 * Keys and their items. Items are immutable once published (but for their expiry) and readable by peers all the time, so the
 * order of changes is what keeps this promise: <em>no GET that starts after a set, delete or flush was acknowledged returns
 * an older state</em>, be it over TCP (which takes the lock of the key) or by READ (which takes none and checks the bytes).
 *
 * <ul>
 *   <li>Replace: the new item is sealed in its own chunk; the old item is killed (its generation bumped); the chunks change
 *       names, if names can move ({@link RemotePage}); the new item begins to live; the index names it; the old one gets a
 *       forward locator; only then the caller answers. Any other order of death, birth and answer lets one reader see the new
 *       item and a later reader the old one. Meanwhile a READ finds a dead item and its reader asks over TCP.
 *   <li>So at no time two items of one key live, and an item that was refused never does. That is what a client relies on
 *       that takes any living item of its key, wherever it found it: names move, and a chunk that was once of the key may be
 *       so again.
 *   <li>Delete, expiry, eviction and flush: kill, then unlink, then answer.
 *   <li>Values that depend on the old value (append, incr) are new items too.
 *   <li>Reuse of a chunk: the sequence turns odd before anything else changes, and generations of living items are odd and
 *       only grow, so a locator of an earlier life never matches.
 * </ul>
 *
 * <p>Keys are spread over stripes by hash, each with a lock and a {@link HashIndex}: any thread may call, a single hot key
 * is serialised and nothing else is. Rejected: one store thread, because every set would cross threads twice; a concurrent
 * map, because kill, link and forward must be one step for readers over TCP.
 *
 * <p>Locks: a stripe's, then its classes' {@link SegmentedLru#lock}, then the allocator's. Eviction starts from the LRU and
 * therefore only tries the lock of the stripe. Memory is taken with no lock held.
 */
public final class ItemStore {
    /** Share of the items of a class that the HOT segment of its LRU may hold. */
    public static final int HOT_PERCENT = SegmentedLru.HOT_PERCENT;

    /** Share of the items of a class that the WARM segment of its LRU may hold. */
    public static final int WARM_PERCENT = SegmentedLru.WARM_PERCENT;

    private static final int STRIPES = 256;
    private static final int STRIPE_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(STRIPES);

    /** Without an eviction for so long, the next is not expected soon. */
    private static final int CALM_SECONDS = 60;

    /** How many evictions may fail before there is no memory. */
    private static final int FAILED_EVICTIONS = 100;

    /** How many items from the tail are looked at for an expired one where nothing else may go. */
    private static final int EXPIRY_CANDIDATES = 5;

    /**
     * How many items are passed over in search of one that can make room. While a thread that holds the lock of a stripe does
     * not run, the items of that stripe are what others leave behind at the tail.
     */
    private static final int EVICTION_CANDIDATES = 500;

    /** How many items {@link #reclaimTails} takes from a list at once. */
    private static final int MOST_TAILS = 500;

    /** How often a value is made from the present one that is no longer the present one then. */
    private static final int MOST_REWRITES = 1000;

    /** Slots of an index looked at with its lock held. */
    private static final int SWEEP_SLOTS = 4096;

    private final SlabAllocator slabs;
    private final long hashSeed;
    private final boolean evicting;
    private volatile long lastEvictionSeconds;
    private final Stripe[] stripes = new Stripe[STRIPES];
    private final ClassEvents[] events;
    private final AtomicLong lastCas = new AtomicLong();
    private final LongAdder currentItems = new LongAdder();
    private final LongAdder totalItems = new LongAdder();
    private final LongAdder currentBytes = new LongAdder();
    private final LongAdder expiredItems = new LongAdder();

    /**
     * An empty store.
     *
     * @param slabs where items live
     * @param hashSeed a random number that clients do not know
     * @param evicting whether items make room for others when memory is used up
     */
    public ItemStore(SlabAllocator slabs, long hashSeed, boolean evicting) {
        this.slabs = slabs;
        this.hashSeed = hashSeed;
        this.evicting = evicting;
        Arrays.setAll(stripes, i -> new Stripe(slabs));
        events = new ClassEvents[slabs.geometry().classes()];
        Arrays.setAll(events, i -> new ClassEvents());
    }

    /**
     * Takes memory for an item and writes everything but its value. Nobody finds it before {@link #store}.
     *
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes, 1 to {@link ItemDescriptor#MAX_KEY_LENGTH}
     * @param flags the client's flags
     * @param expiry seconds since 1970, 0 for never
     * @param valueLength bytes of the value
     * @param nowSeconds the time: expired items make room first
     */
    public NewItem reserve(
            byte[] key, int keyOffset, int keyLength, int flags, int expiry, int valueLength, long nowSeconds) {
        if (keyLength < 1 || keyLength > ItemDescriptor.MAX_KEY_LENGTH || valueLength < 0) {
            throw new IllegalArgumentException("keyLength=" + keyLength + ", valueLength=" + valueLength);
        }
        long itemLength = ItemDescriptor.itemLength(keyLength, valueLength);
        if (itemLength > slabs.geometry().maxItemLength()) {
            return NewItem.TOO_LARGE;
        }
        long chunk = allocate(slabs.geometry().sizeClass(itemLength), nowSeconds);
        if (chunk == SlabAllocator.NONE) {
            return NewItem.OUT_OF_MEMORY;
        }
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        ItemWriter.beginFill(memory, item);
        ItemWriter.header(memory, item, expiry, flags, key, keyOffset, keyLength, valueLength);
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        return new NewItem(NewItem.Status.READY, chunk, memory, hash, keyLength, valueLength);
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
            return join(filled, rule, nowSeconds);
        }
        StoreStatus status = storeWhole(filled, rule, nowSeconds);
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
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes
     * @param rule its cas numbers; the mode does not matter
     * @param rewriter makes the value
     * @param nowSeconds the time, for expiry
     * @param result shown the item that was stored, with the lock of the key held
     * @return STORED; NOT_FOUND; EXISTS if the cas number differs; NON_NUMERIC if the rewriter refused; BUSY; or TOO_LARGE or
     *     OUT_OF_MEMORY
     */
    public StoreStatus rewrite(
            byte[] key,
            int keyOffset,
            int keyLength,
            StoreRule rule,
            ItemRewriter rewriter,
            long nowSeconds,
            ItemVisitor result) {
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        Stripe stripe = stripe(hash);
        for (int left = MOST_REWRITES; left > 0; left--) {
            StoreStatus status = StoreStatus.STORED;
            long old = SlabAllocator.NONE;
            int length = 0;
            int flags = 0;
            stripe.lock.lock();
            try {
                int slot = findLiving(stripe, hash, key, keyOffset, keyLength, nowSeconds);
                if (slot == HashIndex.NONE) {
                    status = StoreStatus.NOT_FOUND;
                } else {
                    StoredItem item = stripe.view.wrap(stripe.index.chunk(slot));
                    if (rule.compareCas != 0 && rule.compareCas != item.cas()) {
                        status = StoreStatus.EXISTS;
                    } else {
                        length = rewriter.measure(item);
                        if (length == ItemRewriter.REFUSED) {
                            status = StoreStatus.NON_NUMERIC;
                        } else if (!item.page().pin(item.index())) {
                            status = StoreStatus.BUSY;
                        } else {
                            old = item.chunk();
                            flags = item.flags();
                        }
                    }
                }
            } finally {
                stripe.lock.unlock();
            }
            if (status != StoreStatus.STORED) {
                return status;
            }
            try {
                NewItem made = reserve(key, keyOffset, keyLength, flags, 0, length, nowSeconds);
                if (made.status() != NewItem.Status.READY) {
                    return statusOf(made);
                }
                made.end();
                MemorySegment memory = slabs.memory(old);
                long item = SlabAllocator.offset(old);
                rewriter.write(
                        memory,
                        ItemDescriptor.valueOffset(memory, item),
                        ItemDescriptor.valueLength(memory, item),
                        made.memory(),
                        made.valueOffset());
                if (replaceIfStill(stripe, old, made, rule, rewriter.marks(), result)) {
                    return StoreStatus.STORED;
                }
            } finally {
                unpin(stripe, old);
            }
        }
        return StoreStatus.BUSY;
    }

    /**
     * Finds an item.
     *
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes
     * @param nowSeconds the time, for expiry
     * @param bump whether it counts as used
     * @param visitor called with the item if there is one, before it counts as used
     * @return true if there is one
     */
    public boolean get(byte[] key, int keyOffset, int keyLength, long nowSeconds, boolean bump, ItemVisitor visitor) {
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        Stripe stripe = stripe(hash);
        stripe.lock.lock();
        try {
            int slot = findLiving(stripe, hash, key, keyOffset, keyLength, nowSeconds);
            if (slot == HashIndex.NONE) {
                return false;
            }
            StoredItem item = stripe.view.wrap(stripe.index.chunk(slot));
            visitor.visit(item);
            if (bump) {
                bump(item, nowSeconds);
            }
            return true;
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * Removes an item.
     *
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes
     * @param compareCas the cas number that it must have, 0 for any
     * @param nowSeconds the time, for expiry
     * @return STORED if it was removed, NOT_FOUND, or EXISTS if its cas number differs
     */
    public StoreStatus delete(byte[] key, int keyOffset, int keyLength, long compareCas, long nowSeconds) {
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        Stripe stripe = stripe(hash);
        stripe.lock.lock();
        try {
            int slot = findLiving(stripe, hash, key, keyOffset, keyLength, nowSeconds);
            if (slot == HashIndex.NONE) {
                return StoreStatus.NOT_FOUND;
            }
            StoredItem item = stripe.view.wrap(stripe.index.chunk(slot));
            if (compareCas != 0 && item.cas() != compareCas) {
                return StoreStatus.EXISTS;
            }
            remove(stripe, slot);
            return StoreStatus.STORED;
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * Finds an item and keeps its bytes from being reused until {@link #unpin}; it may be replaced or deleted meanwhile.
     *
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes
     * @param nowSeconds the time, for expiry
     * @return the item, or {@link PinnedItem#NONE} if there is none (or, which takes 134 million of them, it has too many
     *     pins)
     */
    public PinnedItem pin(byte[] key, int keyOffset, int keyLength, long nowSeconds) {
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        Stripe stripe = stripe(hash);
        stripe.lock.lock();
        try {
            int slot = findLiving(stripe, hash, key, keyOffset, keyLength, nowSeconds);
            if (slot == HashIndex.NONE) {
                return PinnedItem.NONE;
            }
            StoredItem item = stripe.view.wrap(stripe.index.chunk(slot));
            if (!item.page().pin(item.index())) {
                return PinnedItem.NONE;
            }
            bump(item, nowSeconds);
            return new PinnedItem(
                    item.chunk(), hash, slabs.arena(item.chunk()), (int) item.itemLength(), item.locator());
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
        return new PinnedItem(
                item.chunk(), hashOf(item.chunk()), slabs.arena(item.chunk()), (int) item.itemLength(), item.locator());
    }

    /**
     * Ends a pin.
     *
     * @param pinned what {@link #pin} returned, once
     */
    public void unpin(PinnedItem pinned) {
        unpin(stripe(pinned.hash()), pinned.chunk());
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
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        int keyLength = ItemDescriptor.keyLength(memory, item);
        if (keyLength < 1 || ItemDescriptor.itemLength(keyLength, 0) > slabs.page(chunk).chunkLength) {
            return false; // somebody is filling it
        }
        // The key may change while it is hashed: then the index does not name the chunk by this hash. Its length may
        // change as
        // well, so the one that was looked at is what is read.
        byte[] key = keyOf(chunk, keyLength);
        long hash = KeyHash.hash(key, 0, keyLength, hashSeed);
        Stripe stripe = stripe(hash);
        stripe.lock.lock();
        try {
            if (stripe.index.find(hash, chunk) == HashIndex.NONE
                    || ItemDescriptor.generation(memory, item) != generation) {
                return false;
            }
            StoredItem found = stripe.view.wrap(chunk);
            for (int i = 0; i < Math.min(hits, 2); i++) {
                bump(found, nowSeconds);
            }
            return true;
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * How long nobody needs to say again that an item is read who has said so twice: a minute, as memcached leaves an item where
     * it is in the LRU for that long, but a second while items are evicted.
     *
     * @param nowSeconds the time
     */
    public int touchIntervalSeconds(long nowSeconds) {
        return nowSeconds - lastEvictionSeconds < CALM_SECONDS ? 1 : CALM_SECONDS;
    }

    /** Removes all items, as they are found; items stored meanwhile may go with them. Takes a while; any thread. */
    public void flush() {
        for (Stripe stripe : stripes) {
            sweep(stripe, Long.MAX_VALUE);
        }
    }

    /**
     * Removes expired items from a part of the keys. Called now and then by one thread in the background.
     *
     * @param part which part, 0 to {@link #parts()} - 1
     * @param nowSeconds the time
     */
    public void reclaim(int part, long nowSeconds) {
        sweep(stripes[part], nowSeconds);
    }

    /**
     * Removes expired items from the ends of the LRU lists, up to the first that still lives. Called now and then by one
     * thread in the background; quick.
     *
     * @param nowSeconds the time
     */
    public void reclaimTails(long nowSeconds) {
        for (int i = 0; i < events.length; i++) {
            for (int segment = 0; segment < SegmentedLru.SEGMENTS; segment++) {
                int left = MOST_TAILS;
                while (left > 0 && reclaimTail(slabs.lru(i), segment, nowSeconds)) {
                    left--;
                }
            }
        }
    }

    /**
     * Changes the limit of memory. What there is above a lower limit stays, and is used for its class.
     *
     * @param bytes the limit
     */
    public void memoryLimit(long bytes) {
        slabs.memoryLimit(bytes);
    }

    /** Number of parts for {@link #reclaim}. */
    public int parts() {
        return STRIPES;
    }

    /** What the store counts. */
    public StoreStatistics statistics() {
        long indexBytes = 0;
        for (Stripe stripe : stripes) {
            indexBytes += stripe.index.bytes();
        }
        return new StoreStatistics(
                currentItems.sum(),
                totalItems.sum(),
                currentBytes.sum(),
                expiredItems.sum(),
                slabs.pagedBytes(),
                slabs.memoryLimit(),
                indexBytes);
    }

    /**
     * What is counted for the slab classes that have pages.
     *
     * @param nowSeconds the time, for ages
     */
    public List<SizeClassStatistics> classStatistics(long nowSeconds) {
        List<SizeClassStatistics> all = new ArrayList<>();
        for (int i = 0; i < events.length; i++) {
            SizeClassStatistics.Slab slab = slabs.statistics(i);
            if (slab.pages() > 0) {
                all.add(new SizeClassStatistics(
                        i, slab, slabs.lru(i).statistics((int) nowSeconds), events[i].statistics()));
            }
        }
        return all;
    }

    /** Starts the counters of events anew; what there is stays. */
    public void resetStatistics() {
        totalItems.reset();
        expiredItems.reset();
        for (ClassEvents each : events) {
            each.reset();
        }
    }

    /** Append and prepend; the part is a chunk of its own until the whole is stored. */
    private StoreStatus join(NewItem part, StoreRule rule, long nowSeconds) {
        byte[] key = keyOf(part.chunk, part.keyLength);
        Joiner joiner = new Joiner(part, rule.mode == StoreMode.APPEND);
        StoreRule alone =
                new StoreRule().reset(StoreMode.ADD).newCas(rule.newCas).keyBinary(rule.keyBinary);
        StoreStatus status = StoreStatus.BUSY;
        for (int left = MOST_REWRITES; left > 0; left--) {
            status = rewrite(
                    key, 0, key.length, rule, joiner, nowSeconds, item -> part.stored(item.locator(), item.cas()));
            if (status != StoreStatus.NOT_FOUND || !rule.createIfMissing) {
                break;
            }
            ItemWriter.setExpiry(part.memory(), part.item(), rule.createExpiry);
            if (storeWhole(part, alone, nowSeconds) == StoreStatus.STORED) {
                return StoreStatus.STORED;
            }
            status = StoreStatus.BUSY; // it was created and is gone again
        }
        slabs.free(part.chunk);
        return status == StoreStatus.NOT_FOUND ? StoreStatus.NOT_STORED : status;
    }

    /** Publishes and links an item if its rule allows; if not, the chunk still is the caller's. */
    private StoreStatus storeWhole(NewItem filled, StoreRule rule, long nowSeconds) {
        seal(filled, rule);
        Stripe stripe = stripe(filled.hash);
        StoreStatus status;
        stripe.lock.lock();
        try {
            int slot = findSameKey(stripe, filled, nowSeconds);
            if (slot == HashIndex.NONE) {
                status = switch (rule.mode) {
                    case SET, ADD -> StoreStatus.STORED;
                    case CAS -> StoreStatus.NOT_FOUND;
                    default -> StoreStatus.NOT_STORED;
                };
                if (status == StoreStatus.STORED) {
                    StoredItem item = link(stripe, filled, rule, nowSeconds);
                    stripe.index.insert(filled.hash, filled.chunk);
                    filled.stored(item.locator(), item.cas());
                }
            } else {
                status = storeOver(stripe, slot, filled, rule, nowSeconds);
            }
        } finally {
            stripe.lock.unlock();
        }
        if (status != StoreStatus.STORED) {
            unseal(filled);
        }
        return status;
    }

    private StoreStatus storeOver(Stripe stripe, int slot, NewItem filled, StoreRule rule, long nowSeconds) {
        StoredItem old = stripe.view.wrap(stripe.index.chunk(slot));
        boolean stale = false;
        if (rule.mode == StoreMode.ADD) {
            bump(old, nowSeconds);
            return StoreStatus.NOT_STORED;
        }
        if (rule.mode == StoreMode.CAS && rule.compareCas != old.cas()) {
            stale = rule.staleIfOlder && rule.compareCas != 0 && Long.compareUnsigned(rule.compareCas, old.cas()) < 0;
            if (!stale) {
                return StoreStatus.EXISTS;
            }
        }
        boolean tokenSent = stale && old.isTokenSent();
        int expiry = (int) old.expiry();
        StoredItem item = replace(stripe, slot, filled, rule, nowSeconds);
        if (stale) {
            item.page().setStale(item.index());
            item.setExpiry(expiry);
        }
        if (tokenSent) {
            item.setTokenSent();
        }
        filled.stored(item.locator(), item.cas());
        return StoreStatus.STORED;
    }

    /**
     * Puts a rewritten item in place of the one that it was made from; false, and nothing is done, if that is gone. What
     * changes in place, its expiry and its marks, may have changed since the value was read, and is taken from it only now.
     */
    private boolean replaceIfStill(
            Stripe stripe, long old, NewItem made, StoreRule rule, ItemRewriter.Marks marks, ItemVisitor result) {
        seal(made, rule);
        stripe.lock.lock();
        try {
            int slot = stripe.index.find(made.hash, old);
            if (slot != HashIndex.NONE) { // a pinned chunk that still is linked never was anything else
                SlabPage oldPage = slabs.page(old);
                int oldIndex = slabs.indexInPage(oldPage, old);
                ItemWriter.setExpiry(made.memory(), made.item(), (int) expiry(old));
                boolean fetched = oldPage.isFetched(oldIndex);
                boolean keyBinary = oldPage.isKeyBinary(oldIndex);
                boolean stale = marks == ItemRewriter.Marks.STALE
                        || (marks == ItemRewriter.Marks.KEPT && oldPage.isStale(oldIndex));
                boolean tokenSent = marks == ItemRewriter.Marks.KEPT && oldPage.isTokenSent(oldIndex);
                StoredItem item = replace(stripe, slot, made, rule, oldPage.times[oldIndex]);
                if (fetched) {
                    item.page().setFetched(item.index());
                }
                if (keyBinary) {
                    item.page().setKeyBinary(item.index());
                }
                if (stale) {
                    item.page().setStale(item.index());
                }
                if (tokenSent) {
                    item.setTokenSent();
                }
                result.visit(item);
                return true;
            }
        } finally {
            stripe.lock.unlock();
        }
        unseal(made);
        slabs.free(made.chunk);
        return false;
    }

    /** The order of steps is the promise of this class. With the lock of the stripe. */
    private StoredItem replace(Stripe stripe, int slot, NewItem made, StoreRule rule, long nowSeconds) {
        long old = stripe.index.chunk(slot);
        MemorySegment memory = slabs.memory(old);
        long item = SlabAllocator.offset(old);
        ItemWriter.kill(memory, item);
        slabs.exchange(old, made.chunk);
        StoredItem stored = link(stripe, made, rule, nowSeconds);
        Locator locator = stored.locator();
        stripe.index.replace(slot, made.chunk);
        ItemWriter.forward(memory, item, locator.first(), locator.second());
        unlink(old);
        return stored;
    }

    /** Makes a filled chunk a whole item, but for its life. No lock: the CRCs take their time. */
    private void seal(NewItem filled, StoreRule rule) {
        MemorySegment memory = filled.memory();
        long item = filled.item();
        ItemWriter.endFill(memory, item, rule.newCas == 0 ? lastCas.incrementAndGet() : rule.newCas);
        ItemWriter.seal(
                memory,
                item,
                new ItemChecksum().compute(memory.asByteBuffer(), (int) item, filled.keyLength, filled.valueLength()));
    }

    /** Takes {@link #seal} back. */
    private static void unseal(NewItem filled) {
        ItemWriter.beginFill(filled.memory(), filled.item());
    }

    /** Begins the life of a sealed item. The caller names it in the index. */
    private StoredItem link(Stripe stripe, NewItem made, StoreRule rule, long nowSeconds) {
        ItemWriter.publish(made.memory(), made.item());
        StoredItem item = stripe.view.wrap(made.chunk);
        item.page().link(item.index(), (int) nowSeconds);
        if (rule.tokenSent) {
            item.setTokenSent();
        }
        if (rule.keyBinary) {
            item.page().setKeyBinary(item.index());
        }
        slabs.lru(item.sizeClass()).link(item.page(), item.index(), item.itemLength());
        currentItems.increment();
        currentBytes.add(item.itemLength());
        totalItems.increment();
        return item;
    }

    /** Kills and unlinks. With the lock of the stripe. */
    private void remove(Stripe stripe, int slot) {
        long chunk = stripe.index.chunk(slot);
        ItemWriter.kill(slabs.memory(chunk), SlabAllocator.offset(chunk));
        stripe.index.remove(slot);
        unlink(chunk);
    }

    private void unlink(long chunk) {
        SlabPage page = slabs.page(chunk);
        int index = slabs.indexInPage(page, chunk);
        long length = itemLength(chunk);
        slabs.lru(page.sizeClass).unlink(page, index, length);
        currentItems.decrement();
        currentBytes.add(-length);
        if (page.unlink(index)) {
            slabs.free(chunk);
        }
    }

    private void unpin(Stripe stripe, long chunk) {
        stripe.lock.lock();
        try {
            SlabPage page = slabs.page(chunk);
            if (page.unpin(slabs.indexInPage(page, chunk))) {
                slabs.free(chunk);
            }
        } finally {
            stripe.lock.unlock();
        }
    }

    /** memcached's rule: found once is fetched, found twice is active, and only then the time of use moves. */
    private void bump(StoredItem item, long nowSeconds) {
        SlabPage page = item.page();
        int index = item.index();
        if (!page.isFetched(index)) {
            page.setFetched(index);
        } else if (slabs.lru(page.sizeClass).activate(page, index)) {
            page.times[index] = (int) nowSeconds;
        }
    }

    /** Takes a chunk, making room if there is none. No lock is held. */
    private long allocate(int sizeClass, long nowSeconds) {
        int failures = 0;
        while (failures < FAILED_EVICTIONS) {
            long chunk = slabs.allocate(sizeClass);
            if (chunk != SlabAllocator.NONE) {
                return chunk;
            }
            if (!evict(sizeClass, nowSeconds)) { // else there was room, even if another thread was faster to take it
                if (!evicting) {
                    break; // nothing has expired, and nothing else may go
                }
                failures++;
                Thread.yield(); // somebody is busy with every key at the tail: that ends
            }
        }
        events[sizeClass].outOfMemory.increment();
        return SlabAllocator.NONE;
    }

    /**
     * Removes the item of a class that was not used for longest, or an expired one near it; false if there is none. Those
     * whose keys somebody is busy with are passed over, and pinned ones, which would make no room.
     */
    private boolean evict(int sizeClass, long nowSeconds) {
        SegmentedLru lru = slabs.lru(sizeClass);
        lru.lock.lock();
        try {
            int left = evicting ? EVICTION_CANDIDATES : EXPIRY_CANDIDATES;
            for (int id = lru.coldest(); id != SegmentedLru.NONE && left > 0; left--) {
                int before = lru.warmer(id);
                SlabPage page = lru.page(id);
                int index = lru.index(id);
                if (!page.isPinned(index) && removeUnused(page, index, nowSeconds, evicting)) {
                    evictedAt(nowSeconds);
                    return true;
                }
                id = before == SegmentedLru.NONE ? lru.cool() : before;
            }
            return false;
        } finally {
            lru.lock.unlock();
        }
    }

    private void evictedAt(long nowSeconds) {
        if (lastEvictionSeconds != nowSeconds) {
            lastEvictionSeconds = nowSeconds;
        }
    }

    /** Removes the end of a list if it has expired; false if not, or if somebody is busy with its key. */
    private boolean reclaimTail(SegmentedLru lru, int segment, long nowSeconds) {
        lru.lock.lock();
        try {
            int id = lru.tail(segment);
            return id != SegmentedLru.NONE && removeUnused(lru.page(id), lru.index(id), nowSeconds, false);
        } finally {
            lru.lock.unlock();
        }
    }

    /** Removes an item that has expired, or any. With the lock of its list; false if somebody is busy with its key. */
    private boolean removeUnused(SlabPage page, int index, long nowSeconds, boolean any) {
        long chunk = page.chunk(index);
        if (!any && !isExpired(chunk, nowSeconds)) {
            return false;
        }
        long hash = hashOf(chunk);
        Stripe stripe = stripe(hash);
        if (!stripe.lock.tryLock()) {
            events[page.sizeClass].tailLocked.increment();
            return false;
        }
        try {
            if (!any && !isExpired(chunk, nowSeconds)) {
                return false; // touched a moment ago
            }
            countRemoval(page, index, chunk, nowSeconds);
            removeChunk(stripe, hash, chunk);
            return true;
        } finally {
            stripe.lock.unlock();
        }
    }

    private void countRemoval(SlabPage page, int index, long chunk, long nowSeconds) {
        ClassEvents counters = events[page.sizeClass];
        boolean fetched = page.isFetched(index);
        if (isExpired(chunk, nowSeconds)) {
            counters.reclaimed.increment();
            if (!fetched) {
                counters.expiredUnfetched.increment();
            }
            return;
        }
        counters.evicted.increment();
        counters.evictedTime = Math.max(0, (int) nowSeconds - page.times[index]);
        if (expiry(chunk) != 0) {
            counters.evictedNonzero.increment();
        }
        if (!fetched) {
            counters.evictedUnfetched.increment();
        }
    }

    private void removeChunk(Stripe stripe, long hash, long chunk) {
        remove(stripe, stripe.index.find(hash, chunk));
    }

    /** Removes everything that has expired by a time, a few slots at once. */
    private void sweep(Stripe stripe, long nowSeconds) {
        boolean all = nowSeconds == Long.MAX_VALUE;
        int from = 0;
        int slots = stripe.index.slots();
        boolean more = true;
        while (more) {
            stripe.lock.lock();
            try {
                if (stripe.index.slots() != slots) { // it has grown, and what was ahead may be behind now
                    slots = stripe.index.slots();
                    from = 0;
                }
                int end = Math.min(from + SWEEP_SLOTS, stripe.index.slots());
                for (int slot = from; slot < end; ) {
                    long chunk = stripe.index.chunk(slot);
                    if (chunk == SlabAllocator.NONE || !(all || isExpired(chunk, nowSeconds))) {
                        slot++; // else another entry may have moved into this slot
                    } else {
                        if (!all) {
                            countReclaimed(chunk);
                        }
                        remove(stripe, slot);
                    }
                }
                from = end;
                more = end < stripe.index.slots();
            } finally {
                stripe.lock.unlock();
            }
        }
    }

    private void countReclaimed(long chunk) {
        SlabPage page = slabs.page(chunk);
        ClassEvents counters = events[page.sizeClass];
        counters.crawlerReclaimed.increment();
        if (!page.isFetched(slabs.indexInPage(page, chunk))) {
            counters.expiredUnfetched.increment();
        }
    }

    private static StoreStatus statusOf(NewItem refused) {
        return refused.status() == NewItem.Status.TOO_LARGE ? StoreStatus.TOO_LARGE : StoreStatus.OUT_OF_MEMORY;
    }

    private Stripe stripe(long hash) {
        return stripes[(int) (hash >>> STRIPE_SHIFT)];
    }

    /** The slot of a key whose item has not expired; one that has is removed. */
    private int findLiving(Stripe stripe, long hash, byte[] key, int keyOffset, int keyLength, long nowSeconds) {
        int slot = stripe.index.find(hash);
        while (slot != HashIndex.NONE) {
            long chunk = stripe.index.chunk(slot);
            if (ItemDescriptor.hasKey(slabs.memory(chunk), SlabAllocator.offset(chunk), key, keyOffset, keyLength)) {
                return unlessExpired(stripe, slot, nowSeconds);
            }
            slot = stripe.index.findNext(slot, hash);
        }
        return HashIndex.NONE;
    }

    private int findSameKey(Stripe stripe, NewItem other, long nowSeconds) {
        int slot = stripe.index.find(other.hash);
        while (slot != HashIndex.NONE) {
            long chunk = stripe.index.chunk(slot);
            MemorySegment memory = slabs.memory(chunk);
            long item = SlabAllocator.offset(chunk);
            long from = item + ItemDescriptor.KEY_OFFSET;
            long otherFrom = other.item() + ItemDescriptor.KEY_OFFSET;
            int length = other.keyLength;
            if (ItemDescriptor.keyLength(memory, item) == length
                    && MemorySegment.mismatch(
                                    memory, from, from + length, other.memory(), otherFrom, otherFrom + length)
                            < 0) {
                return unlessExpired(stripe, slot, nowSeconds);
            }
            slot = stripe.index.findNext(slot, other.hash);
        }
        return HashIndex.NONE;
    }

    private int unlessExpired(Stripe stripe, int slot, long nowSeconds) {
        long chunk = stripe.index.chunk(slot);
        if (!isExpired(chunk, nowSeconds)) {
            return slot;
        }
        expiredItems.increment();
        SlabPage page = slabs.page(chunk);
        if (!page.isFetched(slabs.indexInPage(page, chunk))) {
            events[page.sizeClass].expiredUnfetched.increment();
        }
        remove(stripe, slot);
        return HashIndex.NONE;
    }

    private long expiry(long chunk) {
        return ItemDescriptor.expiry(slabs.memory(chunk), SlabAllocator.offset(chunk));
    }

    private boolean isExpired(long chunk, long nowSeconds) {
        long expiry = expiry(chunk);
        return expiry != 0 && expiry <= nowSeconds;
    }

    private long itemLength(long chunk) {
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        return ItemDescriptor.itemLength(
                ItemDescriptor.keyLength(memory, item), ItemDescriptor.valueLength(memory, item));
    }

    /** The hash of the key of an item that is linked. */
    private long hashOf(long chunk) {
        byte[] key = keyOf(chunk, ItemDescriptor.keyLength(slabs.memory(chunk), SlabAllocator.offset(chunk)));
        return KeyHash.hash(key, 0, key.length, hashSeed);
    }

    private byte[] keyOf(long chunk, int keyLength) {
        long at = SlabAllocator.offset(chunk) + ItemDescriptor.KEY_OFFSET;
        byte[] key = new byte[keyLength];
        MemorySegment.copy(slabs.memory(chunk), ValueLayout.JAVA_BYTE, at, key, 0, keyLength);
        return key;
    }

    /** A part of the keys; everything in it is guarded by its lock. */
    private static final class Stripe {
        final ReentrantLock lock = new ReentrantLock();
        final HashIndex index = new HashIndex();
        final StoredItem view;

        Stripe(SlabAllocator slabs) {
            view = new StoredItem(slabs);
        }
    }

    /** Makes one value of two. */
    private record Joiner(NewItem part, boolean behind) implements ItemRewriter {
        @Override
        public int measure(StoredItem old) {
            return Math.toIntExact(Math.min((long) old.valueLength() + part.valueLength(), Integer.MAX_VALUE));
        }

        @Override
        public void write(MemorySegment old, long oldOffset, int oldLength, MemorySegment target, long offset) {
            MemorySegment.copy(old, oldOffset, target, offset + (behind ? 0 : part.valueLength()), oldLength);
            MemorySegment.copy(
                    part.memory(), part.valueOffset(), target, offset + (behind ? oldLength : 0), part.valueLength());
        }
    }
}
