package org.softrdma.sim.pinning;

/**
 * What may be evicted for an access: neither what it uses itself, nor what else its thread has in use, nor EAGER pages.
 *
 * @param from first granule that is being accessed
 * @param to last of them; before {@code from} if there are none
 * @param inUse what else the evicting thread uses
 * @param forEngine true if an engine's access makes room, false for a thread of the application
 */
record Evictable(long from, long to, InUse inUse, boolean forEngine) {
    /** Everything, for a thread of the application that accesses nothing. */
    static final Evictable ANY = new Evictable(0, -1, InUse.NOTHING, false);

    /** True if a granule with locked pages may be evicted. */
    boolean includes(Granule granule, Granularity granularity) {
        long number = granule.number;
        return (number < from || number > to)
                && granule.lazy() != 0
                && !inUse.overlaps(granularity.address(number), granularity.address(number + 1));
    }
}
