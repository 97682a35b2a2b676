package org.softrdma.kv.store;

import java.util.Arrays;
import java.util.SortedMap;
import java.util.TreeMap;
import org.softrdma.kv.item.KeySlice;

/**
 * Looks at the items of a {@link ItemStore}, which change meanwhile: an item that is there from the beginning to the
 * end of a walk is seen once, others perhaps. Any thread; each call holds a lock for a short while.
 */
public final class ItemWalk {
    /** memcached's width of a column of {@code stats sizes}, in bytes. */
    private static final int SIZE_STEP = 32;

    /** Chunks looked at with the lock of their stripe held. */
    private static final int CHUNKS_PER_LOCK = 256;

    private final SlabAllocator slabs;
    private final ItemTable table;

    ItemWalk(SlabAllocator slabs, ItemTable table) {
        this.slabs = slabs;
        this.table = table;
    }

    /**
     * The chunks that hold items of a part of the keys, now.
     *
     * @param part which part, 0 to {@link ItemStore#parts()} - 1
     */
    public long[] chunks(int part) {
        Stripe stripe = table.part(part);
        stripe.lock.lock();
        try {
            long[] found = new long[stripe.index.size()];
            int count = 0;
            for (int slot = 0; slot < stripe.index.slots(); slot++) {
                if (stripe.index.chunk(slot) != SlabAllocator.NONE) {
                    found[count++] = stripe.index.chunk(slot);
                }
            }
            return found;
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * Looks at the item of a chunk, unless it is gone or has expired.
     *
     * @param part of which {@link #chunks} has named it
     * @param chunk which
     * @param nowSeconds the time, for expiry
     * @param visitor shown the item
     */
    public void visit(int part, long chunk, long nowSeconds, ItemVisitor visitor) {
        Stripe stripe = table.part(part);
        stripe.lock.lock();
        try {
            if (isStill(stripe, chunk) && !table.isExpired(chunk, nowSeconds)) {
                visitor.visit(stripe.view.wrap(chunk));
            }
        } finally {
            stripe.lock.unlock();
        }
    }

    /** With the lock of the stripe held: a chunk that its index names is an item, and stays one. */
    private boolean isStill(Stripe stripe, long chunk) {
        KeySlice key = table.keyPerhaps(chunk);
        return key.length() > 0 && stripe.index.find(table.hash(key), chunk) != HashIndex.NONE;
    }

    /**
     * Looks at the items of a class that are evicted first, from the last used on: what {@code stats cachedump} shows.
     * The items of this class change hands meanwhile only as far as the visitor lets them.
     *
     * @param sizeClass which; of one that does not exist, there are none
     * @param visitor says whether it wants to see more
     */
    public void cold(int sizeClass, ColdVisitor visitor) {
        if (sizeClass < 0 || sizeClass >= table.classes()) {
            return;
        }
        StoredItem view = new StoredItem(slabs);
        slabs.lru(sizeClass).visitCold((page, index) -> visitor.visit(view.wrap(page.chunk(index))));
    }

    /** Looks at items, one after the other. */
    @FunctionalInterface
    public interface ColdVisitor {
        /**
         * Called with the lock of a class held.
         *
         * @param item not to be kept
         * @return false to see no more
         */
        boolean visit(StoredItem item);
    }

    /** How many items there are of each length: by the length rounded up to a multiple of 32. Takes a while. */
    public SortedMap<Integer, Long> lengths() {
        SortedMap<Integer, Long> counts = new TreeMap<>();
        for (int part = 0; part < ItemTable.STRIPES; part++) {
            long[] chunks = chunks(part);
            for (int from = 0; from < chunks.length; from += CHUNKS_PER_LOCK) {
                count(
                        table.part(part),
                        Arrays.copyOfRange(chunks, from, Math.min(from + CHUNKS_PER_LOCK, chunks.length)),
                        counts);
            }
        }
        return counts;
    }

    private void count(Stripe stripe, long[] chunks, SortedMap<Integer, Long> counts) {
        stripe.lock.lock();
        try {
            for (long chunk : chunks) {
                if (isStill(stripe, chunk)) {
                    StoredItem item = stripe.view.wrap(chunk);
                    int columns = Math.ceilDiv((int) item.itemLength(), SIZE_STEP);
                    counts.merge(columns * SIZE_STEP, 1L, Long::sum);
                }
            }
        } finally {
            stripe.lock.unlock();
        }
    }
}
