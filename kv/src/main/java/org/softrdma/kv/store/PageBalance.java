package org.softrdma.kv.store;

import java.util.Arrays;

/**
 * Which class should give a page to which: memcached's slab_automove. Once a second it looks at what has happened since.
 * A class with more than two and a half pages of free chunks, and neither an eviction nor a new page for a while, gives
 * one to the pool. When a class evicts in most seconds, or has more than a quarter of all evictions, and its coldest items
 * are much younger than those of another, it gets a page from that one. Rules are set by any thread; the rest belongs to one.
 */
public final class PageBalance {
    /** memcached's default of how many seconds are looked at. */
    public static final int DEFAULT_WINDOW = 30;

    /** memcached's default of how old the coldest items of the one may be, as a part of the other's. */
    public static final double DEFAULT_RATIO = 0.8;

    /** The class that evicts gets a page at once, memcached's automove 2. */
    public static final int EAGER = 2;

    private static final double FREE_PAGES = 2.5;
    private static final int LEAST_PAGES = 2;
    private static final double MOST_EVICTIONS = 0.25;

    private final SlabAllocator slabs;
    private final ItemTable table;
    private final PageMover mover;
    private final Past[] classes;
    private volatile boolean allowed = true;
    private volatile int level = 1;
    private volatile double ratio = DEFAULT_RATIO;
    private volatile int window = DEFAULT_WINDOW;
    private int seconds;
    private boolean reclaiming;

    /** The last seconds of a class. */
    private static final class Past {
        private long evictions;
        private long evictedNow;
        private int pages;
        private int[] ages = {};
        private boolean[] evicted = {};
        private boolean[] dirty = {};

        /** Parts of all evictions of these seconds. */
        private double[] shares = {};

        void resize(int length) {
            ages = new int[length];
            evicted = new boolean[length];
            dirty = new boolean[length];
            shares = new double[length];
        }

        /** How many items it has evicted since the last time. */
        long evictedUpTo(long all) {
            evictedNow = Math.max(0, all - evictions); // less than none after a reset
            evictions = all;
            return evictedNow;
        }

        int age() {
            return (int) (Arrays.stream(ages).asLongStream().sum() / ages.length);
        }

        /** True if it needs room, as far as evictions tell. */
        boolean evictsMuch() {
            return count(evicted) > evicted.length / 2 || Arrays.stream(shares).sum() > MOST_EVICTIONS * shares.length;
        }

        static int count(boolean[] all) {
            int count = 0;
            for (boolean each : all) {
                count += each ? 1 : 0;
            }
            return count;
        }
    }

    PageBalance(SlabAllocator slabs, ItemTable table, PageMover mover) {
        this.slabs = slabs;
        this.table = table;
        this.mover = mover;
        classes = new Past[table.classes()];
        Arrays.setAll(classes, i -> new Past());
    }

    /**
     * Sets whether pages move at all.
     *
     * @param choice true unless set
     */
    public void allowed(boolean choice) {
        allowed = choice;
    }

    /** Whether pages move at all. */
    public boolean allowed() {
        return allowed;
    }

    /**
     * Sets whether they move by themselves.
     *
     * @param choice 0 for never, 1 as described above, {@link #EAGER}
     */
    public void level(int choice) {
        level = choice;
    }

    /** Whether pages move by themselves. */
    public int level() {
        return level;
    }

    /**
     * Sets how much younger the coldest items of a class must be.
     *
     * @param choice part of the age of the other's coldest items
     */
    public void ratio(double choice) {
        ratio = choice;
    }

    /** How much younger the coldest items of a class must be. */
    public double ratio() {
        return ratio;
    }

    /**
     * Sets how many seconds are looked at.
     *
     * @param choice at least 1
     */
    public void window(int choice) {
        window = Math.max(1, choice);
    }

    /** How many seconds are looked at. */
    public int window() {
        return window;
    }

    /** An item of a class had to make room. Any thread. */
    void evictedFrom(int sizeClass) {
        if (level == EAGER && allowed) {
            mover.ask(PageMover.ANY_CLASS, sizeClass);
        }
    }

    /** True if {@link #round} should be called again as soon as no page is on its way, and not in a second only. */
    public boolean isReclaiming() {
        return reclaiming && allowed && level > 0;
    }

    /**
     * Looks at the last second, and asks for a page to move if one should.
     *
     * @param nowSeconds the time
     * @param tick true once a second
     */
    public void round(long nowSeconds, boolean tick) {
        reclaiming = false;
        if (!allowed || level == 0) {
            return;
        }
        if (tick) {
            remember(nowSeconds);
        }
        for (int i = 0; i < classes.length; i++) {
            SizeClassStatistics.Slab slab = slabs.statistics(i);
            if (slab.freeChunks() + slab.freshChunks() > slab.chunksPerPage() * FREE_PAGES
                    && Past.count(classes[i].dirty) == 0) {
                reclaiming = mover.ask(i, PageMover.POOL) == PageMover.Answer.OK;
                return;
            }
        }
        if (tick && seconds >= window) {
            even();
        }
    }

    private void remember(long nowSeconds) {
        int length = window;
        int slot = ++seconds % length;
        long evictedByAll = 0;
        for (int i = 0; i < classes.length; i++) {
            evictedByAll += classes[i].evictedUpTo(table.events(i).evicted.sum());
        }
        for (int i = 0; i < classes.length; i++) {
            Past past = classes[i];
            if (past.ages.length != length) {
                past.resize(length);
                seconds = Math.min(seconds, 1);
            }
            int pages = slabs.statistics(i).pages();
            past.evicted[slot] = past.evictedNow > 0;
            past.shares[slot] = past.evicted[slot] ? (double) past.evictedNow / evictedByAll : 0;
            past.dirty[slot] = past.evicted[slot] || pages > past.pages;
            past.ages[slot] = slabs.lru(i).statistics((int) nowSeconds).cold().ageSeconds();
            past.pages = pages;
        }
    }

    /** A page of the class with the oldest items for the one that evicts the youngest. */
    private void even() {
        int slot = seconds % window;
        int oldest = PageMover.ANY_CLASS;
        int youngest = PageMover.ANY_CLASS;
        for (int i = 0; i < classes.length; i++) {
            Past past = classes[i];
            if (slabs.statistics(i).pages() > LEAST_PAGES
                    && past.age() > (oldest == PageMover.ANY_CLASS ? 0 : classes[oldest].age())) {
                oldest = i;
            }
            if (past.evictsMuch() && (youngest == PageMover.ANY_CLASS || past.age() < classes[youngest].age())) {
                youngest = i;
            }
        }
        if (oldest != PageMover.ANY_CLASS
                && youngest != PageMover.ANY_CLASS
                && classes[youngest].evicted[slot]
                && classes[youngest].age() < classes[oldest].age() * ratio) {
            mover.ask(oldest, youngest);
        }
    }
}
