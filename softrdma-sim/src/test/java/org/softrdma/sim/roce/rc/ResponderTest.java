package org.softrdma.sim.roce.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.roce.wire.AtomicEth;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;

/** The responder, packet by packet: what it executes, drops, refuses and answers. PSNs wrap in most tests. */
class ResponderTest {
    private static final int UNIT = 256;
    private static final int FIRST = 0xFF_FFFE;
    private static final int READS = 2;
    private static final int RECEIVE_BYTES = 1_000;
    private static final int MEMORY = 4_096;
    private static final long WORD = MEMORY - 8;

    private final RcEnd end = new RcEnd(
            new RcSettings(UNIT, READS, READS, 8, 64, true, 1_000_000, 3, 3, 14), 7, FIRST, MEMORY, RECEIVE_BYTES);
    private final MemorySegment memory = Arena.ofAuto().allocate(RocePacket.MAX_LENGTH, Long.BYTES);
    private final long packet = memory.address();

    private int put(int opcode, int index, int length, boolean acknowledge) {
        Bth.put(packet, opcode, 0, length, 2, FIRST + index & 0xFF_FFFF);
        if (acknowledge) {
            Bth.requestAcknowledgement(packet);
        }
        long payload = packet + RoceOpcode.headerLength(opcode);
        for (int i = 0; i < length; i++) {
            NativeMemory.putByte(payload + i, index + 1);
        }
        return RocePacket.length(opcode, length);
    }

    private void request(int opcode, int index, int length) {
        end.responder.onRequest(packet, put(opcode, index, length, RoceOpcode.endsMessage(opcode)));
    }

    private void remote(int opcode, int index, int length, long address, int rkey, long messageLength) {
        int bytes = put(opcode, index, length, RoceOpcode.endsMessage(opcode));
        Reth.put(packet, address, rkey, (int) messageLength);
        end.responder.onRequest(packet, bytes);
    }

    private void write(int index) {
        remote(RoceOpcode.WRITE_ONLY, index, UNIT, 0, RcEnd.KEY, UNIT);
    }

    private void read(int index, int length) {
        remote(RoceOpcode.READ_REQUEST, index, 0, 0, RcEnd.KEY, length);
    }

    private void atomic(int opcode, int index, long address, int rkey, long operand, long compare) {
        int bytes = put(opcode, index, 0, true);
        AtomicEth.put(packet, address, rkey, operand, compare);
        end.responder.onRequest(packet, bytes);
    }

    /** What is sent: opcode, number counted from the first PSN, and the syndrome and message number where there are. */
    private List<String> answers() {
        List<String> sent = new ArrayList<>();
        AnswerQueue answers = end.answers;
        while (answers.next()) {
            String text = answers.opcode() + "@" + (answers.psn() - FIRST & 0xFF_FFFF);
            text += RoceOpcode.hasAeth(answers.opcode())
                    ? " " + Integer.toHexString(answers.syndrome()) + " " + answers.msn()
                    : "";
            text += answers.payloadLength() > 0 ? " " + answers.address() + "+" + answers.payloadLength() : "";
            sent.add(text);
            answers.sent();
        }
        return sent;
    }

    @Test
    void shouldAcknowledgeWhatItIsAskedToOnceForAll() {
        write(0);
        write(1);
        end.receives = 1;
        request(RoceOpcode.SEND_FIRST, 2, UNIT);
        request(RoceOpcode.SEND_MIDDLE, 3, UNIT);
        request(RoceOpcode.SEND_LAST, 4, 10);
        assertEquals(List.of("17@4 1f 3"), answers());
        assertEquals(1, end.messages.size());
        assertEquals(5 + FIRST & 0xFF_FFFF, end.responder.expected());
    }

    @Test
    void shouldNotAcknowledgeWhatItIsNotAskedTo() {
        end.receives = 1;
        request(RoceOpcode.SEND_FIRST, 0, UNIT);
        assertEquals(List.of(), answers());
    }

    @Test
    void shouldAskForTheMissingPacketOnceAndAcknowledgeWhenItHasCome() {
        write(0);
        assertEquals(List.of("17@0 1f 1"), answers());
        write(2);
        write(3);
        assertEquals(List.of("17@1 60 1"), answers());
        end.receives = 1;
        request(RoceOpcode.SEND_FIRST, 1, UNIT); // asks for nothing, and gets an acknowledgement all the same
        assertEquals(List.of("17@1 1f 1"), answers());
        assertEquals(2, end.responder.outOfSequence());
    }

    @Test
    void shouldAskAgainWhenTheRequesterHasLostThePacketOnceMore() {
        write(1);
        write(2);
        assertEquals(List.of("17@0 60 0"), answers());
        write(3);
        assertEquals(List.of(), answers());
        write(1); // has gone back, and 0 is missing again
        assertEquals(List.of("17@0 60 0"), answers());
    }

    @Test
    void shouldDropWhatFollowsARefusalForWantOfAReceive() {
        request(RoceOpcode.SEND_ONLY, 0, UNIT);
        assertEquals(List.of("17@0 2e 0"), answers());
        write(1);
        assertEquals(List.of(), answers());
        end.receives = 1;
        request(RoceOpcode.SEND_ONLY, 0, UNIT);
        write(1);
        assertEquals(List.of("17@1 1f 2"), answers());
    }

    @Test
    void shouldWantAReceiveForAWriteWithImmediateOnlyAtItsEnd() {
        remote(RoceOpcode.WRITE_FIRST, 0, UNIT, 0, RcEnd.KEY, UNIT + 1);
        request(RoceOpcode.WRITE_LAST_IMMEDIATE, 1, 1);
        assertEquals(List.of("17@1 2e 0"), answers());
        end.receives = 1;
        int bytes = put(RoceOpcode.WRITE_LAST_IMMEDIATE, 1, 1, true);
        RocePacket.putLastWord(packet, RoceOpcode.WRITE_LAST_IMMEDIATE, 77);
        end.responder.onRequest(packet, bytes);
        assertEquals(List.of("17@1 1f 1"), answers());
        assertEquals(List.of("WRITE 0:0 immediate 77"), end.messages);
    }

    @Test
    void shouldAcknowledgeARepeatedWriteWithoutDoingItAgain() {
        write(0);
        write(1);
        answers();
        end.remote.fill((byte) 0);
        write(0);
        assertEquals(List.of("17@1 1f 2"), answers());
        assertEquals(0, NativeMemory.getByte(end.remote.address()));
        assertEquals(1, end.responder.duplicates());
    }

    @Test
    void shouldAnswerReadsByPacketsOfTheirOwnNumbers() {
        read(0, 2 * UNIT + 1);
        read(3, 0);
        write(4);
        assertEquals(
                List.of("13@0 1f 1 0+256", "14@1 256+256", "15@2 1f 1 512+1", "16@3 1f 2", "17@4 1f 3"), answers());
    }

    @Test
    void shouldAnswerARepeatedReadFromTheMiddleOn() {
        read(0, 3 * UNIT);
        answers();
        remote(RoceOpcode.READ_REQUEST, 1, 0, UNIT, RcEnd.KEY, 2 * UNIT);
        assertEquals(List.of("13@1 1f 1 256+256", "15@2 1f 1 512+256"), answers());
    }

    @ParameterizedTest
    @CsvSource({"1, 0, 512", "1, 256, 513", "0, 1, 256", "3, 256, 256", "-1, 0, 256"})
    void shouldDropARepeatedReadThatIsNotOneOfItsOwn(int index, long address, int length) {
        read(0, 3 * UNIT);
        write(3);
        answers();
        remote(RoceOpcode.READ_REQUEST, index, 0, address, RcEnd.KEY, length);
        assertEquals(List.of(), answers());
        assertFalse(end.responder.hasFailed());
    }

    @Test
    void shouldDropARepeatedReadWithAnotherKey() {
        read(0, UNIT);
        answers();
        remote(RoceOpcode.READ_REQUEST, 0, 0, 0, RcEnd.KEY + 1, UNIT);
        assertEquals(List.of(), answers());
    }

    @Test
    void shouldExecuteAnAtomicOnceAndAnswerItAgain() {
        end.remote.set(ValueLayout.JAVA_LONG, WORD, 40);
        atomic(RoceOpcode.FETCH_ADD, 0, WORD, RcEnd.KEY, 2, 0);
        assertEquals(40, end.answers.original());
        assertEquals(List.of("18@0 1f 1"), answers());
        atomic(RoceOpcode.COMPARE_SWAP, 1, WORD, RcEnd.KEY, 7, 42);
        answers();
        atomic(RoceOpcode.FETCH_ADD, 0, WORD, RcEnd.KEY, 2, 0);
        assertEquals(40, end.answers.original());
        assertEquals(List.of("18@0 1f 2"), answers());
        assertEquals(7, end.remote.get(ValueLayout.JAVA_LONG, WORD));
        assertEquals(2, end.atomicsExecuted);
    }

    @Test
    void shouldNotAnswerAnAtomicThatItHasForgotten() {
        for (int i = 0; i <= READS; i++) {
            atomic(RoceOpcode.FETCH_ADD, i, WORD, RcEnd.KEY, 1, 0);
            answers();
        }
        atomic(RoceOpcode.FETCH_ADD, 0, WORD, RcEnd.KEY, 1, 0);
        assertEquals(List.of(), answers());
        assertEquals(READS + 1, end.atomicsExecuted);
    }

    @Test
    void shouldRefuseMoreReadsThanItServes() {
        read(0, UNIT);
        read(1, UNIT);
        read(2, UNIT);
        assertEquals(List.of("16@0 1f 1 0+256", "16@1 1f 2 0+256", "17@2 61 2"), answers());
        assertTrue(end.responder.hasFailed());
    }

    private static RcSettings serving(int reads) {
        return new RcSettings(UNIT, READS, reads, 8, 64, true, 1_000_000, 3, 3, 5);
    }

    /** What waits for its answer, or may be asked for again, is not forgotten when there is room for more. */
    @Test
    void shouldServeMoreReadsFromNowOn() {
        for (int i = 0; i < 40; i++) { // once around every ring
            read(i, UNIT);
            assertEquals(1, answers().size());
        }
        read(40, 2 * UNIT);
        read(42, UNIT);
        end.answers.sent();
        end.responder.goOnBy(serving(40));
        for (int i = 43; i < 80; i++) {
            read(i, UNIT);
        }
        List<String> answered = answers();
        assertEquals(List.of("15@41 1f 41 256+256", "16@42 1f 42 0+256"), answered.subList(0, 2));
        assertEquals(2 + 37, answered.size());
        assertEquals(0, end.answers.dropped());
        read(40, 2 * UNIT); // the oldest one that was remembered before
        assertEquals(2, answers().size());
        end.responder.goOnBy(serving(1));
        read(78, UNIT);
        assertEquals(List.of(), answers(), "only the last one is remembered");
        read(79, UNIT);
        assertEquals(1, answers().size());
        read(80, UNIT);
        read(81, UNIT);
        assertTrue(end.responder.hasFailed());
    }

    @Test
    void shouldAskThePeerToWaitForAnotherTimeFromNowOn() {
        request(RoceOpcode.SEND_ONLY, 0, UNIT);
        assertEquals(List.of("17@0 2e 0"), answers());
        end.responder.goOnBy(serving(READS));
        request(RoceOpcode.SEND_ONLY, 0, UNIT);
        assertEquals(List.of("17@0 25 0"), answers());
    }

    @Test
    void shouldNotCountRepeatedReads() {
        read(0, UNIT);
        read(1, UNIT);
        answers();
        read(0, UNIT);
        read(1, UNIT);
        read(2, UNIT);
        assertEquals(3, answers().size());
        assertFalse(end.responder.hasFailed());
    }

    /** Nothing behind it would be taken before it has come. */
    @Test
    void shouldAnswerFirstWhatItIsAskedForAgain() {
        read(0, 2 * UNIT);
        answers();
        read(2, 3 * UNIT);
        end.answers.sent();
        read(0, 2 * UNIT);
        assertEquals(
                List.of("13@0 1f 2 0+256", "15@1 1f 2 256+256", "13@2 1f 2 0+256", "14@3 256+256", "15@4 1f 2 512+256"),
                answers());
    }

    @Test
    void shouldBeginAnAnswerAnewThatItIsAskedForAgain() {
        read(0, 4 * UNIT);
        end.answers.sent();
        end.answers.sent();
        end.answers.sent();
        remote(RoceOpcode.READ_REQUEST, 1, 0, UNIT, RcEnd.KEY, 3 * UNIT);
        assertEquals(4 * UNIT, end.answers.total());
        assertFalse(end.answers.isRepeated(), "it was not sent whole");
        assertEquals(List.of("13@1 1f 1 256+256", "14@2 512+256", "15@3 1f 1 768+256"), answers());
    }

    /** Its peer might ask for another one when it has the second, and would have too many of which the first waits. */
    @Test
    void shouldNotAnswerAReadTwiceOfWhichTheFirstAnswerWaits() {
        read(0, UNIT);
        read(1, 3 * UNIT);
        remote(RoceOpcode.READ_REQUEST, 2, 0, UNIT, RcEnd.KEY, 2 * UNIT);
        read(1, 3 * UNIT);
        assertEquals(List.of("16@0 1f 1 0+256", "13@1 1f 2 0+256", "14@2 256+256", "15@3 1f 2 512+256"), answers());
        assertEquals(0, end.answers.answersWithData());
    }

    @Test
    void shouldPutAnAtomicThatIsRepeatedInItsPlace() {
        atomic(RoceOpcode.FETCH_ADD, 0, WORD, RcEnd.KEY, 5, 0);
        answers();
        read(1, 2 * UNIT);
        end.answers.sent();
        atomic(RoceOpcode.FETCH_ADD, 0, WORD, RcEnd.KEY, 5, 0);
        assertEquals(List.of("18@0 1f 2", "13@1 1f 2 0+256", "15@2 1f 2 256+256"), answers());
        assertEquals(1, end.atomicsExecuted);
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                RoceOpcode.SEND_MIDDLE,
                RoceOpcode.SEND_LAST,
                RoceOpcode.WRITE_MIDDLE,
                RoceOpcode.WRITE_LAST,
                RoceOpcode.SEND_LAST_INVALIDATE
            })
    void shouldRefuseAMessageWithoutItsBeginning(int opcode) {
        end.receives = 1;
        request(opcode, 0, UNIT);
        assertEquals(List.of("17@0 61 0"), answers());
        assertTrue(end.responder.hasFailed());
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                RoceOpcode.SEND_FIRST,
                RoceOpcode.SEND_ONLY,
                RoceOpcode.WRITE_ONLY,
                RoceOpcode.WRITE_MIDDLE,
                RoceOpcode.READ_REQUEST,
                RoceOpcode.FETCH_ADD
            })
    void shouldRefuseWhatIsNoContinuationOfASend(int opcode) {
        end.receives = 1;
        request(RoceOpcode.SEND_FIRST, 0, UNIT);
        request(opcode, 1, RoceOpcode.carriesPayload(opcode) ? UNIT : 0);
        assertEquals(List.of("17@1 61 0"), answers());
    }

    @ParameterizedTest
    @CsvSource({"0, 255", "0, 0", "4, 257", "10, 257"})
    void shouldRefusePacketsThatAreNotOfTheirLength(int opcode, int length) {
        end.receives = 1;
        remote(opcode, 0, length, 0, RcEnd.KEY, length);
        assertEquals(List.of("17@0 61 0"), answers());
    }

    @ParameterizedTest
    @CsvSource({"511, 255", "513, 255", "512, 0"})
    void shouldRefuseAWriteWhosePacketsAreNotOfItsLength(long messageLength, int last) {
        remote(RoceOpcode.WRITE_FIRST, 0, UNIT, 0, RcEnd.KEY, messageLength);
        request(RoceOpcode.WRITE_LAST, 1, last == 0 ? 0 : last + 1);
        assertEquals(List.of("17@1 61 0"), answers());
    }

    @ParameterizedTest
    @CsvSource({"1, 0, 256", "0, 3841, 256", "0, -1, 256", "0, 0, 4097", "0, 0, 4294967295"})
    void shouldRefuseMemoryThatThePeerMayNotReach(int keyOffset, long address, long length) {
        remote(RoceOpcode.READ_REQUEST, 0, 0, address, RcEnd.KEY + keyOffset, length);
        assertEquals(List.of("17@0 62 0"), answers());
        assertTrue(end.responder.hasFailed());
        write(0);
        assertEquals(List.of(), answers(), "nothing is executed behind a refusal");
    }

    @Test
    void shouldCheckTheWholeLengthOfAWriteBeforeItsFirstByte() {
        end.remote.fill((byte) 9);
        remote(RoceOpcode.WRITE_FIRST, 0, UNIT, MEMORY - UNIT, RcEnd.KEY, 2 * UNIT);
        assertEquals(List.of("17@0 62 0"), answers());
        assertEquals(9, NativeMemory.getByte(end.remote.address() + MEMORY - UNIT));
    }

    /** A host that is gone says nothing; that of a program that was killed is alike. */
    @Test
    void shouldFallSilentWhenTheProcessOfTheMemoryHasEnded() {
        write(0);
        end.writable = false;
        end.ended = true;
        write(1);
        write(2);
        assertEquals(List.of("17@0 1f 1"), answers());
        assertTrue(end.responder.hasFailed());
    }

    @Test
    void shouldRefuseTheRestOfAWriteWhoseMemoryWasTakenBack() {
        remote(RoceOpcode.WRITE_FIRST, 0, UNIT, 0, RcEnd.KEY, 2 * UNIT);
        end.writable = false;
        request(RoceOpcode.WRITE_LAST, 1, UNIT);
        assertEquals(List.of("17@1 62 0"), answers());
    }

    @Test
    void shouldNeedNoKeyForNothing() {
        remote(RoceOpcode.WRITE_ONLY, 0, 0, 123, 0, 0);
        remote(RoceOpcode.READ_REQUEST, 1, 0, 123, 0, 0);
        assertEquals(List.of("17@0 1f 1", "16@1 1f 2"), answers());
    }

    @ParameterizedTest
    @CsvSource({"4, 97", "4092, 97", "8, 98"})
    void shouldRefuseAtomicsOnWordsThatAreNoneOrAreForbidden(long address, int syndrome) {
        int key = syndrome == 98 ? RcEnd.KEY + 1 : RcEnd.KEY;
        atomic(RoceOpcode.FETCH_ADD, 0, address, key, 1, 0);
        assertEquals(List.of("17@0 " + Integer.toHexString(syndrome) + " 0"), answers());
        assertEquals(0, end.atomicsExecuted);
    }

    @Test
    void shouldRefuseASendThatIsLongerThanItsReceive() {
        end.receives = 1;
        for (int i = 0; i < 3; i++) {
            request(i == 0 ? RoceOpcode.SEND_FIRST : RoceOpcode.SEND_MIDDLE, i, UNIT);
        }
        request(RoceOpcode.SEND_LAST, 3, RECEIVE_BYTES - 3 * UNIT + 1);
        assertEquals(List.of("17@3 61 0"), answers());
        assertEquals(List.of(CompletionStatus.LOCAL_LENGTH_ERROR), end.failedReceives);
        assertEquals(List.of(), end.messages);
    }

    @Test
    void shouldRefuseToInvalidateAKeyThatIsNotThePeers() {
        end.receives = 1;
        request(RoceOpcode.SEND_ONLY_INVALIDATE, 0, 8);
        assertEquals(List.of("17@0 62 0"), answers());
        assertEquals(List.of(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR), end.failedReceives);
        assertTrue(end.responder.hasFailed());
    }

    @Test
    void shouldEndAnAnswerWhoseMemoryWasTakenBack() {
        read(0, 2 * UNIT);
        write(2);
        end.answers.sent();
        assertTrue(end.answers.refuseRest(), "the connection goes on");
        assertEquals(List.of("17@1 62 1"), answers());
    }

    /** Its requester has the answer, has told the application, and that has had the memory taken back. */
    @Test
    void shouldLiveOnWhenAReadIsRepeatedWhoseMemoryWasTakenBack() {
        read(0, 2 * UNIT);
        answers();
        end.takenBack = true;
        read(0, 2 * UNIT);
        assertEquals(List.of("17@0 62 1"), answers());
        assertFalse(end.responder.hasFailed());
        end.takenBack = false;
        write(2);
        assertEquals(List.of("17@2 1f 2"), answers());
    }

    @Test
    void shouldLiveOnWhenMemoryIsTakenBackAmidARepeatedAnswer() {
        read(0, 2 * UNIT);
        answers();
        read(0, 2 * UNIT);
        write(2);
        end.answers.sent();
        assertFalse(end.answers.refuseRest(), "the connection ends");
        assertEquals(List.of("17@1 62 1", "17@2 1f 2"), answers());
    }

    @Test
    void shouldDropAnswersForWhichThereIsNoRoom() {
        for (int i = 0; i < 1_000; i++) {
            write(2); // 0 is missing
        }
        int count = answers().size();
        assertTrue(count > READS && count < 100, count + " answers");
    }
}
