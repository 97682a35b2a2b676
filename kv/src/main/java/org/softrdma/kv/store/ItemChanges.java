package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.turns.Turns;

/**
 * Changes the item of a key. A whole item takes its place under a rule, or one whose value is made from the present
 * value, as for append and incr. The new item is sealed with no lock held, and put in place only if the present item
 * is still the one that it was made from. Any thread.
 */
final class ItemChanges {
    /** How often a value may be made in vain, because the present one has changed meanwhile. */
    private static final int MOST_REWRITES = 1000;

    private final SlabAllocator slabs;
    private final ItemTable table;
    private final ItemRoom room;

    ItemChanges(SlabAllocator slabs, ItemTable table, ItemRoom room) {
        this.slabs = slabs;
        this.table = table;
        this.room = room;
    }

    /** Publishes and links an item if its rule allows; if not, the chunk still is the caller's. */
    StoreStatus storeWhole(NewItem filled, StoreRule rule, long nowSeconds) {
        table.seal(filled, rule);
        Stripe stripe = table.stripe(filled.hash);
        StoreStatus status;
        stripe.lock.lock();
        try {
            int slot = table.findSameKey(stripe, filled, nowSeconds);
            if (slot == HashIndex.NONE) {
                status = switch (rule.mode) {
                    case SET, ADD -> StoreStatus.STORED;
                    case CAS -> StoreStatus.NOT_FOUND;
                    default -> StoreStatus.NOT_STORED;
                };
                if (status == StoreStatus.STORED) {
                    StoredItem item = table.link(stripe, filled, rule, nowSeconds);
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
            table.unseal(filled);
        }
        return status;
    }

    private StoreStatus storeOver(Stripe stripe, int slot, NewItem filled, StoreRule rule, long nowSeconds) {
        StoredItem old = stripe.view.wrap(stripe.index.chunk(slot));
        filled.found(old.sizeClass());
        boolean stale = false;
        if (rule.mode == StoreMode.ADD) {
            table.used(old, nowSeconds);
            return StoreStatus.NOT_STORED;
        }
        if (rule.mode == StoreMode.CAS && (rule.compareCas == 0 || rule.compareCas != old.cas())) {
            stale = rule.staleIfOlder && rule.compareCas != 0 && Long.compareUnsigned(rule.compareCas, old.cas()) < 0;
            if (!stale) {
                return StoreStatus.EXISTS;
            }
        }
        boolean tokenSent = stale && old.isTokenSent();
        int expiry = (int) old.expiry();
        StoredItem item = table.replace(stripe, slot, filled, rule, nowSeconds);
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

    /** Append and prepend; the part is a chunk of its own until the whole is stored. */
    StoreStatus join(NewItem part, StoreRule rule, long nowSeconds) {
        KeySlice key = table.keyOf(part.chunk, part.keyLength);
        Joiner joiner = new Joiner(part, rule.mode == StoreMode.APPEND, slabs.turns());
        StoreRule alone =
                new StoreRule().reset(StoreMode.ADD).newCas(rule.newCas).keyBinary(rule.keyBinary);
        StoreStatus status = StoreStatus.BUSY;
        for (int left = MOST_REWRITES; left > 0; left--) {
            status = rewrite(key, rule, joiner, nowSeconds, item -> part.stored(item.locator(), item.cas()));
            if (status != StoreStatus.NOT_FOUND || !rule.createIfMissing) {
                break;
            }
            slabs.writer().setExpiry(part.memory(), part.item(), rule.createExpiry);
            if (storeWhole(part, alone, nowSeconds) == StoreStatus.STORED) {
                return StoreStatus.STORED;
            }
            status = StoreStatus.BUSY; // it was created and is gone again
        }
        slabs.free(part.chunk);
        return switch (status) { // as memcached, also where the whole has no room
            case NOT_FOUND, TOO_LARGE, OUT_OF_MEMORY -> StoreStatus.NOT_STORED;
            default -> status;
        };
    }

    /** See {@link ItemStore#rewrite}. */
    StoreStatus rewrite(KeySlice key, StoreRule rule, ItemRewriter rewriter, long nowSeconds, ItemVisitor result) {
        Rewrite rewrite = new Rewrite(key, rule, rewriter, nowSeconds);
        for (int left = MOST_REWRITES; left > 0; left--) {
            StoreStatus found = rewrite.take();
            if (found != StoreStatus.STORED) {
                return found;
            }
            StoreStatus made = rewrite.make(result);
            if (made != StoreStatus.NOT_STORED) {
                return made;
            }
        }
        return StoreStatus.BUSY;
    }

    /**
     * One rewriting of the item of a key, from the present item to the one in its place; again, if that changes
     * meanwhile.
     */
    private final class Rewrite {
        private final KeySlice key;
        private final StoreRule rule;
        private final ItemRewriter rewriter;
        private final long nowSeconds;
        private final long hash;
        private final Stripe stripe;
        private long old;
        private int length;
        private int flags;

        Rewrite(KeySlice key, StoreRule rule, ItemRewriter rewriter, long nowSeconds) {
            this.key = key;
            this.rule = rule;
            this.rewriter = rewriter;
            this.nowSeconds = nowSeconds;
            this.hash = table.hash(key);
            this.stripe = table.stripe(hash);
        }

        /** Pins the present item; STORED if it can be rewritten, or why not. */
        StoreStatus take() {
            stripe.lock.lock();
            try {
                int slot = table.findLiving(stripe, hash, key, nowSeconds);
                if (slot == HashIndex.NONE) {
                    return StoreStatus.NOT_FOUND;
                }
                StoredItem item = stripe.view.wrap(stripe.index.chunk(slot));
                boolean other = rule.compareCas != 0 && rule.compareCas != item.cas();
                if (other && (item.valueLength() > 0 || rewriter.takesEmpty())) { // as memcached: no number comes first
                    return StoreStatus.EXISTS;
                }
                length = rewriter.measure(item);
                if (length == ItemRewriter.REFUSED) {
                    return StoreStatus.NON_NUMERIC;
                }
                if (!item.page().pin(item.index())) {
                    return StoreStatus.BUSY; // as many hold its bytes as may
                }
                old = item.chunk();
                flags = item.flags();
                return StoreStatus.STORED;
            } finally {
                stripe.lock.unlock();
            }
        }

        /** Makes the new item, and gives the pin up; NOT_STORED if the old one is gone meanwhile. */
        StoreStatus make(ItemVisitor result) {
            try {
                NewItem made = room.reserve(key, flags, 0, length, nowSeconds);
                if (made.status() != NewItem.Status.READY) {
                    return made.status() == NewItem.Status.TOO_LARGE
                            ? StoreStatus.TOO_LARGE
                            : StoreStatus.OUT_OF_MEMORY;
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
                return replaceIfStill(made, result) ? StoreStatus.STORED : StoreStatus.NOT_STORED;
            } finally {
                table.unpin(stripe, old);
            }
        }

        /**
         * Puts the new item in place of the one that it was made from; false, and nothing is done, if that is gone.
         * What changes in place, its expiry and its marks, may have changed since the value was read, and is taken
         * from it only now.
         */
        private boolean replaceIfStill(NewItem made, ItemVisitor result) {
            table.seal(made, rule);
            stripe.lock.lock();
            try {
                int slot = stripe.index.find(made.hash, old);
                if (slot != HashIndex.NONE) { // a pinned chunk that still is linked never was anything else
                    result.visit(replace(slot, made));
                    return true;
                }
            } finally {
                stripe.lock.unlock();
            }
            table.unseal(made);
            slabs.free(made.chunk);
            return false;
        }

        private StoredItem replace(int slot, NewItem made) {
            SlabPage oldPage = slabs.page(old);
            int oldIndex = slabs.indexInPage(oldPage, old);
            slabs.writer().setExpiry(made.memory(), made.item(), (int) table.expiry(old));
            ItemRewriter.Marks marks = rewriter.marks();
            boolean inPlace = marks != ItemRewriter.Marks.NONE;
            boolean fetched = inPlace && oldPage.isFetched(oldIndex);
            boolean keyBinary = oldPage.isKeyBinary(oldIndex);
            boolean stale = marks == ItemRewriter.Marks.STALE
                    || (marks == ItemRewriter.Marks.KEPT && oldPage.isStale(oldIndex));
            boolean tokenSent = marks == ItemRewriter.Marks.KEPT && oldPage.isTokenSent(oldIndex);
            long used = inPlace ? oldPage.times[oldIndex] : nowSeconds;
            StoredItem item = table.replace(stripe, slot, made, rule, used);
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
            return item;
        }
    }

    /** Makes one value of two. */
    private record Joiner(NewItem part, boolean behind, Turns turns) implements ItemRewriter {
        @Override
        public int measure(StoredItem old) {
            return Math.toIntExact(Math.min((long) old.valueLength() + part.valueLength(), Integer.MAX_VALUE));
        }

        @Override
        public void write(MemorySegment old, long oldOffset, int oldLength, MemorySegment target, long offset) {
            turns.copy(old, oldOffset, target, offset + (behind ? 0 : part.valueLength()), oldLength);
            turns.copy(
                    part.memory(), part.valueOffset(), target, offset + (behind ? oldLength : 0), part.valueLength());
        }
    }
}
