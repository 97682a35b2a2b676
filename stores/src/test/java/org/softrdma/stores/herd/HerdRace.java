package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.AdversaryBySeed;
import org.softrdma.sim.fabric.Fabric;
import org.softrdma.sim.fabric.FabricNode;
import org.softrdma.sim.fabric.FabricSettings;
import org.softrdma.sim.fabric.baton.SimulatedThread;
import org.softrdma.sim.fabric.memory.Grains;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Clients that change and get keys of a store that is too small for them on the fabric, for one seed. What they saw must be
 * a history of a store that loses pairs when it says so, and only then; and no change may be executed twice.
 */
final class HerdRace {
    static final int WINDOW = 3;
    private static final int VALUE = 96;
    private static final int KEY = 8;
    private static final int STALLS = 15;
    private static final long LONGEST_STALL_NS = TimeUnit.MICROSECONDS.toNanos(300);
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int MOST_ATTEMPTS = 1000;
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    private final HerdRaceSettings settings;
    private final RandomGenerator random;
    private final Fabric fabric;
    private final FabricNode server;
    private final Map<String, FabricNode> clients = new LinkedHashMap<>();
    private final HistoryRecorder<StoreCall, StoreAnswer> history;
    private final HerdEvictions evictions;
    private final WatchedHerd design;
    private final List<SimulatedThread> processes = new ArrayList<>();
    private final StoreCounters counters = new StoreCounters();
    private final HerdRaceValues values = new HerdRaceValues();
    private long readings;
    private long executed;

    HerdRace(HerdRaceSettings settings) {
        this.settings = settings;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~settings.seed());
        fabric = new Fabric(settings.seed(), fabricSettings());
        fabric.baton().stalls(STALLS, LONGEST_STALL_NS);
        server = fabric.node(HerdRaceFaults.SERVER);
        HerdRaceFaults.CLIENTS.forEach(name -> clients.put(name, fabric.node(name)));
        history = new HistoryRecorder<>(() -> ++readings);
        evictions = new HerdEvictions(history.process("eviction"));
        design = new WatchedHerd(settings.polled(), evictions);
    }

    private FabricSettings fabricSettings() {
        FabricSettings adversary = new AdversaryBySeed(settings.seed()).settings();
        FabricSettings grained = random.nextInt(4) == 0 ? adversary : adversary.with(Grains.WORDS);
        return settings.faulty() ? grained.with(new HerdRaceFaults(settings.seed()).plan()) : grained;
    }

    private StoreServerContext serverSettings(StoreServerContext context) {
        return context.window(1 + Math.floorMod(settings.seed(), WINDOW))
                .maxKeyLength(KEY)
                .maxValueLength(VALUE)
                .maxConnections(16)
                .options(Map.of("workers", settings.seed() % 4 == 0 ? "1" : "2", "buckets", "0", "log", "9"));
    }

    /** Races; throws if what was seen contradicts itself, or if anything fails. */
    HerdRace run() {
        fabric.run(server, () -> {
            FabricStores.RunningServer running = serve();
            startProcesses();
            for (int i = 0; i < settings.crashes(); i++) {
                fabric.baton().sleep(random.nextLong(TimeUnit.MILLISECONDS.toNanos(2)));
                running.crash(random.nextInt(40), TimeUnit.MILLISECONDS.toNanos(1));
                count(running);
                values.crashed();
                running = serve();
            }
            assertTrue(
                    fabric.baton().until(() -> processes.stream().allMatch(SimulatedThread::isEnded), PATIENCE_NS),
                    "processes have not ended");
            running.stop();
            count(running);
        });
        requireOnce();
        StoreModel model = settings.crashes() > 0 ? StoreModel.losing() : StoreModel.keeping();
        var verdict = new HistoryChecker<>(model).check(history.operations());
        if (!verdict.isLinearizable()) {
            throw new AssertionError("seed " + settings.seed() + ": " + verdict);
        }
        return this;
    }

    private void count(FabricStores.RunningServer running) {
        executed += ((HerdServer) running.server()).changes();
    }

    /** Every change that was answered was executed, and none more often than it was asked for. */
    private void requireOnce() {
        if (settings.mayLoseAnswers()) {
            assertTrue(executed <= values.asked(), executed + " changes executed of " + values.asked());
            assertTrue(executed >= values.answered(), executed + " changes executed, and more answered");
        } else {
            assertEquals(values.asked(), executed, "changes executed");
        }
    }

    private FabricStores.RunningServer serve() {
        return FabricStores.serve(fabric, server, design, this::serverSettings);
    }

    StoreCounters counters() {
        return counters;
    }

    HerdEvictions evictions() {
        return evictions;
    }

    long steps() {
        return fabric.trace().steps();
    }

    private void startProcesses() {
        int left = 2 + random.nextInt(clients.size() - 1);
        for (Map.Entry<String, FabricNode> client : clients.entrySet()) {
            if (left-- > 0) {
                start(client.getKey(), client.getValue());
            }
        }
    }

    private void start(String name, FabricNode node) {
        ProcessRecorder<StoreCall, StoreAnswer> recorder = history.process(name);
        processes.add(node.start(name, () -> {
            try (VerbsDevice device = node.open(Map.of());
                    StoreClient client = connected(device)) {
                new HerdRaceClient(client, recorder, values, random, settings).race();
                counters.add(client.counters());
            }
        }));
    }

    private StoreClient connected(VerbsDevice device) {
        for (int attempt = 1; ; attempt++) {
            try {
                return design.connect(
                        device,
                        FabricStores.client(fabric, server)
                                .window(WINDOW)
                                .maxKeyLength(KEY)
                                .maxValueLength(VALUE)
                                .options(Map.of("retry-us", Integer.toString(settings.retryUs())))
                                .timeoutNs(settings.mayLoseAnswers() ? TIMEOUT_NS : PATIENCE_NS)
                                .connectTimeoutNs(TIMEOUT_NS)
                                .conclude());
            } catch (StoreException e) {
                if (attempt == MOST_ATTEMPTS) {
                    throw e;
                }
                fabric.baton().sleep(RETRY_NS);
            }
        }
    }
}
