package org.softrdma.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
