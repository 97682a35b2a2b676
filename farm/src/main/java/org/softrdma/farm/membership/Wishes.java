package org.softrdma.farm.membership;

import java.util.Set;

/**
 * What whoever composes a configuration wants besides what must be. Immutable.
 *
 * @param removed members that shall go although they live
 * @param drained machines that shall have no regions, if there are others
 * @param balanced true if each region shall be on the machines that follow it on its ring, the first one as primary;
 *     false if it shall stay where it is
 */
public record Wishes(Set<Integer> removed, Set<Integer> drained, boolean balanced) {
    /** Nothing. */
    public static final Wishes NONE = new Wishes(Set.of(), Set.of(), false);

    /** Copies. */
    public Wishes {
        removed = Set.copyOf(removed);
        drained = Set.copyOf(drained);
    }
}
