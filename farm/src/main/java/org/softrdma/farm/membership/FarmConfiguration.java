package org.softrdma.farm.membership;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The machines of one epoch and the regions that they have. The epoch is the version of the configuration; regions that
 * are made within it only count up its revision. Immutable.
 *
 * @param epoch from 1; 0 before there is a configuration
 * @param revision regions made since the epoch was written
 * @param newest the highest number that was ever a member's: a machine with a lower one that is no member stays out
 * @param removal the last epoch that a member was left out of; 0 if there is none
 * @param members numbers of machines
 * @param regions who has each region
 */
public record FarmConfiguration(
        int epoch,
        int revision,
        int newest,
        int removal,
        SortedSet<Integer> members,
        SortedMap<Integer, RegionPlacement> regions) {
    /** Before the first epoch. */
    public static final FarmConfiguration NONE =
            new FarmConfiguration(0, 0, -1, 0, Collections.emptySortedSet(), Collections.emptySortedMap());

    /** Copies. */
    public FarmConfiguration {
        members = Collections.unmodifiableSortedSet(new TreeSet<>(members));
        regions = Collections.unmodifiableSortedMap(new TreeMap<>(regions));
    }

    /** The same epoch with one more region. */
    public FarmConfiguration with(int region, RegionPlacement placement) {
        SortedMap<Integer, RegionPlacement> more = new TreeMap<>(regions);
        more.put(region, placement);
        return new FarmConfiguration(epoch, revision + 1, newest, removal, members, more);
    }

    /** True if it is newer than another one. */
    public boolean isAfter(FarmConfiguration other) {
        return epoch != other.epoch ? epoch > other.epoch : revision > other.revision;
    }

    /** True if a machine is a member or may become one: who was removed never comes back. */
    public boolean admits(int machine) {
        return machine > newest || members.contains(machine);
    }

    /** The primary of a region, or {@link RegionPlacement#LOST}, also if there is no such region. */
    public int primary(int region) {
        RegionPlacement placement = regions.get(region);
        return placement == null ? RegionPlacement.LOST : placement.primary();
    }

    /** How many regions a machine is primary of. */
    public int regionsOf(int machine) {
        int count = 0;
        for (Map.Entry<Integer, RegionPlacement> entry : regions.entrySet()) {
            count += entry.getValue().primary() == machine ? 1 : 0;
        }
        return count;
    }
}
