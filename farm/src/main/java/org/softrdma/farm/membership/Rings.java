package org.softrdma.farm.membership;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import org.softrdma.stores.hash.SeededHash;

/**
 * Consistent hashing (section 3 of the paper): machines and regions have positions on virtual rings. A region's number
 * says its ring and its position; the machines that follow the position have the region, the first one as primary. The
 * same on every machine. Immutable.
 *
 * <pre>
 *  31 30            24 23                                       0
 * +--+----------------+------------------------------------------+
 * | 0|  ring          |  position                                |   number of a region
 * +--+----------------+------------------------------------------+
 * </pre>
 *
 * @param count rings, 1 to 128
 */
public record Rings(int count) {
    private static final int POSITION_BITS = 24;
    private static final int POSITIONS = 1 << POSITION_BITS;
    private static final int MOST_RINGS = 1 << (Integer.SIZE - 1 - POSITION_BITS);

    /** No region. */
    public static final int NONE = -1;

    /** Checks. */
    public Rings {
        if (count < 1 || count > MOST_RINGS) {
            throw new IllegalArgumentException("rings=" + count + ": expected 1 to " + MOST_RINGS);
        }
    }

    /** The ring that a region is on. */
    public static int ring(int region) {
        return region >>> POSITION_BITS;
    }

    private static int position(int ring, int machine) {
        return (int) (SeededHash.again(machine + 1L, ring + 1L) >>> (Long.SIZE - POSITION_BITS));
    }

    /** From a region on clockwise. */
    private static int distance(int region, int machine) {
        return position(ring(region), machine) - region & POSITIONS - 1;
    }

    /** Machines in the order in which they follow a region. */
    public static List<Integer> order(int region, Set<Integer> machines) {
        return machines.stream()
                .sorted(Comparator.<Integer>comparingInt(machine -> distance(region, machine))
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
    }

    /**
     * A number for a new region whose primary is a machine: as near to a position as that allows, so that replicas are
     * the same as those of its neighbours.
     *
     * @param primary of the region
     * @param ring of the region
     * @param machines among which the primary is
     * @param used numbers that are taken
     * @return {@link #NONE} if the primary has no position of that ring left
     */
    public static int region(int primary, int ring, SortedSet<Integer> machines, Set<Integer> used) {
        int own = position(ring, primary);
        for (int back = 0; back < POSITIONS; back++) {
            int region = ring << POSITION_BITS | (own - back & POSITIONS - 1);
            if (order(region, machines).getFirst() != primary) {
                return NONE; // that of the machine before it
            }
            if (!used.contains(region)) {
                return region;
            }
        }
        return NONE;
    }
}
