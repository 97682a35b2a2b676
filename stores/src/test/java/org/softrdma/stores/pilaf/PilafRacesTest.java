package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.fabric.Seeds;
import org.softrdma.sim.fabric.baton.SimulationException;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;

/**
 * Pilaf and Pilaf-VO are linearizable, one small race per seed. A failure names its seed; {@code -Dsoftrdma.seed=N} runs
 * that one again, {@code -Dsoftrdma.seeds=N} another number of them.
 */
class PilafRacesTest {
    private static final int SEEDS = Integer.getInteger("softrdma.seeds", 200);
    private static final int CRASHES = Integer.getInteger("softrdma.seeds", 100);
    private static final int SLOW_SEEDS = Boolean.getBoolean("softrdma.slow.short") ? 300 : 10_000;
    private static final int PAPER_SEEDS = 2000;

    private record Result(StoreCounters counters, long steps) {}

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhileKeysMove() {
        StoreCounters counters = race(0, SEEDS, PilafRaceSettings::calm);

        assertTrue(isOne() || areRaces(counters), () -> "the races were none: " + counters);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableWhateverGoesWrong() {
        StoreCounters counters = race(0, SEEDS, PilafRaceSettings::faulty);

        assertTrue(
                isOne() || (counters.get(StoreCounter.RECONNECTS) > 0 && counters.get(StoreCounter.TIMEOUTS) > 0),
                () -> "nothing has gone wrong: " + counters);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldHaveWhatItHasAcknowledgedAfterCrashes(@TempDir Path directory) {
        StoreCounters counters =
                race(0, CRASHES, seed -> PilafRaceSettings.crashing(seed, created(directory.resolve("log" + seed))));

        assertTrue(isOne() || counters.get(StoreCounter.RECONNECTS) > 0, () -> "nobody has crashed: " + counters);
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldHaveNoValueOfAnOldLife() {
        StoreCounters counters = race(0, CRASHES, PilafRaceSettings::forgetting);

        assertTrue(isOne() || counters.get(StoreCounter.RECONNECTS) > 0, () -> "nobody has crashed: " + counters);
    }

    @Test
    @Tag("slow")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldBeLinearizableForManySeeds() {
        StoreCounters calm = race(SEEDS, SLOW_SEEDS / 2, PilafRaceSettings::calm);
        StoreCounters faulty = race(SEEDS, SLOW_SEEDS / 2, PilafRaceSettings::faulty);

        assertTrue(isOne() || (areRaces(calm) && areRaces(faulty)), () -> "the races were none: " + calm + faulty);
    }

    /**
     * The hole in the published protocol: a key that the server moves from a candidate that a GET has not looked at yet
     * to one that it has, is missed, although the key is there all the time. Should this test ever pass by itself, the
     * paper's form would not be the paper's. {@link PilafMovesTest} finds it sooner; this one says what contradicts what.
     */
    @Test
    @Tag("slow")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldMissAKeyThatMovesAsPublished() {
        long found = -1;
        for (long seed = 0; seed < PAPER_SEEDS && found < 0; seed++) {
            try {
                PilafRace ignored = new PilafRace(PilafRaceSettings.paper(seed)).run();
            } catch (PilafContradiction e) {
                System.out.println("the published GET misses a key that moves: " + e.getMessage());
                found = seed;
            }
        }
        assertTrue(found >= 0, "the published GET has missed no key in " + PAPER_SEEDS + " seeds");
    }

    private static boolean areRaces(StoreCounters counters) {
        return counters.get(StoreCounter.ENTRY_RETRIES) > 0
                && counters.get(StoreCounter.EXTENT_RETRIES) > 0
                && counters.get(StoreCounter.CONFLICTS) > 0
                && counters.get(StoreCounter.DUPLICATES) > 0;
    }

    private static boolean isOne() {
        return Long.getLong("softrdma.seed") != null;
    }

    private static Path created(Path directory) {
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static StoreCounters race(long from, int count, LongFunction<PilafRaceSettings> settings) {
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

    private static Result raced(PilafRaceSettings settings) {
        try {
            PilafRace race = new PilafRace(settings).run();
            return new Result(race.counters(), race.steps());
        } catch (SimulationException | PilafContradiction e) {
            throw new AssertionError("softrdma.seed=" + settings.seed() + " fails: " + e.getMessage(), e);
        }
    }
}
