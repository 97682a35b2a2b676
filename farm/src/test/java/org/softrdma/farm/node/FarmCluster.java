package org.softrdma.farm.node;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.concurrent.IdleStrategy;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.farm.membership.FabricEnsemble;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.FarmMembership;
import org.softrdma.farm.membership.MembershipSettings;
import org.softrdma.farm.membership.Rings;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.farm.transaction.ShippedFunction;
import org.softrdma.verbs.device.VerbsDevice;

/** Nodes of FaRM on a fabric, with an ensemble that keeps their configuration, in a run of a seed. */
final class FarmCluster {
    static final long SESSION_NS = TimeUnit.SECONDS.toNanos(2);
    private static final int PORT = 7480;
    /** How long a machine that has nothing to do looks away. */
    private static final long IDLE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long MOST_IDLE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long ENSEMBLE_IDLE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);
    private static final SpaceShape SHAPE = new SpaceShape(1 << 14, 1 << 10, true);

    private final Fabric fabric;
    private final FabricNode test;
    private final FabricEnsemble ensemble;
    private final MembershipSettings settings;
    private final List<FabricNode> hosts = new ArrayList<>();
    private final List<@Nullable FarmNode> nodes = new ArrayList<>();
    private final List<@Nullable PolledApplication> applications = new ArrayList<>();
    private final List<@Nullable VerbsDevice> devices = new ArrayList<>();
    private Supplier<IdleStrategy> idle;
    private long mostIdleNs = IDLE_NS;
    private Map<Integer, ShippedFunction> functions = NumberObjects.FUNCTIONS;
    private BiConsumer<Integer, NodeMessageKind> onMessage = (machine, kind) -> {};
    private int window = 4;
    private SpaceShape shape = SHAPE;
    private int longestMessage = 2048;
    private boolean stopped;

    /** What a test does, in a process of a node of its own. */
    interface Body {
        void run(FarmCluster cluster) throws Exception;
    }

    /**
     * A cluster.
     *
     * @param seed decides every choice
     * @param fabricSettings what may happen
     * @param machines how many
     * @param replication machines that have each region
     * @param flaws mistakes of the ensemble
     */
    FarmCluster(
            long seed, FabricSettings fabricSettings, int machines, int replication, Set<FabricEnsemble.Flaw> flaws) {
        fabric = new Fabric(seed, fabricSettings);
        test = fabric.node("test");
        idle = fabric::idleStrategy;
        ensemble = new FabricEnsemble(fabric, SESSION_NS, flaws);
        settings =
                new MembershipSettings(MembershipSettings.DEFAULT.leaseNs(), 10, machines, replication, new Rings(4));
        for (int machine = 0; machine < machines; machine++) {
            hosts.add(fabric.node("m" + machine));
            nodes.add(null);
            applications.add(null);
            devices.add(null);
        }
    }

    /** Other functions than those of {@link NumberObjects}. */
    FarmCluster functions(Map<Integer, ShippedFunction> newFunctions) {
        functions = newFunctions;
        return this;
    }

    /** Requests of each window that may be under way to a machine. */
    FarmCluster window(int requests) {
        window = requests;
        return this;
    }

    /** Other lengths, and a longer message. */
    FarmCluster lengths(SpaceShape newShape, int bytes) {
        shape = newShape;
        longestMessage = bytes;
        return this;
    }

    /**
     * Applications look only now and then whether what they wait for is done. Whoever has long waited, or had nothing to do,
     * looks away for longer, and so does the ensemble: a run of many seconds takes fewer steps.
     *
     * @param ns until an application looks for the first time
     */
    FarmCluster lookingEvery(long ns) {
        mostIdleNs = MOST_IDLE_NS;
        ensemble.lookEvery(ENSEMBLE_IDLE_NS);
        idle = () -> new IdleStrategy() {
            private long nextNs = ns;

            @Override
            public void idle(int workCount) {
                idle();
            }

            @Override
            public void idle() {
                fabric.scheduler().sleep(nextNs);
                nextNs = Math.min(MOST_IDLE_NS, nextNs * 5 / 4);
            }

            @Override
            public void reset() {
                nextNs = ns;
            }
        };
        return this;
    }

    /** What a machine does at each message that it sends or takes. */
    void onMessage(BiConsumer<Integer, NodeMessageKind> newOnMessage) {
        onMessage = newOnMessage;
    }

    int machines() {
        return hosts.size();
    }

    Fabric fabric() {
        return fabric;
    }

    FabricEnsemble ensemble() {
        return ensemble;
    }

    FabricNode host(int machine) {
        return hosts.get(machine);
    }

    FarmNode node(int machine) {
        return Objects.requireNonNull(nodes.get(machine));
    }

    /** A transaction of the application on a machine's own thread. */
    TransactionOutcome<?> polled(int machine, TransactionBody<?> body) {
        return Objects.requireNonNull(applications.get(machine)).transact(body, idle.get());
    }

    VerbsDevice device(int machine) {
        return Objects.requireNonNull(devices.get(machine));
    }

    /** Runs a body beside the machines, once the first epoch is active and each knows the regions of all. */
    void run(int regions, Body body) {
        fabric.run(test, () -> {
            ensemble.start();
            for (int machine = 0; machine < hosts.size(); machine++) {
                start(machine, regions);
            }
            until(() -> ensemble.active() == 1 && isKnown(regions * hosts.size()));
            body.run(this);
            stopped = true;
        });
    }

    private boolean isKnown(int regions) {
        return ensemble.configuration().regions().size() == regions
                && nodes.stream()
                        .map(Objects::requireNonNull)
                        .allMatch(node ->
                                node.parts().member().configuration().regions().size() == regions);
    }

    private void start(int number, int regions) {
        hosts.get(number).start("farm", () -> serve(number, regions));
        until(() -> nodes.get(number) != null); // so numbers are those of the hosts
    }

    /** One machine more, which makes no regions; returns its number once it is a member. */
    int join() {
        int number = hosts.size();
        hosts.add(fabric.node("m" + number));
        nodes.add(null);
        applications.add(null);
        devices.add(null);
        start(number, 0);
        until(() -> configuration().members().contains(number)
                && ensemble.active() == configuration().epoch());
        return number;
    }

    /** True if all members that live have recovered the newest epoch. */
    boolean isRecovered() {
        return configuration().members().stream()
                .noneMatch(machine ->
                        hosts.get(machine).isAlive() && recovers(node(machine).parts()));
    }

    private boolean recovers(NodeParts node) {
        return !node.transactions().recovery().isOver()
                || node.member().epoch() != configuration().epoch();
    }

    /** True if that is so, and no copy is under way. */
    boolean isWhole() {
        return isRecovered()
                && ensemble.active() == configuration().epoch()
                && configuration().regions().values().stream()
                        .allMatch(placement -> placement.copies().isEmpty());
    }

    private void serve(int number, int regions) {
        FabricNode host = hosts.get(number);
        try (VerbsDevice device = host.open(Map.of())) {
            FarmMembership membership = ensemble.join(host);
            FarmNodeContext context = new FarmNodeContext(
                            new InetSocketAddress(host.address(), PORT + membership.machine()))
                    .cluster(40)
                    .shape(shape)
                    .membership(settings)
                    .regions(regions)
                    .time(host.clock(), idle)
                    .random(fabric.scheduler().choices().generator())
                    .reads(8)
                    .functions(functions)
                    .steps(new HostSteps(fabric, host, kind -> onMessage.accept(number, kind)))
                    .window(window)
                    .longestMessage(longestMessage);
            try (FarmNode node = new FarmNode(device, membership, context)) {
                PolledApplication application = new PolledApplication(node, window);
                devices.set(number, device);
                applications.set(number, application);
                nodes.set(number, node);
                long idleNs = IDLE_NS;
                while (!stopped && !node.isOver()) {
                    boolean worked = node.doWork() > 0;
                    if (!application.doWork() && !worked) {
                        fabric.scheduler().sleep(idleNs);
                        idleNs = Math.min(mostIdleNs, idleNs * 5 / 4);
                    } else {
                        fabric.scheduler().step();
                        idleNs = IDLE_NS;
                    }
                }
                boolean ignored = application.doWork();
            }
        }
    }

    void until(BooleanSupplier condition) {
        if (!fabric.scheduler().until(condition, PATIENCE_NS)) {
            throw new AssertionError(
                    "it has not come to that: " + ensemble.configuration() + ", active " + ensemble.active());
        }
    }

    FarmConfiguration configuration() {
        return ensemble.configuration();
    }

    /** A region whose primary is a machine. */
    int regionOf(int machine) {
        return configuration().regions().entrySet().stream()
                .filter(it -> it.getValue().primary() == machine)
                .findFirst()
                .orElseThrow()
                .getKey();
    }

    /** A counter of a device. */
    long counter(int machine, String name) {
        return device(machine).counters().getOrDefault(name, 0L);
    }
}
