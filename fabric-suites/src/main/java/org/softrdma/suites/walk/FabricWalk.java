package org.softrdma.suites.walk;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.softrdma.fabric.AdversaryBySeed;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricProvider;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.adversary.Habit;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.testkit.walk.Walk;
import org.softrdma.testkit.walk.WalkReport;
import org.softrdma.testkit.walk.WalkSettings;
import org.softrdma.verbs.device.VerbsProvider;

/**
 * A random walk on a fabric of its own. One seed gives one walk, whatever runs beside it. Immutable; any thread that
 * is no process of a
 * fabric.
 *
 * @param settings of the walk; its seed is the fabric's too
 * @param faults true to break things
 * @param plan what the fabric breaks beside what the walk does; random if it is empty. Faults of connections, partitions
 *     and pauses: the walk must know of nodes that are lost
 * @param options of the devices
 * @param decorator what to put around the provider of the devices
 */
public record FabricWalk(
        WalkSettings settings,
        boolean faults,
        FaultPlan plan,
        Map<String, String> options,
        UnaryOperator<VerbsProvider> decorator) {
    /**
     * What came of it.
     *
     * @param report what the walk did
     * @param hash of every step of the run and of all memory
     */
    public record Outcome(WalkReport report, long hash) {}

    /**
     * Keys that come again at once forbid a walk to use those of regions that are gone: so every other seed does
     * without.
     */
    private FabricSettings usual() {
        FabricSettings all = new AdversaryBySeed(settings.seed()).settings();
        Set<Habit> habits = EnumSet.copyOf(all.habits());
        if (settings.seed() % 2 == 0) {
            habits.remove(Habit.NUMBERS_AGAIN);
        }
        return all.with(habits);
    }

    private FaultPlan planned() {
        if (!faults) {
            return FaultPlan.NONE;
        }
        return plan.faults().isEmpty() ? new RandomFaults(settings.seed(), settings.nodes()).plan() : plan;
    }

    /** A walk with devices as they are. */
    public FabricWalk(WalkSettings settings, boolean faults) {
        this(settings, faults, FaultPlan.NONE, Map.of(), UnaryOperator.identity());
    }

    /**
     * Walks.
     *
     * @throws org.softrdma.fabric.scheduler.SimulationException if a device and the model disagree, or the run has no
     * end: with the
     *     seed, the last operations and the last steps
     */
    public Outcome run() {
        FabricSettings usual = usual();
        FaultPlan planned = planned();
        Fabric fabric = new Fabric(settings.seed(), usual.with(planned));
        FabricNode walker = fabric.node("walker");
        List<FabricNode> nodes = new ArrayList<>();
        for (int i = 0; i < settings.nodes(); i++) {
            nodes.add(fabric.node(RandomFaults.name(i)));
        }
        VerbsProvider provider = decorator.apply(new FabricProvider(nodes.toArray(FabricNode[]::new)));
        FabricPlace place = new FabricPlace(
                fabric,
                walker,
                nodes,
                new FabricPlace.Devices(provider, options, usual.habits().contains(Habit.NUMBERS_AGAIN)));
        if (faults) {
            place.breakBy(!planned.faults().isEmpty());
        }
        List<WalkReport> reports = new ArrayList<>();
        fabric.run(walker, () -> reports.add(new Walk(settings, place).run()));
        return new Outcome(reports.getFirst(), fabric.trace().hash());
    }
}
