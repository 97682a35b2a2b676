package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.fabric.Seeds;
import org.softrdma.sim.fabric.baton.SimulationException;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;

/**
 * HERD is linearizable but for the pairs that it evicts, and executes each change once, one small race per seed. A failure
 * names its seed; {@code -Dsoftrdma.seed=N} runs that one again, {@code -Dsoftrdma.seeds=N} another number of them.
 */
class HerdRacesTest {
    private static final int SEEDS = Integer.getInteger("softrdma.seeds", 100);
    private static final int CRASHES = Integer.getInteger("softrdma.seeds", 50);
    private static final int SLOW_SEEDS = Boolean.getBoolean("softrdma.slow.short") ? 300 : 10_000;

    private record Result(StoreCounters counters, long fromIndex, long fromLog, long steps) {}

    /** What came of some races. */
    private static final class Sum {
        private final StoreCounters counters = new StoreCounters();
        private long fromIndex;
        private long fromLog;
        private long steps;

        private boolean add(Result result) {
            counters.add(result.counters());
            fromIndex += result.fromIndex();
            fromLog += result.fromLog();
            steps += result.steps();
            return true;
        }

        private boolean has(StoreCounter counter) {
            return counters.get(counter) > 0;
        }

        @Override
        public String toString() {
            return counters + ", evicted from indexes " + fromIndex + ", from logs " + fromLog + ", steps " + steps;
        }
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhilePairsAreEvicted() {
        Sum sum = race(0, SEEDS, HerdRaceSettings::calm);

        assertTrue(isOne() || areRaces(sum), () -> "the races were none: " + sum);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrong() {
        Sum sum = race(0, SEEDS, HerdRaceSettings::faulty);

        assertTrue(
                isOne() || (areRaces(sum) && sum.has(StoreCounter.RECONNECTS) && sum.has(StoreCounter.TIMEOUTS)),
                () -> "nothing has gone wrong: " + sum);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldHaveNoValueOfAnOldLife() {
        Sum sum = race(0, CRASHES, HerdRaceSettings::crashing);

        assertTrue(isOne() || sum.has(StoreCounter.RECONNECTS), () -> "nobody has crashed: " + sum);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForManySeeds() {
        Sum calm = race(SEEDS, SLOW_SEEDS / 2, HerdRaceSettings::calm);
        Sum faulty = race(SEEDS, SLOW_SEEDS / 2, HerdRaceSettings::faulty);

        assertTrue(isOne() || (areRaces(calm) && areRaces(faulty)), () -> "the races were none: " + calm + faulty);
    }

    private static boolean areRaces(Sum sum) {
        return sum.has(StoreCounter.DUPLICATES) && sum.fromIndex > 0 && sum.fromLog > 0;
    }

    private static boolean isOne() {
        return Long.getLong("softrdma.seed") != null;
    }

    private static Sum race(long from, int count, LongFunction<HerdRaceSettings> settings) {
        Long one = Long.getLong("softrdma.seed");
        Sum sum = new Sum();
        long beganNs = System.nanoTime();
        Seeds seeds = one == null ? Seeds.of(from, count) : Seeds.of(one, 1);
        seeds.run(seed -> raced(settings.apply(seed)), (seed, result) -> sum.add(result));
        System.out.printf(
                "%d seeds, %s, %d ms%n",
                seeds.count(), sum, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs));
        return sum;
    }

    private static Result raced(HerdRaceSettings settings) {
        try {
            HerdRace race = new HerdRace(settings).run();
            HerdEvictions evictions = race.evictions();
            return new Result(race.counters(), evictions.fromIndex(), evictions.fromLog(), race.steps());
        } catch (SimulationException | AssertionError e) {
            throw new AssertionError("softrdma.seed=" + settings.seed() + " fails: " + e.getMessage(), e);
        }
    }
}
