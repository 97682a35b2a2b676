package org.softrdma.ibverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What is outstanding, what a native completion belongs to, and what is flushed. */
class WorkRingTest {
    private static WorkRing ring(int capacity, boolean... signalled) {
        WorkRing ring = new WorkRing(capacity, false);
        for (int i = 0; i < signalled.length; i++) {
            ring.push(100 + i, signalled[i]);
        }
        return ring;
    }

    private static void expectFlushed(WorkRing ring, long... wrIds) {
        for (long wrId : wrIds) {
            assertEquals(wrId, ring.complete(ring.nextToFlush(), false));
        }
        assertEquals(-1, ring.nextToFlush());
    }

    @Test
    void shouldFreeAllBeforeWhenARequestCompletes() {
        WorkRing ring = ring(3, false, false, true);
        assertEquals(0, ring.room());
        assertEquals(102, ring.complete(ring.resolve(2), true));
        assertEquals(3, ring.room());
    }

    @Test
    void shouldKnowACompletionThatComesTwice() {
        WorkRing ring = ring(4, true, true);
        assertEquals(101, ring.complete(ring.resolve(1), true));
        assertEquals(-1, ring.resolve(0), "before what was completed");
        assertEquals(-1, ring.resolve(1), "what was completed");
        assertEquals(-1, ring.resolve(2), "not posted");
    }

    @Test
    void shouldResolveWhenTheLowBitsWrap() {
        WorkRing ring = new WorkRing(2, false);
        long last = (1L << WorkRing.SEQUENCE_BITS) + 1;
        for (long sequence = 0; sequence <= last; sequence++) {
            ring.push(sequence, true);
            assertEquals(sequence, ring.complete(ring.resolve(sequence & WorkRing.SEQUENCE_MASK), true));
        }
    }

    @Test
    void shouldForgetWhatTheDeviceDidNotTake() {
        WorkRing ring = ring(4, true, true);
        ring.takeBack(1);
        assertEquals(3, ring.room());
        assertEquals(-1, ring.resolve(1));
    }

    @Test
    void shouldTakeUnsignalledRequestsAtTheHeadForDone() {
        WorkRing ring = ring(8, false, false, true, false);
        ring.withhold();
        ring.push(104, false);
        expectFlushed(ring, 102, 103, 104);
    }

    @Test
    void shouldFlushUnsignalledRequestsBehindAFailure() {
        WorkRing ring = ring(8, true, false, false);
        ring.withhold();
        ring.complete(ring.resolve(0), false);
        expectFlushed(ring, 101, 102);
    }

    @Test
    void shouldFlushUnsignalledRequestsAtTheHeadThatTheDeviceWouldHaveTold() {
        WorkRing ring = new WorkRing(4, true);
        for (long wrId = 100; wrId < 103; wrId++) {
            ring.push(wrId, false);
        }
        ring.withhold();
        ring.complete(ring.resolve(0), true);
        expectFlushed(ring, 101, 102);
    }

    @Test
    void shouldFlushNothingWhenAllWasUnsignalledAndTaken() {
        WorkRing ring = ring(2, false, false);
        ring.withhold();
        expectFlushed(ring);
        assertEquals(2, ring.room(), "they are free for what is posted in ERROR");
    }

    @Test
    void shouldFlushInOrderWhatTheDeviceFlushedInAnother() {
        WorkRing ring = new WorkRing(4, false);
        ring.push(10, false);
        ring.push(11, true);
        ring.flushed(ring.resolve(1));
        ring.flushed(ring.resolve(0));
        assertEquals(0, ring.nextToFlush(), "unsignalled, but flushed and so not done");
        assertEquals(10, ring.complete(0, false));
        assertEquals(1, ring.nextToFlush());
        assertEquals(11, ring.complete(1, false));
        assertEquals(4, ring.room());
    }

    @Test
    void shouldFindNobodyWhenASlotWasGivenAgain() {
        QueuePairTable<String> table = new QueuePairTable<>();
        long first = table.take();
        assertNull(table.find(QueuePairTable.sendId(first, 5)));
        assertFalse(QueuePairTable.isReceive(QueuePairTable.sendId(first, -1)));
        assertTrue(QueuePairTable.isReceive(QueuePairTable.receiveId(first, 0)));
        table.giveBack(first);
        for (int i = 0; i < 100; i++) { // the oldest slot is given first, so more than there are
            long again = table.take();
            assertFalse(again == first, "number " + again + " was given twice");
            table.set(again, "another");
            assertNull(table.find(QueuePairTable.sendId(first, 5)));
            table.giveBack(again);
        }
    }

    @Test
    void shouldReadTheLimitOfLockedMemory() {
        List<String> lines = List.of(
                "Limit                     Soft Limit           Hard Limit           Units     ",
                "Max locked memory         8388608              unlimited            bytes     ");
        assertEquals(8_388_608, LockedMemory.limit(lines));
        assertEquals(
                Long.MAX_VALUE, LockedMemory.limit(List.of("Max locked memory         unlimited unlimited bytes")));
        assertTrue(LockedMemory.exempt(List.of("CapEff:\t000001ffffffffff")));
        assertFalse(LockedMemory.exempt(List.of("CapEff:\t0000000000000000")));
        assertEquals("8192 KiB", new LockedMemory(8_388_608, false).toString());
    }
}
