package org.softrdma.suites.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvCommands;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvRequest;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.client.SharedKvClient;
import org.softrdma.kv.client.StartStatus;
import org.softrdma.kv.client.network.ClientNetwork;
import org.softrdma.kv.client.network.ClientStream;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.Operation;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Clients that change and GET the same few keys of a store on the fabric, by READ and over TCP, for one seed. What they
 * saw must be a history of a store whose operations take effect one after the other. Chunks are few, so that they are
 * used again at once. A store that loses has no memory for all items, and items expire. In a faulty race clients die
 * and connections break, but not the server.
 */
final class StoreRace {
    private static final int OPERATIONS = 7;
    private static final int MOST_CHANGES = 100;
    private static final int WINDOW = 4;
    private static final int OWN_KEY = 2;
    private static final int PAGE = 1024;
    private static final int CONNECTIONS = 32;

    /** The pool, and classes of short items. */
    private static final int CLASSES = 8;

    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);
    private static final int STALLS = 15;
    private static final long LONGEST_STALL_NS = TimeUnit.MICROSECONDS.toNanos(500);

    private final RaceSettings settings;
    private final RandomGenerator random;
    private final Fabric fabric;
    private final FabricNode server;
    private final Map<String, FabricNode> clients = new LinkedHashMap<>();
    private final HistoryRecorder<StoreCall, StoreAnswer> history;
    private final RaceFigures figures = new RaceFigures();
    private final RaceOperations operations;
    private final List<SimulatedThread> processes = new ArrayList<>();
    private long readings;
    private int readers;

    StoreRace(RaceSettings settings) {
        this.settings = settings;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~settings.seed());
        fabric = new Fabric(settings.seed(), fabricSettings());
        fabric.scheduler().stalls(STALLS, LONGEST_STALL_NS);
        server = fabric.node(RaceFaults.SERVER);
        RaceFaults.CLIENTS.forEach(name -> clients.put(name, fabric.node(name)));
        history = new HistoryRecorder<>(() -> ++readings); // one thread at a time: each reading is later than the last
        operations = new RaceOperations(settings, random, fabric.scheduler(), figures);
    }

    private FabricSettings fabricSettings() {
        Scheduler.Limits usual = Scheduler.Limits.DEFAULT;
        Grains grains = random.nextInt(4) == 0 ? Grains.LINES : Grains.WORDS;
        return FabricSettings.DEFAULT
                .with(NetworkSettings.DEFAULT.withBufferBytes(4096))
                .with(grains)
                .with(new Scheduler.Limits(
                        1_000_000, usual.virtualNs(), usual.realNs(), random.nextBoolean() ? 100 : 300))
                .with(settings.faulty() ? new RaceFaults(settings.seed()).plan() : FaultPlan.NONE);
    }

    /** Races; throws with the seed if what was seen contradicts itself, or if anything fails. */
    StoreRace run() {
        fabric.run(server, () -> {
            try (FabricStore store = FabricStore.open(
                    fabric,
                    server,
                    context -> context.maxConnections(CONNECTIONS)
                            .items(items -> items.registration(settings.registration())
                                    .maxItemLength(PAGE)
                                    .pageLength(PAGE)
                                    .memoryLimit(settings.losing() ? 3 * PAGE : 64 * PAGE)))) {
                startProcesses(store);
                assertTrue(
                        fabric.scheduler()
                                .until(() -> processes.stream().allMatch(SimulatedThread::isEnded), PATIENCE_NS),
                        "processes have not ended");
                figures.moved += Long.parseLong(store.server().statistics("").getOrDefault("slabs_moved", "0"));
                assertEquals(0, store.device().counters().getOrDefault("accessErrors", 0L));
            }
        });
        figures.killed +=
                clients.values().stream().filter(node -> !node.isAlive()).count();
        figures.unknown += history.operations().stream()
                .filter(operation -> operation.returned() == Operation.NEVER)
                .count();
        StoreModel model = settings.losing() ? StoreModel.losing() : StoreModel.keeping();
        var verdict = new HistoryChecker<>(model).check(history.operations());
        assertTrue(verdict.isLinearizable(), () -> "seed " + settings.seed() + ": " + verdict);
        return this;
    }

    /** Hash of the run. */
    long hash() {
        return fabric.trace().hash();
    }

    /** Steps of the run. */
    long steps() {
        return fabric.trace().steps();
    }

    RaceFigures figures() {
        return figures;
    }

    // ---- processes

    private void startProcesses(FabricStore store) {
        readers = 1 + random.nextInt(2);
        for (int i = readers; i > 0; i--) {
            FabricNode node = node("reader" + i);
            start(node, "reader", me -> read(store, node, me));
        }
        FabricNode writers = node("writers");
        int count = 1 + random.nextInt(2);
        for (int i = 0; i < count; i++) {
            start(writers, "writer", me -> write(store, writers, me));
        }
        if (random.nextInt(4) == 0) {
            FabricNode node = node("shared");
            start(node, "owner", me -> share(store, node, me));
        }
        if (random.nextInt(4) == 0 && !settings.faulty()) {
            start(writers, "counter", me -> count(store, writers));
        }
        if (settings.losing()) {
            start(writers, "filler", me -> fill(store, writers));
        }
        if (random.nextBoolean()) {
            start(writers, "mover", me -> movePages(store, writers));
        }
    }

    private FabricNode node(String name) {
        return Objects.requireNonNull(clients.get(name));
    }

    private interface Body {
        void run(ProcessRecorder<StoreCall, StoreAnswer> me) throws Exception;
    }

    private void start(FabricNode node, String name, Body body) {
        ProcessRecorder<StoreCall, StoreAnswer> recorder = history.process(name + " " + processes.size());
        processes.add(node.start(name, () -> body.run(recorder)));
    }

    private KvClient connected(FabricStore store, FabricNode node) {
        return operations.connected(() -> KvClient.connect(client(store, node).conclude()));
    }

    private KvClientContext client(FabricStore store, FabricNode node) {
        return FabricStore.client(fabric, node, store.address())
                .window(WINDOW)
                .maxItemLength(PAGE)
                .locatorCapacity(16);
    }

    /** Mostly GETs by READ, a window of them at places that are known. */
    private void read(FabricStore store, FabricNode node, ProcessRecorder<StoreCall, StoreAnswer> me) {
        KvClientContext context = client(store, node).protocol(KvProtocol.RDMA).conclude();
        try (VerbsDevice device = node.open(Map.of());
                CompletionLoop loop = new CompletionLoop(device, 1, WINDOW, context.nanoClock(), context.spin());
                KvClient client = operations.connected(() -> new KvClient(loop, context))) {
            for (int i = 0; i < OPERATIONS; i++) {
                switch (random.nextInt(8)) {
                    case 0 -> operations.change(client, me);
                    case 1 -> operations.get(client, me, operations.key());
                    default -> readWindow(loop, client, me);
                }
                rest();
            }
            figures.add(client.counters());
        } finally {
            readers--;
        }
    }

    private void readWindow(CompletionLoop loop, KvClient client, ProcessRecorder<StoreCall, StoreAnswer> me) {
        int key = operations.key();
        byte[] name = RaceOperations.name(key);
        if (random.nextBoolean()) {
            operations.get(client, me, key); // else the item may have died since the place was learned
        }
        int[] tickets = new int[WINDOW];
        for (int i = 0; i < WINDOW; i++) {
            tickets[i] = me.invoke(RaceOperations.nameOf(key), StoreCall.get());
            if (client.start(name, i) != StartStatus.STARTED) {
                me.forget(tickets[i]);
                break;
            }
        }
        while (client.outstanding() > 0) {
            int ignored = loop.await(TimeUnit.MILLISECONDS.toNanos(10));
            int _ = client.deliver((tag, outcome, item) -> {
                if (outcome == ReadOutcome.HIT) {
                    me.returned(
                            tickets[(int) tag],
                            RaceOperations.value(key, item.copy().value()));
                } else {
                    figures.lostReads += outcome == ReadOutcome.LOST ? 1 : 0;
                    me.forget(tickets[(int) tag]);
                }
            });
        }
    }

    /** Mostly changes, without a device, as long as somebody reads. */
    private void write(FabricStore store, FabricNode node, ProcessRecorder<StoreCall, StoreAnswer> me) {
        try (KvClient client = connected(store, node)) {
            for (int i = 0; readers > 0 && i < MOST_CHANGES; i++) {
                if (random.nextInt(8) == 0) {
                    operations.get(client, me, operations.key());
                } else {
                    operations.change(client, me);
                }
                rest();
            }
        }
    }

    /** Two processes with one client. */
    private void share(FabricStore store, FabricNode node, ProcessRecorder<StoreCall, StoreAnswer> me) {
        try (VerbsDevice device = node.open(Map.of());
                SharedKvClient client = operations.connected(
                        () -> SharedKvClient.connect(device, client(store, node).conclude()))) {
            boolean[] otherEnded = new boolean[1];
            start(node, "sharer", its -> {
                use(client, its);
                if (!settings.faulty()) {
                    changeUnanswered(client, OWN_KEY);
                }
                otherEnded[0] = true;
            });
            use(client, me);
            assertTrue(fabric.scheduler().until(() -> otherEnded[0], PATIENCE_NS));
        }
    }

    /**
     * A GET sees what the same thread has changed before it, also if the change wants no answer, and if the answer to
     * an earlier GET has come meanwhile. Nobody else has the key.
     */
    private void changeUnanswered(SharedKvClient client, int key) {
        for (int i = 0; i < OPERATIONS; i++) {
            CompletableFuture<?> first = setUnanswered(client, key, operations.nextNumber());
            CompletableFuture<?> earlier = client.submit(KvRequest.get(RaceOperations.name(key)));
            long number = operations.nextNumber();
            CompletableFuture<?> second = setUnanswered(client, key, number);
            assertTrue(fabric.scheduler().until(earlier::isDone, PATIENCE_NS));
            Optional<KvItem> found = client.get(RaceOperations.name(key));
            assertTrue(settings.losing() || found.isPresent(), () -> "key " + key + " is missing");
            found.ifPresent(item -> assertTrue(
                    VersionedValue.number(key, item.value()) >= number, () -> "a GET has not waited for " + number));
            assertTrue(first.isDone() && second.isDone());
        }
    }

    private CompletableFuture<Boolean> setUnanswered(SharedKvClient client, int key, long number) {
        return client.submit(KvRequest.set(RaceOperations.name(key), 0, 0, operations.newValue(key, number))
                .noreply());
    }

    private void use(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me) {
        for (int i = 0; i < OPERATIONS; i++) {
            if (random.nextInt(3) == 0) {
                operations.change(client, me);
            } else {
                operations.get(client, me, operations.key());
            }
            rest();
        }
    }

    /** What is counted keeps the expiry that a touch gives it meanwhile. */
    private void count(FabricStore store, FabricNode node) {
        byte[] name = "counter".getBytes(StandardCharsets.US_ASCII);
        try (KvClient client = KvClient.connect(client(store, node).conclude())) {
            boolean[] touched = new boolean[2];
            boolean ignored = operations.isStored(client.set(name, 0, 0, new byte[] {'1'}));
            start(node, "toucher", me -> {
                try (KvClient other = KvClient.connect(client(store, node).conclude())) {
                    touched[0] = other.touch(name, 1);
                }
                touched[1] = true;
            });
            while (!touched[1]) {
                OptionalLong _ = client.incr(name, 1);
            }
            fabric.scheduler().sleep(TimeUnit.SECONDS.toNanos(3));
            assertTrue(!touched[0] || client.get(name).isEmpty(), "counting has lost the expiry of a touch");
        }
    }

    /** Others of the same lengths take the memory. */
    private void fill(FabricStore store, FabricNode node) {
        try (KvClient client = connected(store, node)) {
            for (int i = 0; readers > 0 && i < MOST_CHANGES; i++) {
                byte[] name = ("f" + random.nextInt(20)).getBytes(StandardCharsets.US_ASCII);
                byte[] value = new byte[operations.words() * Long.BYTES];
                operations.unrecorded(() -> {
                    boolean ignored = operations.isStored(client.set(name, 0, 0, value));
                });
                rest();
            }
            operations.unrecorded(() -> {
                Map<String, String> statistics = client.stats("");
                figures.evicted += Long.parseLong(statistics.get("evictions"));
                figures.expired += Long.parseLong(statistics.get("expired_unfetched"));
            });
        }
    }

    /** Somebody has pages change their class, again and again. */
    private void movePages(FabricStore store, FabricNode node) throws IOException {
        try (ClientNetwork network = new FabricClientNetwork(node);
                ClientStream stream = operations.connected(() -> open(network, store))) {
            ByteBuffer answers = ByteBuffer.allocateDirect(PAGE);
            ByteBuffer requests = ByteBuffer.allocateDirect(PAGE);
            for (int i = 0; readers > 0 && i < MOST_CHANGES; i++) {
                String request = "slabs reassign -1 " + random.nextInt(CLASSES) + "\r\n";
                stream.write(requests.clear()
                        .put(request.getBytes(StandardCharsets.US_ASCII))
                        .flip());
                boolean _ = stream.await(TimeUnit.MILLISECONDS.toNanos(1), false);
                int _ = stream.read(answers.clear());
                rest();
            }
        } catch (IOException e) {
            assertTrue(settings.faulty(), e::toString);
        }
    }

    private static ClientStream open(ClientNetwork network, FabricStore store) {
        try {
            ClientStream stream = network.open(store.address());
            while (!stream.finishConnect()) {
                boolean _ = stream.await(TimeUnit.MILLISECONDS.toNanos(1), false);
            }
            return stream;
        } catch (IOException e) {
            throw new KvException("not connected: " + e.getMessage(), e);
        }
    }

    /** Where items expire, time passes. */
    private void rest() {
        if (settings.losing() && random.nextInt(4) == 0) {
            fabric.scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(random.nextInt(600)));
        }
    }
}
