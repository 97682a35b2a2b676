package org.softrdma.sim.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.WorkCompletion;

class SendQueueTest {
    private static final int CAPACITY = 4;
    private static final int MAX_INLINE = 16;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(CAPACITY, CAPACITY, 3, 3, MAX_INLINE);
    private static final int SIGNALLED = SendFlags.SIGNALLED;
    private static final int UNSIGNALLED = SendFlags.NONE;

    private final SoftCompletionQueue completions = new SoftCompletionQueue(64, new StillProgress(), null, () -> {});
    private final RecordingSource source = new RecordingSource(1);
    private final SendQueue queue = queue(false);

    private SendQueue queue(boolean signalAll) {
        SendQueue made = new SendQueue(source, completions, LIMITS, signalAll, false, new MemoryOperations());
        source.sendQueue(made::free);
        return made;
    }

    private PostStatus post(SendOpcode opcode, long wrId, int flags) {
        return queue.post(request(opcode, wrId, flags).add(wrId * 1000, wrId * 10, (int) wrId + 1));
    }

    private static SendWorkRequest request(SendOpcode opcode, long wrId, int flags) {
        SendWorkRequest request = new SendWorkRequest();
        return switch (opcode) {
            case READ -> request.read(wrId, wrId * 7000, (int) wrId + 2, flags);
            case WRITE -> request.write(wrId, wrId * 7000, (int) wrId + 2, flags);
            case SEND -> request.send(wrId, flags);
            case WRITE_IMMEDIATE -> request.writeImmediate(wrId, wrId * 7000, (int) wrId + 2, (int) -wrId, flags);
            case COMPARE_AND_SWAP ->
                request.compareAndSwap(wrId, wrId * 7000, (int) wrId + 2, -wrId, Long.MIN_VALUE + wrId, flags);
            case FETCH_AND_ADD -> request.fetchAndAdd(wrId, wrId * 7000, (int) wrId + 2, Long.MAX_VALUE - wrId, flags);
            case SEND_IMMEDIATE -> request.sendImmediate(wrId, (int) wrId + 3, flags);
            case SEND_INVALIDATE -> request.sendInvalidate(wrId, (int) wrId + 2, flags);
            case INVALIDATE -> request.invalidate(wrId, (int) wrId + 2, flags);
            default -> throw new IllegalArgumentException(opcode + ": these tests do not post it");
        };
    }

    private PostStatus write(long wrId, int flags) {
        return post(SendOpcode.WRITE, wrId, flags);
    }

    /** What the engine does when it has put everything on the wire. */
    private void sendAll() {
        queue.cursor(queue.posted());
    }

    @Test
    void shouldHandOutRequestsInPostingOrder() {
        assertFalse(queue.hasUnsent());
        write(1, UNSIGNALLED);
        post(SendOpcode.READ, 2, SIGNALLED | SendFlags.FENCE);
        assertTrue(queue.hasUnsent());
        assertEquals(2, queue.posted());
        int slot = queue.slot(queue.cursor());
        assertEquals(SendOpcode.WRITE, queue.opcode(slot));
        assertEquals(7000, queue.remoteAddress(slot));
        assertEquals(3, queue.rkey(slot));
        assertFalse(queue.hasFlag(slot, SIGNALLED));
        assertEquals(1000, queue.entries().address(slot, 0));
        assertEquals(10, queue.entries().length(slot, 0));
        assertEquals(2, queue.entries().lkey(slot, 0));
        queue.cursor(1);
        slot = queue.slot(queue.cursor());
        assertEquals(SendOpcode.READ, queue.opcode(slot));
        assertTrue(queue.hasFlag(slot, SIGNALLED) && queue.hasFlag(slot, SendFlags.FENCE));
        assertFalse(queue.hasFlag(slot, SendFlags.SOLICITED));
        queue.cursor(2);
        assertFalse(queue.hasUnsent());
        queue.cursor(1);
        assertTrue(queue.hasUnsent(), "a short write did not take it");
    }

    @Test
    void shouldKeepTheOperandsOfEachRequest() {
        write(1, UNSIGNALLED);
        post(SendOpcode.WRITE_IMMEDIATE, 2, SIGNALLED);
        post(SendOpcode.COMPARE_AND_SWAP, 3, SIGNALLED);
        post(SendOpcode.FETCH_AND_ADD, 4, SIGNALLED);
        assertEquals(-2, queue.immediate(queue.slot(1)));
        assertEquals(-3, queue.compareAdd(queue.slot(2)));
        assertEquals(Long.MIN_VALUE + 3, queue.swap(queue.slot(2)));
        assertEquals(Long.MAX_VALUE - 4, queue.compareAdd(queue.slot(3)));
        sendAll();
        for (int i = 0; i < CAPACITY; i++) {
            queue.complete(i);
        }
        assertEquals(
                List.of("2 WRITE 0", "3 COMPARE_AND_SWAP 30", "4 FETCH_AND_ADD 40"), Completions.drain(completions));
    }

    @Test
    void shouldTakeSeveralEntries() {
        SendWorkRequest request = new SendWorkRequest()
                .write(5, 0x8000, 0x99, SIGNALLED)
                .add(100, 1, 7)
                .add(200, 2, 8)
                .add(300, 3, 9);
        assertEquals(PostStatus.ACCEPTED, queue.post(request));
        int slot = queue.slot(0);
        assertEquals(3, queue.entries().count(slot));
        assertEquals(6, queue.entries().total(slot));
        assertEquals(0x8000, queue.remoteAddress(slot));
        assertEquals(0x99, queue.rkey(slot));
        sendAll();
        queue.complete(0);
        assertEquals(List.of("5 WRITE 0"), Completions.drain(completions));
    }

    @Test
    void shouldBeFullAtItsCapacityAndLoseNothing() {
        for (int wrId = 1; wrId <= CAPACITY; wrId++) {
            assertTrue(queue.hasRoom());
            assertEquals(PostStatus.ACCEPTED, write(wrId, SIGNALLED));
        }
        assertFalse(queue.hasRoom());
        assertEquals(PostStatus.QUEUE_FULL, write(9, SIGNALLED));
        assertEquals(PostStatus.QUEUE_FULL, queue.post(new SendWorkRequest().send(9, SIGNALLED)));
        assertEquals(CAPACITY, queue.posted());
        assertEquals(1000, queue.entries().address(queue.slot(0), 0), "the oldest was not written over");
    }

    /** As on hardware: a slot is free when its completion, or a later one, has been polled, and not before. */
    @Test
    void shouldFreeSlotsWhenACompletionIsPolled() {
        write(1, UNSIGNALLED);
        write(2, UNSIGNALLED);
        write(3, SIGNALLED);
        write(4, UNSIGNALLED);
        sendAll();
        for (int sequence = 0; sequence < CAPACITY; sequence++) {
            queue.complete(sequence);
        }
        assertEquals(PostStatus.QUEUE_FULL, write(5, SIGNALLED), "done, but not polled");
        assertEquals(List.of("3 WRITE 0"), Completions.drain(completions));
        assertEquals(List.of(3L), source.released(), "the sequence behind it");
        write(5, SIGNALLED);
        write(6, SIGNALLED);
        write(7, SIGNALLED);
        assertEquals(PostStatus.QUEUE_FULL, write(8, SIGNALLED), "the fourth keeps its slot");
    }

    @Test
    void shouldNotTakeAFreeSlotBack() {
        write(1, SIGNALLED);
        write(2, SIGNALLED);
        queue.free(2);
        queue.free(1);
        for (int wrId = 3; wrId < 3 + CAPACITY; wrId++) {
            assertEquals(PostStatus.ACCEPTED, write(wrId, SIGNALLED));
        }
        assertFalse(queue.hasRoom());
    }

    @Test
    void shouldCompleteInPostingOrderWhenAReadIsLate() {
        write(1, SIGNALLED);
        post(SendOpcode.READ, 2, SIGNALLED);
        write(3, SIGNALLED);
        post(SendOpcode.SEND, 4, SIGNALLED);
        sendAll();
        queue.complete(0);
        queue.complete(2);
        queue.complete(3);
        assertEquals(List.of("1 WRITE 0"), Completions.drain(completions));
        queue.complete(1);
        assertEquals(List.of("2 READ 20", "3 WRITE 0", "4 SEND 0"), Completions.drain(completions));
    }

    @Test
    void shouldGiveNoCompletionBeforeTheRequestIsOnTheWire() {
        write(1, SIGNALLED);
        write(2, SIGNALLED);
        queue.cursor(1);
        queue.complete(1);
        queue.complete(0);
        assertEquals(List.of("1 WRITE 0"), Completions.drain(completions));
    }

    /** Being done is of a request, not of its slot: the next request there waits for its own data. */
    @Test
    void shouldWaitForEachReadWhenSlotsAreUsedAgain() {
        long sequence = 0;
        for (int round = 0; round < 3 * CAPACITY; round++) {
            post(SendOpcode.READ, 1, SIGNALLED);
            write(2, SIGNALLED);
            sendAll();
            queue.complete(sequence + 1);
            assertEquals(List.of(), Completions.drain(completions), "round " + round);
            queue.complete(sequence);
            assertEquals(List.of("1 READ 10", "2 WRITE 0"), Completions.drain(completions), "round " + round);
            sequence += 2;
        }
    }

    @Test
    void shouldSignalEveryRequestWhenToldSo() {
        SendQueue all = queue(true);
        all.post(new SendWorkRequest().send(1, UNSIGNALLED).add(0, 0, 0));
        all.post(new SendWorkRequest().write(2, 0, 0, UNSIGNALLED).add(0, 0, 0));
        all.cursor(2);
        all.complete(0);
        all.complete(1);
        assertEquals(List.of("1 SEND 0", "2 WRITE 0"), Completions.drain(completions));
    }

    @Test
    void shouldEndEveryRequestOnAFlushSignalledOrNot() {
        write(1, UNSIGNALLED);
        write(2, UNSIGNALLED);
        write(3, SIGNALLED);
        write(4, UNSIGNALLED);
        queue.cursor(2);
        queue.complete(0);
        queue.flush(2, CompletionStatus.REMOTE_ACCESS_ERROR, 0x0102);
        assertEquals(
                List.of("2 FLUSHED 258", "3 REMOTE_ACCESS_ERROR 258", "4 FLUSHED 258"),
                Completions.drain(completions),
                "the first has succeeded in silence");
        assertFalse(queue.hasUnsent());
        queue.flush(2, CompletionStatus.REMOTE_ACCESS_ERROR, 0x0102);
        assertEquals(List.of(), Completions.drain(completions), "nothing ends twice");
        assertTrue(queue.hasRoom());
    }

    @Test
    void shouldFlushReadsWhoseDataIsLateAndWhatWaitsBehindThem() {
        post(SendOpcode.READ, 1, SIGNALLED);
        write(2, SIGNALLED);
        sendAll();
        queue.complete(1);
        queue.flush(-1, CompletionStatus.FLUSHED, 0);
        assertEquals(List.of("1 FLUSHED 0", "2 FLUSHED 0"), Completions.drain(completions));
    }

    @Test
    void shouldTakeInlineDataAtPosting() {
        byte[] first = TestBytes.pattern(1, MAX_INLINE);
        byte[] second = TestBytes.pattern(2, 10);
        MemorySegment memory = Arena.ofAuto().allocate(64);
        long address = memory.address();
        NativeMemory.put(address, first);
        queue.post(new SendWorkRequest().send(1, SendFlags.INLINE).add(address, first.length, 0));
        NativeMemory.put(address, second);
        queue.post(new SendWorkRequest()
                .write(2, 0, 0, SendFlags.INLINE)
                .add(address, 3, 0)
                .add(address + 3, 0, 0)
                .add(address + 3, 7, 0));
        memory.fill((byte) 0);
        assertEquals(TestBytes.hex(first), inline(0, first.length));
        assertEquals(TestBytes.hex(second), inline(1, second.length));
    }

    private String inline(long sequence, int length) {
        return TestBytes.hex(NativeMemory.bytes(queue.inlineAddress(queue.slot(sequence)), length));
    }

    @Test
    void shouldFlushEachRequestOnceWhenTellingOfOneFails() {
        SoftCompletionQueue few = new SoftCompletionQueue(2, new StillProgress(), null, () -> {});
        few.attach(source);
        SendQueue hurt = new SendQueue(source, few, LIMITS, false, false, new MemoryOperations());
        for (int i = 0; i < CAPACITY; i++) {
            assertEquals(
                    PostStatus.ACCEPTED,
                    hurt.post(request(SendOpcode.WRITE, i, UNSIGNALLED).add(1000, 10, 1)));
        }
        source.whenOverrun(() -> {
            throw new OutOfMemoryError("injected");
        });
        assertThrows(OutOfMemoryError.class, () -> hurt.flush(-1, CompletionStatus.FLUSHED, 0));
        assertNotEquals(-1L, hurt.oldest(), "not all are flushed");
        hurt.flush(-1, CompletionStatus.FLUSHED, 0);
        assertEquals(-1L, hurt.oldest(), "all are flushed");
        WorkCompletion[] two = WorkCompletion.array(2);
        assertEquals(2, few.poll(two));
        assertEquals("0 FLUSHED 0, 1 FLUSHED 0", Completions.describe(two[0]) + ", " + Completions.describe(two[1]));
    }

    @Test
    void shouldCopyNoInlineDataOnceItIsClosed() {
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(MAX_INLINE).address();
            queue.close();
            queue.close();
            assertThrows(
                    IllegalStateException.class,
                    () -> queue.post(
                            new SendWorkRequest().send(1, SendFlags.INLINE).add(address, MAX_INLINE, 0)));
            assertEquals(0, queue.posted());
        }
    }
}
