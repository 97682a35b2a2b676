package org.softrdma.fabric;

import java.lang.reflect.UndeclaredThrowableException;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.NanoClock;
import org.softrdma.fabric.fault.Resource;
import org.softrdma.fabric.network.FabricTransport;
import org.softrdma.fabric.scheduler.Group;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.SoftRdmaContext;
import org.softrdma.sim.device.DeviceEnvironment;
import org.softrdma.sim.device.DeviceSettings;
import org.softrdma.sim.device.ResourceQuota;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.pinning.CountedPageLocks;
import org.softrdma.verbs.device.VerbsDevice;

/** A host of the fabric: an address, devices, and processes that live and die together. Any process. */
public final class FabricNode {
    private static final List<String> OPTIONS_OF_THE_FABRIC = List.of("transport", "progress", "pcap");

    private final NodeEnvironment environment;
    private final Group group;
    private final InetAddress address;
    private final NodeClock clock;
    private final NodeQuota quota;
    private final NodePageLocks locks = new NodePageLocks();
    private final CountedPageLocks pageLocks = new CountedPageLocks(locks);
    private int devices;
    private int processes;
    private String fatalStep = "";
    private int stepsLeft;
    private UnaryOperator<VerbsDevice> wrapper = UnaryOperator.identity();

    /** What a process does. */
    @FunctionalInterface
    public interface Program {
        /** Does it. What it throws ends the run. */
        void run() throws Exception;
    }

    FabricNode(NodeEnvironment environment, Group group, InetAddress address) {
        this.environment = environment;
        this.group = group;
        this.address = address;
        clock = new NodeClock(environment.scheduler());
        quota = new NodeQuota(group.name());
    }

    /** For people. */
    public String name() {
        return group.name();
    }

    /** Its address, which the other nodes reach; a loopback address is the node's own. */
    public InetAddress address() {
        return address;
    }

    /** True unless it was killed or has lost its power. */
    public boolean isAlive() {
        return !group.isKilled();
    }

    /**
     * Wraps every device that its processes open from now on, for example in a sanitiser.
     *
     * @param newWrapper called with each device that is opened, in the process that opens it
     */
    public void wrapDevices(UnaryOperator<VerbsDevice> newWrapper) {
        wrapper = newWrapper;
    }

    Group group() {
        return group;
    }

    /**
     * Opens a software RNIC of this node. Before the run, or in a process of it.
     *
     * @param options of the provider {@code sim}, but for {@code transport}, {@code progress} and {@code pcap}; pinning
     *     is off unless they say otherwise, and locks nothing; the fabric's settings may have others
     * @throws IllegalArgumentException if an option is unknown or wrong
     */
    public VerbsDevice open(Map<String, String> options) {
        for (String name : OPTIONS_OF_THE_FABRIC) {
            if (options.containsKey(name)) {
                throw new IllegalArgumentException(name + "=" + options.get(name)
                        + ": a device of a fabric has the fabric's network, clock and threads; leave the option out");
            }
        }
        Map<String, String> all = new HashMap<>(Map.of("pinning", "off"));
        all.putAll(environment.devices());
        all.putAll(options);
        SoftRdmaContext context = new SoftRdmaContext().set(all).conclude();
        DeviceSettings settings = context.deviceSettings();
        Transport transport = transport(
                "device" + devices++ + ".rnic",
                new FabricTransport.Options(
                        context.threads(),
                        settings.engine().timeouts().hostNs(),
                        environment.network().hasRing(),
                        Group.Kind.LOOP));
        VerbsDevice device = new SoftRdmaDevice(
                settings,
                transport,
                new DeviceEnvironment(
                        pageLocks,
                        environment.memory(),
                        environment.registered(),
                        environment.scheduler().choices().generator(),
                        quota,
                        environment.adversary().ofDevice()));
        return wrapper.apply(device);
    }

    /**
     * Starts a process, concurrent with the caller's.
     *
     * @param name for people
     * @param program what it does
     * @return completes when it has ended
     */
    public SimulatedThread start(String name, Program program) {
        return environment.scheduler().start(group, name + "." + processes++, Group.Kind.PROCESS, () -> run(program));
    }

    /**
     * Starts a thread of the process that calls. It pauses and dies with its node; a run does not wait for its end.
     *
     * @param name for people
     * @param program what it does
     * @return completes when it has ended
     */
    public SimulatedThread startHelper(String name, Program program) {
        return environment.scheduler().start(group, name + "." + processes++, Group.Kind.HELPER, () -> run(program));
    }

    /**
     * Sockets for a process of this node that uses TCP with event loops; they receive ahead and send later, as those of
     * io_uring do. Call it in a process of the run, which closes it.
     *
     * @param name for people
     * @param threads number of loops
     */
    public Transport sockets(String name, int threads) {
        return transport(name, new FabricTransport.Options(threads, 0, true, Group.Kind.HELPER));
    }

    /**
     * Sockets for a thread of this node that drives them itself: its one loop runs in {@code EventLoop.run} only. In a
     * process of the run; closed by it.
     */
    public Transport ownSockets() {
        return transport("", new FabricTransport.Options(0, 0, false, Group.Kind.HELPER));
    }

    private Transport transport(String name, FabricTransport.Options options) {
        return new FabricTransport(environment.network(), address, group, name, options);
    }

    /** The clock that its processes read; its devices and whoever waits go by the run's. */
    public NanoClock clock() {
        return clock;
    }

    /**
     * A named step of a process of this node: a note in the trace, and an occasion to die ({@link #killAt}).
     *
     * @param name of the step
     */
    public void step(String name) {
        environment.scheduler().note(name, 0);
        if (name.equals(fatalStep) && --stepsLeft == 0) {
            kill();
            environment.scheduler().idle(); // from which nobody returns who is dead
        }
        environment.scheduler().step();
    }

    // ---- faults

    /**
     * Kills it when it has come to a named step so many times from now.
     *
     * @param name of the step
     * @param times at least 1
     */
    public void killAt(String name, int times) {
        fatalStep = name;
        stepsLeft = times;
    }

    /**
     * From now on its clock gains on the run's.
     *
     * @param partsPerMillion how much; negative if it falls behind
     */
    public void driftClock(long partsPerMillion) {
        environment.scheduler().note("a clock drifts", partsPerMillion);
        clock.drift(partsPerMillion);
    }

    /** Its clock stands still for a time, while it runs. */
    public void haltClock(long durationNs) {
        environment.scheduler().note("a clock stands still", durationNs);
        clock.halt(durationNs);
    }

    /** Kills its processes and devices as SIGKILL does; its kernel closes their connections. */
    public void kill() {
        group.kill();
        environment.network().processesDied(address);
    }

    /** Cuts its power: its processes are gone, and nothing answers for them. */
    public void powerOff() {
        group.kill();
        environment.network().vanished(address);
    }

    /** Pauses its processes for a time, but not its RNICs. */
    public void pauseProcesses(long durationNs) {
        long untilNs = environment.scheduler().nanoTime() + durationNs;
        group.pause(Group.Kind.PROCESS, untilNs);
        group.pause(Group.Kind.HELPER, untilNs);
    }

    /** Pauses its processes and its RNICs for a time, like a virtual machine that is migrated. */
    public void pause(long durationNs) {
        pauseProcesses(durationNs);
        group.pause(Group.Kind.LOOP, environment.scheduler().nanoTime() + durationNs);
    }

    /** Makes it a slow reader: it takes data of a connection in pieces of limited size, at limited intervals. */
    public void slow(int bytes, long perNs) {
        environment.network().slow(address, bytes, perNs);
    }

    /** Limits a resource of the node from now on; it keeps what it has. */
    public void limit(Resource resource, long most) {
        environment.scheduler().note("a node is limited", most);
        switch (resource) {
            case MEMORY_REGIONS -> quota.limit(ResourceQuota.Kind.MEMORY_REGION, most);
            case QUEUE_PAIRS -> quota.limit(ResourceQuota.Kind.QUEUE_PAIR, most);
            case LOCKED_BYTES -> locks.limit(most);
        }
    }

    static void run(Program program) {
        try {
            program.run();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Exception e) {
            throw new UndeclaredThrowableException(e, "a process has thrown " + e);
        }
    }
}
