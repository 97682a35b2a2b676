package org.softrdma.sanitiser.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RangeIndexTest {
    private static final long SEED = 20261122;

    private record Range(int number, long start, long length) {
        boolean overlaps(long otherStart, long otherLength) {
            return start < otherStart + otherLength && otherStart < start + length;
        }
    }

    @Test
    void shouldFindWhatAListFindsWhileRangesComeAndGo() {
        Random random = new Random(SEED);
        RangeIndex<Range> index = new RangeIndex<>();
        List<Range> ranges = new ArrayList<>();
        List<Runnable> removals = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (ranges.size() > 40 || (!ranges.isEmpty() && random.nextInt(3) == 0)) {
                int victim = random.nextInt(ranges.size());
                ranges.remove(victim);
                removals.remove(victim).run();
            } else {
                long length = 1L + (random.nextInt(20) == 0 ? random.nextInt(1000) : random.nextInt(10));
                Range range = new Range(i, random.nextInt(1000), length);
                ranges.add(range);
                removals.add(index.add(range.start, range.length, range));
            }
            long start = random.nextInt(1000);
            long length = 1L + random.nextInt(20);
            Set<Range> expected = new HashSet<>();
            ranges.stream().filter(range -> range.overlaps(start, length)).forEach(expected::add);
            List<Range> found = index.overlapping(start, length);
            assertEquals(expected, new HashSet<>(found), "step " + i + " of seed " + SEED);
            assertEquals(expected.size(), found.size(), "step " + i + " of seed " + SEED);
        }
    }
}
