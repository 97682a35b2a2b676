package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/** A completion queue gets another size while completions are in it. */
class ResizedCompletionQueueTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 20_261_123L);
    private static final int DEADLINE_S = 60;

    private final SoftCompletionQueue queue = new SoftCompletionQueue(4, new StillProgress(), null, () -> {});
    private final RecordingSource source = new RecordingSource(1);

    private static void push(SoftCompletionQueue queue, CompletionSource source, long wrId) {
        queue.push(source, wrId, CompletionStatus.SUCCESS, CompletionOpcode.READ, 10 * wrId, 0, wrId + 1, false);
    }

    /** Pushes some, from a number on. */
    private void push(int from, int to) {
        for (int wrId = from; wrId < to; wrId++) {
            push(queue, source, wrId);
        }
    }

    private static List<String> reads(int from, int to) {
        List<String> all = new ArrayList<>();
        for (int wrId = from; wrId < to; wrId++) {
            all.add(wrId + " READ " + 10 * wrId);
        }
        return all;
    }

    private void poll(int count) {
        assertEquals(count, queue.poll(WorkCompletion.array(count)));
    }

    @Test
    void shouldKeepWhatIsInTheQueueInOrderWhereverItBegins() {
        for (int begin = 0; begin < 9; begin++) {
            SoftCompletionQueueAt at = new SoftCompletionQueueAt(begin);
            at.resized.resize(8);
            assertEquals(8, at.resized.entries());
            for (int wrId = begin + 4; wrId < begin + 8; wrId++) {
                push(at.resized, source, wrId);
            }
            assertEquals(reads(begin, begin + 8), Completions.drain(at.resized), "begun at " + begin);
        }
    }

    /** A full queue of four whose oldest completion is that of a sequence. */
    private final class SoftCompletionQueueAt {
        private final SoftCompletionQueue resized = new SoftCompletionQueue(4, new StillProgress(), null, () -> {});

        SoftCompletionQueueAt(int begin) {
            for (int wrId = 0; wrId < begin + 4; wrId++) {
                push(resized, source, wrId);
                if (wrId < begin) {
                    assertEquals(1, resized.poll(WorkCompletion.array(1)));
                }
            }
        }
    }

    @Test
    void shouldBecomeSmallerIfThereIsRoomAndStayAsItWasIfNot() {
        queue.resize(16);
        push(0, 5);
        VerbsException refused = assertThrows(VerbsException.class, () -> queue.resize(4));
        assertEquals(VerbsErrorCode.INVALID, refused.code());
        assertEquals(16, queue.entries());
        poll(1);
        queue.resize(3);
        assertEquals(4, queue.entries());
        assertEquals(reads(1, 5), Completions.drain(queue));
        push(5, 9);
        assertThrows(IllegalArgumentException.class, () -> queue.resize(0));
        assertThrows(IllegalArgumentException.class, () -> queue.resize(SoftCompletionQueue.MAX_ENTRIES + 1));
        assertEquals(reads(5, 9), Completions.drain(queue));
    }

    @Test
    void shouldReleaseTheSlotsOfWhatWasMoved() {
        push(0, 3);
        queue.resize(64);
        poll(3);
        assertEquals(List.of(1L, 2L, 3L), source.released());
    }

    @Test
    void shouldForgetAQueuePairAfterwards() {
        RecordingSource gone = new RecordingSource(2);
        queue.attach(gone);
        queue.attach(source);
        push(0, 1);
        push(queue, gone, 1);
        push(2, 3);
        queue.resize(1024);
        queue.resize(3);
        queue.detach(gone);
        assertEquals(List.of("0 READ 0", "2 READ 20"), Completions.drain(queue));
    }

    @Test
    void shouldRefuseOnceItIsClosed() {
        queue.close();
        assertThrows(IllegalStateException.class, () -> queue.resize(8));
    }

    /** Two engines push, two threads poll, one resizes: each completion comes once, and those of an engine in order. */
    @Test
    void shouldLoseNothingWhileOthersPushAndPoll() throws Exception {
        int each = 20_000;
        SoftCompletionQueue busy = new SoftCompletionQueue(64, new ThreadedProgress(), null, () -> {});
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger polled = new AtomicInteger();
        List<CompletableFuture<?>> threads = new ArrayList<>();
        for (int engine = 0; engine < 2; engine++) {
            long base = (long) engine << Integer.SIZE;
            threads.add(run(() -> {
                for (int i = 0; i < each; i++) {
                    while (inside.incrementAndGet() > 32) {
                        inside.decrementAndGet();
                        Thread.onSpinWait();
                    }
                    push(busy, source, base + i);
                }
            }));
        }
        long[][] seen = new long[2][];
        for (int poller = 0; poller < 2; poller++) {
            long[] mine = new long[2 * each];
            seen[poller] = mine;
            threads.add(run(() -> pollAll(busy, mine, inside, polled, 2 * each)));
        }
        Random random = new Random(SEED);
        int resizes = 0;
        while (polled.get() < 2 * each) {
            busy.resize(64 << random.nextInt(6));
            resizes++;
        }
        for (CompletableFuture<?> thread : threads) {
            thread.get(DEADLINE_S, TimeUnit.SECONDS);
        }
        assertTrue(resizes > 0);
        check(seen, each);
    }

    private static CompletableFuture<?> run(Runnable body) {
        return CompletableFuture.runAsync(
                body, task -> Thread.ofPlatform().daemon().start(task));
    }

    /** Remembers what it has polled, from 1, in the order in which it came. */
    private static void pollAll(
            SoftCompletionQueue queue, long[] mine, AtomicInteger inside, AtomicInteger polled, int all) {
        WorkCompletion[] some = WorkCompletion.array(8);
        int count = 0;
        while (polled.get() < all) {
            int got = queue.poll(some);
            for (int i = 0; i < got; i++) {
                assertEquals(10 * some[i].wrId(), some[i].byteLength());
                mine[count++] = some[i].wrId() + 1;
            }
            inside.addAndGet(-got);
            polled.addAndGet(got);
        }
    }

    private static void check(long[][] seen, int each) {
        for (long[] mine : seen) {
            long[] last = new long[2];
            for (long one : Arrays.stream(mine).filter(wrId -> wrId > 0).toArray()) {
                int engine = (int) (one >>> Integer.SIZE);
                assertTrue(one > last[engine], "seed " + SEED + ": out of order");
                last[engine] = one;
            }
        }
        long[] all = Arrays.stream(seen)
                .flatMapToLong(Arrays::stream)
                .filter(wrId -> wrId > 0)
                .sorted()
                .toArray();
        assertEquals(2 * each, all.length, "seed " + SEED);
        for (int i = 0; i < all.length; i++) {
            assertEquals(i < each ? i + 1 : (1L << Integer.SIZE) + i - each + 1, all[i], "seed " + SEED);
        }
    }
}
