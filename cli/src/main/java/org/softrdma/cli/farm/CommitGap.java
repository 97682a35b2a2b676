package org.softrdma.cli.farm;

import java.util.concurrent.atomic.AtomicLong;

/** The longest time without a commit. Any thread. */
final class CommitGap {
    private final AtomicLong lastNs = new AtomicLong(System.nanoTime());
    private final AtomicLong longestNs = new AtomicLong();

    /** There was a commit. */
    void committed() {
        long nowNs = System.nanoTime();
        long before = lastNs.getAndSet(nowNs);
        longestNs.accumulateAndGet(nowNs - before, Math::max);
    }

    /** From now on. */
    void begin() {
        longestNs.set(0);
    }

    /** The longest one since then. */
    long longestNs() {
        return longestNs.get();
    }

    /** When the last commit was. */
    long lastNs() {
        return lastNs.get();
    }
}
