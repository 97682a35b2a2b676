package org.softrdma.farm.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.FaultsBySeed;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.HistoryVerdict;
import org.softrdma.testkit.history.Operation;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Clients that get, put and remove the same few keys of a tiny table, for one seed: pairs are displaced, chains grow and
 * collapse, objects are used again at once. What they saw must be a history of a store whose operations take effect one
 * after the other, and every value must be whole.
 */
final class FarmRace {
    private static final List<String> CLIENTS = List.of("client1", "client2", "client3");

    /** Behind the frames of the handshake. */
    private static final FaultsBySeed FAULTS =
            new FaultsBySeed(CLIENTS, List.of(FarmFabric.SERVER), 3, 64, 4000, FaultsBySeed.USUAL);

    private static final int WORDS = 7;
    private static final int SELDOM = 15;
    private static final int OFTEN = 80;
    private static final long LONGEST_STALL_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long LIMIT_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Settings settings;
    private final RandomGenerator random;
    private final FarmFabric farm;
    private final List<FabricNode> nodes = new ArrayList<>();
    private final HistoryRecorder<StoreCall, StoreAnswer> history;
    private final StoreCounters counters = new StoreCounters();
    private long readings;
    private long values;
    private long torn;
    private long combined;

    /**
     * What a race is like.
     *
     * @param seed decides everything else
     * @param protocol as published, or mended
     * @param grains how copies of devices are seen
     * @param faulty whether anything goes wrong
     * @param homes buckets that keys hash to
     * @param keys how many there are
     * @param operations of each client
     * @param forgiving true if a miss says nothing
     */
    record Settings(
            long seed,
            Protocol protocol,
            Grains grains,
            boolean faulty,
            int homes,
            int keys,
            int operations,
            boolean forgiving) {
        static Settings safe(long seed, boolean faulty) {
            Grains grains = seed % 4 == 0 ? Grains.LINES : Grains.WORDS;
            int homes = seed % 2 == 0 ? 2 : 4;
            return new Settings(seed, Protocol.SAFE, grains, faulty, homes, 5 + homes, 16, false);
        }

        static Settings paper(long seed, Grains grains) {
            return new Settings(seed, Protocol.PAPER, grains, false, 2, 7, 12, false);
        }

        /** As published, on a device that moves whole lines, but for what the published lookup misses. */
        static Settings forgiving(long seed) {
            return new Settings(seed, Protocol.PAPER, Grains.LINES, false, 2, 7, 12, true);
        }
    }

    FarmRace(Settings settings) {
        this.settings = settings;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(~settings.seed());
        farm = new FarmFabric(settings.seed(), fabricSettings(), settings.protocol(), options(), WORDS * Long.BYTES);
        farm.fabric().scheduler().stalls(random.nextBoolean() ? SELDOM : OFTEN, LONGEST_STALL_NS);
        CLIENTS.forEach(name -> nodes.add(farm.fabric().node(name)));
        history = new HistoryRecorder<>(() -> ++readings); // one thread at a time: each reading is later than the last
    }

    private FabricSettings fabricSettings() {
        Scheduler.Limits usual = Scheduler.Limits.DEFAULT;
        FabricSettings base =
                settings.protocol() == Protocol.SAFE ? FabricSettings.adversary() : FabricSettings.DEFAULT;
        return base.with(NetworkSettings.DEFAULT.withBufferBytes(4096))
                .with(settings.grains())
                .with(new Scheduler.Limits(
                        3_000_000, usual.virtualNs(), usual.realNs(), random.nextBoolean() ? 100 : 300))
                .with(settings.faulty() ? FAULTS.plan(settings.seed()) : FaultPlan.NONE);
    }

    private Map<String, String> options() {
        return Map.of(
                "neighbourhood",
                random.nextBoolean() ? "2" : "4",
                "values",
                random.nextBoolean() ? "inline" : "outline",
                "buckets",
                Integer.toString(settings.homes()),
                "region",
                "16384",
                "block",
                "1024");
    }

    /** Races. */
    FarmRace run() {
        farm.run(it -> {
            List<SimulatedThread> processes = new ArrayList<>();
            for (FabricNode node : nodes) {
                ProcessRecorder<StoreCall, StoreAnswer> me = history.process(node.name());
                processes.add(node.start("client", () -> race(node, me)));
            }
            farm.until(() -> processes.stream().allMatch(SimulatedThread::isEnded));
            combined = farm.serving().combined();
        });
        return this;
    }

    private void race(FabricNode node, ProcessRecorder<StoreCall, StoreAnswer> me) {
        try (VerbsDevice device = node.open(Map.of());
                StoreClient client = connected(device)) {
            int left = settings.operations();
            Asked[] asked = new Asked[client.window()];
            while (left > 0 || client.outstanding() > 0) {
                while (left > 0 && client.outstanding() < client.window() && random.nextInt(3) > 0) {
                    left--;
                    start(client, me, asked);
                }
                int ignored = client.await(
                        LIMIT_NS,
                        (tag, outcome, memory, at, length) -> answer(asked, tag, outcome, memory, at, length, me));
                if (random.nextInt(3) == 0) {
                    farm.fabric().scheduler().sleep(random.nextLong(50_000));
                }
            }
            counters.add(client.counters());
        }
    }

    private StoreClient connected(VerbsDevice device) {
        while (true) {
            try {
                return farm.connect(
                        device, context -> context.timeoutNs(LIMIT_NS).connectTimeoutNs(LIMIT_NS));
            } catch (StoreException e) {
                farm.fabric().scheduler().sleep(LIMIT_NS); // something goes wrong
            }
        }
    }

    /** An operation under way, by its tag. */
    private record Asked(int ticket, StoreCall call) {}

    private void start(StoreClient client, ProcessRecorder<StoreCall, StoreAnswer> me, Asked[] asked) {
        int tag = 0;
        while (asked[tag] != null) {
            tag++;
        }
        boolean filling = values < settings.keys();
        int number = filling ? (int) values : random.nextInt(settings.keys());
        byte[] key = ByteBuffer.allocate(FarmFabric.KEY).putInt(number).array();
        StoreCall call = switch (filling ? 7 : random.nextInt(settings.seed() % 3 == 0 ? 10 : 20)) {
            case 0, 1, 2, 3 -> StoreCall.get();
            case 4, 5, 6 -> StoreCall.delete();
            default -> StoreCall.set(++values);
        };
        asked[tag] = new Asked(me.invoke("key" + number, call), call);
        boolean started = switch (call.kind()) {
            case GET -> client.startGet(key, tag);
            case SET -> client.startPut(key, MemorySegment.ofArray(value(call.value())), tag);
            default -> client.startRemove(key, tag);
        };
        assertTrue(started);
    }

    private static byte[] value(long number) {
        ByteBuffer value = ByteBuffer.allocate(WORDS * Long.BYTES);
        while (value.hasRemaining()) {
            value.putLong(number);
        }
        return value.array();
    }

    private void answer(
            Asked[] asked,
            long tag,
            Outcome outcome,
            MemorySegment memory,
            long at,
            long length,
            ProcessRecorder<StoreCall, StoreAnswer> me) {
        Asked it = asked[(int) tag];
        asked[(int) tag] = null;
        switch (outcome) {
            case FOUND -> me.returned(it.ticket(), StoreAnswer.value(number(memory, at, length)));
            case STORED, REMOVED -> me.returned(it.ticket(), StoreAnswer.DONE);
            case MISSING -> {
                if (settings.forgiving() && it.call().kind() == StoreCall.Kind.GET) {
                    me.forget(it.ticket());
                } else {
                    me.returned(it.ticket(), StoreAnswer.MISSING);
                }
            }
            case FULL -> throw new AssertionError("the table is full");
            case GAVE_UP -> me.forget(it.ticket());
            case LOST -> {
                if (it.call().kind() == StoreCall.Kind.GET) {
                    me.forget(it.ticket()); // else it may take effect
                }
            }
        }
    }

    private long number(MemorySegment memory, long at, long length) {
        ByteBuffer value = memory.asSlice(at, length).asByteBuffer();
        long number = value.getLong();
        while (value.hasRemaining()) {
            if (value.getLong() != number) {
                torn++;
                return -1;
            }
        }
        return number;
    }

    // ---- what came of it

    HistoryVerdict<StoreCall, StoreAnswer> verdict() {
        return new HistoryChecker<>(StoreModel.keeping()).check(history.operations());
    }

    /** Values that were accepted, and were no values. */
    long torn() {
        return torn;
    }

    StoreCounters counters() {
        return counters;
    }

    long combined() {
        return combined;
    }

    /** Operations whose outcome is not known. */
    long unknown() {
        return history.operations().stream()
                .filter(operation -> operation.returned() == Operation.NEVER)
                .count();
    }

    void requireGood() {
        assertEquals(0, torn, () -> "seed " + settings.seed() + ": torn values");
        HistoryVerdict<StoreCall, StoreAnswer> verdict = verdict();
        assertTrue(verdict.isLinearizable(), () -> "seed " + settings.seed() + ": " + verdict);
    }
}
