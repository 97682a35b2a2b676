package org.softrdma.farm.membership;

import java.util.Map;
import java.util.Set;

/**
 * What whoever composes a configuration wants besides what must be. Immutable.
 *
 * @param removed members that shall go although they live
 * @param primaries for some regions the replica that shall become primary
 */
public record Wishes(Set<Integer> removed, Map<Integer, Integer> primaries) {
    /** Nothing. */
    public static final Wishes NONE = new Wishes(Set.of(), Map.of());

    /** Copies. */
    public Wishes {
        removed = Set.copyOf(removed);
        primaries = Map.copyOf(primaries);
    }
}
