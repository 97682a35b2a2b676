package org.softrdma.farm.node;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What transactions with replicas promise, by seeds. {@code -Dsoftrdma.seed=N} runs one race again. */
class ReplicationRaceTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEEDS = Math.max(6, 60 / SAMPLE);
    private static final int SLOW_SEEDS =
            Integer.getInteger("softrdma.seeds", Boolean.getBoolean("softrdma.slow.short") ? 20 : 500);

    /** {@code -Dsoftrdma.first-seed=N}: other seeds than last time. */
    private static final long FIRST_SLOW_SEED = Long.getLong("softrdma.first-seed", 1000);

    private interface Races {
        TransactionRace of(long seed);
    }

    private static TransactionRace withReplicas(long seed) {
        return new TransactionRace(seed, 3 + (int) (seed % 3), 2 + (int) (seed / 3 % 2), TransactionRace.Faults.SHORT);
    }

    private static TransactionRace withKills(long seed) {
        return new TransactionRace(seed, 3 + (int) (seed / 2 % 3), 2 + (int) (seed % 2), TransactionRace.Faults.KILL);
    }

    private static TransactionRace withLosses(long seed) {
        return new TransactionRace(seed, 3 + (int) (seed / 2 % 3), 2 + (int) (seed % 2), TransactionRace.Faults.LOSS);
    }

    private static TransactionRace withSessionsThatEnd(long seed) {
        return new TransactionRace(
                seed, 3 + (int) (seed / 2 % 3), 2 + (int) (seed % 2), TransactionRace.Faults.SESSION);
    }

    private static TransactionRace withCopies(long seed) {
        return new TransactionRace(seed, 4 + (int) (seed / 2 % 2), 2 + (int) (seed % 2), TransactionRace.Faults.COPY);
    }

    private static void requireSerializable(long from, int count, Races races) {
        Long one = Long.getLong("softrdma.seed");
        int committed = 0;
        int aborted = 0;
        int unknown = 0;
        for (long seed = one == null ? from : one; seed < (one == null ? from + count : one + 1); seed++) {
            TransactionRace race = races.of(seed);
            try {
                race.run().requireSerializable();
            } catch (RuntimeException | Error e) {
                throw new AssertionError(race + " fails: " + e.getMessage(), e);
            }
            committed += race.committed();
            aborted += race.aborted();
            unknown += race.unknown();
        }
        System.out.println((one == null ? "seeds from " + from + ", " + count : "seed " + one) + ": " + committed
                + " committed, " + aborted + " aborted, " + unknown + " unknown");
        assertTrue(
                one != null || (committed > count && aborted > 0), committed + " committed, " + aborted + " aborted");
    }

    @Tag("sampled")
    @Timeout(600)
    @Test
    void shouldBeStrictlySerializableWithReplicas() {
        requireSerializable(0, SEEDS, ReplicationRaceTest::withReplicas);
    }

    @Tag("sampled")
    @Timeout(600)
    @Test
    void shouldBeStrictlySerializableWhenMachinesAreKilled() {
        requireSerializable(0, SEEDS, ReplicationRaceTest::withKills);
    }

    @Tag("sampled")
    @Timeout(600)
    @Test
    void shouldBeStrictlySerializableWhenMachinesAreLost() {
        requireSerializable(0, SEEDS, ReplicationRaceTest::withLosses);
    }

    @Tag("sampled")
    @Timeout(600)
    @Test
    void shouldBeStrictlySerializableWhenSessionsEnd() {
        requireSerializable(0, SEEDS, ReplicationRaceTest::withSessionsThatEnd);
    }

    @Tag("sampled")
    @Timeout(600)
    @Test
    void shouldBeStrictlySerializableWhenReplicasAreMadeAgainAndRegionsMove() {
        requireSerializable(0, SEEDS, ReplicationRaceTest::withCopies);
    }

    @Tag("slow")
    @Timeout(3600)
    @Test
    void shouldBeStrictlySerializableByManySeeds() {
        requireSerializable(FIRST_SLOW_SEED, SLOW_SEEDS, ReplicationRaceTest::withReplicas);
        requireSerializable(FIRST_SLOW_SEED, SLOW_SEEDS, ReplicationRaceTest::withKills);
        requireSerializable(FIRST_SLOW_SEED, SLOW_SEEDS, ReplicationRaceTest::withLosses);
        requireSerializable(FIRST_SLOW_SEED, SLOW_SEEDS, ReplicationRaceTest::withSessionsThatEnd);
        requireSerializable(FIRST_SLOW_SEED, SLOW_SEEDS, ReplicationRaceTest::withCopies);
    }
}
