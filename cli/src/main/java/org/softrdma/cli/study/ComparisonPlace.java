package org.softrdma.cli.study;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.compare.ComparePlan;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.MixLoad;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.StoreConnections;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/** A fabric, and where its servers and its load are. Processes of the run. */
final class ComparisonPlace {
    /** How long a run waits for anything: so long that only what hangs takes it. */
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    private static final int PORT = 18_515;
    private static final long SLICE_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long MOST_STEPS = 1_000_000_000;

    private final Fabric fabric;
    private final List<FabricNode> servers = new ArrayList<>();
    private final FabricNode client;

    /** A fabric of a seed, with nodes for so many servers and one for the load. */
    ComparisonPlace(long seed, int count) {
        fabric = new Fabric(
                seed,
                FabricSettings.DEFAULT.with(new Scheduler.Limits(
                        MOST_STEPS,
                        Scheduler.Limits.DEFAULT.virtualNs(),
                        Scheduler.Limits.DEFAULT.realNs(),
                        Scheduler.Limits.DEFAULT.preemptions())));
        for (int i = 0; i < count; i++) {
            servers.add(fabric.node("server" + (i == 0 ? "" : i)));
        }
        client = fabric.node("client");
    }

    Fabric fabric() {
        return fabric;
    }

    FabricNode server(int number) {
        return servers.get(number);
    }

    FabricNode client() {
        return client;
    }

    /** Where a server of a design listens. */
    private InetSocketAddress address(int server) {
        return new InetSocketAddress(servers.get(server).address(), PORT);
    }

    /** Of the fabric's seed. */
    private RandomGenerator random() {
        return fabric.scheduler().choices().generator();
    }

    /** Options of devices on which a design runs: of RoCEv2 if it needs unreliable transports, else none. */
    static Map<String, String> deviceOptions(StoreDesign design, Protocol protocol) {
        return design.needs(protocol).contains(Feature.UNRELIABLE_DATAGRAM) ? Map.of("wire", "roce") : Map.of();
    }

    /** A server of a design that a helper of its node drives, so that a run does not wait for its end. */
    final class Serving {
        private final VerbsDevice device;
        private final StoreServer store;
        private boolean stopping;
        private boolean stopped;

        private Serving(VerbsDevice device, StoreServer store) {
            this.device = device;
            this.store = store;
        }

        private void run() {
            while (!stopping) {
                fabric.idleStrategy().idle(store.doWork());
            }
        }

        VerbsDevice device() {
            return device;
        }

        StoreServer store() {
            return store;
        }

        /** Ends it, and waits for that. */
        void stop() {
            stopping = true;
            until(() -> stopped);
        }
    }

    /** The only server of a design, as full as its paper has it. */
    Serving serve(StoreDesign design, ComparePlan plan, int valueLength) {
        return serve(
                0,
                design,
                serverContext(plan, 0, valueLength)
                        .maxConnections(plan.connections())
                        .options(plan.serverOptions(design.name(), valueLength))
                        .conclude());
    }

    /** Starts a server, and waits until it serves. */
    Serving serve(int server, StoreDesign design, StoreServerContext context) {
        FabricNode node = servers.get(server);
        @Nullable Serving[] serving = new Serving[1];
        SimulatedThread thread = node.startHelper("store", () -> {
            try (VerbsDevice device = node.open(deviceOptions(design, context.protocol()));
                    StoreServer store = design.serve(device, context)) {
                serving[0] = new Serving(device, store);
                serving[0].run();
            }
            serving[0].stopped = true;
        });
        until(() -> serving[0] != null || thread.isEnded());
        Serving started = serving[0];
        if (started == null) {
            throw new MeasurementException("the server of " + design.name() + " did not start");
        }
        return started;
    }

    /** Settings of a server that all comparisons share, to be concluded. */
    StoreServerContext serverContext(ComparePlan plan, int server, int valueLength) {
        return new StoreServerContext(address(server))
                .protocol(plan.protocol())
                .window(plan.maxWindow())
                .maxKeyLength(MixPairs.KEY_LENGTH)
                .maxValueLength(valueLength)
                .nanoClock(fabric.clock())
                .random(random());
    }

    /** Settings of a client of all servers that all comparisons share, to be concluded. */
    StoreClientContext clientContext(ComparePlan plan, int valueLength) {
        return new StoreClientContext(IntStream.range(0, servers.size())
                        .mapToObj(this::address)
                        .toList())
                .protocol(plan.protocol())
                .window(plan.maxWindow())
                .maxKeyLength(MixPairs.KEY_LENGTH)
                .maxValueLength(valueLength)
                .timeoutNs(PATIENCE_NS)
                .time(fabric.clock(), fabric.idleStrategy())
                .random(random());
    }

    /** A load by the fabric's clock. */
    MixLoad load(StoreConnections connections, MixPairs pairs, int window) {
        return new MixLoad(
                connections,
                pairs,
                window,
                fabric.clock()::nanoTime,
                () -> fabric.scheduler().idle());
    }

    /** Else time would leap to the next time limit, as everybody only polls. */
    void letTimePass() {
        SimulatedThread ignored = client.startHelper("clock", () -> {
            while (true) {
                fabric.scheduler().sleep(SLICE_NS);
            }
        });
    }

    void until(BooleanSupplier condition) {
        if (!fabric.scheduler().until(condition, PATIENCE_NS)) {
            throw new MeasurementException("it has not come to an end within an hour of the fabric");
        }
    }
}
