package org.softrdma.kv.server.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TouchBudgetTest {
    private static final long NOW = 1_000_000;

    private final TouchBudget budget = new TouchBudget();

    @Test
    void shouldTakeRecordsUpToTheLimitOfASecond() {
        for (int i = 0; i < TouchBudget.MOST_RECORDS; i++) {
            assertTrue(budget.takeRecord(NOW));
        }
        assertFalse(budget.takeRecord(NOW));
        assertTrue(budget.takeRecord(NOW + 1));
    }

    @Test
    void shouldCountHitsUpToTheLimitOfASecond() {
        assertEquals(5, budget.takeHits(5, NOW));
        assertEquals(TouchBudget.MOST_HITS - 5, budget.takeHits(256L * Integer.MAX_VALUE, NOW));
        assertEquals(0, budget.takeHits(1, NOW));
        assertEquals(1, budget.takeHits(1, NOW + 1));
    }
}
