package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/** Completion queue and completion channel, in manual progress and without a device. */
class SoftCompletionQueueTest {
    private static final int ENTRIES = 4;
    private static final boolean SOLICITED = true;

    private final StillProgress progress = new StillProgress();
    private final SoftCompletionChannel channel = new SoftCompletionChannel(progress, () -> {});
    private final SoftCompletionQueue queue = new SoftCompletionQueue(ENTRIES, progress, channel, () -> {});
    private final RecordingSource source = attached(1);
    private final RecordingSource other = attached(2);
    private final WorkCompletion[] completions = WorkCompletion.array(16);

    private RecordingSource attached(int number) {
        RecordingSource attached = new RecordingSource(number);
        queue.attach(attached);
        return attached;
    }

    private void push(CompletionSource from, long wrId) {
        push(from, wrId, CompletionStatus.SUCCESS, false);
    }

    private void push(CompletionSource from, long wrId, CompletionStatus status, boolean solicited) {
        queue.push(from, wrId, status, CompletionOpcode.RECEIVE, 10 * wrId, (int) wrId, 0, solicited);
    }

    private boolean eventCame() {
        return channel.await(0)
                .map(from -> {
                    assertSame(queue, from);
                    from.acknowledgeEvents(1);
                    return true;
                })
                .orElse(false);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 4", "4, 4", "5, 8", "1000, 1024", "1024, 1024", "1025, 2048"})
    void shouldHaveAtLeastTheEntriesAskedFor(int minimum, int entries) {
        SoftCompletionQueue sized = new SoftCompletionQueue(minimum, progress, null, () -> {});
        assertEquals(entries, sized.entries());
        for (int i = 0; i < entries; i++) {
            sized.push(source, i, CompletionStatus.SUCCESS, CompletionOpcode.SEND, 0, 0, 0, false);
        }
        assertEquals(entries, Completions.drain(sized).size());
    }

    @Test
    void shouldTellEverythingOfASuccess() {
        queue.push(source, Long.MIN_VALUE, CompletionStatus.SUCCESS, CompletionOpcode.READ, 1L << 40, 0, 9, false);
        assertEquals(1, queue.poll(completions, 16));
        assertEquals(Long.MIN_VALUE, completions[0].wrId());
        assertTrue(completions[0].isSuccess());
        assertEquals(CompletionOpcode.READ, completions[0].opcode());
        assertEquals(1L << 40, completions[0].byteLength());
        assertEquals(1, completions[0].qpNumber());
    }

    @Test
    void shouldTellAnImmediateAndAnInvalidatedKeyOfTheirCompletionsOnly() {
        List<Long> released = new ArrayList<>();
        source.receiveQueue(released::add);
        CompletionOpcode withImmediate = CompletionOpcode.RECEIVE_WRITE_IMMEDIATE;
        queue.push(source, 1, CompletionStatus.SUCCESS, withImmediate, 700, 0, 5, false);
        queue.push(source, 2, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 30, -7, 6, false);
        queue.push(source, 3, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 30, 0, 7, false);
        assertEquals(3, queue.poll(completions, 16));
        assertEquals(CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, completions[0].opcode());
        assertEquals(700, completions[0].byteLength());
        assertTrue(completions[0].hasImmediate());
        assertEquals(0, completions[0].immediate());
        assertFalse(completions[0].hasInvalidatedKey());
        assertEquals(CompletionOpcode.RECEIVE, completions[1].opcode());
        assertEquals(30, completions[1].byteLength());
        assertFalse(completions[1].hasImmediate());
        assertEquals(-7, completions[1].invalidatedKey());
        assertFalse(completions[2].hasImmediate());
        assertFalse(completions[2].hasInvalidatedKey());
        assertEquals(List.of(5L, 6L, 7L), released, "slots of the receive queue");
        assertEquals(List.of(), source.released(), "slots of the send queue");
        queue.push(source, 4, CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, 30, 0, 8, false);
        queue.poll(completions, 16);
        assertFalse(completions[0].hasImmediate(), "an object that is used again");
    }

    @ParameterizedTest
    @CsvSource({"LOCAL_PROTECTION_ERROR", "FLUSHED", "REMOTE_ACCESS_ERROR", "GENERAL_ERROR"})
    void shouldTellStatusAndVendorCodeOfAFailure(CompletionStatus status) {
        queue.push(other, 5, status, CompletionOpcode.WRITE, 0, 0xF102, 1, false);
        assertEquals(1, queue.poll(completions, 16));
        assertEquals(status, completions[0].status());
        assertEquals(0xF102, completions[0].vendorCode());
        assertEquals(2, completions[0].qpNumber());
        assertThrows(IllegalStateException.class, () -> completions[0].opcode());
    }

    @Test
    void shouldGiveTheOldestFirstAndNoMoreThanAskedFor() {
        for (int wrId = 1; wrId <= ENTRIES; wrId++) {
            push(source, wrId);
        }
        assertEquals(0, queue.poll(completions, 0));
        assertEquals(1, queue.poll(completions, 1));
        assertEquals(1, completions[0].wrId());
        push(other, 5);
        assertEquals(List.of("2 RECEIVE 20", "3 RECEIVE 30", "4 RECEIVE 40", "5 RECEIVE 50"), Completions.drain(queue));
        assertEquals(0, queue.poll(completions, 16));
    }

    @ParameterizedTest
    @CsvSource({"-1", "17", "2147483647"})
    void shouldRefuseToPollMoreThanThereIsRoomFor(int max) {
        assertEquals(
                "max=" + max + ": expected 0 to 16",
                assertThrows(IllegalArgumentException.class, () -> queue.poll(completions, max))
                        .getMessage());
    }

    /** As a thread that finds a completion of a READ of its own at every poll. */
    private int nearReadsUntilATurn(long bytes) {
        int before = progress.turns();
        int reads = 0;
        while (progress.turns() == before) {
            queue.push(source, reads, CompletionStatus.SUCCESS, CompletionOpcode.READ, bytes, 0, -1 - reads, false);
            reads++;
            assertEquals(1, queue.poll(completions, 1));
            assertTrue(reads <= 1024, "it never has its turn");
        }
        return reads;
    }

    @Test
    void shouldGiveTheDeviceFewerTurnsWhileTheyBringNothing() {
        List<Integer> reads = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            reads.add(nearReadsUntilATurn(8));
        }
        assertEquals(List.of(64, 128, 256, 512, 1024, 1024), reads);
        progress.busy(true);
        assertEquals(1024, nearReadsUntilATurn(8));
        assertEquals(64, nearReadsUntilATurn(8));
        progress.busy(false);
        assertEquals(64, nearReadsUntilATurn(8));
        queue.poll(completions, 1);
        assertEquals(1, progress.polls());
        assertEquals(128, nearReadsUntilATurn(8), "an empty poll says nothing of turns");
    }

    @Test
    void shouldGiveTheDeviceATurnAfterFewerLongReads() {
        assertEquals(8, nearReadsUntilATurn(128 << 10));
        assertEquals(15, nearReadsUntilATurn(128 << 10));
        progress.busy(true);
        assertEquals(4, nearReadsUntilATurn(1 << 20));
        assertEquals(1, nearReadsUntilATurn(1 << 20));
        assertEquals(64, nearReadsUntilATurn((16 << 10) - 1));
    }

    @Test
    void shouldDriveTheDeviceOnlyWhenThereIsNothingToTake() {
        queue.poll(completions, 16);
        assertEquals(1, progress.polls());
        push(source, 1);
        push(source, 2);
        queue.poll(completions, 1);
        queue.poll(completions, 1);
        assertEquals(1, progress.polls());
        assertEquals(2, progress.sends(), "what was posted meanwhile waits until all completions are taken");
        queue.poll(completions, 1);
        assertEquals(2, progress.polls());
    }

    @Test
    void shouldReleaseSendSlotsWhenTheCompletionIsPolled() {
        queue.push(source, 1, CompletionStatus.SUCCESS, CompletionOpcode.SEND, 0, 0, 3, false);
        queue.push(other, 2, CompletionStatus.FLUSHED, CompletionOpcode.SEND, 0, 0, 5, false);
        push(source, 3);
        assertEquals(List.of(), source.released());
        Completions.drain(queue);
        assertEquals(List.of(3L), source.released(), "a RECV frees no send slot");
        assertEquals(List.of(5L), other.released(), "a failure frees its slot as well");
    }

    // ---- overrun

    @Test
    void shouldTellEveryQueuePairOnceWhenItOverruns() {
        for (int wrId = 1; wrId <= ENTRIES; wrId++) {
            push(source, wrId);
        }
        assertEquals(0, source.overruns() + other.overruns(), "full is not overrun");
        push(source, 5);
        push(other, 6);
        assertEquals(1, source.overruns());
        assertEquals(1, other.overruns());
    }

    @Test
    void shouldGiveWhatItHasBeforeItTellsOfTheOverrun() {
        for (int wrId = 1; wrId <= ENTRIES + 1; wrId++) {
            push(source, wrId);
        }
        assertEquals(ENTRIES, queue.poll(completions, 16));
        assertEquals(4, completions[ENTRIES - 1].wrId(), "the oldest are kept");
        assertOverrun();
        push(source, 7, CompletionStatus.FLUSHED, false);
        assertEquals(1, queue.poll(completions, 16), "what comes when there is room again is not lost");
        assertOverrun();
        assertEquals(0, queue.poll(completions, 0));
        assertEquals(1, source.overruns());
    }

    private void assertOverrun() {
        VerbsException overrun = assertThrows(VerbsException.class, () -> queue.poll(completions, 16));
        assertEquals(VerbsErrorCode.QUEUE_OVERRUN, overrun.code());
        assertTrue(String.valueOf(overrun.getMessage()).contains("(4 entries)"), overrun.getMessage());
    }

    // ---- detach and close

    /** The completions that stay move together, here over the end of the ring. */
    @Test
    void shouldDropTheCompletionsOfAQueuePairThatIsGone() {
        push(source, 1);
        push(source, 2);
        push(source, 3);
        Completions.drain(queue);
        push(source, 4);
        push(other, 5);
        push(source, 6);
        push(other, 7);
        queue.detach(source);
        push(other, 8);
        assertEquals(List.of("5 RECEIVE 50", "7 RECEIVE 70", "8 RECEIVE 80"), Completions.drain(queue));
        queue.detach(other);
        queue.close();
    }

    @Test
    void shouldHaveRoomAgainWhenAQueuePairIsGone() {
        for (int wrId = 1; wrId <= ENTRIES; wrId++) {
            push(source, wrId);
        }
        queue.detach(source);
        push(other, 9);
        assertEquals(0, other.overruns());
        assertEquals(List.of("9 RECEIVE 90"), Completions.drain(queue));
    }

    @Test
    void shouldNotCloseWhileItIsInUse() {
        assertBusy("2 queue pairs still use this completion queue");
        queue.detach(source);
        queue.detach(other);
        queue.requestNotification(false);
        push(source, 1);
        assertSame(queue, channel.await(0).orElseThrow());
        assertBusy("1 completion events were taken but not acknowledged");
        queue.acknowledgeEvents(1);
        queue.close();
        queue.close();
    }

    @Test
    void shouldGiveWhatIsLeftWhenItIsClosedAndThenSaySo() {
        push(source, 1);
        push(other, 2);
        queue.detach(source);
        push(source, 3);
        queue.detach(other);
        queue.close();
        assertEquals(1, queue.poll(completions, 16));
        assertEquals(3, completions[0].wrId());
        assertClosed(() -> queue.poll(completions, 16));
        assertClosed(() -> queue.attach(source));
    }

    private static void assertClosed(Executable use) {
        assertEquals(
                "the completion queue is closed",
                assertThrows(IllegalStateException.class, use).getMessage());
    }

    private void assertBusy(String message) {
        VerbsException busy = assertThrows(VerbsException.class, queue::close);
        assertEquals(VerbsErrorCode.BUSY, busy.code());
        assertEquals(message, busy.getMessage());
    }

    // ---- arming

    @Test
    void shouldRaiseNoEventWhenItIsNotArmed() {
        push(source, 1, CompletionStatus.SUCCESS, SOLICITED);
        push(source, 2, CompletionStatus.FLUSHED, false);
        assertFalse(eventCame());
    }

    @Test
    void shouldRaiseOneEventEachTimeItIsArmed() {
        queue.requestNotification(false);
        push(source, 1);
        push(source, 2);
        assertTrue(eventCame());
        assertFalse(eventCame(), "the second found it no longer armed");
        queue.requestNotification(false);
        assertFalse(eventCame(), "nor do completions that were there before");
        push(source, 3);
        assertTrue(eventCame());
    }

    @ParameterizedTest
    @CsvSource({
        "SUCCESS, false, false",
        "SUCCESS, true, true",
        "FLUSHED, false, true",
        "REMOTE_ACCESS_ERROR, false, true"
    })
    void shouldRaiseASolicitedEventForSolicitedSendsAndForFailures(
            CompletionStatus status, boolean solicited, boolean event) {
        queue.requestNotification(SOLICITED);
        push(source, 1, status, solicited);
        assertEquals(event, eventCame());
        push(source, 2, CompletionStatus.SUCCESS, SOLICITED);
        assertEquals(!event, eventCame(), "it stays armed until then");
    }

    /** Verbs: a request for any event outlives one for solicited events only. */
    @ParameterizedTest
    @CsvSource({"true, false", "false, true"})
    void shouldRaiseAnEventForAnythingWhenBothWereAskedFor(boolean first, boolean second) {
        queue.requestNotification(first);
        queue.requestNotification(second);
        push(source, 1);
        assertTrue(eventCame());
    }

    @Test
    void shouldNotBeArmedWithoutAChannel() {
        SoftCompletionQueue alone = new SoftCompletionQueue(1, progress, null, () -> {});
        assertEquals(
                "this completion queue was created without a completion channel",
                assertThrows(IllegalStateException.class, () -> alone.requestNotification(false))
                        .getMessage());
    }

    @Test
    void shouldAcknowledgeNoMoreEventsThanWereTaken() {
        queue.requestNotification(false);
        push(source, 1);
        assertSame(queue, channel.await(0).orElseThrow());
        for (int count : new int[] {-1, 2, Integer.MAX_VALUE}) {
            assertEquals(
                    "count=" + count + ": expected 0 to 1, the events taken",
                    assertThrows(IllegalArgumentException.class, () -> queue.acknowledgeEvents(count))
                            .getMessage());
        }
        queue.acknowledgeEvents(0);
        queue.acknowledgeEvents(1);
        assertThrows(IllegalArgumentException.class, () -> queue.acknowledgeEvents(1));
    }

    @Test
    void shouldTakeItsEventsAlongWhenItCloses() {
        SoftCompletionQueue closing = new SoftCompletionQueue(ENTRIES, progress, channel, () -> {});
        closing.requestNotification(false);
        closing.push(source, 1, CompletionStatus.SUCCESS, CompletionOpcode.SEND, 0, 0, 0, false);
        queue.requestNotification(false);
        push(source, 2);
        closing.close();
        assertTrue(eventCame(), "that of the other queue");
        assertFalse(eventCame());
    }
}
