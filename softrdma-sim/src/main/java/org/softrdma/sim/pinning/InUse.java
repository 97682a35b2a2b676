package org.softrdma.sim.pinning;

/** What an engine has taken addresses of in its batch and not finished with. Engine thread. */
@FunctionalInterface
public interface InUse {
    /** Nothing. */
    InUse NOTHING = (from, to) -> false;

    /** True if some of it lies between two addresses. */
    boolean overlaps(long from, long to);
}
