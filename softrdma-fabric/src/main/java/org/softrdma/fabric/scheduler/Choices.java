package org.softrdma.fabric.scheduler;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Every choice of a run, drawn from one seed by an algorithm that the JDK specifies. One thread at a time. */
public final class Choices {
    private static final String ALGORITHM = "L64X128MixRandom";

    private final long seed;
    private final RandomGenerator random;

    /** The choices of a seed. */
    public Choices(long seed) {
        this.seed = seed;
        random = RandomGeneratorFactory.of(ALGORITHM).create(seed);
    }

    /** The seed. */
    public long seed() {
        return seed;
    }

    /** A number from 0 to bound - 1. */
    public int below(int bound) {
        return bound == 1 ? 0 : random.nextInt(bound);
    }

    /** A number from least to most. */
    public long between(long least, long most) {
        return least == most ? least : random.nextLong(least, most + 1);
    }

    /** True so many times of a thousand. */
    public boolean chance(int perMille) {
        return perMille > 0 && random.nextInt(1000) < perMille;
    }

    /** Numbers for keys and tokens, and for code under test that wants a generator. */
    public RandomGenerator generator() {
        return random;
    }
}
