package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CountedPageLocksTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 20_261_122L);
    private static final int PAGE = FakePageLocks.PAGE;
    private static final int STEPS = 20_000;
    private static final int PAGES = 512;

    private final FakePageLocks kernel = new FakePageLocks();
    private final CountedPageLocks locks = new CountedPageLocks(kernel);

    private static BitSet pages(int first, long mask) {
        BitSet pages = new BitSet();
        for (int i = 0; i < Long.SIZE; i++) {
            pages.set(first + i, (mask >>> i & 1) != 0);
        }
        return pages;
    }

    @Test
    void shouldUnlockAPageForTheLastThatHasLockedIt() {
        assertEquals(PageLocks.OK, locks.lock(0, 0b1111, false));
        assertEquals(PageLocks.OK, locks.lock(0, 0b0110, false));
        assertEquals(PageLocks.OK, locks.lock(0, 0b0100, false));
        locks.unlock(0, 0b1111);
        assertEquals(pages(0, 0b0110), kernel.locked());
        locks.unlock(0, 0b0110);
        assertEquals(pages(0, 0b0100), kernel.locked());
        locks.unlock(0, 0b0100);
        assertEquals(0, kernel.lockedBytes());
        assertEquals(0, locks.ranges());
    }

    @Test
    void shouldMakePagesResidentThatAnotherHasLockedOnFault() {
        locks.lock(0, 0b11, true);
        assertEquals(new BitSet(), kernel.resident);
        locks.lock(0, 0b10, false);
        assertEquals(pages(0, 0b10), kernel.resident);
        locks.unlock(0, 0b11);
        assertEquals(pages(0, 0b10), kernel.resident);
    }

    @Test
    void shouldLeaveWhatOthersHaveLockedWhenTheKernelRefuses() {
        kernel.unmapped.set(5);
        locks.lock(0, 0b0000_0011, false);
        assertTrue(locks.lock(0, 0b0111_1110, false) != PageLocks.OK);
        assertEquals(pages(0, 0b0000_0011), kernel.locked());
        locks.unlock(0, 0b0000_0011);
        assertEquals(0, kernel.lockedBytes(), "a refused lock has counted");
    }

    /** What one table has locked: granules of its own size. */
    private static final class Table {
        final int granulePages;
        final BitSet locked = new BitSet();

        Table(int granulePages) {
            this.granulePages = granulePages;
        }
    }

    @Test
    void shouldKeepLockedWhatAnyTableHasLocked() {
        Random random = new Random(SEED);
        List<Table> tables = List.of(new Table(1), new Table(4), new Table(16), new Table(64), new Table(64));
        kernel.limitPages = PAGES / 2;
        List<Integer> refused = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            Table table = tables.get(random.nextInt(tables.size()));
            int first = random.nextInt(PAGES / table.granulePages) * table.granulePages;
            long all = -1L >>> (Long.SIZE - table.granulePages);
            long half = random.nextLong();
            BitSet some = pages(first, random.nextLong() & half & all);
            boolean lock = random.nextInt(5) < 2;
            if (lock) {
                some.andNot(table.locked);
            } else {
                some.and(table.locked);
            }
            long mask = some.stream().mapToLong(page -> 1L << (page - first)).sum();
            String what = "seed " + SEED + ", step " + step;
            BitSet before = kernel.locked();
            long ranges = locks.rangesWith((long) first * PAGE, lock ? mask : 0);
            if (!lock) {
                locks.unlock((long) first * PAGE, mask);
                table.locked.andNot(some);
            } else if (locks.lock((long) first * PAGE, mask, random.nextBoolean()) == PageLocks.OK) {
                table.locked.or(some);
                assertEquals(ranges, locks.ranges(), what + ": foretold ranges");
            } else {
                refused.add(step);
                assertEquals(before, kernel.locked(), what + ": refused");
            }
            BitSet union = new BitSet();
            tables.forEach(other -> union.or(other.locked));
            assertEquals(union, kernel.locked(), what);
            assertEquals(kernel.runs(), locks.ranges(), what + ": ranges");
        }
        assertTrue(!refused.isEmpty(), "the limit was never met");
    }
}
