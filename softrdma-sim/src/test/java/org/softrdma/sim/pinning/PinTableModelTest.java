package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.VerbsException;

/** Random steps; after each the counters, the limits and what is locked must agree, and nothing but registered pages is locked. */
class PinTableModelTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 4_711L);
    private static final int PAGE = FakePageLocks.PAGE;
    private static final int GRANULE_PAGES = 8;
    private static final int PAGES = 40 * GRANULE_PAGES;
    private static final int STEPS = 20_000;
    private static final int MOST_REGIONS = 12;

    private record Region(boolean eager, PageRange range) {}

    private final FakePageLocks locks = new FakePageLocks();
    private final CountedPageLocks counted = new CountedPageLocks(locks);
    private final Quiescence quiescence = new Quiescence();
    private final List<Region> regions = new ArrayList<>();
    private long nowNs;

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 12, 1000})
    void shouldKeepTheBooks(int budgetGranules) {
        locks.limitPages = 30L * GRANULE_PAGES;
        locks.maxRanges = 9;
        quiescence.newEpoch();
        Random random = new Random(SEED + budgetGranules);
        long budget = (long) budgetGranules * GRANULE_PAGES * PAGE;
        PinTable table = new PinTable(
                new PinningSettings(PinningPolicy.AUTO, budget, GRANULE_PAGES * PAGE),
                counted,
                quiescence,
                1L << 40,
                () -> nowNs += PinningPace.QUIET_NS);
        for (int step = 0; step < STEPS; step++) {
            String what = "seed " + SEED + " budget " + budgetGranules + " step " + step;
            step(table, random);
            assertEquals(locks.lockedBytes(), table.counters().pinnedBytes(), what + ": pinned bytes");
            assertEquals(locks.runs(), counted.ranges(), what + ": ranges");
            BitSet wrong = locks.locked();
            BitSet held = new BitSet();
            for (Region region : regions) {
                wrong.clear((int) region.range.from(), (int) region.range.to());
                if (region.eager) {
                    held.set((int) region.range.from(), (int) region.range.to());
                }
            }
            assertTrue(wrong.isEmpty(), what + ": pages of no region are locked: " + wrong);
            BitSet lazy = locks.locked();
            lazy.andNot(held);
            assertTrue((long) lazy.cardinality() * PAGE <= budget, what + ": over the budget");
            assertTrue(
                    counted.ranges() <= locks.maxRanges || lazy.isEmpty(), what + ": " + counted.ranges() + " ranges");
            held.andNot(locks.locked());
            assertTrue(held.isEmpty(), what + ": EAGER pages are not locked: " + held);
        }
        while (!regions.isEmpty()) {
            end(table, regions.removeLast());
        }
        assertEquals(0, locks.lockedBytes(), "locked at the end");
        assertEquals(0, table.counters().pinnedBytes());
        assertEquals(0, counted.ranges());
    }

    private void step(PinTable table, Random random) {
        int dice = random.nextInt(100);
        if (regions.isEmpty() || (dice < 12 && regions.size() < MOST_REGIONS)) {
            begin(table, random);
            return;
        }
        Region region = regions.get(random.nextInt(regions.size()));
        long from = region.range.from() * PAGE;
        long bytes = (region.range.to() - region.range.from()) * PAGE;
        long address = from + random.nextLong(bytes);
        long length = 1 + random.nextLong(Math.min(from + bytes - address, 3L * GRANULE_PAGES * PAGE));
        if (dice < 22) {
            regions.remove(region);
            end(table, region);
        } else if (dice < 27) {
            table.unpin(region.range);
        } else if (dice < 37) {
            table.prefetch(region, address, length, random.nextBoolean(), () -> true);
        } else if (!table.isWarm(address, length)) {
            table.pin(region, address, length, InUse.NOTHING);
        } else {
            BitSet locked = locks.locked();
            int last = (int) ((address + length - 1) / PAGE);
            assertTrue(locked.nextClearBit((int) (address / PAGE)) > last, "warm and not locked");
        }
    }

    private void begin(PinTable table, Random random) {
        long from = random.nextInt(PAGES);
        long to = Math.min(PAGES, from + 1 + random.nextInt(random.nextBoolean() ? 6 : PAGES));
        Region region = new Region(random.nextInt(5) == 0, new PageRange(from, to));
        if (!region.eager) {
            table.add(region.range);
            regions.add(region);
            return;
        }
        try {
            table.addEager(region, region.range);
            regions.add(region);
        } catch (VerbsException e) {
            // Over a limit: the books must be as before.
        }
    }

    private static void end(PinTable table, Region region) {
        if (region.eager) {
            table.removeEager(region, region.range);
        } else {
            table.remove(region, region.range);
        }
    }
}
