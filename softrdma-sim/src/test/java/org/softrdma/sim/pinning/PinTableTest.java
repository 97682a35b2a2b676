package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

class PinTableTest {
    private static final int PAGE = FakePageLocks.PAGE;
    private static final int GRANULE = 4 * PAGE;
    private static final long BASE = 100L * GRANULE;
    private static final Object REGION = "region";
    private static final Object OTHER = "other";
    private static final long MACHINE = 1L << 40;
    private static final long DEADLINE_SECONDS = 30;
    private static final int LOOKS = 1000;

    private final FakePageLocks locks = new FakePageLocks();
    private final CountedPageLocks counted = new CountedPageLocks(locks);
    private final Quiescence quiescence = new Quiescence();
    private final Quiescence.Epoch epoch = quiescence.newEpoch();

    private long nowNs = Long.MAX_VALUE - 5; // any time, and it may wrap

    private PinTable table(long budget) {
        return new PinTable(
                new PinningSettings(PinningPolicy.AUTO, budget, GRANULE), counted, quiescence, MACHINE, () -> nowNs);
    }

    /** A table with a lazily pinned region of some granules. */
    private PinTable tableWithRegion(long budgetGranules, int granules) {
        PinTable table = table(budgetGranules * GRANULE);
        table.add(pages(table, BASE, (long) granules * GRANULE));
        return table;
    }

    private static PageRange pages(PinTable table, long address, long length) {
        return table.pages(address, length, address, address + length);
    }

    /** What an engine does before it uses a byte range. */
    private static void use(PinTable table, long address, long length, InUse inUse) {
        if (!table.isWarm(address, length)) {
            table.pin(REGION, address, length, inUse);
        }
    }

    private static void use(PinTable table, int granule) {
        use(table, at(granule), 1, InUse.NOTHING);
    }

    private static long at(int granule) {
        return BASE + (long) granule * GRANULE;
    }

    private void expectLocked(int... granules) {
        long expected = 0;
        for (int granule : granules) {
            assertTrue(locks.isLocked(at(granule)), "granule " + granule + " is not locked");
            expected += GRANULE;
        }
        assertEquals(expected, locks.lockedBytes(), "locked bytes");
    }

    @Test
    void shouldPinAGranuleOnItsFirstUseOnly() {
        PinTable table = tableWithRegion(10, 5);
        assertEquals(0, locks.lockedBytes());

        use(table, 2);
        use(table, at(2) + 5, GRANULE - 5, InUse.NOTHING);

        expectLocked(2);
        PinningCounters counters = table.counters();
        assertEquals(1, counters.firstTouches());
        assertEquals(1, counters.pins());
        assertEquals(GRANULE, counters.pinnedBytes());
        assertEquals(counters.pins(), table.counters(REGION, 1).pins());
        assertEquals(counters.pinningNs(), table.counters(REGION, 1).pinningNs(), "its first pin counts, too");
    }

    @Test
    void shouldEvictTheLeastRecentlyUsed() {
        PinTable table = tableWithRegion(3, 6);
        use(table, 0);
        use(table, 1);
        use(table, 2);
        use(table, 0);

        use(table, 3);
        expectLocked(0, 2, 3);
        use(table, 2);
        use(table, 4);
        expectLocked(2, 3, 4);
        use(table, 0);
        expectLocked(0, 2, 4);
        assertEquals(3, table.counters().evictions());
        assertEquals(3 * GRANULE, table.counters().highWaterBytes());
    }

    @Test
    void shouldNotEvictWhatTheSameAccessOrTheBatchUses() {
        PinTable table = tableWithRegion(2, 6);
        use(table, at(0), 3L * GRANULE, InUse.NOTHING);

        expectLocked(0, 1);
        assertEquals(1, table.counters().unpinnedAccesses());

        use(table, at(3), 1, (from, to) -> from <= at(0) && at(0) < to);
        expectLocked(0, 3);
        use(table, at(4), 1, (from, to) -> true);
        expectLocked(0, 3);
        assertEquals(2, table.counters().unpinnedAccesses());
    }

    @Test
    void shouldGoWithoutWhatIsLargerThanTheBudget() {
        PinTable table = tableWithRegion(1, 4);
        use(table, at(0), 4L * GRANULE, InUse.NOTHING);

        expectLocked(0);
        assertEquals(3, table.counters().unpinnedAccesses());
        assertEquals(4, table.counters().firstTouches());
    }

    @Test
    void shouldNotUnlockWhatABatchOfAnotherEngineMayUse() {
        PinTable table = tableWithRegion(1, 4);
        use(table, 0);
        OtherBatch batch = new OtherBatch();

        use(table, 1);
        expectLocked(0);
        assertFalse(table.isWarm(at(0), 1), "still shown to engines");
        assertEquals(1, table.counters().unpinnedAccesses());

        use(table, 0);
        assertTrue(table.isWarm(at(0), 1), "what was on its way out and is used stays");
        assertEquals(1, table.counters().pins());
        use(table, 1);
        batch.end();
        use(table, 2);
        expectLocked(2);
    }

    @Test
    void shouldCountAGranuleThatStaysAsUsedNow() {
        PinTable table = tableWithRegion(2, 4);
        use(table, 0);
        use(table, 1);
        OtherBatch batch = new OtherBatch();
        use(table, 2);
        assertFalse(table.isWarm(at(0), 1), "on its way out");
        use(table, 0);
        batch.end();

        use(table, 2);

        expectLocked(0, 2);
    }

    @Test
    void shouldEvictNoMoreThanTheKernelRefuses() {
        locks.limitPages = 4L * GRANULE / PAGE;
        PinTable table = tableWithRegion(100, 8);
        use(table, at(0), 4L * GRANULE, InUse.NOTHING);
        OtherBatch batch = new OtherBatch();

        use(table, 4);
        use(table, 4);

        assertEquals(1, table.counters().evictions(), "one granule is on its way out, and that is enough");
        assertTrue(table.isWarm(at(1), 3L * GRANULE));
        batch.end();
        use(table, 4);
        expectLocked(1, 2, 3, 4);
    }

    @Test
    void shouldWaitForLazyGranulesToGoWhenEager() {
        locks.limitPages = 2L * GRANULE / PAGE;
        PinTable table = tableWithRegion(100, 2);
        use(table, at(0), 2L * GRANULE, InUse.NOTHING);
        OtherBatch batch = new OtherBatch();
        CountDownLatch refused = new CountDownLatch(1);
        locks.onRefusal = refused::countDown;

        CompletableFuture<Void> eager = CompletableFuture.runAsync(
                () -> table.addEager(OTHER, pages(table, at(5), GRANULE)),
                task -> Thread.ofPlatform().daemon().start(task));

        awaitUninterruptibly(refused);
        for (int i = 0; i < LOOKS; i++) {
            assertFalse(eager.isDone(), "it does not wait for the batch that may use what it evicts");
            Thread.yield();
        }
        batch.end();
        eager.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
        expectLocked(1, 5);
    }

    @Test
    void shouldJoinAHugePageOnceAllOfItIsLocked() {
        locks.hugePageBytes = 4L * GRANULE;
        PinTable table = tableWithRegion(100, 12);
        for (int granule : new int[] {1, 5, 3, 0, 4, 6}) {
            use(table, granule);
        }
        assertEquals(List.of(), locks.joined);

        use(table, 2);
        assertEquals(List.of(at(0)), locks.joined);
        use(table, 7);
        use(table, 7);
        assertEquals(List.of(at(0), at(4)), locks.joined);
        table.prefetch(REGION, at(8), 4L * GRANULE, true, () -> true);
        assertEquals(List.of(at(0), at(4)), locks.joined, "what is not resident stays so");
    }

    @Test
    void shouldNotJoinHugePagesThatEvictionsTearAgain() {
        locks.hugePageBytes = 2L * GRANULE;
        PinTable table = tableWithRegion(3, 12);
        use(table, at(0), 2L * GRANULE, InUse.NOTHING);
        use(table, at(4), 2L * GRANULE, InUse.NOTHING);

        assertTrue(table.isWarm(at(4), 2L * GRANULE));
        assertEquals(List.of(at(0)), locks.joined);
    }

    @Test
    void shouldMakeRoomAheadOfNeedWithSeveralEngines() {
        quiescence.newEpoch();
        PinTable table = tableWithRegion(16, 64);
        for (int i = 0; i < 64; i++) {
            use(table, i);
        }

        assertEquals(14L * GRANULE, table.counters().pinnedBytes(), "an eighth of the budget is free");
        assertEquals(0, table.counters().unpinnedAccesses());
    }

    @Test
    void shouldShareGranulesOfOverlappingRegions() {
        PinTable table = tableWithRegion(10, 4);
        PageRange second = pages(table, at(1) + PAGE, 2L * GRANULE);
        table.add(second);
        use(table, at(1), 3L * GRANULE, InUse.NOTHING);
        assertEquals(3, table.counters().pins());

        table.remove(REGION, pages(table, BASE, 4L * GRANULE));
        assertEquals(2L * GRANULE, locks.lockedBytes(), "what the second covers stays");
        assertFalse(locks.isLocked(at(1)), "a page that only the first covered");
        assertTrue(table.isWarm(at(2), GRANULE));
        table.remove(OTHER, second);
        assertEquals(0, locks.lockedBytes());
        assertEquals(0, table.counters().pinnedBytes());
        assertEquals(3, table.counters().unpins());
    }

    @Test
    void shouldCountWhatARegionThatEndsHasLeftForTheOneThatPinsMore() {
        PinTable table = table(10L * GRANULE);
        PageRange first = pages(table, at(0), 2L * PAGE);
        table.add(first);
        table.add(pages(table, at(0) + PAGE, 2L * PAGE));
        table.pin(OTHER, at(0), 1, InUse.NOTHING);
        table.remove(OTHER, first);
        table.add(pages(table, at(0) + 3L * PAGE, PAGE));
        use(table, at(0) + 3L * PAGE, 1, InUse.NOTHING);

        assertEquals(3L * PAGE, locks.lockedBytes());
        assertEquals(3L * PAGE, table.counters(REGION, 1).pinnedBytes());
        table.unpin(pages(table, at(0), GRANULE));
        assertEquals(0, table.counters(REGION, 1).pinnedBytes());
    }

    @Test
    void shouldPinNewPagesOfAGranuleThatIsPinned() {
        PinTable table = table(10L * GRANULE);
        table.add(pages(table, at(0), PAGE));
        use(table, 0);
        assertEquals(PAGE, locks.lockedBytes());
        table.add(pages(table, at(0) + 2L * PAGE, 1));
        assertFalse(table.isWarm(at(0) + 2L * PAGE, 1));
        assertFalse(table.isWarm(at(0), 2L * PAGE + 1), "one page of the range is locked, not all");
        use(table, at(0) + 2L * PAGE, 1, InUse.NOTHING);

        assertEquals(2L * PAGE, locks.lockedBytes());
        assertFalse(locks.isLocked(at(0) + PAGE), "a page of no region");
        assertEquals(2, counted.ranges());
    }

    @Test
    void shouldRegisterTheDevicesOwnMemoryInWholeGranules() {
        PinTable table = table(10L * GRANULE);

        PageRange range = table.pages(at(1) + 100, 50, at(0) + PAGE, at(1) + 2L * PAGE);

        assertEquals(new PageRange(at(1) / PAGE, at(1) / PAGE + 2), range);
    }

    @Test
    void shouldSayWhyEagerIsNotPossible() {
        locks.limitPages = 8;
        PinTable table = table(PinningSettings.AUTOMATIC);
        table.add(pages(table, at(0), 2L * GRANULE));
        use(table, 1);

        VerbsException refused =
                assertThrows(VerbsException.class, () -> table.addEager(OTHER, pages(table, at(5), 3L * GRANULE)));

        assertEquals(VerbsErrorCode.NO_RESOURCES, refused.code());
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains("cannot pin " + 3 * GRANULE + " bytes (EAGER)"), message);
        assertTrue(message.contains("RLIMIT_MEMLOCK is " + 8 * PAGE + " bytes"), message);
        assertTrue(message.contains("ulimit -l " + 3 * GRANULE / 1024), message);
        assertEquals(0, locks.lockedBytes(), "nothing of it stays locked");
        assertEquals(0, table.counters().pinnedBytes());
        use(table, 1);
        expectLocked(1);
    }

    @Test
    void shouldNeverEvictEagerPages() {
        PinTable table = tableWithRegion(2, 6);
        PageRange eager = pages(table, at(0) + PAGE, GRANULE);
        table.addEager(OTHER, eager);
        for (int i = 0; i < 6; i++) {
            use(table, i);
        }

        for (int page = 1; page <= 4; page++) {
            assertTrue(locks.isLocked(at(0) + (long) page * PAGE), "page " + page);
        }
        assertEquals(GRANULE, table.counters(OTHER, GRANULE).pinnedBytes());
        assertEquals(3L * GRANULE, table.counters().pinnedBytes(), "the budget is for what is pinned lazily");
        table.removeEager(OTHER, eager);
        use(table, 2);
        use(table, 3);
        expectLocked(2, 3);
    }

    @Test
    void shouldCountRangesAsBudget() {
        locks.maxRanges = 2;
        PinTable table = tableWithRegion(100, 10);
        use(table, 0);
        use(table, 1);
        use(table, 3);
        assertEquals(2, counted.ranges());
        use(table, 5);

        assertEquals(2, locks.runs());
        assertTrue(locks.isLocked(at(5)));
        assertEquals(locks.runs(), counted.ranges());
    }

    @Test
    void shouldPrefetchWithoutAFirstTouch() {
        PinTable table = tableWithRegion(10, 4);

        table.prefetch(REGION, at(0) + 7, 2L * GRANULE, false, () -> true);
        table.prefetch(REGION, at(3), 1, true, () -> true);
        table.prefetch(REGION, at(3), 1, false, () -> false);

        assertTrue(table.isWarm(at(0), 4L * GRANULE));
        assertEquals(0, table.counters().firstTouches());
        assertEquals(4, table.counters().pins());
        assertEquals(1, locks.onFault);
    }

    @Test
    void shouldPinNothingOfARegionThatHasEnded() {
        PinTable table = tableWithRegion(10, 4);

        table.prefetch(REGION, at(0), GRANULE, false, () -> false);

        assertEquals(0, locks.lockedBytes());
    }

    @Test
    void shouldUnpinARegion() {
        PinTable table = tableWithRegion(10, 4);
        use(table, at(0), 3L * GRANULE, InUse.NOTHING);

        table.unpin(pages(table, at(1), 2L * GRANULE));

        expectLocked(0);
        assertEquals(2, table.counters().unpins());
        assertEquals(0, table.counters().evictions());
        use(table, 1);
        assertEquals(4, table.counters().firstTouches(), "used again, touched again");
    }

    @Test
    void shouldLeaveNothingLockedOfWhatCannotBeLocked() {
        PinTable table = tableWithRegion(10, 4);
        locks.unmapped.set((int) (at(1) / PAGE) + 2);

        use(table, 1);

        assertEquals(0, locks.lockedBytes());
        assertEquals(1, table.counters().unpinnedAccesses());
    }

    @Test
    void shouldNotAskTheKernelAgainAndAgain() {
        PinTable table = tableWithRegion(10, 4);
        locks.limitPages = 0;
        use(table, 0);
        locks.limitPages = Long.MAX_VALUE;
        use(table, 1);
        assertEquals(0, locks.lockedBytes(), "it was refused just now");
        assertEquals(2, table.counters().unpinnedAccesses());
        assertEquals(2, table.counters().firstTouches());

        nowNs += PinningPace.QUIET_NS;
        use(table, 2);
        expectLocked(2);
    }

    @Test
    void shouldEvictNothingForEnginesUnderABudgetThatNobodyHasChosen() {
        locks.limitPages = 4L * GRANULE / PAGE;
        PinTable table = table(PinningSettings.AUTOMATIC);
        table.add(pages(table, BASE, 10L * GRANULE));
        for (int i = 0; i < 10; i++) {
            use(table, i);
            nowNs += PinningPace.QUIET_NS;
        }
        assertEquals(0, table.counters().evictions());
        assertEquals(6, table.counters().unpinnedAccesses());
        for (int i = 0; i < 4; i++) {
            assertTrue(locks.isLocked(at(i)), "granule " + i);
        }
        table.unpin(pages(table, at(0), GRANULE));
        use(table, 9);
        assertTrue(locks.isLocked(at(9)), "there was room again");
    }

    @Test
    void shouldRefuseLazyWhereAGranuleExceedsTheLimit() {
        locks.limitPages = 3;
        assertFalse(table(PinningSettings.AUTOMATIC).canBeLazy());
        assertEquals(PinningPolicy.OFF, table(PinningSettings.AUTOMATIC).policy(PinningPolicy.AUTO));
        VerbsException refused = assertThrows(
                VerbsException.class,
                () -> new PinTable(
                        new PinningSettings(PinningPolicy.LAZY, PinningSettings.AUTOMATIC, GRANULE),
                        counted,
                        quiescence,
                        MACHINE,
                        () -> nowNs));
        assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
        assertTrue(String.valueOf(refused.getMessage()).contains("ulimit -l"), refused.getMessage());
    }

    @Test
    void shouldSayThatItIsAccountedOnly() {
        PinTable table = new PinTable(
                PinningSettings.DEFAULT,
                new CountedPageLocks(new AccountedPageLocks("no such call")),
                quiescence,
                MACHINE,
                () -> nowNs);

        assertTrue(table.description().endsWith("accounted only: no such call"), table.description());
        assertTrue(table.canBeLazy());
    }

    /** A batch of the engine in another thread: runs when this is made, and until it may end. */
    private final class OtherBatch {
        private final CountDownLatch mayEnd = new CountDownLatch(1);
        private final CompletableFuture<Void> engine;

        OtherBatch() {
            CountDownLatch runs = new CountDownLatch(1);
            engine = CompletableFuture.runAsync(
                    () -> {
                        epoch.enter();
                        runs.countDown();
                        awaitUninterruptibly(mayEnd);
                        epoch.exit();
                    },
                    task -> Thread.ofPlatform().daemon().start(task));
            awaitUninterruptibly(runs);
        }

        void end() {
            mayEnd.countDown();
            engine.orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS).join();
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            assertTrue(latch.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
