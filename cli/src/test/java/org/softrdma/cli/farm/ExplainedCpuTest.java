package org.softrdma.cli.farm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ExplainedCpuTest {
    private static final double EXACTLY = 1e-9;

    @Test
    void shouldDivideCpuAmongVerbsExchangeAndTransactions() {
        ExplainedCpu explained = new ExplainedCpu(100, 2, 12, new ExplainedCpu.Unit(2, 1), new ExplainedCpu.Unit(4, 5));
        assertEquals(2 * 2 + 12 * 1, explained.verbsMicros(), EXACTLY);
        assertEquals(2 * 4 + 12 * 5 - 16, explained.exchangeMicros(), EXACTLY);
        assertEquals(100 - 2 * 4 - 12 * 5, explained.restMicros(), EXACTLY);
        assertEquals(0.16, explained.verbsShare(), EXACTLY);
        assertEquals(0.52, explained.exchangeShare(), EXACTLY);
        assertEquals(0.32, explained.restShare(), EXACTLY);
        assertTrue(
                explained.text().startsWith("100.0 us CPU = 16.0 us (16 %) for 12.0 WRITEs of 1.00 us and 2.00 READs"));
        assertTrue(explained.text().contains("+52.0 us (52 %) that machines add"), explained.text());
        assertTrue(explained.text().contains("+32.0 us (32 %) for transactions"), explained.text());
    }

    @Test
    void shouldSayWhenManyUnderWayAreCheaperThanTheYardstick() {
        ExplainedCpu explained = new ExplainedCpu(10, 1, 2, new ExplainedCpu.Unit(1, 1), new ExplainedCpu.Unit(4, 4));
        assertEquals(-0.2, explained.restShare(), EXACTLY);
    }
}
