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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvClientCounters;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.server.KvServerContext.Registration;
import org.softrdma.kv.server.RawMemcached;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The guarantee, raced for: no GET that starts after a change was acknowledged returns an older state. One writer per key
 * sets it, by {@code set} and {@code cas}, lets it expire and deletes it; eight clients GET the same few keys by READ and
 * over TCP; {@link History} says what they may get.
 *
 * <p>Small keys are raced for by clients that ask one at a time. The large key has values of one size class and memory for
 * three of them, so that chunks are used again at once. Its client posts many READs, takes the first and then no bytes until
 * it has let the writer take some steps: half a value each, so that a READ begins in one life of a chunk and ends in a later
 * one, or in one that is half filled. Under pressure a further writer fills the memory, so that items are evicted.
 */
class FreshnessUnderRacesTest {
    private static final int SMALL_KEYS = 3;
    private static final int LARGE_KEY = SMALL_KEYS;
    private static final int SMALL_CLIENTS = 7;
    private static final int LARGE_CLIENTS = 1;
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
    private static final int MAX_ITEM_LENGTH = 2 << 20;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(40);

    private final Semaphore largeSteps = new Semaphore(0);
    private final AtomicLong largeStepsTaken = new AtomicLong();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final LongAdder written = new LongAdder();
    private final LongAdder hits = new LongAdder();
    private final LongAdder dead = new LongAdder();
    private final LongAdder torn = new LongAdder();
    private volatile boolean memoryIsShort;
    private volatile boolean hasCas;
    private final long seed = Long.getLong("softrdma.seed", 4711);
    private final long fastNs = TimeUnit.SECONDS.toNanos(Integer.getInteger("softrdma.race.seconds", 2));
    private final long slowNs = TimeUnit.SECONDS.toNanos(Boolean.getBoolean("softrdma.slow.short") ? 10 : 60);

    @ParameterizedTest
    @EnumSource
    void shouldNeverReturnAnOlderState(Registration registration) throws Exception {
        race(registration, fastNs, false);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNeverReturnAnOlderStateWhenMemoryIsShort(Registration registration) throws Exception {
        race(registration, fastNs, true);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldNeverReturnAnOlderStateForLong(Registration registration) throws Exception {
        race(registration, slowNs, false);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldNeverReturnAnOlderStateWhenMemoryIsShortForLong(Registration registration) throws Exception {
        race(registration, slowNs, true);
    }

    private void race(Registration registration, long durationNs, boolean pressure) throws Exception {
        memoryIsShort = pressure;
        History history = new History(SMALL_KEYS + 1, pressure);
        long endNs = System.nanoTime() + durationNs;
        ExecutorService threads = Executors.newCachedThreadPool();
        try (RunningServer running = new RunningServer(context ->
                context.registration(registration).memoryLimit(MEMORY).maxItemLength(MAX_ITEM_LENGTH))) {
            takePages(running);
            hasCas = knowsCas(running);
            List<Future<?>> results = new ArrayList<>();
            for (int key = 0; key < history.keys(); key++) {
                int written = key;
                results.add(threads.submit(stopping(() -> write(running, history, written, endNs))));
            }
            for (int client = 0; client < SMALL_CLIENTS; client++) {
                int number = client;
                results.add(threads.submit(stopping(() -> readSmall(running, history, number, endNs))));
            }
            for (int client = 0; client < LARGE_CLIENTS; client++) {
                results.add(threads.submit(stopping(() -> readLarge(running, history, endNs))));
            }
            if (pressure) {
                results.add(threads.submit(stopping(() -> fill(running, endNs))));
            }
            for (Future<?> result : results) {
                result.get();
            }
            assertTrue(isRace(), () -> "the race was none: " + figures());
            assertEquals(0, running.deviceCounter("accessErrors"));
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

    private void write(RunningServer running, History history, int key, long endNs)
            throws IOException, InterruptedException {
        Random random = new Random(seed + key);
        try (RawMemcached memcached = new RawMemcached(running.address())) {
            while (goesOn(endNs)) {
                awaitStep(key, endNs);
                long version = history.begin(key);
                if (!History.isRemoval(version)) {
                    store(memcached, key, version, random, endNs);
                } else if (version / History.REMOVE_EVERY % 2 == 0) {
                    memcached.send("delete " + name(key) + "\r\n");
                    memcached.readLine();
                } else {
                    set(memcached, key, version, -1, "", endNs);
                }
                history.acknowledge(key, version);
                written.increment();
                endStep(key);
            }
        }
    }

    /** Stores a version; if there is no memory for it the key is gone, and the next version comes at once. */
    private void store(RawMemcached memcached, int key, long version, Random random, long endNs)
            throws IOException, InterruptedException {
        if (version % 3 != 0 || !hasCas) {
            set(memcached, key, version, random.nextInt(4) == 0 ? 1000 : 0, "", endNs);
            return;
        }
        memcached.send("gets " + name(key) + "\r\n");
        String[] words = memcached.readLine().split(" ", -1);
        if (words[0].equals("VALUE")) {
            int rest = Integer.parseInt(words[3]) + "\r\nEND\r\n".length();
            assertEquals(rest, memcached.read(rest).length());
            set(memcached, key, version, 0, " " + words[4], endNs);
        } else {
            set(memcached, key, version, 0, "", endNs);
        }
    }

    private void set(RawMemcached memcached, int key, long version, int exptime, String cas, long endNs)
            throws IOException, InterruptedException {
        int length = key == LARGE_KEY
                ? LARGE_LENGTH + Long.BYTES * (int) (version % (LARGE_SPREAD / Long.BYTES))
                : SMALL_LENGTHS[(int) (version % SMALL_LENGTHS.length)];
        String command = cas.isEmpty() ? "set " : "cas ";
        memcached.send(command + name(key) + " 0 " + exptime + " " + length + cas + "\r\n");
        byte[] value = History.value(key, version, length);
        memcached.send(Arrays.copyOf(value, length / 2));
        endStep(key);
        awaitStep(key, endNs);
        memcached.send(Arrays.copyOfRange(value, length / 2, length));
        memcached.send("\r\n");
        String answer = memcached.readLine();
        boolean noMemory = answer.equals("SERVER_ERROR out of memory storing object")
                || (memoryIsShort && answer.equals("NOT_FOUND")); // what was to be compared has been evicted
        assertTrue(answer.equals("STORED") || noMemory, () -> command + name(key) + ": " + answer);
    }

    /** The writer of the large key takes half a version per step, and each step when its client lets it. */
    private void awaitStep(int key, long endNs) throws InterruptedException {
        boolean may = key != LARGE_KEY;
        while (!may && goesOn(endNs)) {
            may = largeSteps.tryAcquire(10, TimeUnit.MILLISECONDS);
        }
    }

    private void endStep(int key) {
        if (key == LARGE_KEY) {
            largeStepsTaken.incrementAndGet();
        }
    }

    private void readSmall(RunningServer running, History history, int number, long endNs) {
        Random random = new Random(seed - number - 1);
        KvClientContext context = context(running).conclude();
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                KvClient client = KvClient.connect(device, context)) {
            long[] counted = new long[3];
            while (goesOn(endNs)) {
                int key = random.nextInt(SMALL_KEYS);
                get(client, history, key);
                count(client.counters(), counted);
            }
        }
    }

    /** Posts READs of the large key, lets the writer take some steps, then takes what comes. */
    private void readLarge(RunningServer running, History history, long endNs) {
        KvClientContext context = context(running).window(LARGE_WINDOW).conclude();
        byte[] key = name(LARGE_KEY).getBytes(StandardCharsets.US_ASCII);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                CompletionLoop loop = new CompletionLoop(device, 1, LARGE_WINDOW);
                KvClient client = new KvClient(loop, context)) {
            long[] counted = new long[3];
            long[] oldest = new long[LARGE_WINDOW];
            int round = 0;
            long steps = 0;
            while (goesOn(endNs)) {
                get(client, history, LARGE_KEY);
                for (int i = 0; i < LARGE_WINDOW; i++) {
                    oldest[i] = history.oldest(LARGE_KEY);
                    client.start(key, i);
                }
                take(loop, client, history, oldest, 1);
                int more = LARGE_STEPS[round++ % LARGE_STEPS.length];
                steps += more;
                largeSteps.release(more);
                while (goesOn(endNs) && largeStepsTaken.get() < steps) {
                    Thread.yield();
                }
                take(loop, client, history, oldest, LARGE_WINDOW);
                count(client.counters(), counted);
            }
        }
    }

    /** Takes so many READs of the large key, or all that are left. */
    private void take(CompletionLoop loop, KvClient client, History history, long[] oldest, int count) {
        int taken = 0;
        while (taken < count && client.outstanding() > 0) {
            loop.await(TimeUnit.MILLISECONDS.toNanos(10));
            taken += client.deliver((tag, outcome, item) -> {
                if (outcome == ReadOutcome.HIT) {
                    history.check(LARGE_KEY, oldest[(int) tag], item.copy().value());
                }
            });
        }
    }

    private void get(KvClient client, History history, int key) {
        long oldest = history.oldest(key);
        Optional<KvItem> item = client.get(name(key).getBytes(StandardCharsets.US_ASCII));
        history.check(key, oldest, item.map(KvItem::value).orElse(null));
    }

    /** Stores other items of all sizes until the memory is full, deletes some, and goes on. */
    private void fill(RunningServer running, long endNs) throws IOException {
        Random random = new Random(seed ^ 0xF111);
        try (RawMemcached memcached = new RawMemcached(running.address())) {
            while (goesOn(endNs)) {
                String name = "other" + random.nextInt(4000);
                if (random.nextInt(3) == 0) {
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

    /** When memory is short the large key may never be there for long enough to be torn. */
    private boolean isRace() {
        return written.sum() > 100
                && hits.sum() > 100
                && dead.sum() > 10
                && (memoryIsShort || torn.sum() >= ENOUGH_TORN);
    }

    private String figures() {
        return written + " written, " + hits + " hits, " + dead + " dead, " + torn + " of them torn";
    }
}
