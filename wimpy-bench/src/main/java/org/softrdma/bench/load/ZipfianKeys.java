package org.softrdma.bench.load;

import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.apache.commons.rng.sampling.PermutationSampler;
import org.apache.commons.rng.sampling.distribution.DiscreteSampler;
import org.apache.commons.rng.sampling.distribution.RejectionInversionZipfSampler;

/**
 * Indexes of which some are far more popular than others: rank r with a weight of 1 / r^theta. Which index has which rank is a
 * random permutation, because where an item lies has nothing to do with how popular it is. Owned by one thread.
 */
public final class ZipfianKeys implements IntUnaryOperator {
    private static final long SEED = 0x21F;

    private final int[] indexes;
    private final DiscreteSampler ranks;

    /**
     * Makes a sequence.
     *
     * @param count of the indexes, at least 2
     * @param theta skew, above 0 and below 1
     */
    public ZipfianKeys(int count, double theta) {
        if (count < 2 || !(theta > 0 && theta < 1)) {
            throw new IllegalArgumentException(
                    "count=" + count + " theta=" + theta + ": expected at least 2, and above 0 and below 1");
        }
        Random random = new Random(SEED);
        indexes = PermutationSampler.natural(count);
        PermutationSampler.shuffle(random::nextLong, indexes);
        ranks = RejectionInversionZipfSampler.of(random::nextLong, count, theta);
    }

    /** The next index; its argument is the count given before. */
    @Override
    public int applyAsInt(int count) {
        return indexes[ranks.sample() - 1];
    }
}
