package org.softrdma.bench.workload;

import java.util.SplittableRandom;
import org.apache.commons.rng.sampling.PermutationSampler;
import org.apache.commons.rng.sampling.distribution.DiscreteSampler;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.jspecify.annotations.Nullable;

/**
 * Chooses pairs: all alike, or by popularity, rank r with a weight of 1 / r^skew, or some of them more often. Which pair
 * has which rank is a random permutation, or how long ago it was written. One seed gives one sequence. Owned by the thread
 * that loads.
 */
public final class KeyChoice {
    private static final int PERCENT = 100;

    private final int count;
    private final SplittableRandom random;
    private final int[] pairs;
    private final @Nullable DiscreteSampler ranks;
    private final WorkingSet often;
    private int lastWritten;

    /**
     * Pairs that are wanted more often than others.
     *
     * @param first number of the first
     * @param size how many follow each other
     * @param percent of the choices are theirs alone; they have their part of the others too
     */
    public record WorkingSet(int first, int size, int percent) {
        /** None. */
        static final WorkingSet NONE = new WorkingSet(0, 1, 0);
    }

    /**
     * Makes a sequence.
     *
     * @param count of the pairs
     * @param skew 0 for all alike, else below 1
     * @param seed of the sequence
     */
    public KeyChoice(int count, double skew, long seed) {
        this(count, skew, WorkingSet.NONE, seed);
    }

    /**
     * Makes a sequence of which all are alike but those of a working set.
     *
     * @param count of the pairs
     * @param often the working set, within these pairs
     * @param seed of the sequence
     */
    public KeyChoice(int count, WorkingSet often, long seed) {
        this(count, 0, often, seed);
    }

    private KeyChoice(int count, double skew, WorkingSet often, long seed) {
        if (count < 2 || !(skew >= 0 && skew < 1)) {
            throw new IllegalArgumentException(
                    "count=" + count + ", skew=" + skew + ": expected at least 2, and 0 or more and below 1");
        }
        if (often.percent < 0
                || often.percent > PERCENT
                || often.first < 0
                || often.size < 1
                || often.first > count - often.size) {
            throw new IllegalArgumentException(often + ": expected 0 to 100 percent, and pairs of the " + count);
        }
        this.count = count;
        this.often = often;
        random = new SplittableRandom(seed);
        pairs = PermutationSampler.natural(count);
        PermutationSampler.shuffle(random::nextLong, pairs);
        ranks = skew == 0 ? null : RejectionInversionZipfSampler.of(random::nextLong, count, skew);
        lastWritten = count - 1;
    }

    /** A number of 0 to 99, all alike. */
    int percent() {
        return random.nextInt(PERCENT);
    }

    /** The pair that is wanted next. */
    public int next() {
        return often.percent > 0 && percent() < often.percent
                ? often.first + random.nextInt(often.size)
                : pairs[rank()];
    }

    /** The pair that is wanted next, if those written last are wanted most. */
    int nextOfLatest() {
        return Math.floorMod(lastWritten - rank(), count);
    }

    /** The pair to write next, if they are written one after the other, in a circle. */
    int nextToWrite() {
        lastWritten = (lastWritten + 1) % count;
        return lastWritten;
    }

    private int rank() {
        DiscreteSampler sampler = ranks;
        return sampler == null ? random.nextInt(count) : sampler.sample() - 1;
    }
}
