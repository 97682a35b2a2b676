package org.softrdma.kv.store;

/**
 * How the {@link SegmentedLru} of every class works, memcached's {@code lru} commands and {@code -o} words: shares of
 * its segments, when idle items leave them, and whether items of a short life are kept apart. Any thread reads; each
 * change is seen soon.
 */
public final class LruRules {
    /** memcached's default share of the items of a class that HOT may hold, in per cent. */
    public static final int DEFAULT_HOT_PERCENT = 20;

    /** memcached's default share of the items of a class that WARM may hold, in per cent. */
    public static final int DEFAULT_WARM_PERCENT = 40;

    /** memcached's default part of the age of COLD after which an idle item leaves HOT. */
    public static final double DEFAULT_HOT_MAX_FACTOR = 0.2;

    /** memcached's default part of the age of COLD after which an idle item leaves WARM. */
    public static final double DEFAULT_WARM_MAX_FACTOR = 2;

    /** memcached's default life of an item that is kept apart, in seconds, where such items are. */
    public static final int DEFAULT_TEMPORARY_TTL = 61;

    /** HOT and WARM together may not hold more than this, in per cent. */
    public static final int MOST_PERCENT = 80;

    /** Shares and factors, which change together. */
    private record Tuning(int hotPercent, int warmPercent, double hotMaxFactor, double warmMaxFactor) {}

    private volatile Tuning tuning =
            new Tuning(DEFAULT_HOT_PERCENT, DEFAULT_WARM_PERCENT, DEFAULT_HOT_MAX_FACTOR, DEFAULT_WARM_MAX_FACTOR);
    private volatile boolean segmented = true;
    private volatile boolean temporaryApart;
    private volatile int temporaryTtlSeconds = DEFAULT_TEMPORARY_TTL;

    /** memcached's defaults. */
    public LruRules() {}

    /**
     * Sets the shares of HOT and WARM, and when idle items leave them.
     *
     * @param hotPercent share of HOT
     * @param warmPercent share of WARM; both together at most {@link #MOST_PERCENT}
     * @param hotMaxFactor part of the age of COLD, more than 0
     * @param warmMaxFactor part of the age of COLD, more than 0
     */
    public void tune(int hotPercent, int warmPercent, double hotMaxFactor, double warmMaxFactor) {
        if (hotPercent < 0 || warmPercent < 0 || (long) hotPercent + warmPercent > MOST_PERCENT) {
            throw new IllegalArgumentException("hotPercent=" + hotPercent + ", warmPercent=" + warmPercent
                    + ": expected at most " + MOST_PERCENT + " together");
        }
        if (!(hotMaxFactor > 0 && warmMaxFactor > 0)) {
            throw new IllegalArgumentException(
                    "hotMaxFactor=" + hotMaxFactor + ", warmMaxFactor=" + warmMaxFactor + ": expected more than 0");
        }
        tuning = new Tuning(hotPercent, warmPercent, hotMaxFactor, warmMaxFactor);
    }

    /** Share of the items of a class that HOT may hold, in per cent. */
    public int hotPercent() {
        return tuning.hotPercent;
    }

    /** Share of the items of a class that WARM may hold, in per cent. */
    public int warmPercent() {
        return tuning.warmPercent;
    }

    /** The part of the age of COLD after which an idle item leaves HOT. */
    public double hotMaxFactor() {
        return tuning.hotMaxFactor;
    }

    /** The part of the age of COLD after which an idle item leaves WARM. */
    public double warmMaxFactor() {
        return tuning.warmMaxFactor;
    }

    /**
     * Sets whether new items begin in HOT. Otherwise all are in one list, COLD, whose head takes what is used.
     *
     * @param on true unless set
     */
    public void segmented(boolean on) {
        segmented = on;
    }

    /** Whether new items begin in HOT. */
    public boolean segmented() {
        return segmented;
    }

    /**
     * Keeps items of a short life apart, where they are not evicted.
     *
     * @param seconds the longest life of such an item
     */
    public void temporaryTtl(int seconds) {
        temporaryTtlSeconds = seconds;
        temporaryApart = true;
    }

    /** Items of a short life are like others, as from the start. */
    public void temporaryLikeOthers() {
        temporaryApart = false;
    }

    /** Whether items of a short life are kept apart. */
    public boolean temporaryApart() {
        return temporaryApart;
    }

    /** The longest life of an item that is kept apart. */
    public int temporaryTtlSeconds() {
        return temporaryTtlSeconds;
    }

    /** True if a new item is one of a short life, and these are kept apart. */
    boolean isTemporary(long expiry, long nowSeconds) {
        return temporaryApart && expiry != 0 && expiry - nowSeconds <= temporaryTtlSeconds;
    }
}
