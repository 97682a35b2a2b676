package org.softrdma.farm.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Every configuration of one region on five machines, with every set of machines that is alive next, and every policy. */
class NextConfigurationTest {
    private static final int MACHINES = 5;
    private static final int REGION = 12345;

    private static Set<Integer> set(int bits) {
        Set<Integer> machines = new TreeSet<>();
        for (int machine = 0; machine < MACHINES; machine++) {
            if ((bits >> machine & 1) != 0) {
                machines.add(machine);
            }
        }
        return machines;
    }

    private static FarmConfiguration of(Set<Integer> members, RegionPlacement placement) {
        return new FarmConfiguration(
                7, 3, MACHINES - 1, 4, new TreeSet<>(members), new TreeMap<>(Map.of(REGION, placement)));
    }

    /** Each machine is primary, replica, copy or nothing: all placements on the members. */
    private static List<RegionPlacement> placements(Set<Integer> members) {
        List<RegionPlacement> placements = new ArrayList<>();
        placements.add(new RegionPlacement(RegionPlacement.LOST, List.of(), List.of()));
        int roles = (int) Math.pow(3, MACHINES);
        for (int primary : members) {
            for (int code = 0; code < roles; code++) {
                List<Integer> replicas = new ArrayList<>();
                List<Integer> copies = new ArrayList<>();
                int rest = code;
                boolean possible = true;
                for (int machine = 0; machine < MACHINES; machine++) {
                    int role = rest % 3;
                    rest /= 3;
                    possible &= role == 0 || (machine != primary && members.contains(machine));
                    if (role > 0) {
                        (role == 1 ? replicas : copies).add(machine);
                    }
                }
                if (possible && 1 + replicas.size() + copies.size() <= 4) {
                    placements.add(new RegionPlacement(primary, replicas, copies));
                }
            }
        }
        return placements;
    }

    @Test
    void shouldKeepItsPromisesForEveryRegionOfFiveMachines() {
        int cases = 0;
        for (int membersBits : new int[] {0b11111, 0b01111, 0b10110}) {
            Set<Integer> members = set(membersBits);
            for (RegionPlacement old : placements(members)) {
                for (int aliveBits = 1; aliveBits < 1 << MACHINES; aliveBits++) {
                    for (int replication = 1; replication <= 3; replication++) {
                        check(members, old, set(aliveBits), false, replication);
                        check(members, old, set(aliveBits), true, replication);
                        cases += 2;
                    }
                }
            }
        }
        assertTrue(cases > 50_000, "cases " + cases);
    }

    private static void check(
            Set<Integer> members, RegionPlacement old, Set<Integer> alive, boolean copiesWhole, int replication) {
        FarmConfiguration current = of(members, old);
        Set<NextConfiguration.Whole> whole = new HashSet<>();
        if (copiesWhole) {
            old.copies().forEach(machine -> whole.add(new NextConfiguration.Whole(current.epoch(), REGION, machine)));
        }
        FarmConfiguration next = NextConfiguration.of(current, alive, whole, PlacementPolicy.NONE, replication);
        RegionPlacement placement = placement(next);
        String what = current + " with " + alive + " alive, whole " + whole + ", became " + next;
        Set<Integer> stay = new TreeSet<>(alive);
        stay.retainAll(members);
        assertEquals(current.epoch() + 1, next.epoch(), what);
        assertEquals(stay, next.members(), what); // nobody who was a member before comes back
        Set<Integer> wholes = new TreeSet<>(old.replicas());
        if (!old.isLost()) {
            wholes.add(old.primary());
        }
        if (copiesWhole) {
            wholes.addAll(old.copies());
        }
        wholes.retainAll(stay);
        assertEquals(old.isLost() || wholes.isEmpty(), placement.isLost(), what);
        if (placement.isLost()) {
            assertTrue(placement.machines().isEmpty(), what);
            return;
        }
        assertEquals(
                new HashSet<>(placement.machines()).size(), placement.machines().size(), what);
        assertTrue(next.members().containsAll(placement.machines()), what);
        assertTrue(wholes.contains(placement.primary()), what + ": a primary that is not whole");
        assertTrue(wholes.containsAll(placement.replicas()), what + ": a replica that is not whole");
        if (stay.contains(old.primary())) {
            assertEquals(old.primary(), placement.primary(), what);
        }
        assertEquals(
                Math.min(wholes.size(), replication), 1 + placement.replicas().size(), what);
        assertTrue(placement.machines().size() >= Math.min(replication, stay.size()), what);
        FarmConfiguration again = NextConfiguration.of(next, alive, whole, PlacementPolicy.NONE, replication);
        assertEquals(next.members(), again.members(), what);
        assertEquals(next.regions(), again.regions(), what);
        assertEquals(stay.equals(members) ? 4 : next.epoch(), next.removal(), what);
    }

    private static RegionPlacement placement(FarmConfiguration configuration) {
        return Objects.requireNonNull(configuration.regions().get(REGION));
    }

    /** All copies become whole, epoch after epoch, until nothing changes. */
    private static RegionPlacement settle(FarmConfiguration from, PlacementPolicy policy, int replication) {
        FarmConfiguration current = from;
        int members = from.members().size();
        for (int epochs = 0; epochs < 5; epochs++) {
            FarmConfiguration before = current;
            Set<NextConfiguration.Whole> whole = new HashSet<>();
            placement(current)
                    .copies()
                    .forEach(machine -> whole.add(new NextConfiguration.Whole(before.epoch(), REGION, machine)));
            current = NextConfiguration.of(before, before.members(), whole, policy, replication);
            RegionPlacement next = placement(current);
            Set<Integer> wholes = new TreeSet<>(placement(before).machines());
            assertTrue(wholes.contains(next.primary()) && wholes.containsAll(next.replicas()), before + ", " + current);
            int most = Math.min(
                    members - policy.drained().size(),
                    1 + placement(before).replicas().size());
            assertTrue(1 + next.replicas().size() >= Math.min(replication, most), before + " loses one of " + current);
            if (current.regions().equals(before.regions())) {
                return next;
            }
        }
        throw new AssertionError("it does not come to an end: " + from + ", " + policy + ", " + current);
    }

    @Test
    void shouldMoveEveryRegionAwayFromMachinesThatAreDrained() {
        int cases = 0;
        Set<Integer> members = set(0b11111);
        for (RegionPlacement old : placements(members)) {
            for (int drainedBits = 1; drainedBits < 1 << MACHINES; drainedBits += 3) {
                for (int replication = 1; replication <= 3 && !old.isLost(); replication++) {
                    Set<Integer> drained = set(drainedBits);
                    RegionPlacement end =
                            settle(of(members, old), new PlacementPolicy(Set.of(), drained, false), replication);
                    Set<Integer> left = new TreeSet<>(members);
                    left.removeAll(drained);
                    Set<Integer> stays = new TreeSet<>(end.machines());
                    stays.retainAll(drained);
                    assertTrue(stays.isEmpty() || left.isEmpty(), old + ", drained " + drained + ": " + end);
                    int expected = Math.min(replication, left.isEmpty() ? MACHINES : left.size());
                    assertEquals(expected, end.machines().size(), old + ", drained " + drained + ": " + end);
                    assertTrue(!left.contains(old.primary()) || end.primary() == old.primary(), old + ": " + end);
                    cases++;
                }
            }
        }
        assertTrue(cases > 10_000, "cases " + cases);
    }

    @Test
    void shouldMoveEveryRegionToWhereItsRingSays() {
        Set<Integer> members = set(0b11111);
        for (RegionPlacement old : placements(members)) {
            for (int replication = 1; replication <= 3 && !old.isLost(); replication++) {
                RegionPlacement end =
                        settle(of(members, old), new PlacementPolicy(Set.of(), Set.of(3), true), replication);
                List<Integer> order = Rings.order(REGION, Set.of(0, 1, 2, 4));
                assertEquals(order.getFirst(), end.primary(), old + ": " + end);
                assertEquals(new TreeSet<>(order.subList(0, replication)), new TreeSet<>(end.machines()));
            }
        }
    }

    /** It may lack what was in doubt when the next epoch began. */
    @Test
    void shouldNotPromoteACopyThatWasWholeInAnOlderEpoch() {
        FarmConfiguration current = of(set(0b111), new RegionPlacement(0, List.of(1), List.of(2)));
        Set<NextConfiguration.Whole> whole = Set.of(new NextConfiguration.Whole(current.epoch() - 1, REGION, 2));

        FarmConfiguration next = NextConfiguration.of(current, set(0b101), whole, PlacementPolicy.NONE, 2);

        assertEquals(new RegionPlacement(0, List.of(), List.of(2)), placement(next));
    }

    @Test
    void shouldRemoveWhoShallGoAndTakeInWhoIsNew() {
        FarmConfiguration current = of(set(0b111), new RegionPlacement(0, List.of(1), List.of()));

        FarmConfiguration next = NextConfiguration.of(
                current, Set.of(0, 1, 2, 9), Set.of(), new PlacementPolicy(Set.of(0), Set.of(), false), 2);

        assertEquals(Set.of(1, 2, 9), next.members());
        assertEquals(9, next.newest());
        assertEquals(1, next.primary(REGION));
        assertFalse(next.admits(0));
        assertFalse(next.admits(3)); // it may have been a member before
        assertTrue(next.admits(10));
    }

    @Test
    void shouldBeTheSameAsBytes() {
        FarmConfiguration configuration = of(set(0b10101), new RegionPlacement(4, List.of(0, 2), List.of()))
                .with(99, new RegionPlacement(0, List.of(), List.of(2)))
                .with(100, new RegionPlacement(RegionPlacement.LOST, List.of(), List.of()));
        byte[] bytes = FarmConfigurationDescriptor.encode(configuration);

        assertEquals(configuration, FarmConfigurationDescriptor.decode(bytes));
        assertEquals(
                FarmConfiguration.NONE,
                FarmConfigurationDescriptor.decode(FarmConfigurationDescriptor.encode(FarmConfiguration.NONE)));
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThrows(IllegalArgumentException.class, () -> FarmConfigurationDescriptor.decode(cut));
        }
    }

    @Test
    void shouldGiveARegionToTheMachineThatMakesIt() {
        Set<Integer> used = new HashSet<>();
        TreeSet<Integer> members = new TreeSet<>(set(0b11111));
        for (int i = 0; i < 500; i++) {
            int primary = i % MACHINES;
            int region = Rings.region(primary, i % 7, members, used);
            assertEquals(primary, Rings.order(region, members).getFirst());
            assertTrue(used.add(region) && region > 0);
        }
    }
}
