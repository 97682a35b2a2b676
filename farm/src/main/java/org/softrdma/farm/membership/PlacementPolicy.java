package org.softrdma.farm.membership;

import java.util.Set;

/**
 * Where an operator wants regions to be: whoever composes a configuration follows it, as far as failures allow. Immutable.
 *
 * @param removed members that shall go although they live
 * @param drained machines that shall have no regions, if there are others
 * @param balanced true if each region shall be on the machines that follow it on its ring, the first one as primary;
 *     false if it shall stay where it is
 */
public record PlacementPolicy(Set<Integer> removed, Set<Integer> drained, boolean balanced) {
    /** Regions stay where they are. */
    public static final PlacementPolicy NONE = new PlacementPolicy(Set.of(), Set.of(), false);

    /** Copies. */
    public PlacementPolicy {
        removed = Set.copyOf(removed);
        drained = Set.copyOf(drained);
    }
}
