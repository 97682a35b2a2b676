package org.softrdma.farm.membership;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The configuration that follows another one: a pure function, so that it does not matter who composes it, nor how often.
 *
 * <ul>
 *   <li>Members are the machines that are alive, without those that shall go, and those that were members before: what
 *       they have may be old.
 *   <li>A copy that is whole becomes a replica.
 *   <li>A region whose primary is gone gets its first replica as primary, never a copy. Without a replica it is lost, and
 *       stays so.
 *   <li>A primary and a replica change places if that is wished: at most one move of a region in an epoch.
 *   <li>A region with too few machines gets copies on those that follow it on its ring. One with too many whole ones
 *       loses the replica that is last on the ring.
 * </ul>
 *
 * <p>Stateless.
 */
public final class NextConfiguration {
    private NextConfiguration() {}

    /**
     * A copy that is whole.
     *
     * @param region of which
     * @param machine that has it
     */
    public record Whole(int region, int machine) {}

    /**
     * Composes it.
     *
     * @param current the configuration that it follows
     * @param alive machines that are alive
     * @param whole copies that have said to be whole
     * @param wishes what else is wanted
     * @param replication machines that shall have each region
     */
    public static FarmConfiguration of(
            FarmConfiguration current, Set<Integer> alive, Set<Whole> whole, Wishes wishes, int replication) {
        SortedSet<Integer> members = new TreeSet<>(alive);
        members.removeIf(machine -> !current.admits(machine));
        members.removeAll(wishes.removed());
        SortedMap<Integer, RegionPlacement> regions = new TreeMap<>();
        for (Map.Entry<Integer, RegionPlacement> entry : current.regions().entrySet()) {
            int region = entry.getKey();
            regions.put(region, place(region, entry.getValue(), members, whole, wishes, replication));
        }
        int newest = members.isEmpty() ? current.newest() : Math.max(current.newest(), members.last());
        return new FarmConfiguration(current.epoch() + 1, 0, newest, members, regions);
    }

    private static RegionPlacement place(
            int region,
            RegionPlacement old,
            SortedSet<Integer> members,
            Set<Whole> whole,
            Wishes wishes,
            int replication) {
        List<Integer> replicas = new ArrayList<>(old.replicas());
        List<Integer> copies = new ArrayList<>();
        for (int machine : old.copies()) {
            (whole.contains(new Whole(region, machine)) ? replicas : copies).add(machine);
        }
        replicas.retainAll(members);
        copies.retainAll(members);
        int primary = old.primary();
        if (!members.contains(primary)) {
            if (old.isLost() || replicas.isEmpty()) {
                return RegionPlacement.NOWHERE;
            }
            primary = replicas.removeFirst();
        } else {
            Integer wished = wishes.primaries().get(region);
            if (wished != null && replicas.remove(/* element */ wished)) {
                replicas.add(primary);
                primary = wished;
            }
        }
        List<Integer> order = Rings.order(region, members);
        for (int machine : order) {
            if (1 + replicas.size() + copies.size() < replication
                    && machine != primary
                    && !replicas.contains(machine)
                    && !copies.contains(machine)) {
                copies.add(machine);
            }
        }
        for (int i = order.size() - 1; i >= 0 && 1 + replicas.size() > replication; i--) {
            replicas.remove(/* element */ order.get(i));
        }
        return new RegionPlacement(primary, replicas, copies);
    }
}
