package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
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
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Clients that change and get the same few keys of a store on the fabric, for one seed. What they saw must be a history
 * of a store whose operations take effect one after the other.
 */
final class NessieRace {
    static final int WINDOW = 3;
    private static final int VALUE = 96;
    private static final int KEY = 8;
    private static final int STALLS = 15;
    private static final long LONGEST_STALL_NS = TimeUnit.MICROSECONDS.toNanos(300);
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int MOST_ATTEMPTS = 1000;
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    private final NessieRaceSettings settings;
    private final RandomGenerator random;
    private final Fabric fabric;
    private final NessieNodes nodes;
    private final FabricNode judge;
    private final List<FabricNode> clients = new ArrayList<>();
    private final HistoryRecorder<StoreCall, StoreAnswer> history;
    private final List<SimulatedThread> processes = new ArrayList<>();
    private final StoreCounters counters = new StoreCounters();
    private final BitSet stored = new BitSet();
    private BitSet dead = new BitSet();
    private int lastNumber;
    private long readings;
    private int readers;

    NessieRace(NessieRaceSettings settings) {
        this.settings = settings;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~settings.seed());
        fabric = new Fabric(settings.seed(), fabricSettings());
        fabric.baton().stalls(STALLS, LONGEST_STALL_NS);
        nodes = new NessieNodes(
                fabric,
                settings.nodes(),
                settings.protocol(),
                settings.serverOptions(),
                context -> context.window(WINDOW).maxKeyLength(KEY).maxValueLength(VALUE));
        NessieRaceFaults.CLIENTS.forEach(name -> clients.add(fabric.node(name)));
        judge = fabric.node("judge");
        history = new HistoryRecorder<>(() -> ++readings);
    }

    private FabricSettings fabricSettings() {
        FabricSettings adversary = new AdversaryBySeed(settings.seed()).settings();
        FabricSettings grained = random.nextInt(4) == 0 ? adversary : adversary.with(Grains.WORDS);
        return settings.faulty()
                ? grained.with(new NessieRaceFaults(settings.seed(), settings.nodes()).plan())
                : grained;
    }

    /** Races; throws if what was seen contradicts itself, or if anything fails. */
    NessieRace run() {
        fabric.run(judge, () -> {
            nodes.start();
            startProcesses();
            for (int i = 0; i < settings.crashes(); i++) {
                fabric.baton().sleep(random.nextLong(TimeUnit.MILLISECONDS.toNanos(2)));
                nodes.crash(0);
                dead = (BitSet) stored.clone();
            }
            assertTrue(
                    fabric.baton().until(() -> processes.stream().allMatch(SimulatedThread::isEnded), PATIENCE_NS),
                    "processes have not ended");
            nodes.stop();
        });
        StoreModel model = settings.crashes() > 0 ? StoreModel.losing() : StoreModel.keeping();
        var verdict = new HistoryChecker<>(model).check(history.operations());
        if (!verdict.isLinearizable()) {
            throw new NessieContradiction("seed " + settings.seed() + ": " + verdict);
        }
        return this;
    }

    StoreCounters counters() {
        return counters;
    }

    long steps() {
        return fabric.trace().steps();
    }

    /** The number of a value that nobody has written yet. */
    int nextNumber() {
        return ++lastNumber;
    }

    /** A value was acknowledged. */
    void stored(int number) {
        stored.set(number);
    }

    /** Values that nobody may see who asks from now on. */
    BitSet dead() {
        return dead;
    }

    private void startProcesses() {
        readers = 1 + random.nextInt(2);
        for (int i = readers; i > 0; i--) {
            start(i - 1, true);
        }
        for (int i = 2 + random.nextInt(2); i > 0; i--) {
            start(1 + i, false);
        }
    }

    private void start(int client, boolean reading) {
        FabricNode node = clients.get(client);
        String name = NessieRaceFaults.CLIENTS.get(client);
        ProcessRecorder<StoreCall, StoreAnswer> recorder = history.process(name);
        processes.add(node.start(name, () -> {
            try (VerbsDevice device = node.open(Map.of());
                    StoreClient store = connected(device, client)) {
                NessieRaceClient racing = new NessieRaceClient(store, recorder, this, random, settings);
                if (reading) {
                    racing.read();
                } else {
                    racing.write(() -> readers > 0);
                }
                counters.add(store.counters());
            } finally {
                readers -= reading ? 1 : 0;
            }
        }));
    }

    private StoreClient connected(VerbsDevice device, int client) {
        for (int attempt = 1; ; attempt++) {
            try {
                return new NessieDesign()
                        .connect(
                                device,
                                nodes.client()
                                        .window(WINDOW)
                                        .maxKeyLength(KEY)
                                        .maxValueLength(VALUE)
                                        .timeoutNs(settings.mayLoseAnswers() ? TIMEOUT_NS : PATIENCE_NS)
                                        .connectTimeoutNs(TIMEOUT_NS)
                                        .options(settings.clientOptions(client))
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
