package org.softrdma.farm.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/**
 * The rules that every membership keeps, as ZooKeeper does with its nodes, versions and sessions: what a member relies
 * on. A test of a membership extends it.
 */
public abstract class MembershipContract {
    private static final int PORT = 7000;

    /** A service that nobody has used yet, for the time of a test. */
    public interface Ensemble {
        /** A session of a new machine. */
        FarmMembership join();

        /** Ends a session although its process runs. */
        void expel(FarmMembership membership);

        /**
         * Calls again and again until a condition holds.
         *
         * @throws AssertionError if it takes too long
         */
        void until(BooleanSupplier condition);
    }

    /** What a rule does. */
    @FunctionalInterface
    public interface Body {
        /** Runs it. */
        void run(Ensemble ensemble);
    }

    /** Runs a rule, once or several times, each with an ensemble of its own. */
    protected abstract void run(Body body);

    /** What one machine was told. */
    private static final class Told implements MembershipEvents {
        private final FarmMembership membership;
        private final IdentityHashMap<MembershipWrite, Boolean> answers = new IdentityHashMap<>();
        private final List<MembershipWrite> order = new ArrayList<>();
        private FarmConfiguration configuration = FarmConfiguration.NONE;
        private int active;
        private Set<Integer> alive = Set.of();
        private Set<Integer> withoutMemory = Set.of();
        private int acknowledgedEpoch;
        private Set<Integer> acknowledged = Set.of();
        private Set<NextConfiguration.Whole> whole = Set.of();
        private PlacementPolicy policy = PlacementPolicy.NONE;
        private boolean isOver;

        Told(FarmMembership membership) {
            this.membership = membership;
        }

        int machine() {
            return membership.machine();
        }

        @Override
        public void onConfiguration(FarmConfiguration told) {
            assertFalse(configuration.isAfter(told), "older than what was told before");
            configuration = told;
        }

        @Override
        public void onActive(int epoch) {
            assertTrue(epoch >= active, "older than what was told before");
            active = epoch;
        }

        @Override
        public void onAlive(Set<Integer> machines) {
            alive = Set.copyOf(machines);
        }

        @Override
        public void onWithoutMemory(Set<Integer> machines) {
            withoutMemory = Set.copyOf(machines);
        }

        @Override
        public void onAcknowledged(int epoch, Set<Integer> machines) {
            acknowledgedEpoch = epoch;
            acknowledged = Set.copyOf(machines);
        }

        @Override
        public void onWhole(Set<NextConfiguration.Whole> copies) {
            whole = Set.copyOf(copies);
        }

        @Override
        public void onPolicy(PlacementPolicy newPolicy) {
            policy = newPolicy;
        }

        @Override
        public void onAnswer(MembershipWrite write, boolean applied) {
            answers.put(write, applied);
            order.add(write);
        }

        @Override
        public void onSessionEnd() {
            isOver = true;
        }
    }

    /** The machines of an ensemble. */
    private static final class Machines {
        private final Ensemble ensemble;
        private final List<Told> all = new ArrayList<>();

        Machines(Ensemble ensemble) {
            this.ensemble = ensemble;
        }

        Told join() {
            return join(true);
        }

        Told join(boolean memory) {
            Told told = new Told(ensemble.join());
            told.membership.announce(address(told.machine()), memory);
            all.add(told);
            return told;
        }

        void until(BooleanSupplier condition) {
            ensemble.until(() -> {
                for (Told told : all) {
                    int ignored = told.membership.poll(told);
                }
                return condition.getAsBoolean();
            });
        }

        boolean isApplied(Told told, MembershipWrite write) {
            told.membership.write(write);
            until(() -> told.answers.containsKey(write));
            return Boolean.TRUE.equals(told.answers.get(write));
        }

        /** The first configuration, of all that have joined. */
        FarmConfiguration first(Told holder) {
            Set<Integer> members = new TreeSet<>();
            all.forEach(told -> members.add(told.machine()));
            FarmConfiguration next = new FarmConfiguration(
                    1, 0, new TreeSet<>(members).last(), 0, new TreeSet<>(members), new TreeMap<>());
            assertTrue(isApplied(holder, new MembershipWrite.Configure(0, 0, next)));
            return next;
        }
    }

    private interface Rule {
        void run(Machines machines);
    }

    private void check(Rule rule) {
        run(ensemble -> {
            Machines machines = new Machines(ensemble);
            try {
                rule.run(machines);
            } finally {
                machines.all.forEach(told -> told.membership.close());
            }
        });
    }

    private static InetSocketAddress address(int machine) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT + machine);
    }

    private static FarmConfiguration after(FarmConfiguration one, Set<Integer> members) {
        return new FarmConfiguration(
                one.epoch() + 1,
                0,
                one.newest(),
                one.epoch() + 1,
                new TreeSet<>(members),
                new TreeMap<>(one.regions()));
    }

    @Test
    void shouldGiveEachMachineANumberOfItsOwnForEver() {
        check(machines -> {
            Told one = machines.join();
            Told other = machines.join();
            machines.until(() -> one.alive.size() == 2 && other.alive.size() == 2);
            one.membership.close();
            machines.until(() -> other.alive.equals(Set.of(other.machine())));
            Told again = machines.join();

            assertTrue(again.machine() > other.machine());
            assertTrue(other.machine() > one.machine());
        });
    }

    @Test
    void shouldTellWhatMachinesAnnounce() {
        check(machines -> {
            Told one = machines.join();
            Told other = machines.join(false);
            machines.until(() -> one.alive.size() == 2 && one.withoutMemory.equals(Set.of(other.machine())));

            assertEquals(address(other.machine()), one.membership.address(other.machine()));
            machines.until(() -> other.alive.size() == 2 && other.withoutMemory.equals(Set.of(other.machine())));
            assertEquals(address(one.machine()), other.membership.address(one.machine()));
            other.membership.close();
            machines.until(() -> one.alive.size() == 1 && one.withoutMemory.isEmpty());
        });
    }

    @Test
    void shouldWriteOneOfTwoConfigurationsThatWereComposedFromTheSame() {
        check(machines -> {
            Told one = machines.join();
            Told other = machines.join();
            FarmConfiguration first = machines.first(one);
            MembershipWrite.Configure mine = new MembershipWrite.Configure(1, 0, after(first, Set.of(one.machine())));
            MembershipWrite.Configure yours =
                    new MembershipWrite.Configure(1, 0, after(first, Set.of(other.machine())));
            one.membership.write(mine);
            other.membership.write(yours);
            machines.until(() -> one.answers.containsKey(mine) && other.answers.containsKey(yours));

            boolean isMine = Boolean.TRUE.equals(one.answers.get(mine));
            assertEquals(!isMine, Boolean.TRUE.equals(other.answers.get(yours)));
            FarmConfiguration written = isMine ? mine.next() : yours.next();
            machines.until(() -> one.configuration.equals(written) && other.configuration.equals(written));
        });
    }

    /** A configuration that somebody has added a region to is another one. */
    @Test
    void shouldRefuseAConfigurationThatWasComposedWithoutTheNewestRegion() {
        check(machines -> {
            Told one = machines.join();
            Told other = machines.join();
            FarmConfiguration first = machines.first(one);
            RegionPlacement placement = new RegionPlacement(one.machine(), List.of(), List.of());
            assertTrue(machines.isApplied(one, new MembershipWrite.Place(1, 0, 3, placement)));

            assertFalse(machines.isApplied(other, new MembershipWrite.Place(1, 0, 4, placement)));
            assertFalse(machines.isApplied(
                    other, new MembershipWrite.Configure(1, 0, after(first, Set.of(other.machine())))));
            assertTrue(machines.isApplied(other, new MembershipWrite.Renew(1, 0)));
        });
    }

    @Test
    void shouldRefuseAllThatWasWrittenForAnotherEpoch() {
        check(machines -> {
            Told one = machines.join();
            FarmConfiguration first = machines.first(one);
            assertTrue(machines.isApplied(one, new MembershipWrite.Renew(1, 0)));
            assertTrue(machines.isApplied(
                    one, new MembershipWrite.Configure(1, 0, after(first, Set.of(one.machine())))));
            RegionPlacement placement = new RegionPlacement(0, List.of(), List.of());

            assertFalse(machines.isApplied(one, new MembershipWrite.Renew(1, 0)));
            assertFalse(machines.isApplied(one, new MembershipWrite.Acknowledge(1)));
            assertFalse(machines.isApplied(one, new MembershipWrite.Activate(1)));
            assertFalse(machines.isApplied(one, new MembershipWrite.Place(1, 0, 7, placement)));
            assertFalse(machines.isApplied(one, new MembershipWrite.Whole(1, 7)));
            assertFalse(machines.isApplied(one, new MembershipWrite.SetPolicy(1, PlacementPolicy.NONE)));
            assertTrue(machines.isApplied(one, new MembershipWrite.Renew(2, 0)));
        });
    }

    @Test
    void shouldApplyWritesOfOneMachineInTheirOrder() {
        check(machines -> {
            Told one = machines.join();
            FarmConfiguration first = machines.first(one);
            RegionPlacement placement = new RegionPlacement(one.machine(), List.of(), List.of());
            List<MembershipWrite> writes = List.of(
                    new MembershipWrite.Place(1, 0, 3, placement),
                    new MembershipWrite.Place(1, 1, 4, placement),
                    new MembershipWrite.Place(1, 1, 5, placement),
                    new MembershipWrite.Configure(1, 2, after(first, Set.of(one.machine()))),
                    new MembershipWrite.Acknowledge(2));
            one.order.clear();
            writes.forEach(one.membership::write);
            machines.until(() -> one.answers.keySet().containsAll(writes));

            assertEquals(writes, one.order);
            assertEquals(
                    List.of(true, true, false, true, true),
                    writes.stream().map(one.answers::get).toList());
        });
    }

    @Test
    void shouldTellEverybodyWhatIsWritten() {
        check(machines -> {
            Told one = machines.join();
            Told other = machines.join();
            machines.first(one);
            int machine = one.machine();
            RegionPlacement placement = new RegionPlacement(machine, List.of(), List.of());
            PlacementPolicy policy = new PlacementPolicy(Set.of(), Set.of(machine), true);
            assertTrue(machines.isApplied(one, new MembershipWrite.Place(1, 0, 3, placement)));
            assertTrue(machines.isApplied(one, new MembershipWrite.Acknowledge(1)));
            assertTrue(machines.isApplied(one, new MembershipWrite.Activate(1)));
            assertTrue(machines.isApplied(one, new MembershipWrite.Whole(1, 3)));
            assertTrue(machines.isApplied(one, new MembershipWrite.SetPolicy(1, policy)));

            machines.until(() -> other.configuration.primary(3) == machine
                    && other.configuration.epoch() == 1
                    && other.configuration.revision() == 1
                    && other.acknowledgedEpoch == 1
                    && other.acknowledged.equals(Set.of(machine))
                    && other.active == 1
                    && other.whole.equals(Set.of(new NextConfiguration.Whole(1, 3, machine)))
                    && other.policy.equals(policy));
        });
    }

    /** What a machine has said of an older epoch does not hide what it says of a newer one. */
    @Test
    void shouldTellWhoHasAcknowledgedTheNewestEpoch() {
        check(machines -> {
            Told one = machines.join();
            Told other = machines.join();
            FarmConfiguration first = machines.first(one);
            assertTrue(machines.isApplied(one, new MembershipWrite.Acknowledge(1)));
            assertTrue(machines.isApplied(other, new MembershipWrite.Acknowledge(1)));
            Set<Integer> both = Set.of(one.machine(), other.machine());
            machines.until(() -> one.acknowledgedEpoch == 1 && one.acknowledged.equals(both));
            assertTrue(machines.isApplied(one, new MembershipWrite.Configure(1, 0, after(first, both))));
            assertTrue(machines.isApplied(other, new MembershipWrite.Acknowledge(2)));

            machines.until(() -> one.acknowledgedEpoch == 2 && one.acknowledged.equals(Set.of(other.machine())));
        });
    }

    /** A session that has ended takes nothing any more; its machine hears of it later than others. */
    @Test
    void shouldTakeNothingOfASessionThatHasEnded() {
        check(machines -> {
            Told one = machines.join();
            Told other = machines.join();
            machines.first(one);
            machines.ensemble.expel(one.membership);
            MembershipWrite late = new MembershipWrite.Acknowledge(1);
            one.membership.write(late);
            machines.until(() -> one.isOver && other.alive.equals(Set.of(other.machine())));
            machines.until(() -> one.answers.containsKey(late));

            assertEquals(false, one.answers.get(late));
            assertTrue(other.acknowledged.isEmpty());
            assertFalse(other.isOver);
        });
    }
}
