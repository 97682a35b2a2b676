package org.softrdma.sim.pinning;

/** Memory that an engine still uses in its current batch. Engine thread. */
@FunctionalInterface
public interface InUse {
    /** Nothing. */
    InUse NOTHING = (from, to) -> false;

    /** True if some of it lies between two addresses. */
    boolean overlaps(long from, long to);
}
