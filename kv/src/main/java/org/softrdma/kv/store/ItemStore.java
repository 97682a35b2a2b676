package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keys and their items. Items are immutable once published and readable by peers all the time, so the order of changes is
 * what keeps this promise: <em>no GET that starts after a set or delete was acknowledged returns an older state</em>, be it
 * over TCP (which takes the lock of the key) or by READ (which takes none and checks the bytes).
 *
 * <ul>
 *   <li>Replace: the new item is complete and published in its own chunk; the old item is killed (its generation bumped);
 *       the index names the new one; the old one gets a forward locator; only then the caller answers. Any other order lets
 *       one reader see the new item and a later reader the old one. Between kill and forward a READ finds the old item stale
 *       and its reader asks over TCP.
 *   <li>Delete and expiry: kill, then unlink, then answer.
 *   <li>Reuse of a chunk: the sequence turns odd before anything else changes, and generations of living items are odd and
 *       only grow, so a locator of an earlier life never matches.
 * </ul>
 *
 * <p>Keys are spread over stripes by hash, each with a lock and a {@link HashIndex}: any thread may call, a single hot key
 * is serialised and nothing else is. Rejected: one store thread, because every set would cross threads twice; a concurrent
 * map, because kill, link and forward must be one step for readers over TCP.
 */
public final class ItemStore {
    private static final int STRIPES = 256;
    private static final int STRIPE_SHIFT = Long.SIZE - Integer.numberOfTrailingZeros(STRIPES);

    private final SlabAllocator slabs;
    private final long hashSeed;
    private final Stripe[] stripes = new Stripe[STRIPES];
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
     */
    public ItemStore(SlabAllocator slabs, long hashSeed) {
        this.slabs = slabs;
        this.hashSeed = hashSeed;
        Arrays.setAll(stripes, i -> new Stripe());
    }

    /**
     * Takes memory for an item and writes everything but its value. Nobody finds it before {@link #publish}.
     *
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes, 1 to {@link ItemDescriptor#MAX_KEY_LENGTH}
     * @param flags the client's flags
     * @param expiry seconds since 1970, 0 for never
     * @param valueLength bytes of the value
     */
    public NewItem reserve(byte[] key, int keyOffset, int keyLength, int flags, int expiry, int valueLength) {
        if (keyLength < 1 || keyLength > ItemDescriptor.MAX_KEY_LENGTH || valueLength < 0) {
            throw new IllegalArgumentException("keyLength=" + keyLength + ", valueLength=" + valueLength);
        }
        long itemLength = ItemDescriptor.itemLength(keyLength, valueLength);
        if (itemLength > slabs.geometry().maxItemLength()) {
            return NewItem.TOO_LARGE;
        }
        long chunk = slabs.allocate(slabs.geometry().sizeClass(itemLength));
        if (chunk == SlabAllocator.NONE) {
            return NewItem.OUT_OF_MEMORY;
        }
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        ItemDescriptor.beginFill(memory, item);
        ItemDescriptor.header(memory, item, expiry, flags, key, keyOffset, keyLength, valueLength);
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        return new NewItem(NewItem.Status.READY, chunk, memory, hash, keyLength, valueLength);
    }

    /**
     * Makes a filled item the item of its key.
     *
     * @param filled the item with its value in place
     * @return where clients find it
     */
    public Locator publish(NewItem filled) {
        filled.end();
        MemorySegment memory = filled.memory();
        long item = filled.item();
        ItemDescriptor.cas(memory, item, lastCas.incrementAndGet());
        ByteBuffer view = memory.asByteBuffer();
        ItemDescriptor.publish(
                memory, item, new ItemChecksum().compute(view, (int) item, filled.keyLength, filled.valueLength()));
        Locator locator = locator(filled.chunk);
        Stripe stripe = stripe(filled.hash);
        long freed = SlabAllocator.NONE;
        stripe.lock.lock();
        try {
            SlabPage page = slabs.page(filled.chunk);
            page.link(slabs.indexInPage(page, filled.chunk));
            int slot = findSameKey(stripe, filled);
            if (slot == HashIndex.NONE) {
                stripe.index.insert(filled.hash, filled.chunk);
            } else {
                long old = stripe.index.chunk(slot);
                ItemDescriptor.kill(slabs.memory(old), SlabAllocator.offset(old));
                stripe.index.replace(slot, filled.chunk);
                ItemDescriptor.forward(slabs.memory(old), SlabAllocator.offset(old), locator.first(), locator.second());
                freed = unlinked(old);
            }
        } finally {
            stripe.lock.unlock();
        }
        if (freed != SlabAllocator.NONE) {
            slabs.free(freed);
        }
        currentItems.increment();
        currentBytes.add(locator.length());
        totalItems.increment();
        return locator;
    }

    /**
     * Gives back an item that is not to be published.
     *
     * @param unused a reserved item
     */
    public void abandon(NewItem unused) {
        unused.end();
        slabs.free(unused.chunk);
    }

    /**
     * Finds an item.
     *
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes
     * @param nowSeconds the time, for expiry
     * @param visitor called with the item if there is one
     * @return true if there is one
     */
    public boolean get(byte[] key, int keyOffset, int keyLength, long nowSeconds, ItemVisitor visitor) {
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        Stripe stripe = stripe(hash);
        long freed;
        stripe.lock.lock();
        try {
            int slot = find(stripe, hash, key, keyOffset, keyLength);
            if (slot == HashIndex.NONE) {
                return false;
            }
            long chunk = stripe.index.chunk(slot);
            if (!isExpired(chunk, nowSeconds)) {
                visitor.visit(slabs.memory(chunk), SlabAllocator.offset(chunk));
                return true;
            }
            expiredItems.increment();
            freed = remove(stripe, slot, chunk);
        } finally {
            stripe.lock.unlock();
        }
        if (freed != SlabAllocator.NONE) {
            slabs.free(freed);
        }
        return false;
    }

    /**
     * Removes an item.
     *
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes
     * @param nowSeconds the time, for expiry
     * @return true if there was one that had not expired
     */
    public boolean delete(byte[] key, int keyOffset, int keyLength, long nowSeconds) {
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        Stripe stripe = stripe(hash);
        boolean expired;
        long freed;
        stripe.lock.lock();
        try {
            int slot = find(stripe, hash, key, keyOffset, keyLength);
            if (slot == HashIndex.NONE) {
                return false;
            }
            long chunk = stripe.index.chunk(slot);
            expired = isExpired(chunk, nowSeconds);
            freed = remove(stripe, slot, chunk);
        } finally {
            stripe.lock.unlock();
        }
        if (freed != SlabAllocator.NONE) {
            slabs.free(freed);
        }
        return !expired;
    }

    /**
     * Finds an item and keeps its bytes from being reused until {@link #unpin}; it may be replaced or deleted meanwhile.
     *
     * @param key array that holds the key
     * @param keyOffset where it starts
     * @param keyLength its bytes
     * @param nowSeconds the time, for expiry
     * @return the item, or {@link PinnedItem#NONE} if there is none (or, which takes 32 767 of them, it has too many pins)
     */
    public PinnedItem pin(byte[] key, int keyOffset, int keyLength, long nowSeconds) {
        long hash = KeyHash.hash(key, keyOffset, keyLength, hashSeed);
        Stripe stripe = stripe(hash);
        stripe.lock.lock();
        try {
            int slot = find(stripe, hash, key, keyOffset, keyLength);
            if (slot == HashIndex.NONE) {
                return PinnedItem.NONE;
            }
            long chunk = stripe.index.chunk(slot);
            SlabPage page = slabs.page(chunk);
            if (isExpired(chunk, nowSeconds) || !page.pin(slabs.indexInPage(page, chunk))) {
                return PinnedItem.NONE;
            }
            return new PinnedItem(chunk, hash, slabs.arena(chunk), locator(chunk));
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * Ends a pin.
     *
     * @param pinned what {@link #pin} returned, once
     */
    public void unpin(PinnedItem pinned) {
        Stripe stripe = stripe(pinned.hash());
        boolean unused;
        stripe.lock.lock();
        try {
            SlabPage page = slabs.page(pinned.chunk());
            unused = page.unpin(slabs.indexInPage(page, pinned.chunk()));
        } finally {
            stripe.lock.unlock();
        }
        if (unused) {
            slabs.free(pinned.chunk());
        }
    }

    /**
     * Takes note that a client has READ an item.
     *
     * @param first first half of the locator by which it did, as the client says: may be anything
     * @param generation of the item
     * @param hits how often
     * @param nowSeconds the time, for expiry
     * @return true if the item still lives
     */
    public boolean touched(long first, int generation, int hits, long nowSeconds) {
        long chunk = slabs.find(Locator.rkey(first), Locator.offset(first));
        if (chunk == SlabAllocator.NONE || (generation & 1) == 0) {
            return false;
        }
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        byte[] key = ItemDescriptor.copyKey(memory, item, slabs.page(chunk).chunkLength);
        long hash = KeyHash.hash(key, 0, key.length, hashSeed); // of another key if the chunk is being reused
        Stripe stripe = stripe(hash);
        stripe.lock.lock();
        try {
            int slot = stripe.index.find(hash);
            while (slot != HashIndex.NONE && stripe.index.chunk(slot) != chunk) {
                slot = stripe.index.findNext(slot, hash);
            }
            return slot != HashIndex.NONE
                    && ItemDescriptor.generation(memory, item) == generation
                    && !isExpired(chunk, nowSeconds);
        } finally {
            stripe.lock.unlock();
        }
    }

    /** What the store counts. */
    public StoreStatistics statistics() {
        return new StoreStatistics(
                currentItems.sum(),
                totalItems.sum(),
                currentBytes.sum(),
                expiredItems.sum(),
                slabs.pagedBytes(),
                slabs.memoryLimit());
    }

    private Stripe stripe(long hash) {
        return stripes[(int) (hash >>> STRIPE_SHIFT)];
    }

    private int find(Stripe stripe, long hash, byte[] key, int keyOffset, int keyLength) {
        int slot = stripe.index.find(hash);
        while (slot != HashIndex.NONE) {
            long chunk = stripe.index.chunk(slot);
            if (ItemDescriptor.hasKey(slabs.memory(chunk), SlabAllocator.offset(chunk), key, keyOffset, keyLength)) {
                return slot;
            }
            slot = stripe.index.findNext(slot, hash);
        }
        return HashIndex.NONE;
    }

    private int findSameKey(Stripe stripe, NewItem other) {
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
                return slot;
            }
            slot = stripe.index.findNext(slot, other.hash);
        }
        return HashIndex.NONE;
    }

    private boolean isExpired(long chunk, long nowSeconds) {
        long expiry = ItemDescriptor.expiry(slabs.memory(chunk), SlabAllocator.offset(chunk));
        return expiry != 0 && expiry <= nowSeconds;
    }

    /** Kills and unlinks; the chunk to be freed once the lock is released, or NONE. */
    private long remove(Stripe stripe, int slot, long chunk) {
        ItemDescriptor.kill(slabs.memory(chunk), SlabAllocator.offset(chunk));
        stripe.index.remove(slot);
        return unlinked(chunk);
    }

    private long unlinked(long chunk) {
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        currentItems.decrement();
        currentBytes.add(-ItemDescriptor.itemLength(
                ItemDescriptor.keyLength(memory, item), ItemDescriptor.valueLength(memory, item)));
        SlabPage page = slabs.page(chunk);
        return page.unlink(slabs.indexInPage(page, chunk)) ? chunk : SlabAllocator.NONE;
    }

    private Locator locator(long chunk) {
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        long length = ItemDescriptor.itemLength(
                ItemDescriptor.keyLength(memory, item), ItemDescriptor.valueLength(memory, item));
        return new Locator(
                slabs.arena(chunk).rkey(),
                item,
                (int) length,
                slabs.page(chunk).sizeClass,
                ItemDescriptor.generation(memory, item));
    }

    /** A part of the keys; everything in it is guarded by its lock. */
    private static final class Stripe {
        final ReentrantLock lock = new ReentrantLock();
        final HashIndex index = new HashIndex();
    }
}
