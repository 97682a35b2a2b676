package org.softrdma.farm.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.memory.Grains;

/**
 * What the published form rests on: "matching versions across all cache lines" prove a consistent object if each line of
 * 64 bytes is read at one instant, and prove nothing where a device copies by words.
 */
class LineVersionsTest {
    /** Those before it have found nothing. */
    private static final int FIRST_SEED = 20;

    private static final int SEEDS = 2_000;
    private static final int SEEDS_OF_LINES = 200 / Integer.getInteger("softrdma.sample", 1);

    private static long tornOf(long seed, Grains grains) {
        return new FarmRace(FarmRace.Settings.paper(seed, grains)).run().torn();
    }

    @Test
    void shouldAcceptTornValuesWhereTheDeviceMovesWords() {
        long seed = FIRST_SEED;
        while (seed < SEEDS && tornOf(seed, Grains.WORDS) == 0) {
            seed++;
        }
        System.out.println("torn by seed " + seed);
        assertTrue(
                seed < SEEDS,
                "line versions pass on a device that moves words: this was thought impossible. Is the writer seen at"
                        + " work at all?");
    }

    @Tag("sampled")
    @Test
    void shouldAcceptNoTornValueWhereTheDeviceMovesLines() {
        for (long seed = 0; seed < SEEDS_OF_LINES; seed++) {
            assertEquals(0, tornOf(seed, Grains.LINES), "seed " + seed);
        }
    }
}
