package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The two atomics of RFC 7306 against its pseudocode, and against threads that change the word too. */
class AtomicOperationsTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 7_306L);
    private static final int ROUNDS = 20_000;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final MemoryOperations memory = new MemoryOperations();
    private final MemorySegment word = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

    private long word() {
        return (long) WORD.getVolatile(word, 0L);
    }

    private void set(long value) {
        WORD.setVolatile(word, 0L, value);
    }

    /** Section 5.1.1, bit by bit. */
    private static long sum(long original, long data, long mask) {
        long result = 0;
        long carry = 0;
        for (int bit = 0; bit < Long.SIZE; bit++) {
            long here = 1L << bit;
            long sum = carry + (original >>> bit & 1) + (data >>> bit & 1);
            result |= (sum & 1) << bit;
            carry = (mask & here) == 0 ? sum >>> 1 : 0;
        }
        return result;
    }

    /** All ones and all zeros are as likely as anything. */
    private static long draw(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> 1L << random.nextInt(Long.SIZE);
            default -> random.nextLong();
        };
    }

    @Test
    void shouldAddAsThePseudocodeDoes() {
        Random random = new Random(SEED);
        for (int i = 0; i < ROUNDS; i++) {
            long original = draw(random);
            long data = draw(random);
            long mask = draw(random);
            set(original);
            assertEquals(original, memory.fetchAndAdd(word.address(), data, mask));
            assertEquals(sum(original, data, mask), word(), "round " + i + ", seed " + SEED);
        }
    }

    @Test
    void shouldCompareAndSwapAsThePseudocodeDoes() {
        Random random = new Random(SEED);
        int swapped = 0;
        for (int i = 0; i < ROUNDS; i++) {
            long original = draw(random);
            long few = draw(random);
            long compared = few & draw(random);
            long expected = random.nextBoolean() ? original ^ (random.nextLong() & ~compared) : draw(random);
            long replacement = draw(random);
            long replaced = draw(random);
            set(original);
            assertEquals(original, memory.compareAndSwap(word.address(), expected, compared, replacement, replaced));
            boolean equal = ((expected ^ original) & compared) == 0;
            assertEquals(
                    equal ? (original & ~replaced) | (replacement & replaced) : original,
                    word(),
                    "round " + i + ", seed " + SEED);
            swapped += equal ? 1 : 0;
        }
        assertEquals(ROUNDS * 3 / 4, swapped, ROUNDS / 4.0);
    }

    @Test
    void shouldLoseNoAdditionOfAnyThread() throws Exception {
        set(0);
        int each = 300_000;
        CountDownLatch begun = new CountDownLatch(2);
        Thread other = Thread.ofPlatform().start(() -> {
            begun.countDown();
            awaitAll(begun);
            for (int i = 0; i < each; i++) {
                long ignored = (long) WORD.getAndAdd(word, 0L, 1L << Integer.SIZE);
            }
        });
        begun.countDown();
        awaitAll(begun);
        for (int i = 0; i < each; i++) {
            long before = memory.fetchAndAdd(word.address(), 1, 0);
            assertEquals(i, (int) before, "its own additions, each seen once");
        }
        other.join();
        assertEquals((long) each << Integer.SIZE | each, word());
    }

    private static void awaitAll(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            Thread.onSpinWait();
        }
    }
}
