package org.softrdma.stores.herd.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.SendFlags;

/** A send queue in which few requests are signalled. */
class HerdSendsTest {
    private static boolean post(HerdSends sends, int length, boolean waited) {
        int flags = sends.flags(length, waited);
        assertEquals(length <= 100, (flags & SendFlags.INLINE) != 0);
        long ignored = sends.posted(PostStatus.ACCEPTED, flags);
        return (flags & SendFlags.SIGNALLED) != 0;
    }

    @Test
    void shouldSignalOneRequestInSoMany() {
        HerdSends sends = new HerdSends(1000, 100);
        int signalled = 0;
        for (int i = 1; i <= 640; i++) {
            signalled += post(sends, i % 200, false) ? 1 : 0;
        }
        assertEquals(10, signalled);
    }

    @Test
    void shouldSignalWhatSomebodyWaitsFor() {
        assertTrue(post(new HerdSends(1000, 100), 5, true));
    }

    /** The queue never fills with requests of which none completes. */
    @Test
    void shouldComeToACompletionBeforeItIsFull() {
        for (int capacity = 1; capacity < 200; capacity++) {
            HerdSends sends = new HerdSends(capacity, 100);
            long last = -1;
            int posted = 0;
            for (int i = 0; i < 5 * capacity; i++) {
                if (sends.isFull()) {
                    assertTrue(last >= 0, "capacity " + capacity);
                    sends.completed(last);
                    last = -1;
                    assertFalse(sends.isFull());
                }
                long wrId = 7L << 56 | sends.nextSequence();
                if (post(sends, 5, false)) {
                    last = wrId;
                }
                posted++;
            }
            assertEquals(5 * capacity, posted);
        }
    }

    @Test
    void shouldKnowForHowManyRequestsThereIsRoom() {
        HerdSends sends = new HerdSends(4, 100);
        assertTrue(sends.hasRoom(4));
        assertFalse(sends.hasRoom(5));
        long ignored = sends.posted(PostStatus.ACCEPTED, SendFlags.NONE);
        long wrId = sends.nextSequence();
        ignored = sends.posted(PostStatus.ACCEPTED, SendFlags.SIGNALLED);
        ignored = sends.posted(PostStatus.ACCEPTED, SendFlags.NONE);
        assertTrue(sends.hasRoom(1));
        assertFalse(sends.hasRoom(2));
        sends.completed(wrId);
        assertTrue(sends.hasRoom(3));
        assertFalse(sends.hasRoom(4));
    }

    @Test
    void shouldKnowWhichRequestsHaveCompleted() {
        HerdSends sends = new HerdSends(10, 100);
        long first = sends.posted(PostStatus.ACCEPTED, SendFlags.NONE);
        long wrId = sends.nextSequence();
        long second = sends.posted(PostStatus.ACCEPTED, SendFlags.SIGNALLED);
        long third = sends.posted(PostStatus.ACCEPTED, SendFlags.NONE);
        assertTrue(sends.isDone(0), "nothing was posted from there");
        assertFalse(sends.isDone(first));
        sends.completed(wrId);
        assertTrue(sends.isDone(first));
        assertTrue(sends.isDone(second));
        assertFalse(sends.isDone(third));
    }

    /** The lower bits in a wrId come again. */
    @Test
    void shouldGoOnWhereSequencesComeAgain() {
        HerdSends sends = new HerdSends(4, 100);
        for (long i = 1; i < (1L << 24) + 100; i++) {
            long wrId = sends.nextSequence();
            assertEquals(i, sends.posted(PostStatus.ACCEPTED, SendFlags.SIGNALLED));
            sends.completed(wrId);
            assertTrue(sends.isDone(i));
        }
        assertThrows(IllegalStateException.class, () -> sends.posted(PostStatus.QUEUE_FULL, SendFlags.NONE));
    }
}
