package org.softrdma.stores.cuckoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CuckooPathTest {
    private static final int WAYS = 3;

    /** Residents, each with its candidates; null where a slot is free. */
    private static final class Table implements CuckooSlots {
        private final int[][] residents;

        Table(int[][] residents) {
            this.residents = residents;
        }

        @Override
        public boolean isFree(int slot) {
            return residents[slot] == null;
        }

        @Override
        public int candidate(int slot, int rank) {
            return residents[slot][rank];
        }
    }

    private static int[] path(CuckooPath path) {
        int[] slots = new int[path.length()];
        Arrays.setAll(slots, path::slot);
        return slots;
    }

    @Test
    void shouldTakeTheFirstFreeCandidate() {
        CuckooPath path = new CuckooPath(WAYS, 10);
        Table table = new Table(new int[][] {{0, 3, 4}, null, null, null, null});
        assertTrue(path.find(table, new int[] {0, 2, 1}));
        assertEquals("[2]", Arrays.toString(path(path)));
    }

    @Test
    void shouldTakeTheShortestPath() {
        CuckooPath path = new CuckooPath(WAYS, 10);
        // 0 leads to 3 and on to 5; 1 leads to 4, which is free.
        Table table = new Table(new int[][] {{0, 3, 1}, {2, 1, 4}, {0, 1, 2}, {0, 3, 5}, null, null});
        assertTrue(path.find(table, new int[] {0, 1, 2}));
        assertEquals("[1, 4]", Arrays.toString(path(path)));
    }

    @Test
    void shouldFindNoneInAFullCircle() {
        CuckooPath path = new CuckooPath(WAYS, 10);
        Table table = new Table(new int[][] {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, null});
        assertFalse(path.find(table, new int[] {0, 1, 2}));
        assertEquals(0, path.length());
    }

    @Test
    void shouldStopAtItsLimit() {
        int[][] residents = new int[100][];
        for (int i = 0; i < 90; i++) {
            residents[i] = new int[] {i, i + 1, i + 1};
        }
        assertFalse(new CuckooPath(WAYS, 50).find(new Table(residents), new int[] {0, 0, 0}));
        assertTrue(new CuckooPath(WAYS, 92).find(new Table(residents), new int[] {0, 0, 0}));
    }

    @Test
    void shouldFillATableOf90PercentAndLoseNobody() {
        Random random = new Random(5);
        int slots = 1 << 12;
        int[][] residents = new int[slots][];
        CuckooPath path = new CuckooPath(WAYS, 500);
        Table table = new Table(residents);
        int keys = slots * 9 / 10;
        for (int key = 0; key < keys; key++) {
            int[] candidates = {random.nextInt(slots), random.nextInt(slots), random.nextInt(slots), key};
            assertTrue(path.find(table, candidates), "key " + key);
            for (int step = path.length() - 1; step > 0; step--) {
                assertTrue(residents[path.slot(step)] == null || step < path.length() - 1);
                residents[path.slot(step)] = residents[path.slot(step - 1)];
            }
            residents[path.slot(0)] = candidates;
        }
        int found = 0;
        for (int slot = 0; slot < slots; slot++) {
            int[] resident = residents[slot];
            int here = slot;
            if (resident != null) {
                assertTrue(Arrays.stream(resident, 0, WAYS).anyMatch(candidate -> candidate == here));
                found++;
            }
        }
        assertEquals(keys, found);
    }
}
