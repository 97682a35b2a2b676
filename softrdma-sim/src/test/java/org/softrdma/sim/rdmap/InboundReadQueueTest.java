package org.softrdma.sim.rdmap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.wire.MessageKind;

class InboundReadQueueTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 5_040L);

    private static final int ROW = 77;
    private static final long BATCH = 5;

    /** A request that is told by its message sequence number. */
    private static boolean add(InboundReadQueue queue, int msn) {
        return queue.add(MessageKind.READ_RESPONSE, msn, 1, 2, 3, 4, 5, ROW, BATCH);
    }

    @Test
    void shouldKeepEveryFieldOfARequest() {
        InboundReadQueue queue = new InboundReadQueue(2);
        assertTrue(queue.add(
                MessageKind.READ_RESPONSE,
                -1,
                0xF1F2F3F4,
                -2,
                0xFFFF_FFFFL,
                0xA1A2A3A4,
                Long.MIN_VALUE,
                Integer.MAX_VALUE,
                Long.MAX_VALUE));
        assertTrue(queue.add(MessageKind.SEND, Integer.MIN_VALUE, 1, 2, 0, -1, 3, 0, 1));
        int slot = queue.slot(0);
        assertEquals(MessageKind.READ_RESPONSE, queue.kind(slot));
        assertEquals(-1, queue.msn(slot));
        assertEquals(0xF1F2F3F4, queue.sinkStag(slot));
        assertEquals(-2, queue.sinkOffset(slot));
        assertEquals(4_294_967_295L, queue.length(slot), "a READ may ask for 2^32 - 1 bytes");
        assertEquals(0xA1A2A3A4, queue.sourceStag(slot));
        assertEquals(Long.MIN_VALUE, queue.sourceOffset(slot));
        assertEquals(Integer.MAX_VALUE, queue.rowGranted(slot, Long.MAX_VALUE));
        slot = queue.slot(1);
        assertEquals(MessageKind.SEND, queue.kind(slot));
        assertEquals(Integer.MIN_VALUE, queue.msn(slot));
        assertEquals(1, queue.sinkStag(slot));
        assertEquals(0, queue.length(slot));
        assertEquals(-1, queue.sourceStag(slot));
    }

    @Test
    void shouldKeepTheResultOfAnAtomicAmongReads() {
        InboundReadQueue queue = new InboundReadQueue(2);
        add(queue, 1);
        queue.addExecuted(2, 0xF1F2F3F4, Long.MIN_VALUE + 5);
        assertFalse(queue.hasRoom(), "they share what was granted");
        assertEquals(3, queue.nextMsn());
        assertEquals(MessageKind.READ_RESPONSE, queue.kind(queue.slot(0)));
        int slot = queue.slot(1);
        assertEquals(MessageKind.ATOMIC_RESPONSE, queue.kind(slot));
        assertEquals(2, queue.msn(slot));
        assertEquals(0xF1F2F3F4, queue.identifier(slot));
        assertEquals(Long.MIN_VALUE + 5, queue.original(slot));
        assertThrows(IllegalStateException.class, () -> queue.addExecuted(3, 0, 0));
    }

    /** What was granted in one batch must be looked up again in the next: the region may be gone. */
    @Test
    void shouldHoldAGrantInItsBatchOnly() {
        InboundReadQueue queue = new InboundReadQueue(2);
        add(queue, 1);
        assertEquals(ROW, queue.rowGranted(queue.slot(0), BATCH));
        assertEquals(-1, queue.rowGranted(queue.slot(0), BATCH + 1));
        assertEquals(-1, queue.rowGranted(queue.slot(0), BATCH - 1));
    }

    @Test
    void shouldRememberWhereASourceBegins() {
        InboundReadQueue queue = new InboundReadQueue(2);
        add(queue, 1);
        add(queue, 2);
        queue.memoryOffset(queue.slot(0), 11);
        queue.memoryOffset(queue.slot(1), Long.MAX_VALUE);
        assertEquals(11, queue.memoryOffset(queue.slot(0)));
        assertEquals(Long.MAX_VALUE, queue.memoryOffset(queue.slot(1)));
    }

    @Test
    void shouldRefuseMoreThanWasGranted() {
        InboundReadQueue queue = new InboundReadQueue(3);
        assertTrue(add(queue, 1));
        assertTrue(add(queue, 2));
        assertTrue(add(queue, 3));
        assertFalse(add(queue, 4), "although the ring has a fourth row");
        queue.cursor(3);
        assertFalse(add(queue, 4), "a response on its way still counts");
        queue.complete();
        assertTrue(add(queue, 4));
        assertEquals(2, queue.msn(queue.slot(1)), "those before are as they were");
        assertFalse(add(queue, 5));
    }

    /** RFC 7306 section 5.2: the message sequence numbers of queue 1 do not tell the kinds apart. */
    @Test
    void shouldCountRequestsOfAllKindsTogether() {
        InboundReadQueue queue = new InboundReadQueue(2);
        assertEquals(1, queue.nextMsn());
        assertTrue(queue.hasRoom());
        add(queue, 1);
        queue.add(MessageKind.SEND, 2, 1, 2, 3, 4, 5, ROW, BATCH);
        assertEquals(3, queue.nextMsn());
        assertFalse(queue.hasRoom());
        add(queue, 3);
        assertEquals(3, queue.nextMsn(), "it was refused");
        queue.cursor(2);
        queue.complete();
        queue.complete();
        add(queue, 3);
        assertEquals(4, queue.nextMsn(), "an empty queue goes on counting");
    }

    @Test
    void shouldRefuseEverythingWhenNothingWasGranted() {
        InboundReadQueue queue = new InboundReadQueue(0);
        assertFalse(add(queue, 1));
        assertTrue(queue.isEmpty());
        assertFalse(queue.hasUnsent());
    }

    @Test
    void shouldGoBackWhenAShortWriteDidNotTakeAResponse() {
        InboundReadQueue queue = new InboundReadQueue(4);
        add(queue, 1);
        add(queue, 2);
        queue.cursor(queue.cursor() + 2);
        assertFalse(queue.hasUnsent());
        queue.cursor(queue.cursor() - 1);
        assertTrue(queue.hasUnsent());
        assertEquals(2, queue.msn(queue.slot(queue.cursor())));
        assertFalse(queue.isEmpty());
    }

    @Test
    void shouldForgetTheRequestAtTheCursorAndThoseBehindIt() {
        InboundReadQueue queue = new InboundReadQueue(4);
        add(queue, 1);
        add(queue, 2);
        add(queue, 3);
        queue.cursor(1);
        queue.truncate();
        assertFalse(queue.hasUnsent());
        assertFalse(queue.isEmpty(), "the first is still on its way");
        assertTrue(add(queue, 9));
        assertEquals(9, queue.msn(queue.slot(queue.cursor())));
        queue.clear();
        assertTrue(queue.isEmpty());
        assertFalse(queue.hasUnsent());
    }

    /** With many connections the rows of each are cold: an empty queue uses those it used last. */
    @Test
    void shouldBeginAgainAtTheFirstRowWhenItWasEmpty() {
        InboundReadQueue queue = new InboundReadQueue(8);
        for (int msn = 1; msn < 20; msn++) {
            assertTrue(add(queue, msn));
            assertEquals(0, queue.cursor());
            assertEquals(queue.slot(0), queue.slot(queue.cursor()));
            assertEquals(msn, queue.msn(queue.slot(queue.cursor())));
            queue.cursor(queue.cursor() + 1);
            queue.complete();
            assertTrue(queue.isEmpty());
        }
        add(queue, 20);
        add(queue, 21);
        queue.cursor(1);
        queue.complete();
        add(queue, 22);
        assertNotEquals(queue.slot(0), queue.slot(queue.cursor()), "it was not empty");
        assertEquals(21, queue.msn(queue.slot(queue.cursor())));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8, 17})
    void shouldAgreeWithAPlainList(int limit) {
        InboundReadQueue queue = new InboundReadQueue(limit);
        List<Integer> model = new ArrayList<>();
        Random random = new Random(SEED);
        int begun = 0;
        int msn = 0;
        for (int step = 0; step < 20_000; step++) {
            String when = "step " + step + ", seed " + SEED;
            int choice = random.nextInt(8);
            if (choice < 3) {
                assertEquals(model.size() < limit, add(queue, ++msn), when);
                if (model.size() < limit) {
                    model.add(msn);
                }
            } else if (choice < 5 && begun < model.size()) {
                assertEquals(model.get(begun), queue.msn(queue.slot(queue.cursor())), when);
                queue.cursor(queue.cursor() + 1);
                begun++;
            } else if (choice < 7 && begun > 0) {
                queue.complete();
                model.removeFirst();
                begun--;
            } else if (choice == 7 && random.nextInt(20) == 0) {
                queue.truncate();
                model.subList(begun, model.size()).clear();
            }
            assertEquals(model.isEmpty(), queue.isEmpty(), when);
            assertEquals(begun < model.size(), queue.hasUnsent(), when);
        }
    }
}
