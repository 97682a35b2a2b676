package org.softrdma.sim.pinning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CoverageTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 4_711L);
    private static final int PAGES_SHIFT = 3;
    private static final int PAGES = 1 << PAGES_SHIFT;
    private static final int GRANULES = 700;
    private static final int STEPS = 3_000;

    @Test
    void shouldAgreeWithCountsOfEachPage() {
        Random random = new Random(SEED);
        Coverage coverage = new Coverage(PAGES_SHIFT);
        int[] counts = new int[GRANULES * PAGES];
        List<int[]> ranges = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            boolean removes = !ranges.isEmpty() && random.nextInt(100) < 45;
            int[] range = removes ? ranges.remove(random.nextInt(ranges.size())) : range(random);
            if (removes) {
                coverage.remove(range[0], range[1]);
            } else {
                ranges.add(range);
                coverage.add(range[0], range[1]);
            }
            for (int page = range[0]; page < range[1]; page++) {
                counts[page] += removes ? -1 : 1;
            }
            for (int granule = 0; granule < GRANULES; granule++) {
                assertEquals(mask(counts, granule), coverage.mask(granule), "seed " + SEED + " step " + step);
            }
        }
        ranges.forEach(range -> coverage.remove(range[0], range[1]));
        assertEquals(0, coverage.size(), "entries left");
    }

    @Test
    void shouldTakeAFewStepsForATerabyte() {
        Coverage coverage = new Coverage(6);
        long pages = 1L << 28;

        coverage.add(12_345, 12_345 + pages);

        assertTrue(coverage.size() < 200, "entries: " + coverage.size());
        assertEquals(-1L, coverage.mask(1L << 20));
        assertEquals(0, coverage.mask((12_345 + pages) / 64 + 1));
        coverage.remove(12_345, 12_345 + pages);
        assertEquals(0, coverage.size());
    }

    private static int[] range(Random random) {
        int from = random.nextInt(GRANULES * PAGES);
        int longest = random.nextBoolean() ? 3 * PAGES : GRANULES * PAGES;
        return new int[] {from, Math.min(GRANULES * PAGES, from + 1 + random.nextInt(longest))};
    }

    private static long mask(int[] counts, int granule) {
        long mask = 0;
        for (int page = 0; page < PAGES; page++) {
            mask |= counts[granule * PAGES + page] > 0 ? 1L << page : 0;
        }
        return mask;
    }
}
