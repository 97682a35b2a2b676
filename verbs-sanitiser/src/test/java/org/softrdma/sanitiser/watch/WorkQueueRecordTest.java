package org.softrdma.sanitiser.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;

class WorkQueueRecordTest {
    private final CompletionQueueRecord completions = new CompletionQueueRecord(4);
    private final WorkQueueRecord queue = new WorkQueueRecord(completions);
    private final QueuePairRecord queuePair = new QueuePairRecord("device", 1, () -> QueuePairState.READY_TO_SEND);

    private OutstandingRequest write(long wrId, boolean signalled) {
        OutstandingRequest request = new OutstandingRequest(
                queuePair, CompletionOpcode.WRITE, wrId, signalled ? SendFlags.SIGNALLED : SendFlags.NONE);
        queue.add(request);
        return request;
    }

    @Test
    void shouldCompleteUnsignalledRequestsWithTheNextSignalledOne() {
        List<OutstandingRequest> first = List.of(write(1, false), write(2, false), write(3, true));
        List<OutstandingRequest> second = List.of(write(4, true));
        assertEquals(first, queue.succeeded(3, CompletionOpcode.WRITE));
        assertEquals(second, queue.succeeded(4, CompletionOpcode.WRITE));
        assertTrue(queue.isCertain());
        assertEquals(0, completions.outstanding());
    }

    @Test
    void shouldBeUncertainWhenACompletionIsNotTheNextOne() {
        write(1, true);
        write(2, true);
        queue.succeeded(2, CompletionOpcode.WRITE);
        assertFalse(queue.isCertain());
    }

    @Test
    void shouldBeUncertainWhenACompletionIsOfNothing() {
        queue.succeeded(1, CompletionOpcode.WRITE);
        assertFalse(queue.isCertain());
    }

    @Test
    void shouldLookForAFailureUpToTheFirstSignalledRequest() {
        List<OutstandingRequest> prefix = List.of(write(1, false), write(2, false));
        write(3, true);
        write(2, true);
        assertEquals(1, queue.candidates(2));
        assertEquals(prefix, queue.failed(2));
        assertEquals(1, queue.candidates(3));
        assertEquals(0, queue.candidates(2));
    }

    @Test
    void shouldHaveTwoCandidatesWhenUnsignalledRequestsShareANumber() {
        write(7, false);
        write(7, false);
        write(7, true);
        assertEquals(3, queue.candidates(7));
    }

    @Test
    void shouldBeSilentWhenNothingOutstandingIsSignalled() {
        assertFalse(queue.isSilent());
        write(1, false);
        assertTrue(queue.isSilent());
        OutstandingRequest signalled = write(2, true);
        assertFalse(queue.isSilent());
        queue.withdraw(signalled);
        assertTrue(queue.isSilent());
        queue.forget();
        assertFalse(queue.isSilent());
        assertEquals(0, completions.outstanding());
    }

    @Test
    void shouldTellOnceWhenThereAreMoreRequestsThanEntries() {
        for (int i = 0; i < 4; i++) {
            assertFalse(queue.add(new OutstandingRequest(queuePair, CompletionOpcode.WRITE, i, SendFlags.SIGNALLED)));
        }
        OutstandingRequest one = new OutstandingRequest(queuePair, CompletionOpcode.WRITE, 4, SendFlags.SIGNALLED);
        assertTrue(queue.add(one));
        assertFalse(queue.add(new OutstandingRequest(queuePair, CompletionOpcode.WRITE, 5, SendFlags.SIGNALLED)));
        queue.succeeded(0, CompletionOpcode.WRITE);
        queue.succeeded(1, CompletionOpcode.WRITE);
        assertTrue(queue.add(new OutstandingRequest(queuePair, CompletionOpcode.WRITE, 6, SendFlags.SIGNALLED)));
    }
}
