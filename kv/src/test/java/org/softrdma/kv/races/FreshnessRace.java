package org.softrdma.kv.races;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvClientCounters;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.kv.server.RawMemcached;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.HistoryVerdict;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A short live race for the guarantee that no GET that starts after a change was acknowledged returns an older state. One writer per
 * key sets it, by {@code set} and {@code cas}, lets it expire and deletes it; eight clients GET the same few keys by READ and
 * over TCP. Each operation is recorded, and at the end of each round {@link HistoryChecker} says whether the operations of each
 * key could have taken effect one after the other. Used once, by the thread that made it.
 *
 * <p>Small keys are raced for by clients that ask one at a time. The large key has values of one size class and memory for
 * three of them, so that chunks are used again at once. Its client posts many READs. Over TCP it takes the first and then no bytes
 * until it has let the writer take some steps: half a value each, so that a READ begins in one life of a chunk and ends in a later
 * one, or in one that is half filled. On the same host a READ is over before that, but takes long enough for a writer that nobody
 * stops to overtake it. Under pressure a further writer fills the memory, so that items are evicted, and lets pages change their class.
 */
final class FreshnessRace {
    private static final int SMALL_KEYS = 3;
    private static final int LARGE_KEY = SMALL_KEYS;
    private static final int SMALL_CLIENTS = 7;
    private static final int LARGE_CLIENTS = 1;
    private static final StoreCall GET = StoreCall.get();
    private static final int[] SMALL_LENGTHS = {8, 64, 1000, 8000};
    private static final int LARGE_LENGTH = 1_000_000;
    private static final int LARGE_SPREAD = 10_000;
    private static final int LARGE_WINDOW = 16;

    /** Pages of two megabytes: one for each small length and one for each of three large values. */
    private static final long MEMORY = ((SMALL_LENGTHS.length + 3) * 2L) << 20;

    /**
     * Steps of the writer while READs wait. With three chunks, the first takes it from between two versions to the middle of
     * one in the chunk that they began in, the next ones from there to there again, and the last to the end of one.
     */
    private static final int[] LARGE_STEPS = {5, 4, 4, 5};

    private static final int ENOUGH_TORN = 5;
    private static final int MOVE_EVERY = 20;
    private static final int MOST_CLASSES = 45;
    private static final int MAX_ITEM_LENGTH = 2 << 20;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(40);

    /** A round has a server and a history of its own; a long race is many of them, so that no history grows long. */
    private static final long ROUND_NS = TimeUnit.SECONDS.toNanos(5);

    private final Semaphore largeSteps = new Semaphore(0);
    private final AtomicLong largeStepsTaken = new AtomicLong();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final LongAdder written = new LongAdder();
    private final LongAdder hits = new LongAdder();
    private final LongAdder dead = new LongAdder();
    private final LongAdder torn = new LongAdder();
    private volatile long pagesMoved;
    private final Registration registration;
    private final boolean memoryIsShort;
    private final MemorySource memory;
    private volatile boolean hasCas;
    private final long seed = Long.getLong("softrdma.seed", 4711);
    private final long durationNs = TimeUnit.SECONDS.toNanos(Integer.getInteger("softrdma.race.seconds", 2));

    private FreshnessRace(Registration registration, boolean memoryIsShort, MemorySource memory) {
        this.registration = registration;
        this.memoryIsShort = memoryIsShort;
        this.memory = memory;
    }

    /** Clients ask over TCP. */
    static FreshnessRace overTcp(Registration registration, boolean memoryIsShort) {
        return new FreshnessRace(registration, memoryIsShort, new MemorySource.Anonymous());
    }

    /** Clients copy items out of the server's memory themselves. */
    static FreshnessRace onSameHost(Registration registration, boolean memoryIsShort) {
        return new FreshnessRace(registration, memoryIsShort, new MemorySource.Shareable());
    }

    private boolean isOnSameHost() {
        return memory instanceof MemorySource.Shareable;
    }

    /** Races, and fails if a history has no order. */
    void run() throws Exception {
        for (long leftNs = durationNs; leftNs > 0; leftNs -= ROUND_NS) {
            HistoryRecorder<StoreCall, StoreAnswer> history = new HistoryRecorder<>(System::nanoTime);
            runRound(history, System.nanoTime() + Math.min(leftNs, ROUND_NS));
            HistoryVerdict<StoreCall, StoreAnswer> verdict = new HistoryChecker<>(
                            memoryIsShort ? StoreModel.losing() : StoreModel.keeping())
                    .check(history.operations());
            assertTrue(verdict.isLinearizable(), () -> verdict + "\n" + figures() + ", softrdma.seed=" + seed);
        }
    }

    private void runRound(HistoryRecorder<StoreCall, StoreAnswer> history, long endNs) throws Exception {
        stop.set(false);
        largeSteps.drainPermits();
        largeStepsTaken.set(0);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (RunningServer running =
                new RunningServer(context -> context.items(items -> items.registration(registration)
                        .memoryLimit(MEMORY)
                        .maxItemLength(MAX_ITEM_LENGTH)
                        .memory(memory)))) {
            takePages(running);
            hasCas = knowsCas(running);
            List<Future<?>> results = new ArrayList<>();
            for (int key = 0; key <= LARGE_KEY; key++) {
                Writer writer = new Writer(running, history.process("writer of " + name(key)), key, endNs);
                results.add(threads.submit(stopping(writer::run)));
            }
            for (int client = 0; client < SMALL_CLIENTS; client++) {
                int number = client;
                ProcessRecorder<StoreCall, StoreAnswer> recorder = history.process("client " + number);
                results.add(threads.submit(stopping(() -> readSmall(running, recorder, number, endNs))));
            }
            for (int client = 0; client < LARGE_CLIENTS; client++) {
                ProcessRecorder<StoreCall, StoreAnswer> recorder = history.process("large client " + client);
                results.add(threads.submit(stopping(() -> readLarge(running, recorder, endNs))));
            }
            if (memoryIsShort) {
                results.add(threads.submit(stopping(() -> fill(running, endNs))));
            }
            for (Future<?> result : results) {
                result.get();
            }
            assertTrue(isRace(), () -> "the race was none: " + figures());
            assertEquals(0, running.deviceCounter("accessErrors"));
            assertEquals(isOnSameHost(), running.deviceCounter("sameHostResponderReads") > 0, "how items were read");
        } catch (ExecutionException e) {
            throw new AssertionError(e.getMessage() + "; " + figures() + ", softrdma.seed=" + seed, e);
        } finally {
            stop.set(true);
            threads.shutdown();
            assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
        }
    }

    /** Each small length has its page before the large ones can take it. */
    private static void takePages(RunningServer running) throws IOException {
        try (RawMemcached memcached = new RawMemcached(running.address())) {
            for (int length : SMALL_LENGTHS) {
                memcached.send("set page" + length + " 0 0 " + length + "\r\n");
                memcached.send(new byte[length]);
                memcached.send("\r\n");
                assertEquals("STORED", memcached.readLine());
            }
        }
    }

    /** A server that does not know cas is raced for without it. */
    private static boolean knowsCas(RunningServer running) throws IOException {
        try (RawMemcached memcached = new RawMemcached(running.address())) {
            memcached.send("cas none 0 0 1 1\r\n1\r\n");
            return memcached.readLine().equals("NOT_FOUND");
        }
    }

    private interface Racer {
        void run() throws Exception;
    }

    /** Whoever fails ends the race. */
    private Callable<Void> stopping(Racer racer) {
        return () -> {
            try {
                racer.run();
                return null;
            } catch (Throwable e) {
                stop.set(true);
                throw e;
            }
        };
    }

    /** The only writer of a key. One thread. */
    private final class Writer {
        private final RunningServer running;
        private final ProcessRecorder<StoreCall, StoreAnswer> recorder;
        private final int key;
        private final long endNs;
        private final Random random;

        private Writer(RunningServer running, ProcessRecorder<StoreCall, StoreAnswer> recorder, int key, long endNs) {
            this.running = running;
            this.recorder = recorder;
            this.key = key;
            this.endNs = endNs;
            random = new Random(seed + key);
        }

        private void run() throws IOException, InterruptedException {
            try (RawMemcached memcached = new RawMemcached(running.address())) {
                for (long version = 1; goesOn(endNs); version++) {
                    awaitStep(key, endNs);
                    if (!RacedValue.isRemoval(version)) {
                        store(memcached, version);
                    } else if (version / RacedValue.REMOVE_EVERY % 2 == 0) {
                        delete(memcached);
                    } else {
                        set(memcached, StoreCall.set(version), -1, "");
                    }
                    written.increment();
                    endStep(key);
                }
            }
        }

        private void delete(RawMemcached memcached) throws IOException {
            int ticket = recorder.invoke(name(key), StoreCall.delete());
            memcached.send("delete " + name(key) + "\r\n");
            String answer = memcached.readLine();
            recorder.returned(ticket, answer.equals("DELETED") ? StoreAnswer.DONE : StoreAnswer.MISSING);
        }

        /** Stores a version; if there is no memory for it the key is gone, and the next version comes at once. */
        private void store(RawMemcached memcached, long version) throws IOException, InterruptedException {
            if (version % 3 != 0 || !hasCas) {
                set(memcached, StoreCall.set(version), random.nextInt(4) == 0 ? 1000 : 0, "");
                return;
            }
            int ticket = recorder.invoke(name(key), GET);
            memcached.send("gets " + name(key) + "\r\n");
            String[] words = memcached.readLine().split(" ", -1);
            if (words[0].equals("VALUE")) {
                int length = Integer.parseInt(words[3]);
                long present = RacedValue.version(key, memcached.read(length).getBytes(StandardCharsets.ISO_8859_1));
                assertEquals("\r\nEND\r\n", memcached.read("\r\nEND\r\n".length()));
                recorder.returned(ticket, StoreAnswer.value(present));
                set(memcached, StoreCall.cas(present, version), 0, " " + words[4]);
            } else {
                recorder.returned(ticket, StoreAnswer.MISSING);
                set(memcached, StoreCall.set(version), 0, "");
            }
        }

        private void set(RawMemcached memcached, StoreCall call, int exptime, String cas)
                throws IOException, InterruptedException {
            long version = call.value();
            int length = key == LARGE_KEY
                    ? LARGE_LENGTH + Long.BYTES * (int) (version % (LARGE_SPREAD / Long.BYTES))
                    : SMALL_LENGTHS[(int) (version % SMALL_LENGTHS.length)];
            String command = cas.isEmpty() ? "set " : "cas ";
            byte[] value = RacedValue.of(key, version, length);
            int ticket = recorder.invoke(name(key), call);
            memcached.send(command + name(key) + " 0 " + exptime + " " + length + cas + "\r\n");
            memcached.send(Arrays.copyOf(value, length / 2));
            endStep(key);
            awaitStep(key, endNs);
            memcached.send(Arrays.copyOfRange(value, length / 2, length));
            memcached.send("\r\n");
            String answer = memcached.readLine();
            boolean evicted = memoryIsShort && answer.equals("NOT_FOUND"); // what was to be compared
            boolean noMemory = answer.equals("SERVER_ERROR out of memory storing object");
            assertTrue(answer.equals("STORED") || noMemory || evicted, () -> command + name(key) + ": " + answer);
            StoreAnswer stored = exptime < 0 || noMemory ? StoreAnswer.GONE : StoreAnswer.DONE;
            recorder.returned(ticket, evicted ? StoreAnswer.MISSING : stored);
        }
    }

    /** The writer of the large key takes half a version per step, and each step when its client lets it. */
    private void awaitStep(int key, long endNs) throws InterruptedException {
        boolean may = key != LARGE_KEY || isOnSameHost();
        while (!may && goesOn(endNs)) {
            may = largeSteps.tryAcquire(10, TimeUnit.MILLISECONDS);
        }
    }

    private void endStep(int key) {
        if (key == LARGE_KEY) {
            largeStepsTaken.incrementAndGet();
        }
    }

    private void readSmall(
            RunningServer running, ProcessRecorder<StoreCall, StoreAnswer> recorder, int number, long endNs) {
        Random random = new Random(seed - number - 1);
        KvClientContext context = context(running).conclude();
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                KvClient client = KvClient.connect(device, context)) {
            long[] counted = new long[3];
            while (goesOn(endNs)) {
                int key = random.nextInt(SMALL_KEYS);
                get(client, recorder, key);
                count(client.counters(), counted);
            }
        }
    }

    /** Posts READs of the large key, lets the writer take some steps, then takes what comes. */
    private void readLarge(RunningServer running, ProcessRecorder<StoreCall, StoreAnswer> recorder, long endNs) {
        KvClientContext context = context(running).window(LARGE_WINDOW).conclude();
        byte[] key = name(LARGE_KEY).getBytes(StandardCharsets.US_ASCII);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                CompletionLoop loop = new CompletionLoop(device, 1, LARGE_WINDOW);
                KvClient client = new KvClient(loop, context)) {
            long[] counted = new long[3];
            int[] tickets = new int[LARGE_WINDOW];
            int round = 0;
            long steps = 0;
            while (goesOn(endNs)) {
                get(client, recorder, LARGE_KEY);
                for (int i = 0; i < LARGE_WINDOW; i++) {
                    tickets[i] = recorder.invoke(name(LARGE_KEY), GET);
                    client.start(key, i);
                }
                if (!isOnSameHost()) {
                    take(loop, client, recorder, tickets, 1);
                    int more = LARGE_STEPS[round++ % LARGE_STEPS.length];
                    steps += more;
                    largeSteps.release(more);
                    while (goesOn(endNs) && largeStepsTaken.get() < steps) {
                        Thread.yield();
                    }
                }
                take(loop, client, recorder, tickets, LARGE_WINDOW);
                count(client.counters(), counted);
            }
        }
    }

    /** Takes so many READs of the large key, or all that are left. One that says nothing of the key is forgotten. */
    private void take(
            CompletionLoop loop,
            KvClient client,
            ProcessRecorder<StoreCall, StoreAnswer> recorder,
            int[] tickets,
            int count) {
        int taken = 0;
        while (taken < count && client.outstanding() > 0) {
            loop.await(TimeUnit.MILLISECONDS.toNanos(10));
            taken += client.deliver((tag, outcome, item) -> {
                int ticket = tickets[(int) tag];
                if (outcome == ReadOutcome.HIT) {
                    recorder.returned(ticket, answer(LARGE_KEY, item.copy().value()));
                } else {
                    recorder.forget(ticket);
                }
            });
        }
    }

    private static void get(KvClient client, ProcessRecorder<StoreCall, StoreAnswer> recorder, int key) {
        int ticket = recorder.invoke(name(key), GET);
        Optional<KvItem> item = client.get(name(key).getBytes(StandardCharsets.US_ASCII));
        recorder.returned(ticket, item.map(found -> answer(key, found.value())).orElse(StoreAnswer.MISSING));
    }

    private static StoreAnswer answer(int key, byte[] value) {
        return StoreAnswer.value(RacedValue.version(key, value));
    }

    /** Stores other items of all sizes until the memory is full, deletes some, moves pages, and goes on. */
    private void fill(RunningServer running, long endNs) throws IOException {
        Random random = new Random(seed ^ 0xF111);
        try (RawMemcached memcached = new RawMemcached(running.address())) {
            while (goesOn(endNs)) {
                String name = "other" + random.nextInt(4000);
                if (random.nextInt(MOVE_EVERY) == 0) {
                    pagesMoved = pagesMoved(memcached);
                    memcached.send("slabs reassign -1 " + (1 + random.nextInt(MOST_CLASSES)) + "\r\n");
                } else if (random.nextInt(3) == 0) {
                    memcached.send("delete " + name + "\r\n");
                } else {
                    int length = random.nextInt(20) == 0
                            ? LARGE_LENGTH
                            : SMALL_LENGTHS[random.nextInt(SMALL_LENGTHS.length)];
                    memcached.send("set " + name + " 0 0 " + length + "\r\n");
                    memcached.send(new byte[length]);
                    memcached.send("\r\n");
                }
                memcached.readLine();
            }
        }
    }

    private static long pagesMoved(RawMemcached memcached) throws IOException {
        memcached.send("stats\r\n");
        long moved = 0;
        for (String line = memcached.readLine(); !line.equals("END"); line = memcached.readLine()) {
            if (line.startsWith("STAT slabs_moved ")) {
                moved = Long.parseLong(line.substring("STAT slabs_moved ".length()));
            }
        }
        return moved;
    }

    private static KvClientContext context(RunningServer running) {
        return new KvClientContext(running.address()).maxItemLength(MAX_ITEM_LENGTH);
    }

    private static String name(int key) {
        return "key" + key;
    }

    private void count(KvClientCounters counters, long[] counted) {
        long[] now = {
            counters.hits(),
            counters.stale() + counters.forwarded() + counters.torn() + counters.keyMismatches(),
            counters.torn()
        };
        hits.add(now[0] - counted[0]);
        dead.add(now[1] - counted[1]);
        torn.add(now[2] - counted[2]);
        System.arraycopy(now, 0, counted, 0, now.length);
    }

    /** On a busy machine it may take longer until readers and writers have met. */
    private boolean goesOn(long endNs) {
        long lateNs = System.nanoTime() - endNs;
        return !stop.get() && (lateNs < 0 || (lateNs < PATIENCE_NS && !isRace()));
    }

    /**
     * When memory is short the large key may never be there for long enough to be torn; then pages have moved. On the same host a
     * writer has to overtake a copy, which it rarely does on a busy machine.
     */
    private boolean isRace() {
        return written.sum() > 100
                && hits.sum() > 100
                && dead.sum() > 10
                && (memoryIsShort ? pagesMoved > 0 : torn.sum() >= (isOnSameHost() ? 1 : ENOUGH_TORN));
    }

    private String figures() {
        return written + " written, " + hits + " hits, " + dead + " dead, " + torn + " of them torn, " + pagesMoved
                + " pages moved";
    }
}
