package org.softrdma.verbs.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimeLimitTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0 ns",
        "-1, -1 ns",
        "5000, 5000 ns",
        "1000000, 1 ms",
        "1500000, 1500000 ns",
        "10000000000, 10000 ms",
        "9223372036854775807, 9223372036854775807 ns",
    })
    void shouldShowALimitWithItsUnit(long ns, String text) {
        assertEquals(text, TimeLimit.text(ns));
    }
}
