package org.softrdma.cli.farm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

class WindowLoadTest {
    private static final int WINDOW = 3;

    /** Its operations are over when a test says so. */
    private static final class Operations extends WindowLoad {
        private final Deque<Integer> underWay = new ArrayDeque<>();
        private int over;
        private int rests;

        Operations() {
            super(WINDOW);
        }

        @Override
        void begin(int place) {
            assertFalse(underWay.contains(place));
            underWay.add(place);
        }

        @Override
        int poll() {
            int count = over;
            for (; over > 0; over--) {
                long ignored = ended(underWay.remove());
            }
            return count;
        }

        @Override
        void onRest() {
            rests++;
        }
    }

    @Test
    void shouldComeToRestOnlyWhenAllThatWereBegunAreOver() {
        Operations load = new Operations();
        assertEquals(0, load.getAsInt(), "it begins at rest");
        load.go();
        assertEquals(WINDOW, load.getAsInt());
        load.over = 1;
        assertEquals(1, load.getAsInt());
        assertEquals(1, load.getAsInt(), "another one");
        load.end();
        load.over = 2;
        assertEquals(2, load.getAsInt());
        assertEquals(0, load.getAsInt(), "it begins no more");
        assertFalse(load.isAtRest());
        load.over = 1;
        assertEquals(1, load.getAsInt());
        assertTrue(load.isAtRest());
        assertEquals(1, load.rests);
        assertEquals(4, load.latencies().getTotalCount());
        load.forget();
        assertEquals(0, load.latencies().getTotalCount());
        load.go();
        assertEquals(WINDOW, load.getAsInt());
        assertThrows(IllegalStateException.class, load::go);
    }

    @Test
    void shouldBeginNothingAfterAFailure() {
        Operations load = new Operations();
        load.go();
        assertEquals(WINDOW, load.getAsInt());
        load.fail("lost", load.underWay.remove());
        assertEquals(0, load.getAsInt());
        assertEquals("lost", load.failure());
    }
}
