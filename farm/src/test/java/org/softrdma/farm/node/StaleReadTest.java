package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.farm.membership.FabricEnsemble;

/**
 * Nobody reads what a machine serves that is not the primary any more, as long as clocks keep their bound; and the checker
 * would see it. {@code -Dsoftrdma.seed=N} runs one race again, {@code -Dsoftrdma.seeds=N} another number of them in the slow
 * test.
 */
class StaleReadTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEEDS = Math.max(6, 60 / SAMPLE);
    private static final int SLOW_SEEDS =
            Integer.getInteger("softrdma.seeds", Boolean.getBoolean("softrdma.slow.short") ? 20 : 500);
    private static final int MOST_UNTIL_FOUND = 12;

    private static StaleReadRace.Fault fault(long seed) {
        StaleReadRace.Fault[] faults = StaleReadRace.Fault.values();
        return faults[(int) (seed % faults.length)];
    }

    private static void requireNothingStale(long from, int count) {
        Long one = Long.getLong("softrdma.seed");
        int reads = 0;
        for (long seed = one == null ? from : one; seed < (one == null ? from + count : one + 1); seed++) {
            StaleReadRace race = new StaleReadRace(seed, fault(seed), StaleReadRace.Clock.WITHIN_THE_BOUND, Set.of());
            try {
                race.run().requireLinearizable();
            } catch (RuntimeException | Error e) {
                throw new AssertionError(race + " fails: " + e.getMessage(), e);
            }
            reads += race.reads();
        }
        System.out.println(count + " seeds, " + reads + " reads");
        assertTrue(reads > count, "reads " + reads);
    }

    private static void requireFound(
            StaleReadRace.Fault fault, StaleReadRace.Clock clock, Set<FabricEnsemble.Flaw> flaws) {
        for (long seed = 0; seed < MOST_UNTIL_FOUND; seed++) {
            if (!new StaleReadRace(seed, fault, clock, flaws).run().isLinearizable()) {
                System.out.println("found by seed " + seed);
                return;
            }
        }
        throw new AssertionError("no stale read in " + MOST_UNTIL_FOUND + " seeds");
    }

    @Tag("sampled")
    @Test
    void shouldReadNothingStaleWhileClocksKeepTheBound() {
        requireNothingStale(0, SEEDS);
    }

    @Tag("slow")
    @Timeout(3600)
    @Test
    void shouldReadNothingStaleByManySeeds() {
        requireNothingStale(1000, SLOW_SEEDS);
    }

    /** The primary stands still while its lease runs out, and goes on with a reader on the same machine. */
    @Test
    void shouldReadNothingStaleOnAPrimaryThatStoodStill() {
        for (long seed = 500; seed < 501; seed++) {
            new StaleReadRace(seed, StaleReadRace.Fault.PAUSED, StaleReadRace.Clock.WITHIN_THE_BOUND, Set.of())
                    .run()
                    .requireLinearizable();
        }
    }

    @Test
    void shouldReadSomethingStaleWhenAClockIsSlowerThanTheBound() {
        requireFound(StaleReadRace.Fault.CUT_OFF, StaleReadRace.Clock.TOO_SLOW, Set.of());
    }

    @Test
    void shouldReadSomethingStaleWhenAClockStandsStill() {
        requireFound(StaleReadRace.Fault.CUT_OFF, StaleReadRace.Clock.STANDS_STILL, Set.of());
    }

    @Test
    void shouldReadSomethingStaleWhenRenewalsAreGrantedWhateverTheConfiguration() {
        requireFound(
                StaleReadRace.Fault.REMOVED,
                StaleReadRace.Clock.WITHIN_THE_BOUND,
                Set.of(FabricEnsemble.Flaw.RENEWALS_NOT_COMPARED));
    }
}
