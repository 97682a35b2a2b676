package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Clients that change and get the same few keys of a store on the fabric, for one seed. What they saw must be a history
 * of a store whose operations take effect one after the other. The table has eight entries and up to seven pairs, so that keys
 * move; extents are few, so that they are used again at once; every fourth table begins with four entries, and grows.
 */
final class PilafRace {
    static final int WINDOW = 3;
    private static final int VALUE = 128;
    private static final int KEY = 8;
    private static final int STALLS = 15;
    private static final long LONGEST_STALL_NS = TimeUnit.MICROSECONDS.toNanos(300);
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int MOST_ATTEMPTS = 1000;
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    private final PilafRaceSettings settings;
    private final RandomGenerator random;
    private final Fabric fabric;
    private final FabricNode server;
    private final Map<String, FabricNode> clients = new LinkedHashMap<>();
    private final StoreDesign design;
    private final HistoryRecorder<StoreCall, StoreAnswer> history;
    private final List<SimulatedThread> processes = new ArrayList<>();
    private final StoreCounters counters = new StoreCounters();
    private final PilafRaceValues values = new PilafRaceValues();
    private long readings;
    private int readers;

    PilafRace(PilafRaceSettings settings) {
        this.settings = settings;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~settings.seed());
        fabric = new Fabric(settings.seed(), fabricSettings());
        fabric.baton().stalls(STALLS, LONGEST_STALL_NS);
        server = fabric.node(PilafRaceFaults.SERVER);
        PilafRaceFaults.CLIENTS.forEach(name -> clients.put(name, fabric.node(name)));
        history = new HistoryRecorder<>(() -> ++readings);
        design = settings.byMessages() ? new PilafMessagesDesign() : new PilafDesign();
    }

    private FabricSettings fabricSettings() {
        FabricSettings adversary = new AdversaryBySeed(settings.seed()).settings();
        FabricSettings grained = random.nextInt(4) == 0 ? adversary : adversary.with(Grains.WORDS);
        return settings.faulty() ? grained.with(new PilafRaceFaults(settings.seed()).plan()) : grained;
    }

    private StoreServerContext serverSettings(StoreServerContext context) {
        Map<String, String> options = new LinkedHashMap<>();
        options.put("entries", settings.seed() % 4 == 0 ? "2" : "3");
        options.put("extents", "11");
        options.put("fingerprints", settings.seed() % 3 == 0 ? "on" : "off");
        if (settings.logs() != null) {
            options.put("log", "fsync");
            options.put("directory", settings.logs().toString());
        }
        return context.window(WINDOW)
                .maxKeyLength(KEY)
                .maxValueLength(VALUE)
                .maxConnections(16)
                .options(options);
    }

    /** Races; throws if what was seen contradicts itself, or if anything fails. */
    PilafRace run() {
        fabric.run(server, () -> {
            FabricStores.RunningServer running = serve();
            startProcesses();
            for (int i = 0; i < settings.crashes(); i++) {
                fabric.baton().sleep(random.nextLong(TimeUnit.MILLISECONDS.toNanos(2)));
                running.crash(random.nextInt(40), TimeUnit.MILLISECONDS.toNanos(1));
                values.crashed(settings.logs() == null);
                running = serve();
            }
            assertTrue(
                    fabric.baton().until(() -> processes.stream().allMatch(SimulatedThread::isEnded), PATIENCE_NS),
                    "processes have not ended");
            running.stop();
        });
        StoreModel model =
                settings.crashes() > 0 && settings.logs() == null ? StoreModel.losing() : StoreModel.keeping();
        var verdict = new HistoryChecker<>(model).check(history.operations());
        if (!verdict.isLinearizable()) {
            throw new PilafContradiction("seed " + settings.seed() + ": " + verdict);
        }
        return this;
    }

    private FabricStores.RunningServer serve() {
        return FabricStores.serve(fabric, server, design, this::serverSettings, PilafRace::bury);
    }

    private static void bury(StoreServer server) {
        ((PilafServer) server).abandon();
    }

    StoreCounters counters() {
        return counters;
    }

    long steps() {
        return fabric.trace().steps();
    }

    private void startProcesses() {
        readers = 1 + random.nextInt(2);
        for (int i = readers; i > 0; i--) {
            start("reader" + i, true);
        }
        for (int i = 1 + random.nextInt(2); i > 0; i--) {
            start("writer" + i, false);
        }
    }

    private void start(String name, boolean reading) {
        FabricNode node = Objects.requireNonNull(clients.get(name));
        ProcessRecorder<StoreCall, StoreAnswer> recorder = history.process(name);
        processes.add(node.start(name, () -> {
            try (VerbsDevice device = node.open(Map.of());
                    StoreClient client = connected(device)) {
                PilafRaceClient racing = new PilafRaceClient(client, recorder, values, random, settings);
                if (reading) {
                    racing.read();
                } else {
                    racing.write(() -> readers > 0);
                }
                counters.add(client.counters());
            } finally {
                readers -= reading ? 1 : 0;
            }
        }));
    }

    private StoreClient connected(VerbsDevice device) {
        for (int attempt = 1; ; attempt++) {
            try {
                return design.connect(
                        device,
                        FabricStores.client(fabric, server)
                                .protocol(settings.protocol())
                                .window(WINDOW)
                                .maxKeyLength(KEY)
                                .maxValueLength(VALUE)
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
