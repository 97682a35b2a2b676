package org.softrdma.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ZipfianKeysTest {
    private static final int COUNT = 1000;
    private static final int DRAWS = 1_000_000;
    private static final double THETA = 0.99;

    @Test
    void shouldDrawRanksByTheirWeight() {
        ZipfianKeys keys = new ZipfianKeys(COUNT, THETA);
        int[] drawn = new int[COUNT];
        for (int i = 0; i < DRAWS; i++) {
            drawn[keys.applyAsInt(COUNT)]++;
        }
        Arrays.sort(drawn);
        double zeta = 0;
        for (int rank = 1; rank <= COUNT; rank++) {
            zeta += 1 / Math.pow(rank, THETA);
        }
        for (int rank : new int[] {1, 2}) {
            double expected = DRAWS / (Math.pow(rank, THETA) * zeta);
            assertEquals(expected, drawn[COUNT - rank], expected / 20, "rank " + rank);
        }
        double tail = Arrays.stream(drawn, 0, COUNT / 2).sum();
        double expectedTail = 0;
        for (int rank = COUNT / 2 + 1; rank <= COUNT; rank++) {
            expectedTail += DRAWS / (Math.pow(rank, THETA) * zeta);
        }
        assertEquals(expectedTail, tail, expectedTail / 10, "the less popular half");
    }

    @Test
    void shouldScatterWhatIsPopular() {
        ZipfianKeys keys = new ZipfianKeys(COUNT, THETA);
        int low = 0;
        for (int i = 0; i < DRAWS; i++) {
            low += keys.applyAsInt(COUNT) < COUNT / 10 ? 1 : 0;
        }
        assertTrue(low < DRAWS / 2, "popular keys stand together: " + low);
    }

    @Test
    void shouldRefuseWhatIsNotADistribution() {
        assertThrows(IllegalArgumentException.class, () -> new ZipfianKeys(1, THETA));
        assertThrows(IllegalArgumentException.class, () -> new ZipfianKeys(COUNT, 1));
        assertThrows(IllegalArgumentException.class, () -> new ZipfianKeys(COUNT, 0));
    }
}
