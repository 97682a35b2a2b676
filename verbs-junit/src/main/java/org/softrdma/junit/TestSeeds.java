package org.softrdma.junit;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The seeds that a test runs with. Any thread. */
final class TestSeeds {
    /** Configuration parameter: the only seed of every test. */
    static final String SEED = "softrdma.seed";
    /** Configuration parameter: how many seeds each test takes that names none. */
    static final String SEEDS = "softrdma.seeds";

    private TestSeeds() {}

    /**
     * Those of a test, if no parameter says something else.
     *
     * @param own that the test names
     * @param usual how many others it takes if it names none
     * @param context has the parameters
     */
    static List<Long> of(long[] own, int usual, ExtensionContext context) {
        long[] named = context.getConfigurationParameter(SEED)
                .map(text -> new long[] {number(SEED, text)})
                .orElse(own);
        if (named.length > 0) {
            return Arrays.stream(named).boxed().toList();
        }
        long count = context.getConfigurationParameter(SEEDS)
                .map(text -> number(SEEDS, text))
                .orElse((long) usual);
        if (count < 1) {
            throw new IllegalArgumentException("seeds=" + count + ": expected at least 1");
        }
        // Small ones: people copy them.
        return Stream.generate(() -> (long) ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE))
                .limit(count)
                .toList();
    }

    private static long number(String name, String text) {
        try {
            return Long.parseLong(text.trim());
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + "=" + text + ": expected a whole number", e);
        }
    }

    /**
     * How a seed runs again, for people.
     *
     * @param seed which
     * @param wire on which, or nothing
     */
    static String replay(long seed, String wire) {
        String literal = seed == (int) seed ? Long.toString(seed) : seed + "L";
        return "seed " + seed + (wire.isEmpty() ? "" : " on " + wire) + ": run it again by @FabricTest(seed = "
                + literal + ") or -D" + SEED + "=" + seed;
    }
}
