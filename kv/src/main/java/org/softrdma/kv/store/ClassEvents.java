package org.softrdma.kv.store;

import java.util.concurrent.atomic.LongAdder;

/** Counters of one slab class. Any thread adds. */
final class ClassEvents {
    final LongAdder evicted = new LongAdder();
    final LongAdder evictedNonzero = new LongAdder();
    final LongAdder evictedUnfetched = new LongAdder();
    final LongAdder evictedActive = new LongAdder();
    final LongAdder outOfMemory = new LongAdder();
    final LongAdder reclaimed = new LongAdder();
    final LongAdder expiredUnfetched = new LongAdder();
    final LongAdder crawlerReclaimed = new LongAdder();
    final LongAdder crawlerChecked = new LongAdder();
    final LongAdder directReclaims = new LongAdder();
    final LongAdder tailLocked = new LongAdder();
    volatile long evictedTime;

    SizeClassStatistics.Events statistics() {
        return new SizeClassStatistics.Events(
                new SizeClassStatistics.Evictions(
                        evicted.sum(), evictedNonzero.sum(), evictedUnfetched.sum(), evictedActive.sum(), evictedTime),
                outOfMemory.sum(),
                reclaimed.sum(),
                expiredUnfetched.sum(),
                crawlerReclaimed.sum(),
                crawlerChecked.sum(),
                tailLocked.sum(),
                directReclaims.sum());
    }

    void reset() {
        evicted.reset();
        evictedNonzero.reset();
        evictedUnfetched.reset();
        evictedActive.reset();
        crawlerChecked.reset();
        directReclaims.reset();
        outOfMemory.reset();
        reclaimed.reset();
        expiredUnfetched.reset();
        crawlerReclaimed.reset();
        tailLocked.reset();
        evictedTime = 0;
    }
}
