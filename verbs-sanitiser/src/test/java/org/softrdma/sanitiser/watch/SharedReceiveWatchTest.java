package org.softrdma.sanitiser.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.sanitiser.finding.Findings;
import org.softrdma.sanitiser.finding.Reporter;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.SendFlags;

/** Which RECV of a shared receive queue a completion is of, and when that is not known. */
class SharedReceiveWatchTest {
    private final List<org.softrdma.sanitiser.finding.Finding> found = new ArrayList<>();
    private final SharedReceiveWatch queue = new SharedReceiveWatch(
            Watch.of(new Reporter(java.util.EnumSet.allOf(org.softrdma.sanitiser.finding.Rule.class), new Findings())),
            "a device",
            new RegionTable());

    private OutstandingRequest post(long wrId, PostStatus status) {
        OutstandingRequest request = queue.receive(wrId);
        assertEquals(status, queue.post(request, () -> status));
        return request;
    }

    @Test
    void shouldKnowEachRecvByItsNumberInAnyOrder() {
        OutstandingRequest first = post(1, PostStatus.ACCEPTED);
        OutstandingRequest second = post(2, PostStatus.ACCEPTED);
        assertTrue(queue.mayHave(1));
        assertFalse(queue.mayHave(3));
        assertSame(second, queue.completed(2, 0, found));
        assertSame(first, queue.completed(1, -1, found));
        assertFalse(queue.mayHave(1));
    }

    @Test
    void shouldForgetWhatWasNotAccepted() {
        post(1, PostStatus.QUEUE_FULL);
        assertFalse(queue.mayHave(1));
    }

    @Test
    void shouldKnowNothingOnceTwoHaveOneNumber() {
        post(1, PostStatus.ACCEPTED);
        post(1, PostStatus.ACCEPTED);
        assertTrue(queue.mayHave(7), "it may have anything");
        assertNull(queue.completed(1, 0, found));
        post(2, PostStatus.ACCEPTED);
        assertNull(queue.completed(2, 0, found));
    }

    @Test
    void shouldBelongToNoConnection() {
        OutstandingRequest request = post(1, PostStatus.ACCEPTED);
        assertNull(request.queuePair().ends());
        assertTrue(request.queuePair().isAlive());
        queue.closed();
        assertFalse(request.queuePair().isAlive());
        assertEquals("a shared receive queue of a device", request.queuePair().toString());
    }

    @Test
    void shouldTakeAtomicsForSinksThatAFenceWaitsFor() {
        QueuePairRecord queuePair =
                new QueuePairRecord("a device", 1, () -> org.softrdma.verbs.QueuePairState.READY_TO_SEND);
        OutstandingRequest add =
                new OutstandingRequest(queuePair, CompletionOpcode.FETCH_AND_ADD, 1, SendFlags.SIGNALLED);
        OutstandingRequest again =
                new OutstandingRequest(queuePair, CompletionOpcode.FETCH_AND_ADD, 2, SendFlags.SIGNALLED);
        OutstandingRequest fenced =
                new OutstandingRequest(queuePair, CompletionOpcode.COMPARE_AND_SWAP, 3, SendFlags.FENCE);
        assertTrue(add.isSink());
        assertFalse(again.maySinkWith(add), "two atomics are not the same READ once more");
        assertTrue(fenced.maySinkWith(add));
    }

    @Test
    void shouldTakeTheCompletionOfAWriteWithImmediateForThatOfARecv() {
        WorkQueueRecord receives = new WorkQueueRecord(new CompletionQueueRecord(4));
        OutstandingRequest receive = new OutstandingRequest(
                new QueuePairRecord("a device", 1, () -> org.softrdma.verbs.QueuePairState.READY_TO_SEND),
                CompletionOpcode.RECEIVE,
                5,
                SendFlags.SIGNALLED);
        receives.add(receive);
        assertEquals(List.of(receive), receives.succeeded(5, CompletionOpcode.RECEIVE_WRITE_IMMEDIATE));
        assertTrue(receives.isCertain());
    }
}
