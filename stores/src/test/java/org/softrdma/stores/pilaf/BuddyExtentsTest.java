package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class BuddyExtentsTest {
    private static final int LENGTH = 1 << 14;

    @Test
    void shouldRoundUpToPowersOfTwo() {
        BuddyExtents space = new BuddyExtents(LENGTH);
        for (int[] lengthAndUsed : new int[][] {{1, 64}, {64, 64}, {65, 128}, {128, 128}, {129, 256}, {4097, 8192}}) {
            long offset = space.allocate(lengthAndUsed[0]);
            assertEquals(lengthAndUsed[1], space.usedBytes());
            assertEquals(0, offset % lengthAndUsed[1]);
            space.free(offset);
            assertEquals(0, space.usedBytes());
        }
        assertEquals(-1, space.allocate(LENGTH + 1));
        assertEquals(0, space.allocate(LENGTH));
        assertEquals(-1, space.allocate(1));
    }

    @Test
    void shouldRefuseToFreeWhatIsNotInUse() {
        BuddyExtents space = new BuddyExtents(LENGTH);
        long offset = space.allocate(256);
        assertThrows(IllegalArgumentException.class, () -> space.free(offset + 64));
        assertThrows(IllegalArgumentException.class, () -> space.free(offset + 256));
        assertThrows(IllegalArgumentException.class, () -> space.free(-64));
        space.free(offset);
        assertThrows(IllegalArgumentException.class, () -> space.free(offset));
    }

    @Test
    void shouldNeverGiveTwiceAndJoinWhatIsFree() {
        Random random = new Random(3);
        BuddyExtents space = new BuddyExtents(LENGTH);
        TreeMap<Long, Integer> taken = new TreeMap<>();
        for (int i = 0; i < 100_000; i++) {
            if (taken.isEmpty() || random.nextInt(5) < 3) {
                int length = 1 + random.nextInt(1 << random.nextInt(6, 12));
                long offset = space.allocate(length);
                if (offset >= 0) {
                    Map.Entry<Long, Integer> before = taken.floorEntry(offset);
                    Map.Entry<Long, Integer> behind = taken.ceilingEntry(offset);
                    assertTrue(before == null || before.getKey() + before.getValue() <= offset);
                    assertTrue(behind == null || offset + length <= behind.getKey());
                    assertTrue(offset + length <= LENGTH);
                    taken.put(offset, length);
                }
            } else {
                List<Long> offsets = new ArrayList<>(taken.keySet());
                Long offset = offsets.get(random.nextInt(offsets.size()));
                taken.remove(offset);
                space.free(offset);
            }
        }
        taken.keySet().forEach(space::free);
        assertEquals(0, space.usedBytes());
        assertEquals(0, space.allocate(LENGTH), "the whole area is one range again");
    }
}
