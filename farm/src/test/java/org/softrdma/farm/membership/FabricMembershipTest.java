package org.softrdma.farm.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;

/**
 * The rules that a membership keeps, as ZooKeeper does with its nodes, versions and sessions: what a member relies on.
 * The fabric's is tried here, by a few seeds.
 */
class FabricMembershipTest {
    private static final long SESSION_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(5);
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

    /** What one machine was told. */
    private static final class Told implements MembershipEvents {
        private final FarmMembership membership;
        private final IdentityHashMap<MembershipWrite, Boolean> answers = new IdentityHashMap<>();
        private final List<MembershipWrite> order = new ArrayList<>();
        private FarmConfiguration configuration = FarmConfiguration.NONE;
        private int active;
        private Set<Integer> alive = Set.of();
        private int acknowledgedEpoch;
        private Set<Integer> acknowledged = Set.of();
        private Set<NextConfiguration.Whole> whole = Set.of();
        private Wishes wishes = Wishes.NONE;
        private boolean isOver;

        Told(FarmMembership membership) {
            this.membership = membership;
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
        public void onAcknowledged(int epoch, Set<Integer> machines) {
            acknowledgedEpoch = epoch;
            acknowledged = Set.copyOf(machines);
        }

        @Override
        public void onWhole(Set<NextConfiguration.Whole> copies) {
            whole = Set.copyOf(copies);
        }

        @Override
        public void onWishes(Wishes newWishes) {
            wishes = newWishes;
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

    /** An ensemble and its machines. */
    private static final class Service {
        private final Fabric fabric;
        private final FabricEnsemble ensemble;
        private final List<Told> machines = new ArrayList<>();

        Service(Fabric fabric) {
            this.fabric = fabric;
            ensemble = new FabricEnsemble(fabric, SESSION_NS, Set.of());
        }

        Told join() {
            FabricNode host = fabric.node("m" + machines.size());
            Told told = new Told(ensemble.join(host, machine -> new InetSocketAddress(host.address(), 7000 + machine)));
            machines.add(told);
            return told;
        }

        void until(BooleanSupplier condition) {
            long beganNs = fabric.clock().nanoTime();
            while (!condition.getAsBoolean()) {
                assertTrue(fabric.clock().nanoTime() - beganNs < PATIENCE_NS, "it has not come to that");
                for (Told told : machines) {
                    int ignored = told.membership.poll(told);
                }
                fabric.baton().sleep(MILLISECOND);
            }
        }

        boolean isApplied(Told told, MembershipWrite write) {
            told.membership.write(write);
            until(() -> told.answers.containsKey(write));
            return Boolean.TRUE.equals(told.answers.get(write));
        }

        /** The first configuration, of all that have joined. */
        FarmConfiguration first(Told holder) {
            Set<Integer> members = new TreeSet<>();
            machines.forEach(told -> members.add(told.membership.machine()));
            FarmConfiguration next = new FarmConfiguration(
                    1, 0, new TreeSet<>(members).last(), 0, new TreeSet<>(members), new TreeMap<>());
            assertTrue(isApplied(holder, new MembershipWrite.Configure(0, 0, next)));
            return next;
        }
    }

    private interface Body {
        void run(Service service);
    }

    private static void run(long seed, Body body) {
        Fabric fabric = Fabric.ofSeed(seed);
        Service service = new Service(fabric);
        fabric.run(fabric.node("test"), () -> {
            service.ensemble.start();
            body.run(service);
        });
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

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldGiveEachMachineANumberOfItsOwnForEver(long seed) {
        run(seed, service -> {
            Told one = service.join();
            Told other = service.join();
            service.until(() -> one.alive.size() == 2 && other.alive.size() == 2);
            assertNotNull(one.membership.address(other.membership.machine()));
            one.membership.close();
            service.until(() -> other.alive.equals(Set.of(other.membership.machine())));
            Told again = service.join();

            assertTrue(again.membership.machine() > other.membership.machine());
            assertTrue(other.membership.machine() > one.membership.machine());
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldWriteOneOfTwoConfigurationsThatWereComposedFromTheSame(long seed) {
        run(seed, service -> {
            Told one = service.join();
            Told other = service.join();
            FarmConfiguration first = service.first(one);
            MembershipWrite.Configure mine =
                    new MembershipWrite.Configure(1, 0, after(first, Set.of(one.membership.machine())));
            MembershipWrite.Configure yours =
                    new MembershipWrite.Configure(1, 0, after(first, Set.of(other.membership.machine())));
            one.membership.write(mine);
            other.membership.write(yours);
            service.until(() -> one.answers.containsKey(mine) && other.answers.containsKey(yours));

            boolean isMine = Boolean.TRUE.equals(one.answers.get(mine));
            assertEquals(!isMine, Boolean.TRUE.equals(other.answers.get(yours)));
            FarmConfiguration written = isMine ? mine.next() : yours.next();
            service.until(() -> one.configuration.equals(written) && other.configuration.equals(written));
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldRefuseAllThatWasWrittenForAnotherEpoch(long seed) {
        run(seed, service -> {
            Told one = service.join();
            FarmConfiguration first = service.first(one);
            assertTrue(service.isApplied(one, new MembershipWrite.Renew(1, 0)));
            assertTrue(service.isApplied(
                    one, new MembershipWrite.Configure(1, 0, after(first, Set.of(one.membership.machine())))));
            RegionPlacement placement = new RegionPlacement(0, List.of(), List.of());

            assertFalse(service.isApplied(one, new MembershipWrite.Renew(1, 0)));
            assertFalse(service.isApplied(one, new MembershipWrite.Acknowledge(1)));
            assertFalse(service.isApplied(one, new MembershipWrite.Activate(1)));
            assertFalse(service.isApplied(one, new MembershipWrite.Place(1, 0, 7, placement)));
            assertFalse(service.isApplied(one, new MembershipWrite.Whole(1, 7)));
            assertFalse(service.isApplied(one, new MembershipWrite.Wish(1, Wishes.NONE)));
            assertTrue(service.isApplied(one, new MembershipWrite.Renew(2, 0)));
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldApplyWritesOfOneMachineInTheirOrder(long seed) {
        run(seed, service -> {
            Told one = service.join();
            FarmConfiguration first = service.first(one);
            RegionPlacement placement = new RegionPlacement(one.membership.machine(), List.of(), List.of());
            List<MembershipWrite> writes = List.of(
                    new MembershipWrite.Place(1, 0, 3, placement),
                    new MembershipWrite.Place(1, 1, 4, placement),
                    new MembershipWrite.Place(1, 1, 5, placement),
                    new MembershipWrite.Configure(1, 2, after(first, Set.of(one.membership.machine()))),
                    new MembershipWrite.Acknowledge(2));
            one.order.clear();
            writes.forEach(one.membership::write);
            service.until(() -> one.answers.keySet().containsAll(writes));

            assertEquals(writes, one.order);
            assertEquals(
                    List.of(true, true, false, true, true),
                    writes.stream().map(one.answers::get).toList());
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldTellEverybodyWhatIsWritten(long seed) {
        run(seed, service -> {
            Told one = service.join();
            Told other = service.join();
            service.first(one);
            int machine = one.membership.machine();
            RegionPlacement placement = new RegionPlacement(machine, List.of(), List.of());
            Wishes wishes = new Wishes(Set.of(), Set.of(machine), true);
            assertTrue(service.isApplied(one, new MembershipWrite.Place(1, 0, 3, placement)));
            assertTrue(service.isApplied(one, new MembershipWrite.Acknowledge(1)));
            assertTrue(service.isApplied(one, new MembershipWrite.Activate(1)));
            assertTrue(service.isApplied(one, new MembershipWrite.Whole(1, 3)));
            assertTrue(service.isApplied(one, new MembershipWrite.Wish(1, wishes)));

            service.until(() -> other.configuration.primary(3) == machine
                    && other.configuration.epoch() == 1
                    && other.configuration.revision() == 1
                    && other.acknowledgedEpoch == 1
                    && other.acknowledged.equals(Set.of(machine))
                    && other.active == 1
                    && other.whole.equals(Set.of(new NextConfiguration.Whole(1, 3, machine)))
                    && other.wishes.equals(wishes));
        });
    }

    /** A session that has ended takes nothing any more; its machine hears of it later than others. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldTakeNothingOfASessionThatHasEnded(long seed) {
        run(seed, service -> {
            Told one = service.join();
            Told other = service.join();
            service.first(one);
            service.ensemble.expel(one.membership.machine());
            MembershipWrite late = new MembershipWrite.Acknowledge(1);
            one.membership.write(late);
            service.until(() -> one.isOver && other.alive.equals(Set.of(other.membership.machine())));
            service.until(() -> one.answers.containsKey(late));

            assertEquals(false, one.answers.get(late));
            assertTrue(other.acknowledged.isEmpty());
            assertFalse(other.isOver);
        });
    }
}
