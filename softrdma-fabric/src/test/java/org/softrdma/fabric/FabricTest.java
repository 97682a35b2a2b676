package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.memory.Grains;

/** One seed gives one run: all steps and all memory. */
class FabricTest {
    private static final FabricSettings GRAINS = FabricSettings.DEFAULT.with(Grains.WORDS);

    private static long hash(long seed, FabricSettings settings) {
        Traffic traffic = new Traffic(seed, settings);
        traffic.run();
        return traffic.hash();
    }

    @Test
    void shouldDoTheSameBySameSeed() {
        for (long seed = 0; seed < 20; seed++) {
            assertEquals(hash(seed, GRAINS), hash(seed, GRAINS), "seed " + seed);
        }
    }

    @Test
    void shouldDoOtherThingsByOtherSeeds() {
        Set<Long> hashes = new HashSet<>();
        for (long seed = 0; seed < 50; seed++) {
            hashes.add(hash(seed, FabricSettings.DEFAULT));
        }

        assertEquals(50, hashes.size());
    }

    @Test
    void shouldCarryEveryByteBySmallBuffersAndManyCuts() {
        for (long seed = 0; seed < 20; seed++) {
            hash(seed, GRAINS.with(GRAINS.network().withBufferBytes(512).withCuts(700)));
        }
    }

    @Test
    void shouldRefuseOptionsThatAreTheFabrics() {
        Fabric fabric = Fabric.ofSeed(1);
        FabricNode node = fabric.node("node");

        fabric.run(node, () -> {
            IllegalArgumentException refusal =
                    assertThrows(IllegalArgumentException.class, () -> node.open(Map.of("progress", "manual")));
            assertTrue(String.valueOf(refusal.getMessage()).startsWith("progress=manual: "), refusal.getMessage());
            assertThrows(IllegalArgumentException.class, () -> node.open(Map.of("no-such-option", "1")));
        });
    }

    @Test
    void shouldRunOnceAndHaveNoTwoNodesOfOneName() {
        Fabric fabric = Fabric.ofSeed(1);
        FabricNode node = fabric.node("node");
        assertThrows(IllegalArgumentException.class, () -> fabric.node("node"));

        fabric.run(node, () -> {});

        assertThrows(IllegalStateException.class, () -> fabric.run(node, () -> {}));
    }

    @Test
    void shouldBeDoneSoon() {
        Traffic traffic = new Traffic(1, FabricSettings.DEFAULT);
        traffic.run();

        assertTrue(traffic.steps() < 20_000, traffic.steps() + " steps");
    }
}
