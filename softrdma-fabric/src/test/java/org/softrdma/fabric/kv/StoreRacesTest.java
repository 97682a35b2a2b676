package org.softrdma.fabric.kv;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.kv.server.ItemSettings.Registration;

/**
 * set, cas, add, delete, expiry and eviction against GETs by READ and over TCP, one small race per seed. A failure names its seed;
 * {@code -Dsoftrdma.seed=N} runs that one again, {@code -Dsoftrdma.seeds=N} another number of them.
 */
class StoreRacesTest {
    private static final int SEEDS = Integer.getInteger("softrdma.seeds", 1000);
    private static final int SLOW_SEEDS = 10_000;

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForEverySeed() {
        Long one = Long.getLong("softrdma.seed");
        if (one != null) {
            race(one);
        } else {
            assertRaces(0, SEEDS);
        }
    }

    @Test
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForEverySeedOfMany() {
        assertRaces(SEEDS, SLOW_SEEDS);
    }

    private static void assertRaces(int from, int to) {
        StoreRace.Figures all = new StoreRace.Figures();
        long steps = 0;
        long beganNs = System.nanoTime();
        for (long seed = from; seed < to; seed++) {
            StoreRace race = race(seed);
            all.add(race.figures());
            steps += race.steps();
        }
        System.out.printf(
                "%d seeds, %d steps, %s, %d ms%n",
                to - from, steps, all, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs));
        boolean raced = all.hits > 0 && all.stale > 0 && all.torn > 0 && all.evicted > 0 && all.expired > 0;
        assertTrue(raced, () -> "the races were none: " + all);
    }

    /** The seed decides the registration too, and whether the store loses items. */
    private static StoreRace race(long seed) {
        try {
            return new StoreRace(seed, (seed & 1) == 0 ? Registration.ARENA : Registration.CHUNK, (seed & 2) != 0)
                    .run();
        } catch (RuntimeException | Error e) {
            throw new AssertionError("softrdma.seed=" + seed + " fails: " + e.getMessage(), e);
        }
    }
}
