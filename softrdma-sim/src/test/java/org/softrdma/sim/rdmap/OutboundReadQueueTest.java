package org.softrdma.sim.rdmap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboundReadQueueTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 6_581L);

    @Test
    void shouldNumberMessagesFromOne() {
        OutboundReadQueue queue = new OutboundReadQueue(3);
        assertEquals(1, queue.add(10));
        assertEquals(2, queue.add(11));
        assertEquals(3, queue.add(15));
        assertFalse(queue.hasRoom());
        assertEquals(10, queue.oldest());
    }

    @Test
    void shouldKnowOnlyTheReadsThatAreInFlight() {
        OutboundReadQueue queue = new OutboundReadQueue(3);
        queue.add(10);
        queue.add(11);
        queue.complete();
        assertEquals(-1, queue.ofMsn(1), "it has its data");
        assertEquals(11, queue.ofMsn(2));
        assertEquals(-1, queue.ofMsn(3), "not sent yet");
        assertEquals(-1, queue.ofMsn(0));
        assertEquals(-1, queue.ofMsn(-1));
    }

    @Test
    void shouldFindTheOldestOfAKind() {
        OutboundReadQueue queue = new OutboundReadQueue(4);
        assertEquals(-1, queue.oldest(sequence -> true));
        queue.add(10);
        queue.add(11);
        queue.add(12);
        assertEquals(1, queue.oldestMsn());
        assertEquals(11, queue.oldest(sequence -> sequence % 2 == 1));
        assertEquals(-1, queue.oldest(sequence -> sequence > 12));
        queue.complete();
        queue.complete();
        assertEquals(3, queue.oldestMsn());
        assertEquals(-1, queue.oldest(sequence -> sequence % 2 == 1), "it has its data");
    }

    @Test
    void shouldGiveTheSameNumberAgainWhenAReadWasTakenBack() {
        OutboundReadQueue queue = new OutboundReadQueue(2);
        queue.add(10);
        assertEquals(2, queue.add(11));
        queue.undo();
        assertTrue(queue.hasRoom());
        assertEquals(-1, queue.ofMsn(2));
        assertEquals(2, queue.add(12));
        assertEquals(12, queue.ofMsn(2));
        assertEquals(10, queue.oldest());
    }

    @Test
    void shouldHaveNoRoomWhenNoReadIsAllowed() {
        OutboundReadQueue queue = new OutboundReadQueue(0);
        assertFalse(queue.hasRoom());
        assertTrue(queue.isEmpty());
    }

    /** Limits that are no power of two use a ring that is larger than they are. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8, 17})
    void shouldAgreeWithAPlainQueue(int limit) {
        OutboundReadQueue queue = new OutboundReadQueue(limit);
        Deque<Long> model = new ArrayDeque<>();
        Random random = new Random(SEED);
        int sent = 0;
        for (int step = 0; step < 10_000; step++) {
            String when = "step " + step + ", seed " + SEED;
            assertEquals(model.size() < limit, queue.hasRoom(), when);
            assertEquals(model.isEmpty(), queue.isEmpty(), when);
            int choice = random.nextInt(5);
            if (choice < 2 && queue.hasRoom()) {
                long sequence = random.nextLong(Long.MAX_VALUE);
                assertEquals(++sent, queue.add(sequence), when);
                model.addLast(sequence);
            } else if (choice == 2 && !model.isEmpty()) {
                queue.undo();
                model.removeLast();
                sent--;
            } else if (choice > 2 && !model.isEmpty()) {
                assertEquals(model.removeFirst(), queue.oldest(), when);
                queue.complete();
            }
            int msn = sent - model.size();
            for (long sequence : model) {
                assertEquals(sequence, queue.ofMsn(++msn), when);
            }
        }
    }
}
