package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Regions that share granules are registered and closed while peers READ others, and while threads prefetch and unpin: whatever they
 * meet, when the regions are gone nothing is locked.
 */
class PinningRaceTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 4_711L);
    private static final Set<AccessFlag> ACCESS = Set.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE);
    private static final int GRANULE = 65_536;
    private static final int GRANULES = 24;
    private static final int SLOTS = 12;
    private static final int ROUNDS = 1_500;
    private static final long DEADLINE_SECONDS = 60;
    private static final Set<VerbsErrorCode> GONE =
            Set.of(VerbsErrorCode.NOT_FOUND, VerbsErrorCode.BAD_RANGE, VerbsErrorCode.INVALID);

    @ParameterizedTest
    @ValueSource(strings = {"1", "3"})
    void shouldLeaveNothingLocked(String engines) throws Exception {
        PageLocks locks = KernelPageLocks.find();
        Assumptions.assumeTrue(locks.limitBytes() >= 4L << 20, "this process may lock " + locks.limitBytes());
        long before = PinnedPair.kernelLockedBytes();
        String[] options = {
            "pinning", "lazy", "pin-budget", "" + 6 * GRANULE, "pin-granule", "" + GRANULE, "threads", engines
        };
        try (PinnedPair pair = new PinnedPair(options);
                HostMemory memory = pair.server().device().allocateMemory((long) GRANULES * GRANULE);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            AtomicReferenceArray<MemoryRegion> slots = new AtomicReferenceArray<>(SLOTS);
            MemoryRegion whole = pair.server().domain().register(memory.segment(), ACCESS);
            AtomicBoolean over = new AtomicBoolean();
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Random random = new Random(SEED + i);
                running.add(threads.submit(repeat(over, () -> churn(pair, memory.segment(), slots, random))));
            }
            Random advisers = new Random(SEED + 10);
            running.add(threads.submit(repeat(over, () -> advise(pair, slots, advisers))));
            Random random = new Random(SEED + 20);
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    long offset = random.nextLong(whole.length());
                    long length = 1 + random.nextLong(Math.min(whole.length() - offset, 3L * GRANULE));
                    assertEquals(CompletionStatus.SUCCESS, pair.read(whole, offset, length), "seed " + SEED);
                }
            } finally {
                over.set(true);
            }
            for (Future<?> thread : running) {
                thread.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            }
            for (int i = 0; i < SLOTS; i++) {
                close(slots.getAndSet(i, null));
            }
            whole.close();
            assertEquals(before, PinnedPair.kernelLockedBytes(), "locked when all regions are closed, seed " + SEED);
            assertEquals(0, pair.server().device().pinningCounters().pinnedBytes());
            assertTrue(pair.server().device().pinningCounters().pins() > 0, "something was pinned");
        }
    }

    private static Callable<Void> repeat(AtomicBoolean over, Runnable task) {
        return () -> {
            while (!over.get()) {
                task.run();
            }
            return null;
        };
    }

    private static void churn(
            PinnedPair pair, MemorySegment memory, AtomicReferenceArray<MemoryRegion> slots, Random random) {
        long offset = random.nextLong(memory.byteSize());
        long length = 1 + random.nextLong(memory.byteSize() - offset);
        MemoryRegion region = pair.server().domain().register(memory.asSlice(offset, length), ACCESS);
        close(slots.getAndSet(random.nextInt(SLOTS), region));
    }

    private static void close(@Nullable MemoryRegion region) {
        if (region != null) {
            region.close();
        }
    }

    /** Prefetches or unpins a region that may be closed at any moment. */
    private static void advise(PinnedPair pair, AtomicReferenceArray<MemoryRegion> slots, Random random) {
        MemoryRegion region = slots.get(random.nextInt(SLOTS));
        if (region == null) {
            return;
        }
        try {
            if (random.nextInt(4) == 0) {
                region.unpin();
            } else {
                pair.server()
                        .domain()
                        .advise(
                                Advice.PREFETCH,
                                random.nextBoolean(),
                                region.address(),
                                region.length(),
                                region.lkey());
            }
        } catch (IllegalStateException e) {
            // It was closed before.
        } catch (VerbsException e) {
            assertTrue(GONE.contains(e.code()), e.toString());
        }
    }
}
