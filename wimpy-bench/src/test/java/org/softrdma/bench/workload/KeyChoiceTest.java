package org.softrdma.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyChoiceTest {
    private static final int PAIRS = 100;
    private static final int CHOICES = 100_000;

    /** So often as it is asked for, and besides as often as all others. */
    @ParameterizedTest
    @CsvSource({"0, 0.1", "20, 0.28", "80, 0.82", "100, 1"})
    void shouldChooseAWorkingSetMoreOften(int percent, double expected) {
        KeyChoice choice = new KeyChoice(PAIRS, new KeyChoice.WorkingSet(30, 10, percent), 7);
        int[] counts = new int[PAIRS];
        for (int i = 0; i < CHOICES; i++) {
            counts[choice.next()]++;
        }
        int often = 0;
        for (int pair = 30; pair < 40; pair++) {
            often += counts[pair];
            assertEquals(expected / 10, (double) counts[pair] / CHOICES, 0.005);
        }
        assertEquals(expected, (double) often / CHOICES, 0.01);
        assertEquals((1 - expected) / 90, (double) counts[0] / CHOICES, 0.002);
    }

    private static int[] counts(int pairs, double skew, int choices) {
        KeyChoice choice = new KeyChoice(pairs, skew, 7);
        int[] counts = new int[pairs];
        for (int i = 0; i < choices; i++) {
            counts[choice.next()]++;
        }
        return counts;
    }

    @Test
    void shouldChooseRanksByTheirWeight() {
        int pairs = 1000;
        int choices = 1_000_000;
        double skew = 0.99;
        int[] counts = counts(pairs, skew, choices);
        Arrays.sort(counts);
        double zeta = 0;
        for (int rank = 1; rank <= pairs; rank++) {
            zeta += 1 / Math.pow(rank, skew);
        }
        for (int rank : new int[] {1, 2}) {
            double expected = choices / (Math.pow(rank, skew) * zeta);
            assertEquals(expected, counts[pairs - rank], expected / 20, "rank " + rank);
        }
        double expectedTail = 0;
        for (int rank = pairs / 2 + 1; rank <= pairs; rank++) {
            expectedTail += choices / (Math.pow(rank, skew) * zeta);
        }
        double tail = Arrays.stream(counts, 0, pairs / 2).sum();
        assertEquals(expectedTail, tail, expectedTail / 10, "the less popular half");
    }

    @Test
    void shouldScatterWhatIsPopular() {
        int low = Arrays.stream(counts(1000, 0.99, CHOICES), 0, 100).sum();
        assertTrue(low < CHOICES / 2, "popular pairs stand together: " + low);
    }

    @Test
    void shouldRefuseAWorkingSetOfOtherPairs() {
        for (KeyChoice.WorkingSet wrong : new KeyChoice.WorkingSet[] {
            new KeyChoice.WorkingSet(91, 10, 50),
            new KeyChoice.WorkingSet(-1, 10, 50),
            new KeyChoice.WorkingSet(0, 0, 50),
            new KeyChoice.WorkingSet(0, 10, 101)
        }) {
            assertThrows(IllegalArgumentException.class, () -> new KeyChoice(PAIRS, wrong, 7), wrong::toString);
        }
    }
}
