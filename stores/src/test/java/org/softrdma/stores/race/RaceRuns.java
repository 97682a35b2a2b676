package org.softrdma.stores.race;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.softrdma.fabric.Seeds;
import org.softrdma.fabric.scheduler.SimulationException;

/** Runs races by seeds, or the one of {@code -Dsoftrdma.seed=N}, and prints what came of them. The test's thread. */
public final class RaceRuns {
    private RaceRuns() {}

    /** True if only one seed runs, so that not all of what is to happen happens. */
    public static boolean isOne() {
        return Long.getLong("softrdma.seed") != null;
    }

    /** As {@link #of(long, int, LongFunction, Object, Consumer)}, for races that come to nothing else. */
    public static RaceSum of(long from, int count, LongFunction<StoreRace> race) {
        RaceSum all = new RaceSum();
        return of(from, count, seed -> race.apply(seed).sum(), all, all::add);
    }

    /**
     * Runs races.
     *
     * @param from the first seed
     * @param count how many
     * @param race runs one, and says what came of it
     * @param all what came of all
     * @param adding adds what came of one, in the order of the seeds
     * @return what came of all
     * @throws AssertionError naming the seed, if a race fails
     */
    public static <R, S> S of(long from, int count, LongFunction<R> race, S all, Consumer<R> adding) {
        Long one = Long.getLong("softrdma.seed");
        long beganNs = System.nanoTime();
        Seeds seeds = one == null ? Seeds.of(from, count) : Seeds.of(one, 1);
        seeds.run(seed -> run(seed, race), (seed, result) -> {
            adding.accept(result);
            return true;
        });
        long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs);
        System.out.printf("%d seeds, %s, %d ms%n", seeds.count(), all, tookMs);
        return all;
    }

    private static <R> R run(long seed, LongFunction<R> race) {
        try {
            return race.apply(seed);
        } catch (SimulationException | AssertionError e) {
            throw new AssertionError("softrdma.seed=" + seed + " fails: " + e.getMessage(), e);
        }
    }

    /** The first seed whose race contradicts itself, of so many; -1 if none does. Prints what contradicts what. */
    public static long firstContradiction(int count, LongFunction<StoreRace> race, String what) {
        for (long seed = 0; seed < count; seed++) {
            try {
                StoreRace ignored = race.apply(seed);
            } catch (RaceContradiction e) {
                System.out.println(what + ": " + e.getMessage());
                return seed;
            }
        }
        return -1;
    }
}
