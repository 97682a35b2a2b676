package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.softrdma.kv.item.ItemChecksum;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.ItemWriter;
import org.softrdma.kv.item.KeyHash;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.turns.StepPoint;
import org.softrdma.kv.turns.Turns;

/**
 * Which item a key has: the stripes, and each single change of what they name. {@link ItemStore} says in which order
 * an item dies, is born and is named. Any thread; whoever passes a stripe holds its lock, and everything that is
 * found is of use only until the lock is given up.
 */
final class ItemTable {
    static final int STRIPES = 256;
    private static final int STRIPE_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(STRIPES);

    private final SlabAllocator slabs;
    private final ItemWriter writer;
    private final Turns turns;
    private final long hashSeed;
    private final Stripe[] stripes = new Stripe[STRIPES];
    private final ClassEvents[] events;
    private final boolean numbering;
    private final AtomicLong lastCas = new AtomicLong();
    private final LongAdder currentItems = new LongAdder();
    private final LongAdder totalItems = new LongAdder();
    private final LongAdder currentBytes = new LongAdder();
    private final LongAdder expiredItems = new LongAdder();

    ItemTable(SlabAllocator slabs, long hashSeed, boolean numbering) {
        this.slabs = slabs;
        this.writer = slabs.writer();
        this.turns = slabs.turns();
        this.hashSeed = hashSeed;
        this.numbering = numbering;
        Arrays.setAll(stripes, i -> new Stripe(slabs));
        events = new ClassEvents[slabs.geometry().classes()];
        Arrays.setAll(events, i -> new ClassEvents());
    }

    /** The hash of a key, which says where it is. */
    long hash(KeySlice key) {
        return KeyHash.hash(key, hashSeed);
    }

    /** Where the key with a hash is. */
    Stripe stripe(long hash) {
        return stripes[(int) (hash >>> STRIPE_SHIFT)];
    }

    /** One of {@link #STRIPES}. */
    Stripe part(int number) {
        return stripes[number];
    }

    /** What is counted of a slab class. */
    ClassEvents events(int sizeClass) {
        return events[sizeClass];
    }

    /** Slab classes. */
    int classes() {
        return events.length;
    }

    /** The slot of a key whose item has not expired; one that has is removed. */
    int findLiving(Stripe stripe, long hash, KeySlice key, long nowSeconds) {
        int slot = stripe.index.find(hash);
        while (slot != HashIndex.NONE) {
            long chunk = stripe.index.chunk(slot);
            if (ItemDescriptor.hasKey(slabs.memory(chunk), SlabAllocator.offset(chunk), key)) {
                return unlessExpired(stripe, slot, nowSeconds);
            }
            slot = stripe.index.findNext(slot, hash);
        }
        return HashIndex.NONE;
    }

    int findSameKey(Stripe stripe, NewItem other, long nowSeconds) {
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

    /** Makes a filled chunk a whole item, but for its life. No lock: the CRCs take their time. */
    void seal(NewItem filled, StoreRule rule) {
        sealAs(filled, numbering ? casOf(rule) : 0);
    }

    /** The same, with a cas number. */
    void sealAs(NewItem filled, long cas) {
        MemorySegment memory = filled.memory();
        long item = filled.item();
        writer.endFill(memory, item, cas);
        writer.seal(
                memory,
                item,
                new ItemChecksum(0).compute(memory.asByteBuffer(), (int) item, filled.keyLength, filled.valueLength()));
    }

    private long casOf(StoreRule rule) {
        return rule.newCas == 0 ? lastCas.incrementAndGet() : rule.newCas;
    }

    /** Takes {@link #seal} back. */
    void unseal(NewItem filled) {
        writer.beginFill(filled.memory(), filled.item());
    }

    /** Begins the life of a sealed item. The caller names it in the index. */
    StoredItem link(Stripe stripe, NewItem made, StoreRule rule, long nowSeconds) {
        writer.publish(made.memory(), made.item());
        StoredItem item = stripe.view.wrap(made.chunk);
        item.page().link(item.index(), (int) nowSeconds);
        if (rule.tokenSent) {
            item.setTokenSent();
        }
        if (rule.keyBinary) {
            item.page().setKeyBinary(item.index());
        }
        boolean temporary = slabs.lruRules().isTemporary(item.expiry(), nowSeconds);
        slabs.lru(item.sizeClass()).link(item.page(), item.index(), item.itemLength(), temporary);
        currentItems.increment();
        currentBytes.add(item.itemLength());
        totalItems.increment();
        return item;
    }

    /** The order of these steps is the promise of {@link ItemStore}. With the lock of the stripe. */
    StoredItem replace(Stripe stripe, int slot, NewItem made, StoreRule rule, long nowSeconds) {
        long old = stripe.index.chunk(slot);
        MemorySegment memory = slabs.memory(old);
        long item = SlabAllocator.offset(old);
        writer.kill(memory, item);
        slabs.exchange(old, made.chunk);
        StoredItem stored = link(stripe, made, rule, nowSeconds);
        Locator locator = stored.locator();
        stripe.index.replace(slot, made.chunk);
        turns.step(StepPoint.INDEXED);
        writer.forward(memory, item, locator.first(), locator.second());
        unlink(old);
        return stored;
    }

    /**
     * The same item goes on in another chunk of its class: {@link #replace} by a copy of itself, which has its cas number,
     * its marks and its place in the LRU. With the lock of the stripe.
     */
    void relocate(Stripe stripe, int slot, NewItem copy) {
        long old = stripe.index.chunk(slot);
        MemorySegment memory = slabs.memory(old);
        long item = SlabAllocator.offset(old);
        SlabPage oldPage = slabs.page(old);
        int oldIndex = slabs.indexInPage(oldPage, old);
        writer.setExpiry(copy.memory(), copy.item(), (int) expiry(old)); // which may have changed since it was copied
        writer.kill(slabs.memory(old), item);
        slabs.exchange(old, copy.chunk);
        writer.publish(copy.memory(), copy.item());
        StoredItem moved = stripe.view.wrap(copy.chunk);
        moved.page().relocate(oldPage, oldIndex, moved.index());
        slabs.lru(oldPage.sizeClass).relocate(oldPage, oldIndex, moved.page(), moved.index());
        Locator locator = moved.locator();
        stripe.index.replace(slot, copy.chunk);
        turns.step(StepPoint.INDEXED);
        writer.forward(memory, item, locator.first(), locator.second());
        if (oldPage.unlink(oldIndex)) {
            slabs.free(old);
        }
    }

    /**
     * The key of the item that a chunk may hold, or nothing if it holds none. No lock: another item may be there by now, so
     * the index has the last word ({@link HashIndex#find(long, long)} by its hash).
     */
    KeySlice keyPerhaps(long chunk) {
        SlabPage page = slabs.pageOrNull(chunk);
        if (page == null) {
            return new KeySlice();
        }
        int keyLength = ItemDescriptor.keyLength(slabs.memory(chunk), SlabAllocator.offset(chunk));
        // The key may change while it is read, and its length as well, so the one that was looked at is what is read.
        return keyLength < 1 || ItemDescriptor.itemLength(keyLength, 0) > page.chunkLength
                ? new KeySlice() // somebody is filling it
                : keyOf(chunk, keyLength);
    }

    /** Kills and unlinks. With the lock of the stripe. */
    void remove(Stripe stripe, int slot) {
        long chunk = stripe.index.chunk(slot);
        writer.kill(slabs.memory(chunk), SlabAllocator.offset(chunk));
        stripe.index.remove(slot);
        turns.step(StepPoint.INDEXED);
        unlink(chunk);
    }

    void removeChunk(Stripe stripe, long hash, long chunk) {
        remove(stripe, stripe.index.find(hash, chunk));
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

    void unpin(Stripe stripe, long chunk) {
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
    void bump(StoredItem item, long nowSeconds) {
        SlabPage page = item.page();
        int index = item.index();
        if (!page.isFetched(index)) {
            page.setFetched(index);
        } else if (slabs.lru(page.sizeClass).activate(page, index, nowSeconds)) {
            page.times[index] = (int) nowSeconds;
        }
    }

    /** memcached's rule for an add that fails: the time of use moves, but nobody has found the item. */
    void used(StoredItem item, long nowSeconds) {
        item.page().times[item.index()] = (int) nowSeconds;
    }

    long expiry(long chunk) {
        return ItemDescriptor.expiry(slabs.memory(chunk), SlabAllocator.offset(chunk));
    }

    boolean isExpired(long chunk, long nowSeconds) {
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
    long hashOf(long chunk) {
        return hash(keyOf(chunk, ItemDescriptor.keyLength(slabs.memory(chunk), SlabAllocator.offset(chunk))));
    }

    KeySlice keyOf(long chunk, int keyLength) {
        long at = SlabAllocator.offset(chunk) + ItemDescriptor.KEY_OFFSET;
        byte[] key = new byte[keyLength];
        MemorySegment.copy(slabs.memory(chunk), ValueLayout.JAVA_BYTE, at, key, 0, keyLength);
        return new KeySlice(key);
    }

    StoreStatistics statistics() {
        long indexBytes = 0;
        for (Stripe stripe : stripes) {
            indexBytes += stripe.index.bytes();
        }
        return new StoreStatistics(
                currentItems.sum(),
                totalItems.sum(),
                currentBytes.sum(),
                expiredItems.sum(),
                new StoreStatistics.Memory(slabs.pagedBytes(), slabs.memoryLimit(), indexBytes));
    }

    void resetStatistics() {
        totalItems.reset();
        expiredItems.reset();
        for (int i = 0; i < events.length; i++) {
            events[i].reset();
            slabs.lru(i).resetHits();
        }
    }
}
