package org.softrdma.fabric;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.softrdma.fabric.adversary.Habit;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.Scheduler;

/**
 * What may happen on a fabric apart from what its processes do. Immutable.
 *
 * @param network how the network delays and splits data
 * @param grains in which pieces other threads can see the devices' copies
 * @param faults what goes wrong
 * @param limits when a run counts as one that never ends, and how often threads are interrupted
 * @param habits what devices do because verbs allow it
 * @param devices options of every device, as of {@code --device}; whoever opens one may give others
 */
public record FabricSettings(
        NetworkSettings network,
        Grains grains,
        FaultPlan faults,
        Scheduler.Limits limits,
        Set<Habit> habits,
        Map<String, String> devices) {
    /** Streams are split, copies happen at once. */
    public static final FabricSettings DEFAULT = new FabricSettings(
            NetworkSettings.DEFAULT, Grains.NONE, FaultPlan.NONE, Scheduler.Limits.DEFAULT, Set.of(), Map.of());

    /** Copies. */
    public FabricSettings {
        habits = Set.copyOf(habits);
        devices = Map.copyOf(devices);
    }

    /** The usual settings, and whatever verbs allow. */
    public static FabricSettings adversary() {
        return DEFAULT.withAdversary();
    }

    /** The same with whatever verbs allow: copies in words, and every habit. */
    public FabricSettings withAdversary() {
        return with(Grains.WORDS).with(EnumSet.allOf(Habit.class));
    }

    /** The same with copies in grains. */
    public FabricSettings with(Grains newGrains) {
        return new FabricSettings(network, newGrains, faults, limits, habits, devices);
    }

    /** The same with another network. */
    public FabricSettings with(NetworkSettings newNetwork) {
        return new FabricSettings(newNetwork, grains, faults, limits, habits, devices);
    }

    /** The same with other faults. */
    public FabricSettings with(FaultPlan newFaults) {
        return new FabricSettings(network, grains, newFaults, limits, habits, devices);
    }

    /** The same with other limits. */
    public FabricSettings with(Scheduler.Limits newLimits) {
        return new FabricSettings(network, grains, faults, newLimits, habits, devices);
    }

    /** The same with these habits and no others. */
    public FabricSettings with(Set<Habit> newHabits) {
        return new FabricSettings(network, grains, faults, limits, newHabits, devices);
    }

    /** The same with options of every device. */
    public FabricSettings withDevices(Map<String, String> options) {
        return new FabricSettings(network, grains, faults, limits, habits, options);
    }
}
