package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RecentKeyTest {
    private static final long SEED = 42;
    private static final int KEYS = 10_000;

    @Test
    void shouldFindTheNumberOfEachKeyWhateverWasAskedBefore() {
        KeyScrambler keys = new KeyScrambler(new Random(SEED));
        RecentKey recent = new RecentKey(keys);
        assertEquals(keys.unscramble(0), recent.number(0), "the first key is 0");
        Random random = new Random(SEED);
        int last = 0;
        for (int i = 0; i < KEYS; i++) {
            last = random.nextBoolean() ? last : random.nextInt();
            assertEquals(keys.unscramble(last), recent.number(last), "seed " + SEED + ", key " + i);
        }
    }
}
