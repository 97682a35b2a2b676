package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RecentKeysTest {
    private static final long SEED = 42;
    private static final int KEYS = 600;
    private static final int ASKED = 20_000;

    /** So many that they take each other's places. */
    @Test
    void shouldFindTheNumberOfEachKeyWhateverWasAskedBefore() {
        KeyScrambler scrambler = new KeyScrambler(new Random(SEED));
        RecentKeys recent = new RecentKeys(scrambler, 256);
        assertEquals(scrambler.unscramble(0), recent.number(0), "the first key is 0");
        Random random = new Random(SEED);
        int[] keys = random.ints(KEYS).toArray();
        for (int i = 0; i < ASKED; i++) {
            int key = keys[random.nextInt(KEYS)];
            assertEquals(scrambler.unscramble(key), recent.number(key), "seed " + SEED + ", step " + i);
        }
    }
}
