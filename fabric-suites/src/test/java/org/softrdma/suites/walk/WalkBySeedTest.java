package org.softrdma.suites.walk;

import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.testkit.walk.WalkSettings;

/**
 * Walks by seeds that have found something, with faults. A mutant names the seed that finds it by the property
 * {@code softrdma.walk.seed}; whoever changes what a walk does looks for new ones:
 * {@code softrdma walk --transport fabric --faults --seeds 2000}.
 */
class WalkBySeedTest {
    private static final String SEED = "softrdma.walk.seed";
    private static final int OPERATIONS = 200;
    private static final int NODES = 3;

    private static LongStream seeds() {
        Long chosen = Long.getLong(SEED);
        return chosen == null ? LongStream.of(113, 1415, 2181, 11_603, 28_478) : LongStream.of(chosen);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldAgreeWithTheModel(long seed) {
        new FabricWalk(new WalkSettings(seed, OPERATIONS, NODES, false), true).run();
    }
}
