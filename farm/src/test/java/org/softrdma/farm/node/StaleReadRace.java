package org.softrdma.farm.node;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.farm.membership.FabricEnsemble;
import org.softrdma.farm.membership.PlacementPolicy;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.HistoryVerdict;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;

/**
 * An object that two machines have, and readers on all machines. Something happens to its primary; when the next epoch is
 * active the other machine serves the object, and writes it. Nobody may read the old value then: not of the old primary's
 * memory, which its device still serves, nor on the old primary itself.
 */
final class StaleReadRace {
    private static final int MACHINES = 3;
    private static final int LENGTH = FarmObjectDescriptor.PAYLOAD_OFFSET + Long.BYTES;
    private static final String KEY = "x";
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int MOST_DRIFT_PPM = 4900;

    /** What happens to the primary. */
    enum Fault {
        /** Its processes stand still; its device goes on. */
        PAUSED,
        /** Its session ends, and it does not hear of that. */
        CUT_OFF,
        /** It hears nothing of the ensemble for a time. */
        PARTED,
        /** It is removed, although its session lives; news are late. */
        REMOVED,
        /** Its session ends. */
        EXPELLED,
        /** Its process is killed. */
        KILLED
    }

    /** How its clock goes. */
    enum Clock {
        /** All clocks drift within the bound. */
        WITHIN_THE_BOUND,
        /** Its clock is far too slow. */
        TOO_SLOW,
        /** Its clock stands still. */
        STANDS_STILL
    }

    private final long seed;
    private final Fault fault;
    private final Clock clock;
    private final RandomGenerator random;
    private final FarmCluster cluster;
    private final HistoryRecorder<StoreCall, StoreAnswer> history;
    private long readings;
    private boolean over;
    private int reads;

    StaleReadRace(long seed, Fault fault, Clock clock, Set<FabricEnsemble.Flaw> flaws) {
        this.seed = seed;
        this.fault = fault;
        this.clock = clock;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~seed);
        cluster = new FarmCluster(seed, FabricSettings.DEFAULT, MACHINES, 2, flaws);
        history = new HistoryRecorder<>(() -> ++readings);
    }

    HistoryVerdict<StoreCall, StoreAnswer> run() {
        cluster.run(1, it -> {
            for (int machine = 0; machine < MACHINES; machine++) {
                int mostPpm = clock == Clock.WITHIN_THE_BOUND ? MOST_DRIFT_PPM : 0;
                cluster.host(machine).driftClock(random.nextInt(-mostPpm, mostPpm + 1));
            }
            int old = random.nextInt(MACHINES);
            long address = cluster.node(old).reserve(LENGTH, FarmAddress.NONE);
            int region = FarmAddress.region(address);
            RegionPlacement placement =
                    Objects.requireNonNull(cluster.configuration().regions().get(region));
            cluster.until(() -> placement.machines().stream()
                    .allMatch(machine -> cluster.node(machine).parts().space().region(region) != null));
            ProcessRecorder<StoreCall, StoreAnswer> me = history.process("writer");
            write(me, placement.machines(), address, 1, false);
            List<SimulatedThread> readers = new ArrayList<>();
            for (int machine = 0; machine < MACHINES; machine++) {
                int number = machine;
                ProcessRecorder<StoreCall, StoreAnswer> reader = history.process("m" + machine);
                readers.add(cluster.host(machine).start("reader", () -> readAll(number, address, reader)));
            }
            cluster.fabric().scheduler().sleep(random.nextLong(20, 300) * MILLISECOND);
            cluster.ensemble().lateNews(random.nextInt(3) * 200);
            happen(old);
            cluster.until(() -> cluster.ensemble().active() > 1
                    && cluster.ensemble().active() == cluster.configuration().epoch());
            int heir = cluster.configuration().primary(region);
            if (heir != RegionPlacement.LOST && heir != old) {
                write(me, List.of(heir), address, 2, true);
            }
            cluster.fabric().scheduler().sleep(400 * MILLISECOND);
            over = true;
            cluster.until(() -> readers.stream().allMatch(SimulatedThread::isEnded)
                    || !cluster.host(old).isAlive());
        });
        return new HistoryChecker<>(StoreModel.keeping()).check(history.operations());
    }

    private void write(
            ProcessRecorder<StoreCall, StoreAnswer> me,
            List<Integer> machines,
            long address,
            long value,
            boolean asPrimary) {
        int ticket = me.invoke(KEY, StoreCall.set(value));
        for (int machine : machines) {
            FarmNode node = cluster.node(machine);
            node.await(new OwnerChange(node.parts(), address, LENGTH, value, asPrimary));
        }
        me.returned(ticket, StoreAnswer.DONE);
    }

    private void readAll(int machine, long address, ProcessRecorder<StoreCall, StoreAnswer> me) {
        FarmNode node = cluster.node(machine);
        while (!over && !node.isOver()) {
            int ticket = me.invoke(KEY, StoreCall.get());
            try {
                long value = node.read(address, LENGTH).getLong(FarmObjectDescriptor.PAYLOAD_OFFSET);
                me.returned(ticket, StoreAnswer.value(value));
                reads++;
            } catch (FarmException e) {
                me.forget(ticket);
                return;
            }
            cluster.fabric().scheduler().sleep(random.nextLong(1, 40) * MILLISECOND);
        }
    }

    private void happen(int old) {
        long longNs = random.nextLong(2500, 4500) * MILLISECOND;
        switch (clock) {
            case WITHIN_THE_BOUND -> {}
            case TOO_SLOW -> cluster.host(old).driftClock(-400_000);
            case STANDS_STILL -> cluster.host(old).haltClock(10_000 * MILLISECOND);
        }
        switch (fault) {
            case PAUSED -> cluster.host(old).pauseProcesses(longNs);
            case CUT_OFF -> {
                cluster.fabric().partition(cluster.host(old), cluster.ensemble().node(), longNs);
                cluster.ensemble().expel(old);
            }
            case PARTED ->
                cluster.fabric().partition(cluster.host(old), cluster.ensemble().node(), longNs);
            case REMOVED -> {
                for (int machine = 0; machine < MACHINES; machine++) {
                    cluster.node(machine).parts().member().setPolicy(new PlacementPolicy(Set.of(old), Set.of(), false));
                }
                cluster.ensemble().deaf(old, random.nextLong(1900, 2500) * MILLISECOND);
            }
            case EXPELLED -> cluster.ensemble().expel(old);
            case KILLED -> cluster.host(old).kill();
        }
    }

    int reads() {
        return reads;
    }

    @Override
    public String toString() {
        return "seed " + seed + ", " + fault + ", " + clock;
    }
}
