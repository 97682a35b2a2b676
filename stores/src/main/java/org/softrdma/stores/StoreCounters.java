package org.softrdma.stores;

import java.util.EnumMap;
import java.util.Map;

/** Counts of one client or server. Allocates nothing when it counts. Owned by one thread. */
public final class StoreCounters {
    private final long[] counts = new long[StoreCounter.values().length];

    /** All zero. */
    public StoreCounters() {}

    /** One more. */
    public void increment(StoreCounter counter) {
        counts[counter.ordinal()]++;
    }

    /** So many more. */
    public void add(StoreCounter counter, long count) {
        counts[counter.ordinal()] += count;
    }

    /** How many. */
    public long get(StoreCounter counter) {
        return counts[counter.ordinal()];
    }

    /** Adds all counts of another. */
    public void add(StoreCounters other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
    }

    /** Those that are not zero. */
    public Map<StoreCounter, Long> toMap() {
        Map<StoreCounter, Long> map = new EnumMap<>(StoreCounter.class);
        for (StoreCounter counter : StoreCounter.values()) {
            if (get(counter) != 0) {
                map.put(counter, get(counter));
            }
        }
        return map;
    }

    @Override
    public String toString() {
        return toMap().toString();
    }
}
