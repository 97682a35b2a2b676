package org.softrdma.sim.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.fabric.memory.Grains;
import org.softrdma.sim.peer.ChildJvm;

/** One seed gives one run: in one JVM as often as you like, and in any other. */
class DeterminismTest {
    private static final long SEED = 20_131;
    private static final int TIMES = 1000;
    private static final int JVMS = 30;

    /** Prints the hash of the run, for a JVM of its own. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) {
            System.out.println("hash " + hash());
        }
    }

    private static long hash() {
        Traffic traffic = new Traffic(SEED, FabricSettings.DEFAULT.with(Grains.WORDS));
        traffic.run();
        return traffic.hash();
    }

    private static void requireSameInFreshJvms(int jvms) {
        String expected = "hash " + hash();
        for (int i = 0; i < jvms; i++) {
            // Another heap and another order of classes, as another machine has.
            List<String> options = List.of("-Xmx" + (64 + 8 * i) + "m", i % 2 == 0 ? "-Xint" : "-XX:+UseParallelGC");
            ChildJvm.Outcome outcome = ChildJvm.run(List.of(), options, Child.class);
            assertEquals(expected, String.join("\n", outcome.lines()), "in JVM " + i);
        }
    }

    @Test
    void shouldDoTheSameAThousandTimes() {
        long expected = hash();
        for (int i = 1; i < TIMES; i++) {
            assertEquals(expected, hash(), "run " + i);
        }
    }

    @Test
    void shouldDoTheSameInAFreshJvm() {
        requireSameInFreshJvms(2);
    }

    @Tag("slow")
    @Test
    void shouldDoTheSameInManyFreshJvms() {
        requireSameInFreshJvms(JVMS);
    }
}
