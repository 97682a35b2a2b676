package org.softrdma.kv.store;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.turns.StepPoint;

/**
 * Moves pages between classes: memcached's slab rebalancer. It empties the page that its class has had for longest, and
 * gives it to another class. An item of the page is copied to another chunk of its class, as if it was replaced by
 * itself, or evicted if there is none; a client that knows where it was finds the forward locator of a dead item, and
 * later something of another generation. Whoever uses the bytes of a chunk, or fills one, is waited for, but not for
 * ever: then the page stays what it is.
 *
 * <p>Anybody may ask. {@link #step} belongs to one thread.
 */
public final class PageMover {
    /** Any class but the one that gets the page. */
    public static final int ANY_CLASS = -2;

    /** No class: a page that any class may take. */
    public static final int POOL = SlabAllocator.POOL;

    /** After so long without an end a page stays with its class. */
    static final int PATIENCE_SECONDS = 30;

    /** Chunks looked at in a step. */
    private static final int CHUNKS_PER_STEP = 256;

    private final SlabAllocator slabs;
    private final ItemTable table;
    private final ItemRoom room;
    private final UnfinishedItems unfinished;

    /** What was asked for and is not done. */
    private final AtomicReference<@Nullable Move> asked = new AtomicReference<>();

    private volatile Runnable wakeUp = () -> {};
    private final LongAdder moved = new LongAdder();
    private final LongAdder rescued = new LongAdder();
    private final LongAdder evicted = new LongAdder();
    private final LongAdder busyItems = new LongAdder();
    private final LongAdder abandoned = new LongAdder();
    private @Nullable SlabPage page;
    private int next;
    private long deadlineSeconds;
    private int lastSource;

    private record Move(int from, int to) {}

    /** What becomes of a wish, in memcached's words. */
    public enum Answer {
        /** A page will move. */
        OK,
        /** Another page is on its way. */
        BUSY,
        /** There is no such class. */
        BAD_CLASS,
        /** The class has no page that it can spare. */
        NO_SPARE,
        /** It would get its own page. */
        SAME
    }

    /**
     * What has moved.
     *
     * @param pages that have changed their class
     * @param rescued items that were copied
     * @param evicted items for which there was no other chunk
     * @param busyItems how often an item had to be looked at again, because somebody used it
     * @param abandoned pages that stayed, because somebody used them for too long
     */
    public record Counts(long pages, long rescued, long evicted, long busyItems, long abandoned) {}

    PageMover(SlabAllocator slabs, ItemTable table, ItemRoom room, UnfinishedItems unfinished) {
        this.slabs = slabs;
        this.table = table;
        this.room = room;
        this.unfinished = unfinished;
    }

    /**
     * Asks for a page. Any thread.
     *
     * @param from class that loses it, 0 for the smallest chunks, or {@link #ANY_CLASS}
     * @param to class that gets it, or {@link #POOL}
     */
    public Answer ask(int from, int to) {
        if (isMoving()) {
            return Answer.BUSY; // as memcached, whatever is asked for
        }
        if (from == to) {
            return Answer.SAME;
        }
        int classes = table.classes();
        boolean known = from == ANY_CLASS || (from >= 0 && from < classes);
        if (!known || (to != POOL && (to < 0 || to >= classes))) {
            return from == POOL ? Answer.NO_SPARE : Answer.BAD_CLASS; // classes take pages of the pool by themselves
        }
        int source = from == ANY_CLASS ? anyBut(to) : from;
        if (source == ANY_CLASS || slabs.statistics(source).pages() < 2) {
            return Answer.NO_SPARE;
        }
        if (!asked.compareAndSet(null, new Move(source, to))) {
            return Answer.BUSY;
        }
        wakeUp.run();
        return Answer.OK;
    }

    /**
     * Sets what wakes up the thread that calls {@link #step}.
     *
     * @param task quick; called by any thread, with locks held
     */
    public void onAsked(Runnable task) {
        wakeUp = task;
    }

    /** The next class in turn that has a page to spare. */
    private int anyBut(int to) {
        for (int i = 1; i <= table.classes(); i++) {
            int each = (lastSource + i) % table.classes();
            if (each != to && slabs.statistics(each).pages() > 1) {
                lastSource = each;
                return each;
            }
        }
        return ANY_CLASS;
    }

    /** True while there is something to do for {@link #step}. Any thread. */
    public boolean isMoving() {
        return asked.get() != null;
    }

    /** What has moved. Any thread. */
    public Counts counts() {
        return new Counts(moved.sum(), rescued.sum(), evicted.sum(), busyItems.sum(), abandoned.sum());
    }

    /** Pages that no class has. Any thread. */
    public int pooledPages() {
        return slabs.pooledPages();
    }

    /** Forgets what was counted. Any thread. */
    void resetCounts() {
        moved.reset();
        rescued.reset();
        evicted.reset();
        busyItems.reset();
        abandoned.reset();
    }

    /**
     * Does a part of it.
     *
     * @param nowSeconds the time
     * @return false if there is nothing to do before others go on, or nothing at all
     */
    public boolean step(long nowSeconds) {
        Move move = asked.get();
        if (move == null) {
            return false;
        }
        SlabPage leaving = page;
        if (leaving == null) {
            leaving = slabs.leave(move.from);
            if (leaving == null) {
                asked.set(null); // no page that could be spared, any more or for want of names
                return false;
            }
            page = leaving;
            next = 0;
            deadlineSeconds = nowSeconds + PATIENCE_SECONDS;
        }
        try {
            int end = Math.min(next + CHUNKS_PER_STEP, leaving.chunks());
            while (next < end) {
                move(leaving.chunk(next++), nowSeconds);
            }
            return next < leaving.chunks() || endRound(leaving, move, nowSeconds);
        } catch (RuntimeException e) {
            slabs.stay(leaving); // else it would fail again and again
            page = null;
            asked.set(null);
            throw e;
        }
    }

    private boolean endRound(SlabPage leaving, Move move, long nowSeconds) {
        next = 0;
        boolean empty = slabs.isEmpty(leaving);
        if (!empty) {
            if (unfinished.giveUpStale(leaving, nowSeconds)) {
                return true;
            }
            busyItems.increment();
            if (nowSeconds < deadlineSeconds) {
                return false;
            }
        }
        if (empty && slabs.give(leaving, move.to)) {
            moved.increment();
        } else {
            slabs.stay(leaving);
            abandoned.increment();
        }
        page = null;
        asked.set(null);
        return false;
    }

    /** Moves the item of a chunk, if it holds one. */
    private void move(long chunk, long nowSeconds) {
        KeySlice key = table.keyPerhaps(chunk);
        if (key.length() == 0) {
            return;
        }
        long hash = table.hash(key);
        Stripe stripe = table.stripe(hash);
        SlabPage from = slabs.page(chunk);
        int index = slabs.indexInPage(from, chunk);
        stripe.lock.lock();
        try {
            if (stripe.index.find(hash, chunk) == HashIndex.NONE || !from.pin(index)) {
                return;
            }
        } finally {
            stripe.lock.unlock();
        }
        try {
            long copy = slabs.allocate(from.sizeClass);
            if (copy == SlabAllocator.NONE || !relocate(stripe, hash, key, chunk, copy, nowSeconds)) {
                remove(stripe, hash, chunk, nowSeconds, copy == SlabAllocator.NONE);
            }
        } finally {
            table.unpin(stripe, chunk);
        }
    }

    /** False, and the copy is gone, if the item has expired or is another one by now. */
    private boolean relocate(Stripe stripe, long hash, KeySlice key, long chunk, long copy, long nowSeconds) {
        NewItem made = copied(hash, key, chunk, copy);
        stripe.lock.lock();
        try {
            int slot = stripe.index.find(hash, chunk); // a pinned chunk that still is linked never was anything else
            if (slot != HashIndex.NONE && !table.isExpired(chunk, nowSeconds)) {
                table.relocate(stripe, slot, made);
                rescued.increment();
                return true;
            }
        } finally {
            stripe.lock.unlock();
        }
        table.unseal(made);
        slabs.free(copy);
        return false;
    }

    private NewItem copied(long hash, KeySlice key, long chunk, long copy) {
        MemorySegment memory = slabs.memory(chunk);
        long item = SlabAllocator.offset(chunk);
        MemorySegment target = slabs.memory(copy);
        long targetItem = SlabAllocator.offset(copy);
        int valueLength = ItemDescriptor.valueLength(memory, item);
        slabs.writer().beginFill(target, targetItem);
        slabs.writer().header(target, targetItem, 0, ItemDescriptor.flags(memory, item), key, valueLength);
        NewItem made = new NewItem(NewItem.Status.READY, copy, target, hash, key.length(), valueLength);
        slabs.turns().copy(memory, ItemDescriptor.valueOffset(memory, item), target, made.valueOffset(), valueLength);
        table.sealAs(made, ItemDescriptor.cas(memory, item));
        slabs.turns().step(StepPoint.COPIED);
        return made;
    }

    private void remove(Stripe stripe, long hash, long chunk, long nowSeconds, boolean noRoom) {
        stripe.lock.lock();
        try {
            if (stripe.index.find(hash, chunk) != HashIndex.NONE) {
                room.remove(stripe, hash, chunk, nowSeconds);
                if (noRoom) {
                    evicted.increment();
                }
            }
        } finally {
            stripe.lock.unlock();
        }
    }
}
