package org.softrdma.farm.store;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.device.VerbsDevice;

/** A server of the store on a fabric, and clients on other nodes, in a run of a seed. */
final class FarmFabric {
    static final String SERVER = "server";
    static final int KEY = 16;
    private static final int PORT = 7471;
    private static final long SLICE_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    private final Fabric fabric;
    private final FabricNode test;
    private final Protocol protocol;
    private final Map<String, String> options;
    private final int valueLength;
    private final FabricNode server;
    private @Nullable FarmServer serving;
    private @Nullable VerbsDevice device;
    private @Nullable SimulatedThread process;
    private boolean stopped;
    private long tableSeed;

    /** What a test does, in a process of a node of its own. */
    interface Body {
        void run(FarmFabric farm) throws Exception;
    }

    FarmFabric(long seed, FabricSettings settings, Protocol protocol, Map<String, String> options, int valueLength) {
        fabric = new Fabric(seed, settings);
        test = fabric.node("test");
        server = fabric.node(SERVER);
        this.protocol = protocol;
        this.options = options;
        this.valueLength = valueLength;
    }

    Fabric fabric() {
        return fabric;
    }

    FabricNode server() {
        return server;
    }

    /** Runs a body beside a server, which ends with it. */
    FarmFabric run(Body body) {
        fabric.run(test, () -> {
            SimulatedThread ignored = test.startHelper("clock", this::letTimePass);
            startServer();
            body.run(this);
            stopServer();
        });
        return this;
    }

    /** Else time leaps to the next time limit, as everybody only polls. */
    private void letTimePass() {
        while (true) {
            fabric.scheduler().sleep(SLICE_NS);
        }
    }

    void startServer() {
        stopped = false;
        serving = null;
        process = server.start("store", this::serve);
        until(() -> serving != null);
    }

    private void serve() {
        RandomGenerator generator = fabric.scheduler().choices().generator();
        boolean[] drawn = new boolean[1];
        RandomGenerator random = () -> {
            long next = generator.nextLong();
            tableSeed = drawn[0] ? tableSeed : next;
            drawn[0] = true;
            return next;
        };
        StoreServerContext context = new StoreServerContext(new InetSocketAddress(server.address(), PORT))
                .protocol(protocol)
                .maxKeyLength(KEY)
                .maxValueLength(valueLength)
                .window(4)
                .options(options)
                .nanoClock(fabric.clock())
                .random(random)
                .steps(new SimulatedSteps(fabric.scheduler()))
                .conclude();
        try (VerbsDevice opened = server.open(Map.of());
                FarmServer made = (FarmServer) new FarmDesign().serve(opened, context)) {
            device = opened;
            serving = made;
            while (!stopped) {
                made.doWork();
                fabric.scheduler().idle();
            }
        }
    }

    void stopServer() {
        stopped = true;
        SimulatedThread current = process;
        if (current != null && server.isAlive()) {
            until(current::isEnded);
        }
    }

    void until(BooleanSupplier condition) {
        if (!fabric.scheduler().until(condition, PATIENCE_NS)) {
            throw new AssertionError("it has not come to that");
        }
    }

    FarmServer serving() {
        return Objects.requireNonNull(serving);
    }

    /** The first number that the server has drawn: the seed of its table's hash. */
    long tableSeed() {
        return tableSeed;
    }

    long responderReads() {
        return Objects.requireNonNull(device).counters().getOrDefault("responderReads", 0L);
    }

    long responderReadBytes() {
        return Objects.requireNonNull(device).counters().getOrDefault("responderReadBytes", 0L);
    }

    StoreClient connect(VerbsDevice clientDevice, Consumer<StoreClientContext> more) {
        StoreClientContext context = new StoreClientContext(new InetSocketAddress(server.address(), PORT))
                .protocol(protocol)
                .maxKeyLength(KEY)
                .maxValueLength(valueLength)
                .window(4)
                .time(fabric.clock(), fabric.idleStrategy())
                .random(fabric.scheduler().choices().generator());
        more.accept(context);
        return new FarmDesign().connect(clientDevice, context.conclude());
    }

    FabricNode testNode() {
        return test;
    }
}
