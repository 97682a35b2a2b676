package org.softrdma.sim.roce.cm;

/** Times as messages give them, in five bits (IBA volume 1, 12.7). */
final class CmTime {
    private static final long UNIT_NS = 4096;

    private CmTime() {}

    /** 4.096 us x 2^t. */
    static long ns(int t) {
        return UNIT_NS << t;
    }
}
