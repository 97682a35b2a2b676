package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.herd.transport.HerdChannel;
import org.softrdma.stores.herd.transport.HerdReplyHandler;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcome;

/** Who has which slot, and for how long. */
class HerdSlotsTest {
    /** Two workers with two slots each, of which three may be in use. */
    private final HerdSlots slots = new HerdSlots(new HerdShape(2, 2, 64), 3, true);

    private final FreeChannel channel = new FreeChannel();
    private final HerdOperation operation = new HerdOperation(7, 8, 8);

    /** A channel that has written everything. */
    private static final class FreeChannel implements HerdChannel {
        private int busy = HerdSlots.NOBODY;

        @Override
        public HerdWelcome welcome() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isReliable() {
            return true;
        }

        @Override
        public boolean mayWriteAgain(int unanswered) {
            return true;
        }

        @Override
        public MemorySegment slots() {
            throw new UnsupportedOperationException();
        }

        @Override
        public ByteBuffer view() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isFree(int slot) {
            return slot != busy;
        }

        @Override
        public boolean hasRoom() {
            return true;
        }

        @Override
        public void write(int slot, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean poll(HerdReplyHandler handler) {
            return true;
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }

    /** A free slot of the first worker, if its second one cannot be taken. */
    private int freeButTheSecond() {
        channel.busy = 1;
        int free = slots.free(0, channel);
        channel.busy = HerdSlots.NOBODY;
        return free;
    }

    private int begin(int worker) {
        int slot = slots.free(worker, channel);
        slots.begin(slot, operation);
        slots.writes(operation, 1);
        return slot;
    }

    @Test
    void shouldGiveSlotsOfTheWorkerUntilTheyAreInUse() {
        assertEquals(2, begin(1));
        assertEquals(3, begin(1));
        assertEquals(HerdSlots.NOBODY, slots.free(1, channel));
        assertEquals(0, begin(0));
        assertEquals(HerdSlots.NOBODY, slots.free(0, channel), "three may be in use");
        assertEquals(7, slots.answered(3, 1, 1));
        assertEquals(3, slots.free(1, channel));
        channel.busy = 3;
        assertEquals(HerdSlots.NOBODY, slots.free(1, channel), "its WRITE has not completed");
    }

    /** Its worker looks at them in this order. */
    @Test
    void shouldUseTheSlotsOfAWorkerOneBehindTheOther() {
        for (int i = 0; i < 10; i++) {
            assertEquals(2 + i % 2, begin(1));
            assertEquals(7, slots.answered(2 + i % 2, operation.number(), 1));
        }
        assertEquals(0, begin(0), "each worker has a ring of its own");
    }

    @Test
    void shouldKeepASlotUntilEachWriteIsAnswered() {
        int slot = begin(0);
        slots.writes(operation, 2);
        assertEquals(2, slots.unanswered(slot));
        assertEquals(2, operation.attempt());
        assertEquals(7, slots.answered(slot, 1, 1));
        assertEquals(1, slots.unanswered(slot));
        assertEquals(1, slots.free(0, channel), "an answer to the first slot is still to come");
        assertEquals(HerdSlots.NOBODY, freeButTheSecond());
        assertEquals(HerdSlots.NOBODY, slots.answered(slot, 1, 2));
        assertEquals(slot, freeButTheSecond());
    }

    /** The server has seen the second attempt only. */
    @Test
    void shouldExpectNoAnswerToAWriteBehindWhichTheServerAnswered() {
        int slot = begin(0);
        slots.writes(operation, 2);
        assertEquals(7, slots.answered(slot, 1, 2));
        assertEquals(0, slots.unanswered(slot));
        assertEquals(slot, freeButTheSecond());
    }

    @Test
    void shouldKeepASlotThatNobodyWaitsFor() {
        int slot = begin(0);
        slots.abandon(slot);
        assertEquals(HerdSlots.NOBODY, freeButTheSecond());
        assertEquals(HerdSlots.NOBODY, slots.answered(slot, 1, 1));
        assertEquals(slot, freeButTheSecond());
    }

    @Test
    void shouldKeepNoSlotThatNobodyWaitsForWhereAnswersMayBeLost() {
        HerdSlots lossy = new HerdSlots(new HerdShape(1, 1, 64), 1, false);
        lossy.begin(0, operation);
        lossy.writes(operation, 1);
        lossy.abandon(0);
        assertEquals(0, lossy.free(0, channel));
        lossy.begin(0, operation);
        lossy.writes(operation, 1);
        assertEquals(HerdSlots.NOBODY, lossy.answered(0, 1, 1), "of the request before");
        assertEquals(7, lossy.answered(0, 2, 1));
    }

    @Test
    void shouldTakeNoAnswerToAnotherNumber() {
        int slot = begin(0);
        assertEquals(7, slots.answered(slot, 1, 1));
        channel.busy = 1;
        assertEquals(slot, begin(0));
        assertEquals(2, operation.number());
        assertEquals(HerdSlots.NOBODY, slots.answered(slot, 1, 1));
        assertFalse(slots.isAttempt(slot, 2, 2), "there was one WRITE");
        assertTrue(slots.isAttempt(slot, 2, 1));
        assertEquals(7, slots.answered(slot, 2, 1));
    }

    @Test
    void shouldKeepWhatSomebodyWaitsForWhenTheChannelIsLost() {
        int abandoned = begin(0);
        int kept = begin(0);
        slots.abandon(abandoned);
        slots.disconnected();
        assertEquals(abandoned, slots.free(0, channel));
        slots.writes(operation, 1);
        assertEquals(1, operation.number(), "the number stays");
        assertEquals(7, slots.answered(kept, 1, 1));
    }
}
