package org.softrdma.ibverbs.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.softrdma.ibverbs.WorkRing;
import org.softrdma.verbs.QueuePairType;

/** Which RECV a completion belongs to, when the queue is full, and whose the completion is. */
class SharedReceivesTest {
    private static QueuePairWork queuePair(int number) {
        return new QueuePairWork(
                number,
                QueuePairType.RELIABLE_CONNECTION,
                new QueuePairWork.Rings(new WorkRing(1, true), new WorkRing(1, true)),
                true,
                reason -> {},
                sequence -> {});
    }

    @Test
    void shouldKnowEachRecvWhateverTheOrder() {
        SharedReceives receives = new SharedReceives(3);
        int first = receives.take(100);
        int second = receives.take(101);
        int third = receives.take(102);
        assertEquals(SharedReceives.FULL, receives.take(103));
        assertEquals(101, receives.free(second));
        assertFalse(receives.isTaken(second));
        assertEquals(2, receives.outstanding());
        assertEquals(second, receives.take(104));
        assertEquals(102, receives.free(third));
        assertEquals(100, receives.free(first));
        assertEquals(104, receives.free(second));
        assertEquals(0, receives.outstanding());
    }

    @Test
    void shouldNotTakeAWrongSlotForOneOfItsOwn() {
        SharedReceives receives = new SharedReceives(2);
        assertFalse(receives.isTaken(0));
        assertFalse(receives.isTaken(1_000_000));
        assertTrue(receives.isTaken(receives.take(1)));
    }

    /** Drivers may drop the completions of a queue pair that is destroyed, with the RECVs that it had taken. */
    @Test
    void shouldFindRoomForRecvsThatAQueuePairTookWithIt() {
        SharedReceives receives = new SharedReceives(2);
        receives.take(1);
        receives.take(2);
        assertEquals(SharedReceives.FULL, receives.take(3));
        QueuePairWork gone = queuePair(5);
        receives.joined(gone);
        receives.left(gone);
        int slot = receives.take(3);
        assertTrue(receives.isTaken(slot));
        assertEquals(3, receives.free(slot));
    }

    @Test
    void shouldFindEachQueuePairByItsNumber() {
        SharedReceives receives = new SharedReceives(1);
        QueuePairWork[] all = new QueuePairWork[50];
        for (int i = 0; i < all.length; i++) {
            all[i] = queuePair((i * 37) % all.length * 3);
            receives.joined(all[i]);
        }
        for (QueuePairWork each : all) {
            assertSame(each, receives.queuePair(each.number()));
            assertNull(receives.queuePair(each.number() + 1));
        }
        receives.left(all[7]);
        assertNull(receives.queuePair(all[7].number()));
        assertSame(all[8], receives.queuePair(all[8].number()));
    }
}
