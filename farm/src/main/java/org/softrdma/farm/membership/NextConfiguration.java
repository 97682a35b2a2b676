package org.softrdma.farm.membership;

import java.util.ArrayList;
import java.util.HashSet;
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
 *   <li>A region shall stay where it is, but on no machine that is to be drained; or, if the policy is balanced, go to the machines
 *       that follow it on its ring. Where it lacks machines it gets copies on those that follow it on its ring.
 *   <li>When all of these machines have it whole, the primary changes places with one of them if it is none of them itself,
 *       or another one shall be primary: at most one move of a region in an epoch. In the next one those that shall not
 *       have it lose it. Of too many, the last ones on the ring do.
 * </ul>
 *
 * <p>Stateless.
 */
public final class NextConfiguration {
    private NextConfiguration() {}

    /**
     * A copy that is whole. It counts in its epoch only: in the next one it begins again, and may lack what was in doubt.
     *
     * @param epoch in which it is
     * @param region of which
     * @param machine that has it
     */
    public record Whole(int epoch, int region, int machine) {}

    /**
     * Composes it.
     *
     * @param current the configuration that it follows
     * @param alive machines that are alive
     * @param whole copies that have said to be whole
     * @param policy where else regions shall be
     * @param replication machines that shall have each region
     */
    public static FarmConfiguration of(
            FarmConfiguration current, Set<Integer> alive, Set<Whole> whole, PlacementPolicy policy, int replication) {
        SortedSet<Integer> members = new TreeSet<>(alive);
        members.removeIf(machine -> !current.admits(machine));
        members.removeAll(policy.removed());
        SortedMap<Integer, RegionPlacement> regions = new TreeMap<>();
        for (Map.Entry<Integer, RegionPlacement> entry : current.regions().entrySet()) {
            int region = entry.getKey();
            Set<Integer> wholes = new HashSet<>(entry.getValue().copies());
            wholes.removeIf(machine -> !whole.contains(new Whole(current.epoch(), region, machine)));
            regions.put(region, place(region, entry.getValue(), members, wholes, policy, replication));
        }
        int newest = members.isEmpty() ? current.newest() : Math.max(current.newest(), members.last());
        int epoch = current.epoch() + 1;
        int removal = members.containsAll(current.members()) ? current.removal() : epoch;
        return new FarmConfiguration(epoch, 0, newest, removal, members, regions);
    }

    private static RegionPlacement place(
            int region,
            RegionPlacement old,
            SortedSet<Integer> members,
            Set<Integer> wholes,
            PlacementPolicy policy,
            int replication) {
        List<Integer> replicas = new ArrayList<>(old.replicas());
        List<Integer> copies = new ArrayList<>();
        for (int machine : old.copies()) {
            (wholes.contains(machine) ? replicas : copies).add(machine);
        }
        replicas.retainAll(members);
        copies.retainAll(members);
        int primary = old.primary();
        if (!members.contains(primary)) {
            if (old.isLost() || replicas.isEmpty()) {
                return RegionPlacement.NOWHERE;
            }
            primary = replicas.removeFirst();
        }
        SortedSet<Integer> eligible = new TreeSet<>(members);
        eligible.removeAll(policy.drained());
        List<Integer> order = Rings.order(region, eligible.isEmpty() ? members : eligible);
        List<Integer> targets = order.subList(0, Math.min(replication, order.size()));
        if (!policy.balanced()) {
            targets = stay(primary, replicas, copies, order, targets.size());
        }
        List<Integer> missing = new ArrayList<>(targets);
        missing.remove(/* element */ Integer.valueOf(primary));
        missing.removeAll(replicas);
        if (!missing.isEmpty()) {
            return new RegionPlacement(primary, replicas, missing);
        }
        replicas.retainAll(targets);
        int first = targets.getFirst();
        if (primary != first) {
            replicas.remove(/* element */ Integer.valueOf(first));
            replicas.add(primary); // whole, and perhaps dropped by the next configuration
            primary = first;
        }
        return new RegionPlacement(primary, replicas, List.of());
    }

    /** The machines that shall have a region that stays where it is, as far as it may: the first one as primary. */
    private static List<Integer> stay(
            int primary, List<Integer> replicas, List<Integer> copies, List<Integer> order, int count) {
        List<Integer> whole = new ArrayList<>(replicas);
        whole.retainAll(order);
        for (int i = order.size() - 1; i >= 0 && whole.size() > count - (order.contains(primary) ? 1 : 0); i--) {
            whole.remove(/* element */ order.get(i));
        }
        if (order.contains(primary)) {
            whole.addFirst(primary);
        }
        for (List<Integer> more : List.of(copies, order)) {
            for (int machine : more) {
                if (whole.size() < count && order.contains(machine) && !whole.contains(machine)) {
                    whole.add(machine);
                }
            }
        }
        return whole;
    }
}
