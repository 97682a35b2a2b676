package org.softrdma.suites.kv;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * set, cas, add, delete, expiry and eviction against GETs by READ and over TCP, one small race per seed, while nothing
 * goes wrong or much does. A failure names its seed; {@code -Dsoftrdma.seed=N} runs that one again,
 * {@code -Dsoftrdma.seeds=N} another number of them.
 */
class StoreRacesTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEEDS = Integer.getInteger("softrdma.seeds", 1000 / SAMPLE);
    private static final int SLOW_SEEDS = Boolean.getBoolean("softrdma.slow.short") ? 1_500 : 10_000;
    private static final int FAULTY_SEEDS = Integer.getInteger("softrdma.seeds", 300 / SAMPLE);
    private static final int SLOW_FAULTY_SEEDS = Boolean.getBoolean("softrdma.slow.short") ? 700 : 5_000;

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForEverySeed() {
        RaceFigures figures = race(0, SEEDS, false);

        assertTrue(figures.areOfRaces() || isOne(), () -> "the races were none: " + figures);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForEverySeedOfMany() {
        RaceFigures figures = race(SEEDS, SLOW_SEEDS, false);

        assertTrue(figures.areOfRaces() || isOne(), () -> "the races were none: " + figures);
    }

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrong() {
        RaceFigures figures = race(0, FAULTY_SEEDS, true);

        assertTrue(
                (figures.areOfChanges() && figures.areOfFaults()) || isOne(),
                () -> "nothing has gone wrong: " + figures);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrongByManySeeds() {
        RaceFigures figures = race(FAULTY_SEEDS, SLOW_FAULTY_SEEDS, true);

        assertTrue(
                (figures.areOfChanges() && figures.areOfFaults()) || isOne(),
                () -> "nothing has gone wrong: " + figures);
    }

    private static boolean isOne() {
        return Long.getLong("softrdma.seed") != null;
    }

    private static RaceFigures race(int from, int to, boolean faulty) {
        Long one = Long.getLong("softrdma.seed");
        RaceFigures all = new RaceFigures();
        long steps = 0;
        long beganNs = System.nanoTime();
        for (long seed = one == null ? from : one; seed < (one == null ? to : one + 1); seed++) {
            StoreRace race = race(seed, faulty);
            all.add(race.figures());
            steps += race.steps();
        }
        System.out.printf(
                "%d seeds, %d steps, %s, %d ms%n",
                to - from, steps, all, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs));
        return all;
    }

    private static StoreRace race(long seed, boolean faulty) {
        try {
            return new StoreRace(RaceSettings.of(seed, faulty)).run();
        } catch (RuntimeException | Error e) {
            throw new AssertionError("softrdma.seed=" + seed + " fails: " + e.getMessage(), e);
        }
    }
}
