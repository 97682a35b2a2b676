package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;

/**
 * Makes room for items: takes memory for new ones, evicts those that were not used for longest, removes those that
 * have expired. Starts from an LRU list or from the slots of a stripe. Any thread; memory is taken with no lock held.
 */
final class ItemRoom {
    /** Without an eviction for so long, the next is not expected soon. */
    private static final int CALM_SECONDS = 60;

    /** How many evictions may fail before there is no memory. */
    private static final int FAILED_EVICTIONS = 100;

    /** How many items from the tail are looked at for an expired one where nothing else may go. */
    private static final int EXPIRY_CANDIDATES = 5;

    /**
     * How many items are passed over in search of one that can make room. While a thread that holds the lock of a
     * stripe does not run, the items of that stripe are what others leave behind at the tail.
     */
    private static final int EVICTION_CANDIDATES = 500;

    /** How many items {@link #reclaimTails} takes from a list at once. */
    private static final int MOST_TAILS = 500;

    /** Slots of an index looked at with its lock held. */
    private static final int SWEEP_SLOTS = 4096;

    private final SlabAllocator slabs;
    private final ItemTable table;
    private final UnfinishedItems unfinished;
    private final boolean evicting;
    private volatile ItemVisitor evictions = item -> {};
    private volatile IntConsumer evictionsFrom = sizeClass -> {};
    private volatile long lastEvictionSeconds;

    /**
     * The room that an allocator has.
     *
     * @param unfinished items that can make room, too
     * @param evicting whether items make room for others when memory is used up
     */
    ItemRoom(SlabAllocator slabs, ItemTable table, UnfinishedItems unfinished, boolean evicting) {
        this.slabs = slabs;
        this.table = table;
        this.unfinished = unfinished;
        this.evicting = evicting;
    }

    /** See {@link ItemStore#reserve}. */
    NewItem reserve(KeySlice key, int flags, int expiry, int valueLength, long nowSeconds) {
        int keyLength = key.length();
        if (keyLength < 1 || keyLength > ItemDescriptor.MAX_KEY_LENGTH || valueLength < 0) {
            throw new IllegalArgumentException("keyLength=" + keyLength + ", valueLength=" + valueLength);
        }
        if (isTooLarge(keyLength, valueLength)) {
            return NewItem.TOO_LARGE;
        }
        long itemLength = ItemDescriptor.itemLength(keyLength, valueLength);
        long chunk = allocate(slabs.geometry().sizeClass(itemLength), nowSeconds);
        if (chunk == SlabAllocator.NONE) {
            return NewItem.OUT_OF_MEMORY;
        }
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        slabs.writer().beginFill(memory, item);
        slabs.writer().header(memory, item, expiry, flags, key, valueLength);
        long hash = table.hash(key);
        return new NewItem(NewItem.Status.READY, chunk, memory, hash, keyLength, valueLength);
    }

    /** See {@link ItemStore#isTooLarge}. */
    boolean isTooLarge(int keyLength, int valueLength) {
        return ItemDescriptor.itemLength(keyLength, valueLength)
                > slabs.geometry().maxItemLength();
    }

    /** See {@link ItemStore#touchIntervalSeconds}. */
    int touchIntervalSeconds(long nowSeconds) {
        return nowSeconds - lastEvictionSeconds < CALM_SECONDS ? 1 : CALM_SECONDS;
    }

    /** Takes a chunk, making room if there is none. No lock is held. */
    private long allocate(int sizeClass, long nowSeconds) {
        int failures = 0;
        while (failures < FAILED_EVICTIONS) {
            long chunk = slabs.allocate(sizeClass);
            if (chunk != SlabAllocator.NONE) {
                return chunk;
            }
            if (evict(sizeClass, nowSeconds)) { // there was room, even if another thread was faster to take it
                table.events(sizeClass).directReclaims.increment();
                continue;
            }
            if (unfinished.giveUpStale(sizeClass, nowSeconds)) {
                continue;
            }
            if (!evicting) {
                break; // nothing has expired, and nothing else may go
            }
            failures++;
            slabs.turns().giveWay(); // somebody is busy with every key at the tail: that ends
        }
        table.events(sizeClass).outOfMemory.increment();
        return SlabAllocator.NONE;
    }

    /**
     * Removes the item of a class that was not used for longest, or an expired one near it; false if there is none.
     * Those whose keys somebody is busy with are passed over, and pinned ones, which would make no room.
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
                    evictionsFrom.accept(sizeClass);
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

    /** See {@link ItemStore#onEviction}. */
    void onEviction(ItemVisitor visitor) {
        evictions = visitor;
    }

    /** Sets who is told of each class that had to make room; quick, with locks held. */
    void onEvictionFrom(IntConsumer listener) {
        evictionsFrom = listener;
    }

    /** See {@link ItemStore#reclaimTails}. */
    void reclaimTails(long nowSeconds) {
        for (int i = 0; i < table.classes(); i++) {
            for (int left = MOST_TAILS; left > 0 && slabs.lru(i).age((int) nowSeconds); left--) {
                // an idle item has left HOT or WARM
            }
            for (int segment = 0; segment < SegmentedLru.SEGMENTS; segment++) {
                int left = MOST_TAILS;
                while (left > 0 && reclaimTail(slabs.lru(i), segment, nowSeconds)) {
                    left--;
                }
            }
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

    /** Removes an item that lies where nothing may stay, as evicted or expired. With the lock of its stripe. */
    void remove(Stripe stripe, long hash, long chunk, long nowSeconds) {
        SlabPage page = slabs.page(chunk);
        countRemoval(page, slabs.indexInPage(page, chunk), chunk, nowSeconds);
        if (!table.isExpired(chunk, nowSeconds)) {
            evictions.visit(stripe.view.wrap(chunk));
        }
        table.removeChunk(stripe, hash, chunk);
    }

    /** Removes an item that has expired, or any. With the lock of its list; false if somebody is busy with its key. */
    private boolean removeUnused(SlabPage page, int index, long nowSeconds, boolean any) {
        long chunk = page.chunk(index);
        if (!any && !table.isExpired(chunk, nowSeconds)) {
            return false;
        }
        long hash = table.hashOf(chunk);
        Stripe stripe = table.stripe(hash);
        if (!stripe.lock.tryLock()) {
            table.events(page.sizeClass).tailLocked.increment();
            return false;
        }
        try {
            if (!any && !table.isExpired(chunk, nowSeconds)) {
                return false; // touched a moment ago
            }
            remove(stripe, hash, chunk, nowSeconds);
            return true;
        } finally {
            stripe.lock.unlock();
        }
    }

    private void countRemoval(SlabPage page, int index, long chunk, long nowSeconds) {
        ClassEvents counters = table.events(page.sizeClass);
        boolean fetched = page.isFetched(index);
        if (table.isExpired(chunk, nowSeconds)) {
            counters.reclaimed.increment();
            if (!fetched) {
                counters.expiredUnfetched.increment();
            }
            return;
        }
        counters.evicted.increment();
        if (slabs.lru(page.sizeClass).isActive(page, index)) {
            counters.evictedActive.increment();
        }
        counters.evictedTime = Math.max(0, (int) nowSeconds - page.times[index]);
        if (table.expiry(chunk) != 0) {
            counters.evictedNonzero.increment();
        }
        if (!fetched) {
            counters.evictedUnfetched.increment();
        }
    }

    /** Removes everything that has expired by a time, a few slots at once. */
    void sweep(Stripe stripe, long nowSeconds) {
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
                    if (!all && chunk != SlabAllocator.NONE) {
                        table.events(slabs.page(chunk).sizeClass).crawlerChecked.increment();
                    }
                    if (chunk == SlabAllocator.NONE || !(all || table.isExpired(chunk, nowSeconds))) {
                        slot++; // else another entry may have moved into this slot
                    } else {
                        countReclaimed(chunk, all);
                        table.remove(stripe, slot);
                    }
                }
                from = end;
                more = end < stripe.index.slots();
            } finally {
                stripe.lock.unlock();
            }
        }
    }

    private void countReclaimed(long chunk, boolean flushed) {
        SlabPage page = slabs.page(chunk);
        ClassEvents counters = table.events(page.sizeClass);
        (flushed ? counters.reclaimed : counters.crawlerReclaimed).increment();
        if (!page.isFetched(slabs.indexInPage(page, chunk))) {
            counters.expiredUnfetched.increment();
        }
    }
}
