package org.softrdma.kv.store;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The order in which the items of one class are evicted: memcached's segmented LRU. An item begins in HOT; from the
 * tail of HOT and of WARM it goes to WARM if it is active (found twice since it was stored or last moved) and to COLD
 * if not; from COLD it is evicted, or goes back to WARM as soon as it is active. So a scan of many keys, each read
 * once, passes through without pushing out what is read again and again.
 *
 * <p>Doubly linked lists of chunk numbers within the class, kept in the pages, 9 bytes per chunk. Guarded by
 * {@link #lock}, which is taken after the lock of a key, never before it (eviction, which goes the other way, only
 * tries).
 */
final class SegmentedLru {
    /** No chunk. */
    static final int NONE = -1;

    static final int HOT = 0;
    static final int WARM = 1;
    static final int COLD = 2;

    /** Items of a short life, where {@link LruRules} keep them apart: they expire, and are not evicted. */
    static final int TEMPORARY = 3;

    static final int SEGMENTS = 4;

    private static final int PERCENT = 100;
    /** In one flat list an item moves to the head no more often than this, as in memcached. */
    private static final int FLAT_INTERVAL_SECONDS = 60;

    private static final byte SEGMENT_MASK = 3;
    private static final byte ACTIVE = 4;

    /** Steps per call of {@link #balance}: more than one item comes in, so the lists get in order however they were. */
    private static final int STEPS = 2;

    final ReentrantLock lock;
    private final int[] heads = new int[SEGMENTS];
    private final int[] tails = new int[SEGMENTS];
    private final long[] counts = new long[SEGMENTS];
    private final LongAdder[] hits = new LongAdder[SEGMENTS];
    private final LruRules rules;
    private final int chunksPerPage;
    private SlabPage[] pages = {};
    private long requestedBytes;

    private long movesToCold;
    private long movesToWarm;
    private long movesWithin;

    /** Empty lists, guarded by a lock of their own. */
    SegmentedLru(int chunksPerPage, ReentrantLock lock, LruRules rules) {
        this.chunksPerPage = chunksPerPage;
        this.lock = lock;
        this.rules = rules;
        Arrays.setAll(hits, _ -> new LongAdder());
        Arrays.fill(heads, NONE);
        Arrays.fill(tails, NONE);
    }

    /** A new item: head of HOT, or of the list of those that will not live long. With the lock of its key. */
    void link(SlabPage page, int index, long itemLength, boolean temporary) {
        lock.lock();
        try {
            know(page);
            push(temporary ? TEMPORARY : rules.segmented() ? HOT : COLD, page, index);
            requestedBytes += itemLength;
            balance();
        } finally {
            lock.unlock();
        }
    }

    /** An item goes away. With the lock of its key. */
    void unlink(SlabPage page, int index, long itemLength) {
        lock.lock();
        try {
            remove(page, index);
            requestedBytes -= itemLength;
        } finally {
            lock.unlock();
        }
    }

    /** An item goes on in another chunk of the class, at the same place of its list. With the lock of its key. */
    void relocate(SlabPage page, int index, SlabPage to, int toIndex) {
        lock.lock();
        try {
            know(to);
            int id = to.ordinal * chunksPerPage + toIndex;
            int segment = segment(page, index);
            int after = page.next[index];
            int before = page.previous[index];
            to.lru[toIndex] = page.lru[index];
            to.next[toIndex] = after;
            to.previous[toIndex] = before;
            if (before == NONE) {
                heads[segment] = id;
            } else {
                page(before).next[index(before)] = id;
            }
            if (after == NONE) {
                tails[segment] = id;
            } else {
                page(after).previous[index(after)] = id;
            }
        } finally {
            lock.unlock();
        }
    }

    private void know(SlabPage page) {
        if (page.ordinal >= pages.length) {
            pages = Arrays.copyOf(pages, Math.max(page.ordinal + 1, 2 * pages.length));
        }
        pages[page.ordinal] = page;
    }

    /** An item was found. Any thread; a glance without the lock tells where it was. */
    void countHit(SlabPage page, int index) {
        hits[segment(page, index)].increment();
    }

    /** An item was found for the second time; false if it was active already. With the lock of its key. */
    boolean activate(SlabPage page, int index, long nowSeconds) {
        if ((page.lru[index] & ACTIVE) != 0) {
            return false; // a glance without the lock: at worst this hit does not count
        }
        if (!rules.segmented() && nowSeconds - page.times[index] < FLAT_INTERVAL_SECONDS) {
            return false; // else each hit would take the lock of the class
        }
        lock.lock();
        try {
            if (segment(page, index) == COLD) {
                remove(page, index);
                if (rules.segmented()) {
                    push(WARM, page, index);
                    movesToWarm++;
                } else {
                    push(COLD, page, index);
                }
            } else {
                page.lru[index] |= ACTIVE;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The tail of COLD, after HOT or WARM gave their tails to it if it was empty. With {@link #lock} held. */
    int coldest() {
        return tails[COLD] == NONE ? cool() : tails[COLD];
    }

    /**
     * The tail of HOT or, if there is none, of WARM goes to COLD; that one, or {@link #NONE}. With {@link #lock}
     * held.
     */
    int cool() {
        int id = tails[HOT] == NONE ? tails[WARM] : tails[HOT];
        if (id != NONE) {
            SlabPage page = page(id);
            int index = index(id);
            remove(page, index);
            push(COLD, page, index);
            movesToCold++;
        }
        return id;
    }

    /** The end of a list. With {@link #lock} held. */
    int tail(int segment) {
        return tails[segment];
    }

    /** The chunk that was used a little later than another. With {@link #lock} held. */
    int warmer(int id) {
        return page(id).previous[index(id)];
    }

    SlabPage page(int id) {
        return pages[id / chunksPerPage];
    }

    int index(int id) {
        return id % chunksPerPage;
    }

    /** What is counted now; ages by this time. */
    SizeClassStatistics.Lru statistics(int nowSeconds) {
        lock.lock();
        try {
            return new SizeClassStatistics.Lru(
                    segment(HOT, nowSeconds),
                    segment(WARM, nowSeconds),
                    segment(COLD, nowSeconds),
                    segment(TEMPORARY, nowSeconds),
                    requestedBytes,
                    new SizeClassStatistics.Moves(movesToCold, movesToWarm, movesWithin));
        } finally {
            lock.unlock();
        }
    }

    private SizeClassStatistics.Segment segment(int segment, int nowSeconds) {
        return new SizeClassStatistics.Segment(counts[segment], age(segment, nowSeconds), hits[segment].sum());
    }

    private int age(int segment, int nowSeconds) {
        int tail = tails[segment];
        return tail == NONE ? 0 : Math.max(0, nowSeconds - page(tail).times[index(tail)]);
    }

    /** Forgets how often items were found. */
    void resetHits() {
        for (LongAdder each : hits) {
            each.reset();
        }
    }

    /** Keeps HOT and WARM within their shares. */
    private void balance() {
        long all = counts[HOT] + counts[WARM] + counts[COLD];
        boolean segmented = rules.segmented();
        for (int i = 0; i < STEPS; i++) {
            shrink(HOT, segmented ? all * rules.hotPercent() / PERCENT : 0);
            shrink(WARM, segmented ? all * rules.warmPercent() / PERCENT : 0);
        }
    }

    private void shrink(int segment, long limit) {
        if (tails[segment] != NONE && counts[segment] > Math.max(1, limit)) {
            moveTail(segment);
        }
    }

    /**
     * Moves the tail of HOT or WARM on if it was idle for longer than the rules allow; false if it was not, or there
     * is none.
     */
    boolean age(int nowSeconds) {
        lock.lock();
        try {
            int coldAge = age(COLD, nowSeconds);
            return ageTail(HOT, coldAge * rules.hotMaxFactor(), nowSeconds)
                    || ageTail(WARM, coldAge * rules.warmMaxFactor(), nowSeconds);
        } finally {
            lock.unlock();
        }
    }

    private boolean ageTail(int segment, double mostSeconds, int nowSeconds) {
        if (tails[segment] == NONE || age(segment, nowSeconds) <= mostSeconds) {
            return false;
        }
        moveTail(segment);
        return true;
    }

    /** The tail of HOT or WARM goes to WARM if it is active, otherwise to COLD. */
    private void moveTail(int segment) {
        int tail = tails[segment];
        SlabPage page = page(tail);
        int index = index(tail);
        boolean active = isActive(page, index);
        remove(page, index);
        push(active ? WARM : COLD, page, index);
        if (!active) {
            movesToCold++;
        } else if (segment == WARM) {
            movesWithin++;
        } else {
            movesToWarm++;
        }
    }

    /** It was found twice since it was stored or last moved. A glance, if the lock is not held. */
    boolean isActive(SlabPage page, int index) {
        return (page.lru[index] & ACTIVE) != 0;
    }

    /**
     * Shows items of COLD from the last used on. The lock is held meanwhile, so they stay what they are.
     *
     * @param visitor false to see no more
     */
    void visitCold(IdVisitor visitor) {
        lock.lock();
        try {
            int id = heads[COLD];
            while (id != NONE && visitor.visit(page(id), index(id))) {
                id = page(id).next[index(id)];
            }
        } finally {
            lock.unlock();
        }
    }

    /** Looks at a chunk of a list. */
    interface IdVisitor {
        /** False to see no more. */
        boolean visit(SlabPage page, int index);
    }

    private static int segment(SlabPage page, int index) {
        return page.lru[index] & SEGMENT_MASK;
    }

    private void push(int segment, SlabPage page, int index) {
        int id = page.ordinal * chunksPerPage + index;
        int head = heads[segment];
        page.lru[index] = (byte) segment;
        page.next[index] = head;
        page.previous[index] = NONE;
        if (head == NONE) {
            tails[segment] = id;
        } else {
            page(head).previous[index(head)] = id;
        }
        heads[segment] = id;
        counts[segment]++;
    }

    private void remove(SlabPage page, int index) {
        int segment = segment(page, index);
        int after = page.next[index];
        int before = page.previous[index];
        if (before == NONE) {
            heads[segment] = after;
        } else {
            page(before).next[index(before)] = after;
        }
        if (after == NONE) {
            tails[segment] = before;
        } else {
            page(after).previous[index(after)] = before;
        }
        counts[segment]--;
    }
}
