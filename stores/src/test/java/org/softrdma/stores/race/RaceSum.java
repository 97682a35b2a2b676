package org.softrdma.stores.race;

import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;

/** What came of some races. The running thread, or the one that adds it up. */
public final class RaceSum {
    private final StoreCounters counters = new StoreCounters();
    private long steps;

    /** Of none. */
    public RaceSum() {}

    RaceSum(StoreCounters counters, long steps) {
        this.counters.add(counters);
        this.steps = steps;
    }

    /** Adds that of others. */
    public void add(RaceSum other) {
        counters.add(other.counters);
        steps += other.steps;
    }

    /** True if clients have counted that at least once. */
    public boolean has(StoreCounter counter) {
        return counters.get(counter) > 0;
    }

    @Override
    public String toString() {
        return steps + " steps, " + counters;
    }
}
