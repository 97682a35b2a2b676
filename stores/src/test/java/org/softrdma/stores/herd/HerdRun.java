package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.mica.MicaWatcher;
import org.softrdma.verbs.device.VerbsDevice;

/** A server and clients of HERD or NessieSD on a fabric. Used once. */
final class HerdRun {
    static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    /** A request with it fits into a packet, and so does an answer. */
    private static final int DATAGRAM_VALUE = 1500;

    private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(60);
    static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

    private final Fabric fabric;
    private final FabricNode serverNode;
    private final FabricNode clientNode;
    private final Protocol protocol;
    private final StoreDesign design;
    private StoreDesign served;
    private final Map<String, String> serverOptions = new LinkedHashMap<>();
    private long timeoutNs = HOUR_NS;
    private int retryUs = 10_000;
    private int connections = 64;
    private int maxValueLength = 4096;
    private int window = 16;
    private boolean threads;
    private boolean stands;
    private boolean isStanding;
    private FabricStores.@Nullable RunningServer running;

    /** A worker can be made to stand still in the middle of a turn. */
    private final class StandingSteps extends MemorySteps {
        private final MemorySteps steps;

        StandingSteps(MemorySteps steps) {
            this.steps = steps;
        }

        @Override
        public void step(Enum<?> point) {
            if (stands && !isStanding) {
                isStanding = true;
                assertTrue(fabric.scheduler().until(() -> !stands, HOUR_NS));
                isStanding = false;
            }
            steps.step(point);
        }

        @Override
        public void write(MemorySegment memory, long offset, long word) {
            steps.write(memory, offset, word);
        }

        @Override
        public void fence() {
            steps.fence();
        }

        @Override
        public void copy(MemorySegment source, long from, MemorySegment target, long to, long length) {
            steps.copy(source, from, target, to, length);
        }
    }

    /** What is done while the server runs. */
    interface Body {
        void run(HerdRun it) throws Exception;
    }

    private HerdRun(long seed, FabricSettings settings, Protocol protocol, StoreDesign design) {
        fabric = new Fabric(seed, settings);
        serverNode = fabric.node("server");
        clientNode = fabric.node("client");
        this.protocol = protocol;
        this.design = design;
        served = design;
    }

    HerdRun(long seed, FabricSettings settings, Protocol protocol, boolean polled) {
        this(seed, settings, protocol, WatchedHerd.herd(polled, MicaWatcher.NONE));
        serverOptions.putAll(Map.of("buckets", "4", "log", "16"));
    }

    /** HERD over unreliable transports. */
    static HerdRun datagrams(long seed, FabricSettings settings, Protocol protocol) {
        HerdRun run = new HerdRun(seed, settings, protocol, WatchedHerd.datagrams(true, MicaWatcher.NONE))
                .options(Map.of("buckets", "4", "log", "16"));
        run.maxValueLength = DATAGRAM_VALUE;
        return run;
    }

    /** NessieSD, with tables for few pairs. */
    static HerdRun nessieSd(long seed, FabricSettings settings, boolean polled) {
        return new HerdRun(seed, settings, Protocol.SAFE, WatchedHerd.nessieSd(polled))
                .options(Map.of("index", "6", "entries", "6"));
    }

    static HerdRun nessieSd() {
        return nessieSd(7, FabricSettings.DEFAULT, true);
    }

    static HerdRun of(Protocol protocol) {
        return new HerdRun(7, FabricSettings.DEFAULT, protocol, true);
    }

    HerdRun options(Map<String, String> options) {
        serverOptions.putAll(options);
        return this;
    }

    /** The server's requests are seen. */
    HerdRun posting(PostedRequests requests) {
        served = requests.ofServers(design);
        return this;
    }

    /** Slots of each worker, and operations of a client. */
    HerdRun window(int slots) {
        window = slots;
        return this;
    }

    /** Each worker has a thread of its own. */
    HerdRun threads() {
        threads = true;
        return this;
    }

    HerdRun timeoutNs(long ns) {
        timeoutNs = ns;
        return this;
    }

    HerdRun connections(int most) {
        connections = most;
        return this;
    }

    HerdRun retryUs(int us) {
        retryUs = us;
        return this;
    }

    void run(Body body) {
        fabric.run(clientNode, () -> {
            startServer();
            body.run(this);
            running().stop();
        });
    }

    void startServer() {
        running = threads
                ? FabricStores.serveByThreads(fabric, serverNode, served, this::settings)
                : FabricStores.serve(fabric, serverNode, served, this::settings);
    }

    private StoreServerContext settings(StoreServerContext context) {
        return context.steps(new StandingSteps(context.steps()))
                .protocol(protocol)
                .window(window)
                .maxConnections(connections)
                .maxValueLength(maxValueLength)
                .options(serverOptions);
    }

    /** The worker that takes the next request stands still in its turn, until it may go on. */
    void standInATurn(boolean still) {
        stands = still;
    }

    FabricStores.RunningServer running() {
        return Objects.requireNonNull(running);
    }

    HerdServer server() {
        return (HerdServer) running().server();
    }

    Fabric fabric() {
        return fabric;
    }

    FabricNode serverNode() {
        return serverNode;
    }

    FabricNode clientNode() {
        return clientNode;
    }

    /** Opens a device on which the design runs. */
    VerbsDevice open(FabricNode node) {
        return node.open(FabricStores.deviceOptions(design));
    }

    StoreClientContext clientContext() {
        return FabricStores.client(fabric, serverNode)
                .protocol(protocol)
                .window(window)
                .maxValueLength(maxValueLength)
                .timeoutNs(timeoutNs)
                .connectTimeoutNs(CONNECT_NS)
                .options(Map.of("retry-us", Integer.toString(retryUs)));
    }

    StoreClient client(VerbsDevice device) {
        return design.connect(device, clientContext().conclude());
    }

    void sleep(long ns) {
        fabric.scheduler().sleep(ns);
    }

    /**
     * 2000 changes and GETs of random keys, each checked against a map.
     *
     * @param pairs that the servers say to have
     */
    static void doAsAMap(BlockingStore store, int keys, LongSupplier pairs) {
        Map<String, byte[]> model = new HashMap<>();
        Random random = new Random(1);
        for (int i = 0; i < 2000; i++) {
            String key = "key" + random.nextInt(keys);
            byte[] was = model.get(key);
            switch (random.nextInt(3)) {
                case 0 -> {
                    byte[] value = new byte[random.nextInt(random.nextBoolean() ? 60 : 900)];
                    random.nextBytes(value);
                    assertTrue(store.put(bytes(key), value));
                    model.put(key, value);
                }
                case 1 -> {
                    assertEquals(was != null, store.remove(bytes(key)), "step " + i);
                    model.remove(key);
                }
                default -> {
                    Optional<byte[]> got = store.get(bytes(key));
                    assertEquals(was != null, got.isPresent(), key + " at step " + i);
                    got.ifPresent(value -> assertArrayEquals(was, value));
                }
            }
            assertEquals(model.size(), pairs.getAsLong(), "step " + i);
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** The outcome of an operation that was started. */
    static Outcome outcome(StoreClient client, boolean started) {
        assertTrue(started);
        Outcome[] last = new Outcome[1];
        int results = client.await(HOUR_NS, (tag, outcome, memory, offset, length) -> last[0] = outcome);
        assertEquals(1, results);
        return last[0];
    }
}
