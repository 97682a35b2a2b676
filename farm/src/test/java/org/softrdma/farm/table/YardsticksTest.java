package org.softrdma.farm.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * What FaRM's table is compared with, by simulation: hopscotch hashing without chains, which the paper says is 37 % full
 * on average at H = 8 when it must be resized, and linear probing. Neither is offered.
 */
class YardsticksTest {
    private static final int FREE = -1;

    /** How full plain hopscotch hashing is when an insert fails for the first time. */
    private static double fillAtFailure(int neighbourhood, int slots, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int[] homes = new int[slots];
        Arrays.fill(homes, FREE);
        int pairs = 0;
        while (true) {
            int home = random.nextInt(slots);
            int distance = 0;
            while (distance < slots && homes[(home + distance) % slots] != FREE) {
                distance++;
            }
            while (distance >= neighbourhood && distance < slots) {
                int moved = mover(homes, home + distance, neighbourhood);
                if (moved == FREE) {
                    return (double) pairs / slots;
                }
                homes[(home + distance) % slots] = homes[moved % slots];
                homes[moved % slots] = FREE;
                distance = moved - home;
            }
            homes[(home + distance) % slots] = home;
            pairs++;
        }
    }

    /** The first slot before a free one whose pair may move there. */
    private static int mover(int[] homes, int free, int neighbourhood) {
        for (int slot = free - neighbourhood + 1; slot < free; slot++) {
            int distance = Math.floorMod(slot - homes[Math.floorMod(slot, homes.length)], homes.length);
            if (free - slot + distance < neighbourhood) {
                return slot;
            }
        }
        return FREE;
    }

    /** How many slots an insert looks at on average while linear probing fills a table. */
    private static double probes(int slots, double fill, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        boolean[] used = new boolean[slots];
        int pairs = (int) (slots * fill);
        long probes = 0;
        for (int i = 0; i < pairs; i++) {
            int slot = random.nextInt(slots);
            probes++;
            while (used[slot]) {
                slot = (slot + 1) % slots;
                probes++;
            }
            used[slot] = true;
        }
        return (double) probes / pairs;
    }

    /** The fill depends on the size of the table: the larger, the sooner some insert fails. */
    @Test
    void shouldResizePlainHopscotchLongBeforeItIsFull() {
        double small = 0;
        double large = 0;
        for (long seed = 1; seed <= 5; seed++) {
            small += fillAtFailure(8, 1 << 12, seed) / 5;
            large += fillAtFailure(8, 1 << 19, seed) / 5;
        }
        assertTrue(small > 0.40 && small < 0.70, small + " of 2^12 slots");
        assertTrue(large > 0.30 && large < 0.48, large + " of 2^19 slots");
    }

    @Test
    void shouldProbeTwoAndAHalfTimesLinearlyAtThreeQuarters() {
        assertEquals(2.5, probes(1 << 18, 0.75, 1), 0.05);
    }
}
