package org.softrdma.cli.farm;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.agrona.CloseHelper;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cluster.ClusterSettings;
import org.softrdma.cluster.ClusterView;
import org.softrdma.cluster.ZooKeeperMembership;
import picocli.CommandLine.Model.CommandSpec;

/**
 * A ZooKeeper and the machines of a cluster as children of this process, which end with it. One thread.
 */
final class LocalCluster implements AutoCloseable {
    private static final String NAME = "local";
    private static final String READS = "responderReads";
    private static final String WRITES = "responderWrites";
    private static final long START_SECONDS = 120;
    /** For whoever runs all of this on a machine that has not enough cores. */
    static final String ADVICE = "\nOn a busy machine a longer --lease helps, such as 6000.";

    private static final long JOIN_NS = TimeUnit.SECONDS.toNanos(120);
    private static final long VIEW_NS = TimeUnit.SECONDS.toNanos(30);

    private final Function<List<String>, List<String>> program;
    private final List<String> provider;
    private final ClusterSettings settings;
    private final Path directory;
    private final LocalZooKeepers zookeepers;
    private final TreeMap<Integer, Child> machines = new TreeMap<>();

    /**
     * Starts ZooKeeper.
     *
     * @param program the command that runs this program with other arguments
     * @param provider options of the devices
     * @param settings of the cluster
     * @param zookeepers how many servers
     */
    LocalCluster(
            Function<List<String>, List<String>> program,
            List<String> provider,
            ClusterSettings settings,
            int zookeepers) {
        this.program = program;
        this.provider = provider;
        this.settings = settings;
        try {
            directory = Files.createTempDirectory("softrdma-farm");
        } catch (IOException e) {
            throw new MeasurementException("cannot keep the state of ZooKeeper: " + e.getMessage(), e);
        }
        this.zookeepers = new LocalZooKeepers(this::start, directory, zookeepers);
    }

    /** What a command does with a cluster of its own. */
    interface Work {
        /**
         * Does it.
         *
         * @param cluster whose machines have their regions
         * @param view what ZooKeeper knows of it
         * @param client this process, a machine without memory
         */
        void run(LocalCluster cluster, ClusterView view, ClientOfCluster client);
    }

    /**
     * Starts a cluster, joins it, and ends it afterwards.
     *
     * @param spec of the command
     * @param provider of all devices
     * @param settings of the cluster
     * @param zookeepers how many servers
     * @param work what is done meanwhile
     */
    static void run(CommandSpec spec, ProviderMixin provider, ClusterSettings settings, int zookeepers, Work work) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(spec.qualifiedName() + ": starting ZooKeeper and " + settings.machines()
                + " machines as processes ...");
        err.flush();
        try (LocalCluster cluster = new LocalCluster(
                arguments -> OwnProgram.again(spec.root().userObject().getClass(), arguments),
                provider.arguments(),
                settings,
                zookeepers)) {
            cluster.addNodes(settings.machines());
            try (ClusterView view = cluster.view()) {
                FarmLocalCommand.awaitRegions(cluster, view);
                ZooKeeperMembership membership =
                        ZooKeeperMembership.join(cluster.servers(), NAME, view.settings(), JOIN_NS);
                try (ClientOfCluster client = ClientOfCluster.join(provider, membership, () -> {})) {
                    work.run(cluster, view, client);
                }
            }
        }
    }

    /** Its ZooKeeper. */
    LocalZooKeepers zookeepers() {
        return zookeepers;
    }

    /** Where its ZooKeeper is. */
    String servers() {
        return zookeepers.servers();
    }

    /** Its name. */
    String name() {
        return NAME;
    }

    /** What belongs to it on disk, and goes with it. */
    Path directory() {
        return directory;
    }

    /** Numbers of its machines that were not killed. */
    List<Integer> machines() {
        return List.copyOf(machines.keySet());
    }

    /** Starts so many machines at once, and waits until each says its number. */
    void addNodes(int count) {
        List<Child> started = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            List<String> arguments = new ArrayList<>(List.of("--until-input-ends"));
            arguments.addAll(SpaceOptions.arguments(settings));
            started.add(member("node", arguments));
        }
        for (Child child : started) {
            machines.put(machine(child), child);
        }
    }

    /** Starts a command that joins the cluster. */
    Child member(String command, List<String> options) {
        List<String> arguments = new ArrayList<>(options);
        arguments.addAll(provider);
        arguments.addAll(ClusterOptions.arguments(servers(), NAME));
        return start(command, arguments);
    }

    /** The number of the machine that a child has said to be. */
    static int machine(Child child) {
        String said = child.await("machine", START_SECONDS);
        return Integer.parseInt(said.substring(0, said.indexOf(' ')));
    }

    private Child start(String command, List<String> options) {
        List<String> arguments = new ArrayList<>(List.of("farm", command));
        arguments.addAll(options);
        try {
            return Child.start("softrdma farm " + command, program.apply(arguments));
        } catch (IOException e) {
            throw new MeasurementException("softrdma farm " + command + " does not start: " + e.getMessage(), e);
        }
    }

    /**
     * Ends the run if a machine, or a server of ZooKeeper, has ended.
     *
     * @throws MeasurementException with what it said last
     */
    void requireAlive() {
        zookeepers.requireAlive();
        machines.forEach((machine, child) -> {
            if (!child.isAlive()) {
                throw new MeasurementException(
                        "machine " + machine + " has ended although nobody killed it: " + child.errorOutput() + ADVICE);
            }
        });
    }

    /**
     * What devices have done for others.
     *
     * @param reads READs that they have answered
     * @param writes WRITEs that they have taken
     */
    record Counters(long reads, long writes) {
        /** Of a device, by name. */
        static Counters of(Map<String, Long> counters) {
            return new Counters(counters.getOrDefault(READS, 0L), counters.getOrDefault(WRITES, 0L));
        }

        private static Counters parse(String text) {
            String[] words = text.split(" ", -1);
            return new Counters(Long.parseLong(words[0]), Long.parseLong(words[1]));
        }

        private Counters plus(Counters other) {
            return new Counters(reads + other.reads, writes + other.writes);
        }

        /** As {@link #parse} takes it. */
        String text() {
            return reads + " " + writes;
        }
    }

    /** Of the devices of all machines. */
    Counters counters() {
        Counters all = new Counters(0, 0);
        for (Child child : machines.values()) {
            child.send(FarmNodeCommand.COUNTERS);
            all = all.plus(Counters.parse(child.await(FarmNodeCommand.COUNTERS, START_SECONDS)));
        }
        return all;
    }

    /** Process numbers of the machines. */
    List<Long> machineProcesses() {
        return machines.values().stream().map(Child::pid).toList();
    }

    /** What ZooKeeper knows. */
    ClusterView view() {
        return ClusterView.open(servers(), NAME, VIEW_NS);
    }

    /** Ends a machine by SIGKILL. */
    void kill(int machine) {
        Child child = machines.remove(machine);
        if (child != null) {
            child.kill();
            child.close();
        }
    }

    @Override
    public void close() {
        CloseHelper.closeAll(new ArrayList<>(machines.values()));
        zookeepers.close();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new MeasurementException("cannot delete " + directory + ": " + e.getMessage(), e);
        }
    }
}
