package org.softrdma.fabric.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvClientCounters;
import org.softrdma.kv.client.KvCommands;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvRequest;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.client.SharedKvClient;
import org.softrdma.kv.client.StartStatus;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.sim.fabric.Fabric;
import org.softrdma.sim.fabric.FabricNode;
import org.softrdma.sim.fabric.FabricSettings;
import org.softrdma.sim.fabric.baton.Baton;
import org.softrdma.sim.fabric.memory.Grains;
import org.softrdma.sim.fabric.network.NetworkSettings;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Clients that change and GET the same few keys of a store on the fabric, by READ and over TCP, for one seed. What they saw must be a
 * history of a store whose operations take effect one after the other. Chunks are few, so that they are used again at once. A store
 * that loses has no memory for all items, and items expire.
 */
final class StoreRace {
    private static final int OPERATIONS = 7;
    private static final int MOST_CHANGES = 100;
    private static final int WINDOW = 4;
    private static final int OWN_KEY = 2;
    private static final int PAGE = 1024;

    /** Words of a value: with key and header all have chunks of one class, five of them in a page. */
    private static final int LEAST_WORDS = 12;

    private static final int MOST_WORDS = 16;
    private static final int CONNECTIONS = 32;
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);
    private static final int STALLS = 15;
    private static final long LONGEST_STALL_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final StoreCall GET = StoreCall.get();

    private final long seed;
    private final Registration registration;
    private final boolean losing;
    private final RandomGenerator random;
    private final Fabric fabric;
    private final FabricNode server;
    private final HistoryRecorder<StoreCall, StoreAnswer> history;
    private final Figures figures = new Figures();
    private long readings;
    private long lastNumber;
    private int readers;
    private int processes;
    private int ended;

    /** What happened, to see that races are races. */
    static final class Figures {
        long hits;
        long stale;
        long torn;
        long forwarded;
        long mismatched;
        long refused;
        long evicted;
        long expired;

        void add(KvClientCounters counters) {
            hits += counters.hits();
            stale += counters.stale();
            torn += counters.torn();
            forwarded += counters.forwarded();
            mismatched += counters.keyMismatches();
        }

        void add(Figures other) {
            hits += other.hits;
            stale += other.stale;
            torn += other.torn;
            forwarded += other.forwarded;
            mismatched += other.mismatched;
            refused += other.refused;
            evicted += other.evicted;
            expired += other.expired;
        }

        @Override
        public String toString() {
            return hits + " hits, " + stale + " stale, " + torn + " torn, " + forwarded + " forwarded, " + mismatched
                    + " of another key, " + refused + " refused, " + evicted + " evicted, " + expired + " expired";
        }
    }

    StoreRace(long seed, Registration registration, boolean losing) {
        this.seed = seed;
        this.registration = registration;
        this.losing = losing;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~seed);
        fabric = new Fabric(seed, settings());
        fabric.baton().stalls(STALLS, LONGEST_STALL_NS);
        server = fabric.node("server");
        history = new HistoryRecorder<>(() -> ++readings); // one thread at a time: each reading is later than the last
    }

    private FabricSettings settings() {
        Baton.Limits usual = Baton.Limits.DEFAULT;
        Grains grains = random.nextInt(4) == 0 ? Grains.LINES : Grains.WORDS;
        return FabricSettings.DEFAULT
                .with(NetworkSettings.DEFAULT.withBufferBytes(4096))
                .with(grains)
                .with(new Baton.Limits(1_000_000, usual.virtualNs(), usual.realNs(), random.nextBoolean() ? 100 : 300));
    }

    /** Races; throws with the seed if what was seen contradicts itself, or if anything fails. */
    StoreRace run() {
        fabric.run(server, () -> {
            try (FabricStore store = FabricStore.open(
                    fabric,
                    server,
                    context -> context.maxConnections(CONNECTIONS)
                            .items(items -> items.registration(registration)
                                    .maxItemLength(PAGE)
                                    .pageLength(PAGE)
                                    .memoryLimit(losing ? 2 * PAGE : 64 * PAGE)))) {
                startProcesses(store);
                assertTrue(fabric.baton().until(() -> ended == processes, PATIENCE_NS), "processes have not ended");
                assertEquals(0, store.device().counters().getOrDefault("accessErrors", 0L));
            }
        });
        StoreModel model = losing ? StoreModel.losing() : StoreModel.keeping();
        var verdict = new HistoryChecker<>(model).check(history.operations());
        assertTrue(verdict.isLinearizable(), () -> "seed " + seed + ": " + verdict);
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

    Figures figures() {
        return figures;
    }

    // ---- processes

    private void startProcesses(FabricStore store) {
        readers = 1 + random.nextInt(2);
        for (int i = readers; i > 0; i--) {
            FabricNode node = fabric.node("reader" + i);
            start(node, "reader", me -> read(store, node, me));
        }
        FabricNode writers = fabric.node("writers");
        int count = 1 + random.nextInt(2);
        for (int i = 0; i < count; i++) {
            start(writers, "writer", me -> write(store, writers, me));
        }
        if (random.nextInt(4) == 0) {
            FabricNode node = fabric.node("shared");
            start(node, "owner", me -> share(store, node, me));
        }
        if (random.nextInt(4) == 0) {
            start(writers, "counter", me -> count(store, writers));
        }
        if (losing) {
            start(writers, "filler", me -> fill(store, writers));
        }
    }

    private interface Body {
        void run(ProcessRecorder<StoreCall, StoreAnswer> me) throws Exception;
    }

    private void start(FabricNode node, String name, Body body) {
        ProcessRecorder<StoreCall, StoreAnswer> recorder = history.process(name + " " + processes);
        processes++;
        node.start(name, () -> {
            body.run(recorder);
            ended++;
        });
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
                KvClient client = new KvClient(loop, context)) {
            for (int i = 0; i < OPERATIONS; i++) {
                switch (random.nextInt(8)) {
                    case 0 -> change(client, me);
                    case 1 -> get(client, me, key());
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
        int key = key();
        byte[] name = name(key);
        if (random.nextBoolean()) {
            get(client, me, key); // else the item may have died since the place was learned
        }
        int[] tickets = new int[WINDOW];
        for (int i = 0; i < WINDOW; i++) {
            tickets[i] = me.invoke(nameOf(key), GET);
            if (client.start(name, i) != StartStatus.STARTED) {
                me.forget(tickets[i]);
                break;
            }
        }
        while (client.outstanding() > 0) {
            int ignored = loop.await(TimeUnit.MILLISECONDS.toNanos(10));
            int _ = client.deliver((tag, outcome, item) -> {
                if (outcome == ReadOutcome.HIT) {
                    me.returned(tickets[(int) tag], value(key, item.copy().value()));
                } else {
                    me.forget(tickets[(int) tag]);
                }
            });
        }
    }

    /** Mostly changes, without a device, as long as somebody reads. */
    private void write(FabricStore store, FabricNode node, ProcessRecorder<StoreCall, StoreAnswer> me) {
        try (KvClient client = KvClient.connect(client(store, node).conclude())) {
            for (int i = 0; readers > 0 && i < MOST_CHANGES; i++) {
                if (random.nextInt(8) == 0) {
                    get(client, me, key());
                } else {
                    change(client, me);
                }
                rest();
            }
        }
    }

    /** Two processes with one client. */
    private void share(FabricStore store, FabricNode node, ProcessRecorder<StoreCall, StoreAnswer> me) {
        try (VerbsDevice device = node.open(Map.of());
                SharedKvClient client =
                        SharedKvClient.connect(device, client(store, node).conclude())) {
            boolean[] otherEnded = new boolean[1];
            start(node, "sharer", its -> {
                use(client, its);
                changeUnanswered(client, OWN_KEY);
                otherEnded[0] = true;
            });
            use(client, me);
            assertTrue(fabric.baton().until(() -> otherEnded[0], PATIENCE_NS));
        }
    }

    /**
     * A GET sees what the same thread has changed before it, also if the change wants no answer, and if the answer to an earlier GET has
     * come meanwhile. Nobody else has the key.
     */
    private void changeUnanswered(SharedKvClient client, int key) {
        for (int i = 0; i < OPERATIONS; i++) {
            CompletableFuture<?> first = setUnanswered(client, key);
            CompletableFuture<?> earlier = client.submit(KvRequest.get(name(key)));
            CompletableFuture<?> second = setUnanswered(client, key);
            long number = lastNumber;
            assertTrue(fabric.baton().until(earlier::isDone, PATIENCE_NS));
            Optional<KvItem> found = client.get(name(key));
            assertTrue(losing || found.isPresent(), () -> "key " + key + " is missing");
            found.ifPresent(item -> assertTrue(
                    VersionedValue.number(key, item.value()) >= number, () -> "a GET has not waited for " + number));
            assertTrue(first.isDone() && second.isDone());
        }
    }

    private CompletableFuture<Boolean> setUnanswered(SharedKvClient client, int key) {
        return client.submit(
                KvRequest.set(name(key), 0, 0, newValue(key, ++lastNumber)).noreply());
    }

    private void use(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me) {
        for (int i = 0; i < OPERATIONS; i++) {
            if (random.nextInt(3) == 0) {
                change(client, me);
            } else {
                get(client, me, key());
            }
            rest();
        }
    }

    /** What is counted keeps the expiry that a touch gives it meanwhile. */
    private void count(FabricStore store, FabricNode node) {
        byte[] name = "counter".getBytes(StandardCharsets.US_ASCII);
        try (KvClient client = KvClient.connect(client(store, node).conclude())) {
            boolean[] touched = new boolean[2];
            boolean ignored = isStored(client.set(name, 0, 0, new byte[] {'1'}));
            start(node, "toucher", me -> {
                try (KvClient other = KvClient.connect(client(store, node).conclude())) {
                    touched[0] = other.touch(name, 1);
                }
                touched[1] = true;
            });
            while (!touched[1]) {
                OptionalLong _ = client.incr(name, 1);
            }
            fabric.baton().sleep(TimeUnit.SECONDS.toNanos(3));
            assertTrue(!touched[0] || client.get(name).isEmpty(), "counting has lost the expiry of a touch");
        }
    }

    /** Others of the same lengths take the memory. */
    private void fill(FabricStore store, FabricNode node) {
        try (KvClient client = KvClient.connect(client(store, node).conclude())) {
            for (int i = 0; readers > 0 && i < MOST_CHANGES; i++) {
                byte[] name = ("f" + random.nextInt(20)).getBytes(StandardCharsets.US_ASCII);
                boolean ignored = isStored(client.set(name, 0, 0, new byte[words() * Long.BYTES]));
                rest();
            }
            Map<String, String> statistics = client.stats("");
            figures.evicted += Long.parseLong(statistics.get("evictions"));
            figures.expired += Long.parseLong(statistics.get("expired_unfetched"));
        }
    }

    /** Where items expire, time passes. */
    private void rest() {
        if (losing && random.nextInt(4) == 0) {
            fabric.baton().sleep(TimeUnit.MILLISECONDS.toNanos(random.nextInt(600)));
        }
    }

    // ---- operations

    private void get(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me, int key) {
        int ticket = me.invoke(nameOf(key), GET);
        Optional<KvItem> item = client.get(name(key));
        me.returned(ticket, item.map(found -> value(key, found.value())).orElse(StoreAnswer.MISSING));
    }

    private void change(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me) {
        int key = key();
        switch (random.nextInt(8)) {
            case 0, 1 -> {
                int ticket = me.invoke(nameOf(key), StoreCall.delete());
                me.returned(ticket, client.delete(name(key)) ? StoreAnswer.DONE : StoreAnswer.MISSING);
            }
            case 2 -> {
                long number = ++lastNumber;
                store(me, key, StoreCall.add(number), () -> client.add(name(key), 0, 0, newValue(key, number)));
            }
            case 3 -> compareAndSet(client, me, key);
            default -> {
                long number = ++lastNumber;
                int exptime = exptime();
                int ticket = me.invoke(nameOf(key), StoreCall.set(number));
                boolean stored = isStored(client.set(name(key), 0, exptime, newValue(key, number)));
                me.returned(ticket, stored && exptime >= 0 ? StoreAnswer.DONE : StoreAnswer.GONE);
            }
        }
    }

    private int exptime() {
        int choice = random.nextInt(8);
        if (choice == 0) {
            return -1;
        }
        return losing && choice < 4 ? 1 : 0;
    }

    private void compareAndSet(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me, int key) {
        int ticket = me.invoke(nameOf(key), GET);
        Optional<KvItem> item = client.get(name(key));
        me.returned(ticket, item.map(found -> value(key, found.value())).orElse(StoreAnswer.MISSING));
        if (item.isPresent()) {
            long number = ++lastNumber;
            long expected = VersionedValue.number(key, item.get().value());
            store(
                    me,
                    key,
                    StoreCall.cas(expected, number),
                    () -> client.cas(
                            name(key), 0, 0, newValue(key, number), item.get().cas()));
        }
    }

    private interface Storing {
        SetStatus store();
    }

    private void store(ProcessRecorder<StoreCall, StoreAnswer> me, int key, StoreCall call, Storing storing) {
        int ticket = me.invoke(nameOf(key), call);
        SetStatus status = storing.store();
        switch (status) {
            case STORED -> me.returned(ticket, StoreAnswer.DONE);
            case NOT_STORED, EXISTS -> me.returned(ticket, StoreAnswer.REFUSED);
            case NOT_FOUND -> me.returned(ticket, StoreAnswer.MISSING);
            case OUT_OF_MEMORY, TOO_LARGE -> {
                boolean ignored = isStored(status);
                me.forget(ticket); // nothing was changed
            }
        }
    }

    /** False if there was no memory, which only a store that loses may say: somebody is busy with every key. */
    private boolean isStored(SetStatus status) {
        assertTrue(
                status == SetStatus.STORED || (losing && status == SetStatus.OUT_OF_MEMORY),
                () -> "seed " + seed + ": " + status);
        if (status != SetStatus.STORED) {
            figures.refused++;
        }
        return status == SetStatus.STORED;
    }

    private int key() {
        return random.nextInt(4) == 0 ? 1 : 0;
    }

    private byte[] newValue(int key, long number) {
        return VersionedValue.of(key, number, words());
    }

    private int words() {
        return random.nextInt(8) == 0 ? 1 : random.nextInt(LEAST_WORDS, MOST_WORDS + 1);
    }

    private static StoreAnswer value(int key, byte[] value) {
        return StoreAnswer.value(VersionedValue.number(key, value));
    }

    private static String nameOf(int key) {
        return "k" + key;
    }

    private static byte[] name(int key) {
        return nameOf(key).getBytes(StandardCharsets.US_ASCII);
    }
}
