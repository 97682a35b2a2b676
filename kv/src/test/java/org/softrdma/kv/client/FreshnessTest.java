package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.VerbsDevice;

/**
 * The guarantee: no GET that starts after a set or delete was acknowledged returns an older state. One writer per key sets
 * and deletes it with growing version numbers; readers get it by READ and over TCP at the same time. A reader notes the last
 * acknowledged version before it asks and the last begun one after it was answered: its answer lies between them, and no
 * reader ever goes back. Values repeat their version in every eight bytes, so that a torn one shows.
 */
class FreshnessTest {
    private static final int KEYS = 3;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(40);
    private static final int DELETE_EVERY = 7;
    private static final int[] LENGTHS = {8, 64, 1000, 8000, 40_000};

    private final AtomicLongArray begun = new AtomicLongArray(KEYS);
    private final AtomicLongArray acknowledged = new AtomicLongArray(KEYS);
    private final AtomicBoolean stop = new AtomicBoolean();
    private final LongAdder written = new LongAdder();
    private final LongAdder hits = new LongAdder();
    private final LongAdder dead = new LongAdder();
    private final long seed = Long.getLong("softrdma.seed", System.nanoTime());

    @Test
    void shouldNeverReturnAnOlderState() throws Exception {
        race(TimeUnit.SECONDS.toNanos(2));
    }

    @Test
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldNeverReturnAnOlderStateForLong() throws Exception {
        race(TimeUnit.SECONDS.toNanos(Boolean.getBoolean("softrdma.slow.short") ? 20 : 120));
    }

    private void race(long durationNs) throws Exception {
        long endNs = System.nanoTime() + durationNs;
        long lastNs = endNs + PATIENCE_NS;
        ExecutorService threads = Executors.newCachedThreadPool();
        try (RunningServer running = new RunningServer(context -> context.memoryLimit(32L << 20))) {
            List<Future<?>> results = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                results.add(threads.submit(writer(running, key, endNs, lastNs)));
            }
            for (int reader = 0; reader < 3; reader++) {
                results.add(threads.submit(reader(running, reader, endNs, lastNs)));
            }
            for (Future<?> result : results) {
                result.get();
            }
            assertTrue(isRace(), "the race was none: " + written + " written, " + hits + " read, " + dead + " dead");
            assertEquals(0, running.deviceCounter("accessErrors"));
        } finally {
            stop.set(true);
            threads.shutdown();
            assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
        }
    }

    private Callable<Void> writer(RunningServer running, int key, long endNs, long lastNs) {
        return () -> {
            Random random = new Random(seed + key);
            try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                    KvClient client = KvClient.connect(device, context(running))) {
                long version = 0;
                while (goesOn(endNs, lastNs)) {
                    begun.set(key, ++version);
                    if (version % DELETE_EVERY == 0) {
                        client.delete(keyBytes(key));
                    } else {
                        byte[] value = value(version, LENGTHS[random.nextInt(LENGTHS.length)]);
                        assertEquals(SetStatus.STORED, client.set(keyBytes(key), 0, 0, value), message());
                    }
                    acknowledged.set(key, version);
                    written.increment();
                }
                return null;
            } catch (Throwable e) {
                stop.set(true);
                throw e;
            }
        };
    }

    private Callable<Void> reader(RunningServer running, int number, long endNs, long lastNs) {
        return () -> {
            Random random = new Random(seed - number - 1);
            long[] newest = new long[KEYS];
            long[] counted = new long[2];
            try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                    KvClient client = KvClient.connect(device, context(running))) {
                while (goesOn(endNs, lastNs)) {
                    int key = random.nextInt(KEYS);
                    long oldest = Math.max(acknowledged.get(key), newest[key]);
                    Optional<KvItem> item = client.get(keyBytes(key));
                    long latest = begun.get(key);
                    newest[key] = Math.max(newest[key], checked(item, oldest, latest));
                    count(client.counters(), counted);
                }
                return null;
            } catch (Throwable e) {
                stop.set(true);
                throw e;
            }
        };
    }

    /** The version that was got, which must lie between these. */
    private long checked(Optional<KvItem> item, long oldest, long latest) {
        if (item.isEmpty()) {
            // Nothing may be got if one of the versions in question is a delete (or the key was never set).
            boolean mayBeGone = oldest == 0 || latest / DELETE_EVERY * DELETE_EVERY >= oldest;
            assertTrue(mayBeGone, "got nothing, expected version " + oldest + " to " + latest + message());
            return oldest;
        }
        ByteBuffer value = ByteBuffer.wrap(item.get().value());
        long version = value.getLong();
        while (value.hasRemaining()) {
            assertEquals(version, value.getLong(), "two versions in one value" + message());
        }
        assertTrue(
                version >= oldest && version <= latest,
                "got version " + version + ", expected " + oldest + " to " + latest + message());
        return version;
    }

    private static byte[] value(long version, int length) {
        ByteBuffer value = ByteBuffer.allocate(length);
        while (value.hasRemaining()) {
            value.putLong(version);
        }
        return value.array();
    }

    private String message() {
        return ", softrdma.seed=" + seed;
    }

    private static KvClientContext context(RunningServer running) {
        return new KvClientContext(running.address()).maxItemLength(65_536).conclude();
    }

    private static byte[] keyBytes(int key) {
        return ("key" + key).getBytes(StandardCharsets.US_ASCII);
    }

    private void count(KvClientCounters counters, long[] counted) {
        hits.add(counters.hits() - counted[0]);
        counted[0] = counters.hits();
        long failed = counters.stale() + counters.forwarded() + counters.torn();
        dead.add(failed - counted[1]);
        counted[1] = failed;
    }

    /** On a busy machine it may take longer until readers and writers have met. */
    private boolean goesOn(long endNs, long lastNs) {
        long nowNs = System.nanoTime();
        return !stop.get() && (nowNs < endNs || (nowNs < lastNs && !isRace()));
    }

    private boolean isRace() {
        return written.sum() > 100 && hits.sum() > 100 && dead.sum() > 10;
    }
}
