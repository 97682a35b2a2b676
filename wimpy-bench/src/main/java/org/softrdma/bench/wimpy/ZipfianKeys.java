package org.softrdma.bench.wimpy;

import java.util.Random;
import java.util.function.IntUnaryOperator;

/**
 * Indexes of which some are far more popular than others: rank r with a weight of 1 / r^theta (Gray et al., "Quickly generating
 * billion-record synthetic databases", SIGMOD 1994, as YCSB uses it). Which index has which rank is a random permutation, because
 * where an item lies has nothing to do with how popular it is. Owned by one thread.
 */
final class ZipfianKeys implements IntUnaryOperator {
    private static final long SEED = 0x21F;

    private final int[] indexes;
    private final double theta;
    private final double zeta;
    private final double alpha;
    private final double eta;
    private final Random random = new Random(SEED);

    /**
     * Makes a sequence.
     *
     * @param count of the indexes, at least 2
     * @param theta skew, above 0 and below 1
     */
    ZipfianKeys(int count, double theta) {
        if (count < 2 || !(theta > 0 && theta < 1)) {
            throw new IllegalArgumentException(
                    "count=" + count + " theta=" + theta + ": expected at least 2, and above 0 and below 1");
        }
        this.theta = theta;
        double sum = 0;
        for (int rank = 1; rank <= count; rank++) {
            sum += 1 / Math.pow(rank, theta);
        }
        zeta = sum;
        alpha = 1 / (1 - theta);
        double zetaOfTwo = 1 + Math.pow(0.5, theta);
        eta = (1 - Math.pow(2.0 / count, 1 - theta)) / (1 - zetaOfTwo / zeta);
        indexes = new int[count];
        for (int i = 0; i < count; i++) {
            int j = random.nextInt(i + 1);
            indexes[i] = indexes[j];
            indexes[j] = i;
        }
    }

    /** The next index; its argument is the count given before. */
    @Override
    public int applyAsInt(int count) {
        return indexes[rank()];
    }

    private int rank() {
        double uniform = random.nextDouble();
        double scaled = uniform * zeta;
        if (scaled < 1) {
            return 0;
        }
        if (scaled < 1 + Math.pow(0.5, theta)) {
            return 1;
        }
        return Math.min(indexes.length - 1, (int) (indexes.length * Math.pow(eta * uniform - eta + 1, alpha)));
    }
}
