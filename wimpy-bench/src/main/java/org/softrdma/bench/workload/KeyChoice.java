package org.softrdma.bench.workload;

import java.util.SplittableRandom;
import org.apache.commons.rng.sampling.PermutationSampler;
import org.apache.commons.rng.sampling.distribution.DiscreteSampler;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;
import org.jspecify.annotations.Nullable;

/**
 * Chooses pairs: all alike, or by popularity, rank r with a weight of 1 / r^skew. Which pair has which rank is a
 * random permutation, or how long ago it was written. One seed gives one sequence. Owned by the thread that loads.
 */
public final class KeyChoice {
    private final int count;
    private final SplittableRandom random;
    private final int[] pairs;
    private final @Nullable DiscreteSampler ranks;
    private int lastWritten;

    /**
     * Makes a sequence.
     *
     * @param count of the pairs
     * @param skew 0 for all alike, else below 1
     * @param seed of the sequence
     */
    public KeyChoice(int count, double skew, long seed) {
        if (count < 2 || !(skew >= 0 && skew < 1)) {
            throw new IllegalArgumentException(
                    "count=" + count + ", skew=" + skew + ": expected at least 2, and 0 or more and below 1");
        }
        this.count = count;
        random = new SplittableRandom(seed);
        pairs = PermutationSampler.natural(count);
        PermutationSampler.shuffle(random::nextLong, pairs);
        ranks = skew == 0 ? null : RejectionInversionZipfSampler.of(random::nextLong, count, skew);
        lastWritten = count - 1;
    }

    /** A number of 0 to 99, all alike. */
    int percent() {
        return random.nextInt(100);
    }

    /** The pair that is wanted next. */
    int next() {
        return pairs[rank()];
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
