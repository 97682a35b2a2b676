package org.softrdma.sim.queue;

/** Sizes of rings, whose positions are found by a mask. */
public final class RingSize {
    private RingSize() {}

    /** The smallest power of two that is not below a number of at most 2^30; 1 for what is below 1. */
    public static int atLeast(int entries) {
        return entries <= 1 ? 1 : Integer.highestOneBit(entries - 1) << 1;
    }
}
