package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.race.RaceRuns;
import org.softrdma.stores.race.RaceSum;

/**
 * Nessie is linearizable, one small race per seed. A failure names its seed; {@code -Dsoftrdma.seed=N} runs that one
 * again, {@code -Dsoftrdma.seeds=N} another number of them.
 */
class NessieRacesTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEEDS = Integer.getInteger("softrdma.seeds", 200 / SAMPLE);
    /** In fewer nothing goes wrong. */
    private static final int FAULTY_SEEDS = Math.max(SEEDS, 40);

    private static final int SLOW_SEEDS = Boolean.getBoolean("softrdma.slow.short") ? 100 : 10_000;
    private static final int PAPER_SEEDS = 2000;

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhileKeysMove() {
        RaceSum sum = race(0, SEEDS, NessieRaceSettings::calm);

        assertTrue(RaceRuns.isOne() || areRaces(sum), () -> "the races were none: " + sum);
    }

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrong() {
        RaceSum sum = race(0, FAULTY_SEEDS, NessieRaceSettings::faulty);

        assertTrue(
                RaceRuns.isOne() || (sum.has(StoreCounter.RECONNECTS) && sum.has(StoreCounter.TIMEOUTS)),
                () -> "nothing has gone wrong: " + sum);
    }

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldHaveNoValueOfAnOldLife() {
        RaceSum sum = race(0, SEEDS / 2, NessieRaceSettings::crashing);

        assertTrue(RaceRuns.isOne() || sum.has(StoreCounter.RECONNECTS), () -> "nobody has crashed: " + sum);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForManySeeds() {
        RaceSum calm = race(SEEDS, SLOW_SEEDS / 2, NessieRaceSettings::calm);
        RaceSum faulty = race(SEEDS, SLOW_SEEDS / 2, NessieRaceSettings::faulty);

        assertTrue(
                RaceRuns.isOne() || (areRaces(calm) && areRaces(faulty)),
                () -> "the races were none: " + calm + faulty);
    }

    /** Says what contradicts what; {@link NessieMovesTest} finds a contradiction sooner. */
    @Test
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldContradictItselfAsPublished() {
        long found = RaceRuns.firstContradiction(
                PAPER_SEEDS,
                seed -> new NessieRace(NessieRaceSettings.paper(seed)).run(),
                "the published protocol contradicts itself");
        assertTrue(found >= 0, "the published protocol has not contradicted itself in " + PAPER_SEEDS + " seeds");
    }

    private static boolean areRaces(RaceSum sum) {
        return sum.has(StoreCounter.CONFLICTS) && sum.has(StoreCounter.CACHE_HITS) && sum.has(StoreCounter.CONFIRMS);
    }

    private static RaceSum race(long from, int count, LongFunction<NessieRaceSettings> settings) {
        return RaceRuns.of(from, count, seed -> new NessieRace(settings.apply(seed)).run());
    }
}
