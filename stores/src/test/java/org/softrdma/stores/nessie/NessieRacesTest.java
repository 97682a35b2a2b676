package org.softrdma.stores.nessie;

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
 * Nessie is linearizable, one small race per seed. A failure names its seed; {@code -Dsoftrdma.seed=N} runs that one
 * again, {@code -Dsoftrdma.seeds=N} another number of them.
 */
class NessieRacesTest {
    private static final int SEEDS = Integer.getInteger("softrdma.seeds", 100);
    private static final int SLOW_SEEDS = Boolean.getBoolean("softrdma.slow.short") ? 300 : 10_000;
    private static final int PAPER_SEEDS = 2000;

    private record Result(StoreCounters counters, long steps) {}

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhileKeysMove() {
        StoreCounters counters = race(0, SEEDS, NessieRaceSettings::calm);

        assertTrue(isOne() || areRaces(counters), () -> "the races were none: " + counters);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrong() {
        StoreCounters counters = race(0, SEEDS, NessieRaceSettings::faulty);

        assertTrue(
                isOne() || (counters.get(StoreCounter.RECONNECTS) > 0 && counters.get(StoreCounter.TIMEOUTS) > 0),
                () -> "nothing has gone wrong: " + counters);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldHaveNoValueOfAnOldLife() {
        StoreCounters counters = race(0, SEEDS / 2, NessieRaceSettings::crashing);

        assertTrue(isOne() || counters.get(StoreCounter.RECONNECTS) > 0, () -> "nobody has crashed: " + counters);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForManySeeds() {
        StoreCounters calm = race(SEEDS, SLOW_SEEDS / 2, NessieRaceSettings::calm);
        StoreCounters faulty = race(SEEDS, SLOW_SEEDS / 2, NessieRaceSettings::faulty);

        assertTrue(isOne() || (areRaces(calm) && areRaces(faulty)), () -> "the races were none: " + calm + faulty);
    }

    /** Says what contradicts what; {@link NessieMovesTest} finds a contradiction sooner. */
    @Test
    @Tag("slow")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void shouldContradictItselfAsPublished() {
        long found = -1;
        for (long seed = 0; seed < PAPER_SEEDS && found < 0; seed++) {
            try {
                NessieRace ignored = new NessieRace(NessieRaceSettings.paper(seed)).run();
            } catch (NessieContradiction e) {
                System.out.println("the published protocol contradicts itself: " + e.getMessage());
                found = seed;
            }
        }
        assertTrue(found >= 0, "the published protocol has not contradicted itself in " + PAPER_SEEDS + " seeds");
    }

    private static boolean areRaces(StoreCounters counters) {
        return counters.get(StoreCounter.CONFLICTS) > 0
                && counters.get(StoreCounter.CACHE_HITS) > 0
                && counters.get(StoreCounter.CONFIRMS) > 0;
    }

    private static boolean isOne() {
        return Long.getLong("softrdma.seed") != null;
    }

    private static StoreCounters race(long from, int count, LongFunction<NessieRaceSettings> settings) {
        Long one = Long.getLong("softrdma.seed");
        StoreCounters all = new StoreCounters();
        long[] steps = new long[1];
        long beganNs = System.nanoTime();
        Seeds seeds = one == null ? Seeds.of(from, count) : Seeds.of(one, 1);
        seeds.run(seed -> raced(settings.apply(seed)), (seed, result) -> {
            all.add(result.counters());
            steps[0] += result.steps();
            return true;
        });
        System.out.printf(
                "%d seeds, %d steps, %s, %d ms%n",
                seeds.count(), steps[0], all, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs));
        return all;
    }

    private static Result raced(NessieRaceSettings settings) {
        try {
            NessieRace race = new NessieRace(settings).run();
            return new Result(race.counters(), race.steps());
        } catch (SimulationException | NessieContradiction e) {
            throw new AssertionError("softrdma.seed=" + settings.seed() + " fails: " + e.getMessage(), e);
        }
    }
}
