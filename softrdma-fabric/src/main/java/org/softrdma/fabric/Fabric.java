package org.softrdma.fabric;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.softrdma.fabric.adversary.DeviceAdversary;
import org.softrdma.fabric.adversary.Habit;
import org.softrdma.fabric.memory.FabricMemory;
import org.softrdma.fabric.memory.GrainCopier;
import org.softrdma.fabric.memory.RegisteredRanges;
import org.softrdma.fabric.memory.VirtualAddresses;
import org.softrdma.fabric.network.Network;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.Choices;
import org.softrdma.fabric.scheduler.Group;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.fabric.scheduler.Trace;

/**
 * A simulated network of nodes with software RNICs, for one run. Create nodes, then {@link #run} a process, which opens
 * devices and starts other processes; everything happens one step at a time, and the seed decides what happens next.
 *
 * <pre>{@code
 * Fabric fabric = Fabric.ofSeed(42);
 * FabricNode server = fabric.node("server");
 * FabricNode client = fabric.node("client");
 * fabric.run(client, () -> {
 *     VerbsDevice device = client.open(Map.of());
 *     ...
 * });
 * }</pre>
 *
 * <p>Used by one thread before {@link #run}, and by any process during it.
 */
public final class Fabric {
    private static final byte NETWORK = 10;
    private static final int MOST_NODES = 250;
    /** Sends of a thousand that take nothing for a while, so that what they were to read is read later. */
    private static final int LATE_READS = 100;

    private final Scheduler scheduler;
    private final Network network;
    private final FabricMemory memory;
    private final NodeEnvironment environment;
    private final List<FabricNode> nodes = new ArrayList<>();
    private final FaultInjector faults;
    private final Set<Habit> habits;

    /**
     * A fabric without nodes.
     *
     * @param seed decides every choice
     * @param settings what may happen
     */
    public Fabric(long seed, FabricSettings settings) {
        scheduler = new Scheduler(new Choices(seed), settings.limits());
        habits = settings.habits();
        VirtualAddresses addresses = new VirtualAddresses();
        RegisteredRanges registered = new RegisteredRanges(scheduler, addresses);
        GrainCopier copier = new GrainCopier(scheduler, registered, settings.grains());
        memory = new FabricMemory(copier, addresses);
        network = new Network(scheduler, network(settings), copier);
        environment = new NodeEnvironment(
                scheduler,
                network,
                memory,
                registered,
                new DeviceAdversary(scheduler, settings.habits()),
                settings.devices());
        faults = new FaultInjector(scheduler, network, settings.faults());
        network.inspectedBy(faults);
        scheduler.add(network);
        scheduler.add(faults);
    }

    private static NetworkSettings network(FabricSettings settings) {
        return settings.habits().contains(Habit.LATE_READS)
                ? settings.network().withFullBuffers(LATE_READS)
                : settings.network();
    }

    /** A fabric with the usual settings. */
    public static Fabric ofSeed(long seed) {
        return new Fabric(seed, FabricSettings.DEFAULT);
    }

    /**
     * A new node with an address of its own.
     *
     * @param name for people and fault plans, unique
     * @throws IllegalArgumentException if another node has that name
     */
    public FabricNode node(String name) {
        if (nodes.size() == MOST_NODES) {
            throw new IllegalStateException("a fabric has at most " + MOST_NODES + " nodes");
        }
        if (nodes.stream().anyMatch(node -> node.name().equals(name))) {
            throw new IllegalArgumentException("there is a node \"" + name + "\" already");
        }
        FabricNode node = new FabricNode(environment, new Group(name), address(nodes.size() + 1));
        nodes.add(node);
        network.host(node.address());
        faults.add(node);
        return node;
    }

    private static InetAddress address(int number) {
        try {
            return InetAddress.getByAddress(new byte[] {NETWORK, 0, 0, (byte) number});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // four bytes are an address
        }
    }

    /**
     * Runs a process of a node, and the processes that it starts, until all have ended. Call it once.
     *
     * @param node where it runs
     * @param program what it does; what it throws ends the run
     * @throws SimulationException with the seed and the last steps, if a process throws or no process can ever continue
     */
    public void run(FabricNode node, FabricNode.Program program) {
        try {
            scheduler.run(node.group(), "main", () -> {
                faults.begin();
                FabricNode.run(program);
            });
        } finally {
            if (scheduler.isOver()) {
                memory.close(); // else a thread still runs, and it may use it
            }
        }
    }

    /** For a time nothing passes between two nodes, in either direction; data sent meanwhile arrives later. */
    public void partition(FabricNode one, FabricNode other, long durationNs) {
        network.partition(one.address(), other.address(), durationNs);
    }

    /** True unless a partition, or a loss of power, keeps data of one node from another now. */
    public boolean reaches(FabricNode from, FabricNode to) {
        return network.reaches(from.address(), to.address());
    }

    /** Ends all partitions. */
    public void heal() {
        network.heal();
    }

    /** Resets every connection between two nodes. */
    public void reset(FabricNode one, FabricNode other) {
        network.reset(one.address(), other.address());
    }

    /** The virtual clock. */
    public NanoClock clock() {
        return scheduler;
    }

    /** For processes that poll memory: lets other processes run. */
    public IdleStrategy idleStrategy() {
        return new SimulatedIdleStrategy(scheduler);
    }

    /** Schedules the processes, and makes every choice. */
    public Scheduler scheduler() {
        return scheduler;
    }

    /** What its devices do because verbs allow it. */
    public Set<Habit> habits() {
        return habits;
    }

    /** The trace of the run. */
    public Trace trace() {
        return scheduler.trace();
    }
}
