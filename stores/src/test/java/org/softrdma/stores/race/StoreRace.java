package org.softrdma.stores.race;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.AdversaryBySeed;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.network.DatagramSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
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
 * A race of clients of a design on the fabric, for one seed. What they saw must be a history of a store whose operations
 * take effect one after the other. A design adds its servers, and what its clients do.
 *
 * <p>The order of what is drawn belongs to the seeds: an additional draw makes other races of all of them.
 */
public abstract class StoreRace {
    /** Operations that a client has under way. */
    public static final int WINDOW = 3;

    /** A time that is too long for a race. */
    public static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    private static final int KEY = 8;
    private static final int STALLS = 15;
    private static final long LONGEST_STALL_NS = TimeUnit.MICROSECONDS.toNanos(300);
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int MOST_ATTEMPTS = 1000;

    private final long seed;
    private final RandomGenerator random;
    private final Fabric fabric;
    private final HistoryRecorder<StoreCall, StoreAnswer> history;
    private final List<SimulatedThread> processes = new ArrayList<>();
    private final StoreCounters counters = new StoreCounters();
    private final RaceValues values = new RaceValues();

    /** A race without nodes. */
    protected StoreRace(long seed, FaultPlan faults) {
        this(seed, faults, DatagramSettings.DEFAULT);
    }

    /**
     * A race without nodes.
     *
     * @param datagrams what becomes of them, for designs that use them
     */
    protected StoreRace(long seed, FaultPlan faults, DatagramSettings datagrams) {
        this.seed = seed;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~seed);
        FabricSettings adversary = new AdversaryBySeed(seed).settings();
        FabricSettings grained = random.nextInt(4) == 0 ? adversary : adversary.with(Grains.WORDS);
        fabric = new Fabric(seed, grained.with(faults).with(grained.network().with(datagrams)));
        fabric.scheduler().stalls(STALLS, LONGEST_STALL_NS);
        AtomicLong readings = new AtomicLong(); // one thread at a time: each reading is later than the last
        history = new HistoryRecorder<>(readings::incrementAndGet);
    }

    /** Where it happens. */
    protected final Fabric fabric() {
        return fabric;
    }

    /** Draws what happens. */
    protected final RandomGenerator random() {
        return random;
    }

    /** The values of its clients. */
    protected final RaceValues values() {
        return values;
    }

    /** Somebody whose operations are part of the history. */
    protected final ProcessRecorder<StoreCall, StoreAnswer> recorder(String name) {
        return history.process(name);
    }

    // ---- settings

    /** Settings that servers have in all races. */
    protected static StoreServerContext common(StoreServerContext context, int maxValueLength) {
        return context.window(WINDOW).maxKeyLength(KEY).maxValueLength(maxValueLength);
    }

    /** Settings that clients have in all races. */
    protected static StoreClientContext common(
            StoreClientContext context, int maxValueLength, boolean mayLose, long timeoutNs) {
        return context.window(WINDOW)
                .maxKeyLength(KEY)
                .maxValueLength(maxValueLength)
                .timeoutNs(mayLose ? timeoutNs : PATIENCE_NS)
                .connectTimeoutNs(timeoutNs);
    }

    // ---- clients

    /**
     * Starts a client.
     *
     * @param node where
     * @param name its name, for the history
     * @param connecting connects; if it cannot, it is tried again
     * @param racing what the client does
     * @param ended called at its end, whatever that is
     */
    protected final void start(
            FabricNode node,
            String name,
            Function<VerbsDevice, StoreClient> connecting,
            BiConsumer<StoreClient, ProcessRecorder<StoreCall, StoreAnswer>> racing,
            Runnable ended) {
        ProcessRecorder<StoreCall, StoreAnswer> recorder = history.process(name);
        processes.add(node.start(name, () -> {
            try (VerbsDevice device = node.open(deviceOptions());
                    StoreClient client = connected(device, connecting)) {
                racing.accept(client, recorder);
                counters.add(client.counters());
            } finally {
                ended.run();
            }
        }));
    }

    /** Options of a client's device. */
    protected Map<String, String> deviceOptions() {
        return Map.of();
    }

    private StoreClient connected(VerbsDevice device, Function<VerbsDevice, StoreClient> connecting) {
        for (int attempt = 1; ; attempt++) {
            try {
                return connecting.apply(device);
            } catch (StoreException e) {
                if (attempt == MOST_ATTEMPTS) {
                    throw e;
                }
                fabric.scheduler().sleep(RETRY_NS);
            }
        }
    }

    /** Waits until all clients have ended. */
    protected final void awaitClients() {
        assertTrue(
                fabric.scheduler().until(() -> processes.stream().allMatch(SimulatedThread::isEnded), PATIENCE_NS),
                "processes have not ended");
    }

    // ---- what came of it

    /**
     * Judges what clients have seen.
     *
     * @param losing the store may have lost everything at a time
     * @throws RaceContradiction if it is not a history of a store
     */
    protected final void judge(boolean losing) {
        StoreModel model = losing ? StoreModel.losing() : StoreModel.keeping();
        var verdict = new HistoryChecker<>(model).check(history.operations());
        if (!verdict.isLinearizable()) {
            throw new RaceContradiction("seed " + seed + ": " + verdict);
        }
    }

    /** What came of it. */
    public final RaceSum sum() {
        return new RaceSum(counters, fabric.trace().steps());
    }
}
