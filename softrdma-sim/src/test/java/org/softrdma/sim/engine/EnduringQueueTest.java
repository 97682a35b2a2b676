package org.softrdma.sim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class EnduringQueueTest {
    private final EnduringQueue<Integer> queue = new EnduringQueue<>();

    @Test
    void shouldKeepTheOrderWhileItGrowsAnywhere() {
        int added = 0;
        int taken = 0;
        for (int more = 1; more < 100; more++) {
            for (int i = 0; i < more; i++) {
                queue.addLast(added++);
            }
            for (int i = 0; i < more / 2; i++) {
                assertEquals(taken, queue.peekFirst());
                assertEquals(taken++, queue.pollFirst());
            }
            assertEquals(added - taken, queue.size());
        }
        while (!queue.isEmpty()) {
            assertEquals(taken++, queue.pollFirst());
        }
        assertEquals(added, taken);
    }

    @Test
    void shouldHaveNothingWhenItIsEmpty() {
        assertNull(queue.peekFirst());
        assertNull(queue.pollFirst());
        assertTrue(queue.isEmpty());
    }
}
