package org.softrdma.farm.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;

/**
 * The mended form is linearizable: one small race per seed on a fabric that does whatever verbs allow, while nothing goes
 * wrong or much does. A failure names its seed; {@code -Dsoftrdma.seed=N} runs that one again, {@code
 * -Dsoftrdma.seeds=N} another number of them.
 */
class FarmRacesTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEEDS = Integer.getInteger("softrdma.seeds", 200 / SAMPLE);
    private static final int SLOW_SEEDS = Boolean.getBoolean("softrdma.slow.short") ? 200 : 5000;

    /** What all races have come to. */
    private static final class Sums {
        private final StoreCounters counters = new StoreCounters();
        private long combined;
        private long unknown;

        @Override
        public String toString() {
            return counters + ", combined " + combined + ", unknown " + unknown;
        }
    }

    private static Sums race(long from, int count, LongFunction<FarmRace.Settings> settings) {
        Long one = Long.getLong("softrdma.seed");
        Sums sums = new Sums();
        for (long seed = one == null ? from : one; seed < (one == null ? from + count : one + 1); seed++) {
            FarmRace race = new FarmRace(settings.apply(seed));
            try {
                race.run();
            } catch (RuntimeException | Error e) {
                throw new AssertionError("softrdma.seed=" + seed + " fails: " + e.getMessage(), e);
            }
            race.requireGood();
            sums.counters.add(race.counters());
            sums.combined += race.combined();
            sums.unknown += race.unknown();
        }
        System.out.println(count + " seeds: " + sums);
        return sums;
    }

    private static FarmRace.Settings calm(long seed) {
        return FarmRace.Settings.safe(seed, false);
    }

    private static FarmRace.Settings faulty(long seed) {
        return FarmRace.Settings.safe(seed, true);
    }

    private static void requireRaces(Sums sums) {
        boolean raced = sums.counters.get(StoreCounter.LINE_RETRIES) > 0
                && sums.counters.get(StoreCounter.INCARNATION_RESTARTS) > 0
                && sums.counters.get(StoreCounter.TORN_UNSEEN) > 0
                && sums.combined > 0;
        assertTrue(raced || Long.getLong("softrdma.seed") != null, () -> "the races were none: " + sums);
    }

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForEverySeed() {
        requireRaces(race(0, SEEDS, FarmRacesTest::calm));
    }

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrong() {
        Sums sums = race(0, SEEDS, FarmRacesTest::faulty);

        requireRaces(sums);
        assertTrue(
                (sums.unknown > 0 && sums.counters.get(StoreCounter.RECONNECTS) > 0)
                        || Long.getLong("softrdma.seed") != null,
                () -> "nothing has gone wrong: " + sums);
    }

    /** The published form's changes are in order, and what it finds is right: only its misses prove nothing. */
    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldOnlyMissFalselyAsPublishedWhereTheDeviceMovesLines() {
        Sums sums = race(0, SEEDS, FarmRace.Settings::forgiving);

        assertTrue(
                sums.counters.get(StoreCounter.LINE_RETRIES) > 0 || Long.getLong("softrdma.seed") != null,
                () -> "the races were none: " + sums);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForEverySeedOfMany() {
        requireRaces(race(SEEDS, SLOW_SEEDS, FarmRacesTest::calm));
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrongByManySeeds() {
        requireRaces(race(SEEDS, SLOW_SEEDS, FarmRacesTest::faulty));
    }
}
