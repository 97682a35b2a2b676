package org.softrdma.sim.queue;

/** Sizes of rings: powers of two, so that a mask finds positions. */
public final class RingSize {
    private RingSize() {}

    /** The smallest power of two that is at least a number, which is at most 2^30; 1 for numbers below 1. */
    public static int atLeast(int entries) {
        return entries <= 1 ? 1 : Integer.highestOneBit(entries - 1) << 1;
    }
}
