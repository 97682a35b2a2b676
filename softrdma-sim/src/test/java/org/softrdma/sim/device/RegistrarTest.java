package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.withSettings;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.NumberReuse;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.RegionObserver;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.pinning.CountedPageLocks;
import org.softrdma.sim.pinning.PinTable;
import org.softrdma.sim.pinning.PinningSettings;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;

class RegistrarTest {
    private static final int LOOKS = 1000;
    private static final long DEADLINE_SECONDS = 30;

    private final Quiescence quiescence = new Quiescence();
    private final Quiescence.Epoch epoch = quiescence.newEpoch();
    private final Registrar registrar = new Registrar(
            new StagTable(4, new SecureRandom(), new MemoryOperations(), NumberReuse.LATE),
            quiescence,
            new PinTable(
                    PinningSettings.DEFAULT,
                    CountedPageLocks.ofThisProcess(),
                    quiescence,
                    1L << 30,
                    SystemNanoClock.INSTANCE),
            RegionObserver.NONE,
            ResourceQuota.NONE,
            4);
    private final ProtectionDomain domain =
            mock(ProtectionDomain.class, withSettings().extraInterfaces(Registrar.Domain.class));

    @Test
    void shouldReturnFromCloseOnlyOnceTheBatchThatMayTouchTheRegionHasEnded() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64);
            MemoryRegion region =
                    registrar.register(domain, 1, memory, Set.of(AccessFlag.REMOTE_READ), PinningPolicy.OFF);
            AtomicBoolean ended = new AtomicBoolean();
            CountDownLatch begun = new CountDownLatch(1);
            epoch.enter();
            CompletableFuture<Boolean> endedBefore = CompletableFuture.supplyAsync(
                    () -> {
                        begun.countDown();
                        region.close();
                        return ended.get();
                    },
                    task -> Thread.ofPlatform().daemon().start(task));
            assertTrue(begun.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
            for (int i = 0; i < LOOKS; i++) {
                assertTrue(!endedBefore.isDone(), "close returned while an engine was in a batch");
                Thread.yield();
            }
            ended.set(true);
            epoch.exit();
            assertTrue(
                    endedBefore.get(DEADLINE_SECONDS, TimeUnit.SECONDS), "close returned before the batch had ended");
        }
    }

    @Test
    void shouldReturnFromASecondCloseOnlyOnceTheFirstIsDone() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64);
            MemoryRegion region =
                    registrar.register(domain, 1, memory, Set.of(AccessFlag.REMOTE_READ), PinningPolicy.OFF);
            epoch.enter();
            CompletableFuture<?> first = closing(region);
            CompletableFuture<?> second = closing(region);
            for (int i = 0; i < LOOKS; i++) {
                assertTrue(!first.isDone() && !second.isDone(), "close returned while an engine was in a batch");
                Thread.yield();
            }
            epoch.exit();
            first.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            second.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Closes a region in a thread that runs by now. */
    private static CompletableFuture<?> closing(MemoryRegion region) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<?> closed = CompletableFuture.runAsync(
                () -> {
                    begun.countDown();
                    region.close();
                },
                task -> Thread.ofPlatform().daemon().start(task));
        assertTrue(begun.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
        return closed;
    }
}
