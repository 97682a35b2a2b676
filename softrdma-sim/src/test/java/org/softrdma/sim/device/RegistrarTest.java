package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

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
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

class RegistrarTest {
    private static final int LOOKS = 1000;
    private static final long DEADLINE_SECONDS = 30;

    private final Quiescence quiescence = new Quiescence();
    private final Quiescence.Epoch epoch = quiescence.newEpoch();
    private final StagTable table = new StagTable(4, new SecureRandom(), new MemoryOperations(), NumberReuse.LATE);
    private final Registrar registrar = new Registrar(
            table,
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
    private final DeviceDomain domain = mock(DeviceDomain.class);

    @Test
    void shouldReturnFromCloseOnlyOnceTheBatchThatMayTouchTheRegionHasEnded() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64);
            MemoryRegion region = registrar.register(domain, memory, Set.of(AccessFlag.REMOTE_READ), PinningPolicy.OFF);
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
    void shouldReturnFromReregistrationOnlyOnceTheBatchThatMayTouchTheOldMemoryHasEnded() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64);
            MemoryRegion region = registrar.register(domain, memory, Set.of(AccessFlag.REMOTE_READ), PinningPolicy.OFF);
            int key = region.rkey();
            AtomicBoolean ended = new AtomicBoolean();
            epoch.enter();
            assertTrue(table.findRemote(key) >= 0);
            CompletableFuture<Boolean> endedBefore = CompletableFuture.supplyAsync(
                    () -> {
                        region.reregister(Reregistration.ofMemory(arena.allocate(64)));
                        return ended.get();
                    },
                    task -> Thread.ofPlatform().daemon().start(task));
            while (table.findRemote(key) >= 0 && !endedBefore.isDone()) {
                Thread.yield();
            }
            for (int i = 0; i < LOOKS; i++) {
                assertTrue(!endedBefore.isDone(), "it returned while an engine was in a batch");
                assertTrue(table.findRemote(key) < 0, "the key is valid while the row may be read");
                Thread.yield();
            }
            assertThrows(IllegalStateException.class, () -> region.reregister(Reregistration.ofMemory(memory)));
            VerbsException busy = assertThrows(VerbsException.class, region::close);
            assertEquals(VerbsErrorCode.BUSY, busy.code());
            ended.set(true);
            epoch.exit();
            assertTrue(endedBefore.get(DEADLINE_SECONDS, TimeUnit.SECONDS), "it returned before the batch had ended");
            assertTrue(table.findRemote(key) >= 0);
            region.close();
        }
    }

    @Test
    void shouldReturnFromTheCloseOfAWindowOnlyOnceTheBatchThatMayUseItHasEnded() throws Exception {
        MemoryWindow window = registrar.allocateWindow(domain, false);
        epoch.enter();
        CompletableFuture<?> closed = closing(window);
        for (int i = 0; i < LOOKS; i++) {
            assertTrue(!closed.isDone(), "close returned while an engine was in a batch");
            Thread.yield();
        }
        assertEquals(1, registrar.windows(), "its row is used again too soon");
        epoch.exit();
        closed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        assertEquals(0, registrar.windows());
    }

    @Test
    void shouldReturnFromASecondCloseOnlyOnceTheFirstIsDone() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(64);
            MemoryRegion region = registrar.register(domain, memory, Set.of(AccessFlag.REMOTE_READ), PinningPolicy.OFF);
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

    /** Closes something in a thread that runs by now. */
    private static CompletableFuture<?> closing(AutoCloseable resource) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<?> closed = CompletableFuture.runAsync(
                () -> {
                    begun.countDown();
                    close(resource);
                },
                task -> Thread.ofPlatform().daemon().start(task));
        assertTrue(begun.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
        return closed;
    }

    private static void close(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
