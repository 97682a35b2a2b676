package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.run.uverbs.ScriptedProgram.DONE;
import static org.softrdma.run.uverbs.ScriptedProgram.INLINE;
import static org.softrdma.run.uverbs.ScriptedProgram.SEND;
import static org.softrdma.run.uverbs.ScriptedProgram.SIGNALLED;
import static org.softrdma.run.uverbs.ScriptedProgram.SOLICITED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/** Queue pairs of a program that fills rings as rdma-core's driver does, and of one that fills them with nonsense. */
@EnabledOnOs(OS.LINUX)
class QueuePairRingsTest {
    private static final int WRITE = 0;
    private static final int WRITE_IMMEDIATE = 1;
    private static final int SEND_IMMEDIATE = 3;
    private static final int READ = 4;
    private static final int COMPARE_AND_SWAP = 5;
    private static final int FETCH_AND_ADD = 6;

    private static final int SUCCESS = 0;
    private static final int LENGTH_ERROR = 1;
    private static final int OPERATION_ERROR = 2;
    private static final int PROTECTION_ERROR = 4;
    private static final int FLUSHED = 5;
    private static final int REMOTE_INVALID = 9;
    private static final int REMOTE_ACCESS = 10;
    private static final int ERROR = 6;
    private static final int NO_CHANNEL = -1;
    private static final long COOKIE = 0x1122_3344_5566L;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private ScriptedProgram program;
    private ScriptedProgram.Completions completions;
    private ScriptedProgram.Pair from;
    private ScriptedProgram.Pair to;

    @BeforeEach
    void open() throws CallRefusedException {
        program = new ScriptedProgram();
        completions = program.completions(100, NO_CHANNEL, COOKIE);
        from = program.pair(2, completions, 7, 7);
        to = program.pair(2, completions, 7, 7);
        program.connect(from, to);
        for (int i = 0; i < ScriptedProgram.LENGTH; i++) {
            program.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
        }
    }

    @AfterEach
    void close() {
        program.close();
    }

    private void expectCopied(long source, long target, int length) {
        assertEquals(
                -1,
                program.memory.asSlice(source, length).mismatch(program.memory.asSlice(target, length)),
                "bytes from " + source + " at " + target);
    }

    @Test
    void shouldSendFromRingToRing() {
        expectSends();
        assertEquals(1, from.sends.consumer());
        assertEquals(1, to.receives.consumer());
    }

    private void expectSends() {
        to.receive(11, 20_000, 3000);
        from.post(22, SEND, SIGNALLED, 100, 2999);
        completions.expect(11, SUCCESS);
        completions.expect(22, SUCCESS);
        expectCopied(100, 20_000, 2999);
    }

    /** Layouts of {@code struct rxe_send_wqe}, {@code rxe_recv_wqe} and {@code ib_uverbs_wc}. */
    @Test
    void shouldReadAndWriteTheseBytes() {
        to.receive(0x0102_0304_0506_0708L, 20_000, 100);
        MemorySegment request = from.fill(0x1112_1314_1516_1718L, SEND_IMMEDIATE, SIGNALLED | SOLICITED, 3, 5);
        from.immediate(request, 0x2122_2324);
        from.give();
        assertEquals(
                "1817161514131211" + "00000000" + "03000000" + "06000000" + "21222324", hex(request.asSlice(0, 24)));
        assertEquals(DONE, program.doorbell(from));
        assertEquals(
                "0807060504030201" + "00000000" + "80000000" + "00000000" + "05000000" + "21222324" + number(to.number)
                        + "00000000" + "02000000" + "0000000000000100",
                hex(completions.next()));
        assertEquals(
                "1817161514131211" + "00000000" + "00000000" + "00000000" + "05000000" + "00000000"
                        + number(from.number) + "00000000" + "00000000" + "0000000000000100",
                hex(completions.next()));
    }

    private static String hex(MemorySegment bytes) {
        return HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    private static String number(int number) {
        return HexFormat.of().toHexDigits(Integer.reverseBytes(number));
    }

    @Test
    void shouldDoEveryOperationOfAReliableConnection() {
        var _ = from.remote(from.fill(1, WRITE, SIGNALLED, 0, 5000), 30_000);
        from.give();
        var _ = from.remote(from.fill(2, READ, SIGNALLED, 40_000, 5000), 30_000);
        from.give();
        program.memory.set(LONG, 50_000, 7);
        MemorySegment swap = from.remote(from.fill(3, COMPARE_AND_SWAP, SIGNALLED, 50_008, 8), 50_000);
        swap.set(LONG, 32, 7);
        swap.set(LONG, 40, 9);
        swap.set(ValueLayout.JAVA_INT, 48, program.rkey);
        from.give();
        MemorySegment add = from.remote(from.fill(4, FETCH_AND_ADD, SIGNALLED, 50_016, 8), 50_000);
        add.set(LONG, 32, 5);
        add.set(ValueLayout.JAVA_INT, 48, program.rkey);
        from.give();
        to.receive(5, 0, 0);
        var _ = from.remote(from.fill(6, WRITE_IMMEDIATE, SIGNALLED, 100, 50), 60_000);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        int[] operations = {0, 1, 2, 3, 4, 129, 1}; // by number
        long[] bytes = {0, 5000, 5000, 8, 8, 50, 50};
        for (int i = 1; i < operations.length; i++) { // the peer's RECV may be complete before those of this side
            MemorySegment done = completions.next();
            int number = (int) done.get(LONG, 0);
            assertEquals(SUCCESS, done.get(ValueLayout.JAVA_INT, 8));
            assertEquals(operations[number], done.get(ValueLayout.JAVA_INT, 12));
            assertEquals(bytes[number], done.get(ValueLayout.JAVA_INT, 20));
            bytes[number] = -1; // each once
        }
        expectCopied(0, 40_000, 5000);
        expectCopied(100, 60_000, 50);
        assertEquals(7, program.memory.get(LONG, 50_008));
        assertEquals(9, program.memory.get(LONG, 50_016));
        assertEquals(14, program.memory.get(LONG, 50_000));
    }

    @Test
    void shouldSendInlineBytesFromTheRing() {
        to.receive(1, 20_000, 64);
        from.post(2, SEND, SIGNALLED | INLINE, 77, 60);
        completions.expect(1, SUCCESS);
        completions.expect(2, SUCCESS);
        expectCopied(77, 20_000, 60);
    }

    @Test
    void shouldFreePlacesOfRequestsThatNobodyWantsToHearOf() {
        for (int i = 0; i < 40; i++) {
            to.receive(i, 20_000, 64);
            from.post(i, SEND, 0, 0, 10);
            completions.expect(i, SUCCESS);
            program.until(() -> from.sends.consumer() == from.sends.producer(), "a free place");
        }
        assertEquals(completions.ring.producer(), completions.ring.consumer());
    }

    /** A RECV that is there when the peer asks again. */
    @Test
    void shouldWaitForAReceive() {
        from.post(1, SEND, SIGNALLED, 0, 10);
        to.receive(2, 20_000, 64);
        completions.expect(2, SUCCESS);
        completions.expect(1, SUCCESS);
    }

    @Test
    void shouldTellAndFlushWhenAMessageIsTooLong() {
        to.receive(1, 20_000, 9);
        to.receive(2, 20_000, 64);
        from.post(3, SEND, 0, 0, 10);
        completions.expect(1, LENGTH_ERROR);
        completions.expect(2, FLUSHED);
        completions.expect(3, REMOTE_INVALID);
        assertEquals(ERROR, program.state(from));
        assertEquals(ERROR, program.state(to));
        from.post(4, SEND, 0, 0, 10);
        completions.expect(4, FLUSHED);
    }

    /** Nobody rings a doorbell for a RECV. */
    @Test
    void shouldFlushReceivesThatArePostedInError() {
        to.receive(1, 20_000, 9);
        from.post(2, SEND, 0, 0, 10);
        completions.expect(1, LENGTH_ERROR);
        completions.expect(2, REMOTE_INVALID);
        for (int i = 3; i < 200; i += 2) {
            to.receive(i, 20_000, 64);
            completions.expect(i, FLUSHED);
            from.receive(i + 1, 20_000, 64);
            completions.expect(i + 1, FLUSHED);
        }
    }

    @Test
    void shouldFailARequestWithAKeyThatIsNone() {
        from.fill(1, SEND, 0, 0, 10).set(ValueLayout.JAVA_INT, 220, program.lkey + 0x100);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        completions.expect(1, PROTECTION_ERROR);
        var _ = to.remote(to.fill(2, WRITE, 0, 0, 10), ScriptedProgram.LENGTH - 9);
        to.give();
        assertEquals(DONE, program.doorbell(to));
        assertNotEquals(SUCCESS, completions.next().get(ValueLayout.JAVA_INT, 8));
    }

    @Test
    void shouldTellOfAnAccessThatThePeerRefuses() {
        var _ = from.remote(from.fill(1, WRITE, 0, 0, 10), ScriptedProgram.LENGTH - 9);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        completions.expect(1, REMOTE_ACCESS);
        program.until(() -> program.kernel.event(program.asyncEvents) == 7, "the event of the peer");
        assertEquals(3, program.kernel.event(program.asyncEvents)); // QP_ACCESS_ERR
    }

    // ---- a hostile program

    @Test
    void shouldFailWhatIsNoRequestInItsTurn() {
        to.receive(1, 20_000, 64);
        var _ = from.fill(2, SEND, SIGNALLED, 0, 10);
        from.give();
        var _ = from.fill(3, 77, 0, 0, 10);
        from.give();
        var _ = from.fill(4, SEND, SIGNALLED, 0, 10);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        completions.expect(1, SUCCESS);
        completions.expect(2, SUCCESS);
        completions.expect(3, OPERATION_ERROR);
        completions.expect(4, FLUSHED);
        assertEquals(ERROR, program.state(from));
    }

    @Test
    void shouldFailRequestsWithMorePiecesAndBytesThanFit() {
        int[] counts = {-1, 5, Integer.MAX_VALUE};
        for (int count : counts) {
            ScriptedProgram.Pair pair = program.pair(2, completions, 7, 7);
            program.connect(pair, to(pair));
            pair.fill(1, SEND, 0, 0, 10).set(ValueLayout.JAVA_INT, 196, count);
            pair.give();
            assertEquals(DONE, program.doorbell(pair));
            completions.expect(1, OPERATION_ERROR);
        }
        ScriptedProgram.Pair pair = program.pair(2, completions, 7, 7);
        program.connect(pair, to(pair));
        pair.fill(1, SEND, INLINE, 0, 10).set(ValueLayout.JAVA_INT, 184, -1);
        pair.give();
        assertEquals(DONE, program.doorbell(pair));
        completions.expect(1, OPERATION_ERROR);
    }

    private ScriptedProgram.Pair to(ScriptedProgram.Pair pair) {
        assertTrue(pair.number > 0);
        return program.pair(2, completions, 7, 7);
    }

    @Test
    void shouldFindNoReceiveInOneWithTooManyPieces() {
        to.receive(1, 20_000, 64);
        to.receives.element(0).set(ValueLayout.JAVA_INT, 28, Integer.MAX_VALUE);
        from.post(2, SEND, 0, 0, 10);
        completions.expect(1, LENGTH_ERROR);
        completions.expect(2, REMOTE_INVALID);
    }

    /** Whether a message fills them or they are flushed: two pieces of 4 GiB each are more than a message can have. */
    @Test
    void shouldTakeReceivesThatAreLongerThanAnyMessage() {
        for (int i = 1; i < 3; i++) {
            to.receive(i, 20_000, -1);
            MemorySegment request = to.receives.element(i - 1);
            request.set(ValueLayout.JAVA_INT, 28, 2);
            request.set(ValueLayout.JAVA_INT, 64, -1);
        }
        from.post(3, SEND, SIGNALLED, 0, 10);
        completions.expect(1, SUCCESS); // what of it is used is in a region
        completions.expect(3, SUCCESS);
        assertEquals(DONE, program.modify(to, 1, ERROR, 0, 0));
        completions.expect(2, FLUSHED);
    }

    /** Whatever indexes say: the queue pair is lost at most, and others go on. */
    @Test
    void shouldOutliveIndexesThatAreNone() {
        int[] wrong = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 20, 12};
        for (int index : wrong) {
            ScriptedProgram.Pair pair = program.pair(2, completions, 7, 7);
            program.connect(pair, to(pair));
            pair.receives.producer(index);
            pair.receives.consumer(~index);
            pair.sends.producer(index);
            pair.sends.consumer(~index);
            assertEquals(DONE, program.doorbell(pair));
            pair.sends.producer(index - 1); // behind what it was
            assertEquals(DONE, program.doorbell(pair));
            completions.ring.consumer(completions.ring.producer());
            assertEquals(DONE, program.command(27, 4, 0, 0, pair.handle));
        }
        completions.ring.consumer(completions.ring.producer());
        expectSends();
    }

    @Test
    void shouldLoseWhatAFullQueueHasNoRoomForAndSaySo() {
        ScriptedProgram.Completions small = program.completions(1, NO_CHANNEL, 5);
        ScriptedProgram.Pair pair = program.pair(2, small, 7, 7);
        ScriptedProgram.Pair peer = program.pair(2, completions, 7, 7);
        program.connect(pair, peer);
        for (int i = 0; i < 3; i++) {
            peer.receive(i, 20_000, 64);
            pair.post(10 + i, SEND, SIGNALLED, 0, 10);
            completions.expect(i, SUCCESS);
            program.until(() -> pair.sends.consumer() == pair.sends.producer(), "a free place");
        }
        assertEquals(5, program.kernel.event(program.asyncEvents));
        assertEquals(0, program.kernel.event(program.asyncEvents)); // CQ_ERR
        assertEquals(-1, program.kernel.event(program.asyncEvents)); // once
        small.expect(10, SUCCESS);
    }

    // ---- events

    @Test
    void shouldRaiseOneEventForEachArming() {
        int channel = program.channel();
        ScriptedProgram.Completions events = program.completions(100, channel, COOKIE);
        ScriptedProgram.Pair sender = program.pair(2, completions, 7, 7);
        ScriptedProgram.Pair receiver = program.pair(2, events, 7, 7);
        program.connect(sender, receiver);
        assertEquals(DONE, program.command(23, 0, events.handle, 0));
        send(sender, receiver, 0);
        assertEquals(COOKIE, program.kernel.event(channel));
        send(sender, receiver, 0);
        assertEquals(-1, program.kernel.event(channel));
        assertEquals(DONE, program.command(23, 0, events.handle, 1)); // solicited only
        send(sender, receiver, 0);
        assertEquals(-1, program.kernel.event(channel));
        send(sender, receiver, SOLICITED);
        assertEquals(DONE, program.command(27, 4, 0, 0, receiver.handle));
        assertEquals(DONE, program.command(20, 8, 0, 0, events.handle));
        assertEquals(1, program.output(0), "events that were read, not the one in the pipe");
        assertEquals(-1, program.kernel.event(channel));
    }

    private void send(ScriptedProgram.Pair sender, ScriptedProgram.Pair receiver, int flags) {
        receiver.receive(1, 20_000, 64);
        sender.post(2, SEND, SIGNALLED | flags, 0, 10);
        receiver.completions.expect(1, SUCCESS);
        completions.expect(2, SUCCESS);
    }

    @Test
    void shouldTakeReceivesFromASharedQueueAndSayWhenTheyAreFew() {
        ScriptedProgram.Shared shared = program.shared(7);
        ScriptedProgram.Pair receiver = program.pairWithShared(completions, shared);
        ScriptedProgram.Pair sender = program.pair(2, completions, 7, 7);
        program.connect(sender, receiver);
        receiver.receive(1, 20_000, 64);
        receiver.receive(2, 21_000, 64);
        assertEquals(DONE, program.command(33, 0, shared.handle(), 2, 0, 2));
        sender.post(3, SEND, SIGNALLED, 0, 10);
        completions.expect(1, SUCCESS);
        completions.expect(3, SUCCESS);
        assertEquals(9, program.kernel.event(program.asyncEvents));
        assertEquals(15, program.kernel.event(program.asyncEvents)); // SRQ_LIMIT_REACHED
        assertEquals(1, shared.ring().consumer());
        assertEquals(ErrorNumber.EBUSY, program.command(35, 4, 0, 0, shared.handle()));
        assertEquals(DONE, program.modify(receiver, 1, ERROR, 0, 0));
        program.until(() -> program.kernel.event(program.asyncEvents) == 7, "the event of the last request");
        assertEquals(16, program.kernel.event(program.asyncEvents)); // QP_LAST_WQE_REACHED
    }

    // ---- states

    @Test
    void shouldForgetWhatIsInTheRingsInReset() {
        to.receive(1, 20_000, 64);
        to.receive(2, 20_000, 64);
        var _ = from.fill(3, SEND, SIGNALLED, 0, 10);
        from.give();
        assertEquals(DONE, program.modify(from, 1, 0, 0, 0));
        assertEquals(DONE, program.modify(to, 1, 0, 0, 0));
        assertEquals(from.sends.producer(), from.sends.consumer());
        assertEquals(to.receives.producer(), to.receives.consumer());
        assertEquals(completions.ring.producer(), completions.ring.consumer());
        assertEquals(ErrorNumber.EINVAL, program.doorbell(from));
        program.connect(from, to);
        to.receive(4, 20_000, 64);
        from.post(5, SEND, SIGNALLED, 0, 10);
        completions.expect(4, SUCCESS);
        completions.expect(5, SUCCESS);
    }

    // ---- other rings

    @Test
    void shouldKeepCompletionsInALargerRing() {
        expectSendsBut();
        assertEquals(ErrorNumber.EINVAL, program.command(19, 8, 0, 0, completions.handle, 1));
        assertEquals(ErrorNumber.EINVAL, program.command(19, 8, 0, 0, completions.handle, 0x8000));
        ScriptedProgram.Completions larger = program.resize(completions, 300);
        assertEquals(511, program.output(0));
        larger.expect(1, SUCCESS);
        larger.expect(2, SUCCESS);
        to.receive(3, 20_000, 64);
        from.post(4, SEND, SIGNALLED, 0, 10);
        larger.expect(3, SUCCESS);
        larger.expect(4, SUCCESS);
    }

    /** Their completions are there, and not read. */
    private void expectSendsBut() {
        to.receive(1, 20_000, 64);
        from.post(2, SEND, SIGNALLED, 0, 10);
        program.until(() -> completions.ring.producer() == 2, "two completions");
    }

    @Test
    void shouldKeepReceivesInALargerSharedRing() {
        ScriptedProgram.Shared shared = program.shared(7);
        ScriptedProgram.Pair receiver = program.pairWithShared(completions, shared);
        ScriptedProgram.Pair sender = program.pair(2, completions, 7, 7);
        program.connect(sender, receiver);
        for (int i = 0; i < 4; i++) {
            receiver.receive(i, 20_000, 64);
        }
        sender.post(10, SEND, 0, 0, 10);
        completions.expect(0, SUCCESS);
        assertEquals(ErrorNumber.EINVAL, program.command(33, 0, shared.handle(), 1, 2, 0));
        ScriptedProgram.Ring larger = program.resize(shared, 100);
        assertEquals(3, larger.producer());
        for (int i = 1; i < 4; i++) {
            sender.post(10, SEND, 0, 0, 10);
            completions.expect(i, SUCCESS);
        }
        assertEquals(3, larger.consumer());
        assertEquals(ErrorNumber.EINVAL, program.command(33, 0, shared.handle(), 4, 0, 0));
    }

    @Test
    void shouldReadIntoManyPieces() {
        MemorySegment request = from.remote(from.fill(1, READ, SIGNALLED, 40_000, 5000), 100);
        request.set(ValueLayout.JAVA_INT, 196, 2);
        request.set(ValueLayout.JAVA_INT, 216, 3000);
        request.set(LONG, 224, program.memory.address() + 50_000);
        request.set(ValueLayout.JAVA_INT, 232, 2000);
        request.set(ValueLayout.JAVA_INT, 236, program.lkey);
        from.give();
        assertEquals(DONE, program.doorbell(from));
        completions.expect(1, SUCCESS);
        expectCopied(100, 40_000, 3000);
        expectCopied(3100, 50_000, 2000);
    }

    @Test
    void shouldGiveBackEverythingOfAProgramThatHasEnded() {
        to.receive(1, 20_000, 64);
        program.kernel.abandoned.addAll(program.kernel.open);
        program.forgetContexts();
        assertTrue(program.kernel.mappings.isEmpty(), "left mapped");
        program.close(); // refuses if something of the card is left
    }

    @Test
    void shouldRefuseARegionOfMemoryThatIsNotThere() {
        int[] input = {0, 0, 4096, 0, 4096, 0, 4096, 0, program.domain, 1};
        assertEquals(ErrorNumber.EFAULT, program.command(9, 12, input));
        input[8] = 12345;
        assertEquals(ErrorNumber.EINVAL, program.command(9, 12, input));
        int address = (int) program.memory.address();
        int high = (int) (program.memory.address() >>> Integer.SIZE);
        int[] rights = {0, 0, address, high, 64, 0, address, high, program.domain, 2}; // REMOTE_WRITE alone
        assertEquals(ErrorNumber.EINVAL, program.command(9, 12, rights));
        rights[9] = 1;
        rights[6] = address + 8; // not the same place in a page
        assertEquals(ErrorNumber.EINVAL, program.command(9, 12, rights));
    }
}
