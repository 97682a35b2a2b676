package org.softrdma.farm.membership;

import java.util.ArrayList;
import java.util.List;

/**
 * Which machines have a region. Immutable.
 *
 * @param primary the machine that serves it; {@link #LOST} if every machine that had it whole is gone
 * @param replicas machines that have it whole besides, the first of which is the next primary
 * @param copies machines that are making a copy, and may not become primary
 */
public record RegionPlacement(int primary, List<Integer> replicas, List<Integer> copies) {
    /** No machine has the region. */
    public static final int LOST = -1;

    /** Of a region that is lost. */
    public static final RegionPlacement NOWHERE = new RegionPlacement(LOST, List.of(), List.of());

    /** Copies. */
    public RegionPlacement {
        replicas = List.copyOf(replicas);
        copies = List.copyOf(copies);
    }

    /** True if nobody has it whole any more. */
    public boolean isLost() {
        return primary == LOST;
    }

    /** All machines that have it or will, the primary first. */
    public List<Integer> machines() {
        List<Integer> all = new ArrayList<>();
        if (!isLost()) {
            all.add(primary);
        }
        all.addAll(replicas);
        all.addAll(copies);
        return all;
    }
}
