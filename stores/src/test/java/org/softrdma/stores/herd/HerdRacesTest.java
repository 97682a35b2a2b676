package org.softrdma.stores.herd;

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
 * HERD is linearizable but for the pairs that it evicts, and executes each change once, one small race per seed. A failure
 * names its seed; {@code -Dsoftrdma.seed=N} runs that one again, {@code -Dsoftrdma.seeds=N} another number of them.
 */
class HerdRacesTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEEDS = Integer.getInteger("softrdma.seeds", 200 / SAMPLE);
    private static final int CRASHES = Integer.getInteger("softrdma.seeds", 100 / SAMPLE);
    private static final int SLOW_SEEDS = Boolean.getBoolean("softrdma.slow.short") ? 100 : 10_000;

    private record Result(RaceSum sum, long fromIndex, long fromLog) {
        static Result of(HerdRace race) {
            return new Result(
                    race.sum(), race.evictions().fromIndex(), race.evictions().fromLog());
        }
    }

    /** What came of some races. */
    private static final class Sum {
        private final RaceSum races = new RaceSum();
        private long fromIndex;
        private long fromLog;

        private void add(Result result) {
            races.add(result.sum());
            fromIndex += result.fromIndex();
            fromLog += result.fromLog();
        }

        private boolean has(StoreCounter counter) {
            return races.has(counter);
        }

        @Override
        public String toString() {
            return races + ", evicted from indexes " + fromIndex + ", from logs " + fromLog;
        }
    }

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhilePairsAreEvicted() {
        Sum sum = race(0, SEEDS, HerdRaceSettings::calm);

        assertTrue(RaceRuns.isOne() || areRaces(sum), () -> "the races were none: " + sum);
    }

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrong() {
        Sum sum = race(0, SEEDS, HerdRaceSettings::faulty);

        assertTrue(
                RaceRuns.isOne()
                        || (areRaces(sum) && sum.has(StoreCounter.RECONNECTS) && sum.has(StoreCounter.TIMEOUTS)),
                () -> "nothing has gone wrong: " + sum);
    }

    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldHaveNoValueOfAnOldLife() {
        Sum sum = race(0, CRASHES, HerdRaceSettings::crashing);

        assertTrue(RaceRuns.isOne() || sum.has(StoreCounter.RECONNECTS), () -> "nobody has crashed: " + sum);
    }

    /** Over unreliable transports: what is lost is asked for again. */
    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableOverATransportThatLoses() {
        Sum calm = race(0, SEEDS, seed -> HerdRaceSettings.calm(seed).ofDatagrams());
        Sum crashing = race(0, CRASHES, seed -> HerdRaceSettings.crashing(seed).ofDatagrams());

        assertTrue(
                RaceRuns.isOne() || (areRaces(calm) && crashing.has(StoreCounter.RECONNECTS)),
                () -> "the races were none: " + calm + crashing);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableOverATransportThatLosesForManySeeds() {
        Sum calm = race(SEEDS, SLOW_SEEDS, seed -> HerdRaceSettings.calm(seed).ofDatagrams());

        assertTrue(RaceRuns.isOne() || areRaces(calm), () -> "the races were none: " + calm);
    }

    /** NessieSD evicts nothing, and its answers are WRITTEN over. */
    @Test
    @Tag("sampled")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableAsNessieSd() {
        RaceSum calm = raceNessieSd(0, SEEDS, HerdRaceSettings::calm);
        RaceSum faulty = raceNessieSd(0, SEEDS, HerdRaceSettings::faulty);
        RaceSum crashing = raceNessieSd(0, CRASHES, HerdRaceSettings::crashing);

        assertTrue(
                RaceRuns.isOne()
                        || (calm.has(StoreCounter.DUPLICATES)
                                && faulty.has(StoreCounter.RECONNECTS)
                                && faulty.has(StoreCounter.TIMEOUTS)
                                && crashing.has(StoreCounter.RECONNECTS)),
                () -> "the races were none: " + calm + faulty + crashing);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableAsNessieSdForManySeeds() {
        RaceSum calm = raceNessieSd(SEEDS, SLOW_SEEDS / 2, HerdRaceSettings::calm);
        RaceSum faulty = raceNessieSd(SEEDS, SLOW_SEEDS / 2, HerdRaceSettings::faulty);

        assertTrue(
                RaceRuns.isOne() || (calm.has(StoreCounter.DUPLICATES) && faulty.has(StoreCounter.RECONNECTS)),
                () -> "the races were none: " + calm + faulty);
    }

    private static RaceSum raceNessieSd(long from, int count, LongFunction<HerdRaceSettings> settings) {
        return RaceRuns.of(
                from, count, seed -> new HerdRace(settings.apply(seed).ofNessieSd()).run());
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForManySeeds() {
        Sum calm = race(SEEDS, SLOW_SEEDS / 2, HerdRaceSettings::calm);
        Sum faulty = race(SEEDS, SLOW_SEEDS / 2, HerdRaceSettings::faulty);

        assertTrue(
                RaceRuns.isOne() || (areRaces(calm) && areRaces(faulty)),
                () -> "the races were none: " + calm + faulty);
    }

    private static boolean areRaces(Sum sum) {
        return sum.has(StoreCounter.DUPLICATES) && sum.fromIndex > 0 && sum.fromLog > 0;
    }

    private static Sum race(long from, int count, LongFunction<HerdRaceSettings> settings) {
        Sum sum = new Sum();
        return RaceRuns.of(from, count, seed -> Result.of(new HerdRace(settings.apply(seed)).run()), sum, sum::add);
    }
}
