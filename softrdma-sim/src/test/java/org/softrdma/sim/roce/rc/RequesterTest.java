package org.softrdma.sim.roce.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.sim.roce.wire.Aeth;
import org.softrdma.sim.roce.wire.RnrTimer;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.WorkCompletion;

/** The requester, packet by packet: what it sends, and what each answer makes of it. PSNs wrap in most tests. */
class RequesterTest {
    private static final int UNIT = 256;
    private static final int FIRST = 0xFF_FFFE;
    private static final long TIMEOUT_NS = 1_000_000;
    private static final int READS = 2;
    private static final int WINDOW = 8;
    private static final int READ_WINDOW = 64;
    private static final int RNR_RETRIES = 2;

    private final RcEnd end = new RcEnd(
            new RcSettings(UNIT, READS, READS, WINDOW, READ_WINDOW, true, TIMEOUT_NS, 3, RNR_RETRIES, 1),
            FIRST,
            7,
            16 * 1024,
            4_096);
    private final Requester requester = end.requester;

    private void write(long wrId, int length) {
        assertTrue(end.post(new SendWorkRequest().write(wrId, 0, RcEnd.KEY, SendFlags.NONE), 0, length));
    }

    private void read(long wrId, int length, int flags) {
        assertTrue(end.post(new SendWorkRequest().read(wrId, 0, RcEnd.KEY, flags), 0, length));
    }

    private static int psn(int index) {
        return FIRST + index & 0xFF_FFFF;
    }

    /** What is sent now: opcode and number of each packet, counted from the first PSN. */
    private List<String> sent(long nowNs) {
        return end.sendAll(nowNs).stream()
                .map(packet -> RcEnd.opcode(packet) + "@" + (RcEnd.psn(packet) - FIRST & 0xFF_FFFF)
                        + ((packet[8] & 0x80) != 0 ? "a" : ""))
                .toList();
    }

    private void acknowledge(int index, long nowNs) {
        requester.onAcknowledgement(psn(index), Aeth.ACKNOWLEDGED, nowNs);
    }

    private void sequenceNak(int index, long nowNs) {
        requester.onAcknowledgement(psn(index), Aeth.SEQUENCE_ERROR, nowNs);
    }

    private List<Long> completed() {
        return end.poll().stream()
                .filter(WorkCompletion::isSuccess)
                .map(WorkCompletion::wrId)
                .toList();
    }

    @Test
    void shouldNumberPacketsAndAskForAcknowledgementsAtTheEnd() {
        write(1, 3 * UNIT);
        write(2, 0);
        assertEquals(List.of("6@0", "7@1a", "8@2a", "10@3a"), sent(0));
    }

    /** Half of all PSNs would not tell what is before and what is behind. */
    @Test
    void shouldFailAMessageOfTooManyPackets() {
        write(1, UNIT);
        write(2, UNIT << 22);
        assertEquals(List.of("10@0a"), sent(0));
        assertNull(requester.failure());
        acknowledge(0, 1);
        assertEquals(List.of(), sent(1));
        assertEquals(CompletionStatus.LOCAL_LENGTH_ERROR, requester.failure());
    }

    @Test
    void shouldCompleteWhatIsAcknowledgedAndWhatIsBeforeIt() {
        write(1, UNIT);
        write(2, 2 * UNIT);
        write(3, UNIT);
        sent(0);
        acknowledge(1, 1); // the first of two packets of the second
        assertEquals(List.of(1L), completed());
        acknowledge(3, 2);
        assertEquals(List.of(2L, 3L), completed());
        assertEquals(Long.MAX_VALUE, requester.deadlineNs());
    }

    @Test
    void shouldIgnoreAnswersToWhatIsNotOnItsWay() {
        write(1, UNIT);
        acknowledge(0, 0);
        sent(0);
        acknowledge(1, 1);
        acknowledge(-1, 1);
        requester.onAcknowledgement(psn(1), Aeth.REMOTE_ACCESS_ERROR, 1);
        assertEquals(List.of(), completed());
        assertNull(requester.failure());
        acknowledge(0, 2);
        assertEquals(List.of(1L), completed());
    }

    @Test
    void shouldGoBackToWhatIsMissing() {
        write(1, UNIT);
        write(2, 3 * UNIT);
        sent(0);
        sequenceNak(2, 1);
        assertEquals(List.of(1L), completed());
        assertEquals(List.of("7@2a", "8@3a"), sent(1));
        assertEquals(2, requester.retransmissions());
    }

    private static boolean asks(byte[] packet) {
        return (packet[8] & 0x80) != 0;
    }

    /** Else nobody would be asked any more, and the timeout would have to help. */
    @Test
    void shouldAskOnceMoreWhenTheWindowIsSmallerThanWhatIsOnItsWay() {
        RcEnd slow =
                new RcEnd(new RcSettings(UNIT, READS, READS, 64, 64, false, TIMEOUT_NS, 3, 3, 1), 0, 7, 1 << 16, 0);
        SendWorkRequest request = new SendWorkRequest();
        assertTrue(slow.post(request.write(1, 0, RcEnd.KEY, SendFlags.NONE), 0, UNIT));
        assertEquals(1, slow.sendAll(0).size());
        slow.requester.onAcknowledgement(
                0, Aeth.SEQUENCE_ERROR, 1); // the window halves, and from now on the delay counts
        assertEquals(1, slow.sendAll(1).size());
        slow.requester.onAcknowledgement(0, Aeth.ACKNOWLEDGED, 2 * TIMEOUT_NS);
        assertTrue(slow.post(request.write(2, 0, RcEnd.KEY, SendFlags.NONE), 0, UNIT));
        assertEquals(1, slow.sendAll(3 * TIMEOUT_NS).size());
        slow.requester.onAcknowledgement(1, Aeth.ACKNOWLEDGED, 3 * TIMEOUT_NS + 50_000); // a short round trip
        assertTrue(slow.post(request.write(3, 0, RcEnd.KEY, SendFlags.NONE), 0, 60 * UNIT));
        List<byte[]> packets = slow.sendAll(4 * TIMEOUT_NS);
        assertEquals(CongestionWindow.FIRST / 2, packets.size());
        assertTrue(asks(packets.getLast()), "the last one that the window has room for");
        slow.requester.onAcknowledgement(8, Aeth.ACKNOWLEDGED, 4 * TIMEOUT_NS + 1);
        for (int i = 0; i < 6; i++) {
            assertFalse(asks(slow.request(4 * TIMEOUT_NS + 1)));
        }
        slow.requester.onAcknowledgement(9, Aeth.ACKNOWLEDGED, 5 * TIMEOUT_NS); // a long one
        assertEquals(CongestionWindow.LEAST, slow.requester.window());
        packets = slow.sendAll(5 * TIMEOUT_NS);
        assertEquals(1, packets.size());
        assertTrue(asks(packets.getFirst()));
    }

    @Test
    void shouldNotGoBackTwiceBeforeThePacketWasSentAgain() {
        write(1, 2 * UNIT);
        sent(0);
        for (int i = 0; i < 10; i++) {
            sequenceNak(0, i);
        }
        assertNull(requester.failure());
        assertEquals(List.of("6@0", "8@1a"), sent(11));
        sequenceNak(0, 12); // and was lost again
        assertEquals(List.of("6@0", "8@1a"), sent(12));
    }

    @Test
    void shouldSkipWhatAnOldAcknowledgementTakesOffItsHands() {
        write(1, 2 * UNIT);
        write(2, UNIT);
        sent(0);
        requester.onTime(TIMEOUT_NS);
        acknowledge(1, TIMEOUT_NS + 1);
        assertEquals(List.of(1L), completed());
        assertEquals(List.of("10@2a"), sent(TIMEOUT_NS + 1));
    }

    @Test
    void shouldSendAgainWhenTimeHasRunOutAndGiveUpInTheEnd() {
        write(1, UNIT);
        write(2, UNIT);
        assertEquals(Long.MAX_VALUE, requester.deadlineNs());
        sent(5);
        long now = 5;
        for (int retry = 0; retry < 3; retry++) {
            requester.onTime(now + TIMEOUT_NS - 1);
            assertEquals(List.of(), sent(now));
            now += TIMEOUT_NS;
            assertEquals(now, requester.deadlineNs());
            requester.onTime(now);
            assertEquals(List.of("10@0a", "10@1a"), sent(now));
        }
        requester.onTime(now + TIMEOUT_NS);
        assertEquals(CompletionStatus.RETRY_EXCEEDED_ERROR, requester.failure());
        end.flushIfFailed();
        assertEquals(
                List.of(CompletionStatus.RETRY_EXCEEDED_ERROR, CompletionStatus.FLUSHED),
                end.poll().stream().map(WorkCompletion::status).toList());
        assertEquals(4, requester.timeouts());
    }

    @Test
    void shouldHaveAllRetriesAgainAfterProgress() {
        write(1, UNIT);
        write(2, UNIT);
        sent(0);
        for (int i = 1; i <= 3; i++) {
            requester.onTime(i * TIMEOUT_NS);
            sent(i * TIMEOUT_NS);
        }
        acknowledge(0, 3 * TIMEOUT_NS);
        for (int i = 4; i <= 6; i++) {
            requester.onTime(i * TIMEOUT_NS);
            sent(i * TIMEOUT_NS);
        }
        assertNull(requester.failure());
    }

    @ParameterizedTest
    @CsvSource({
        "0x61, REMOTE_INVALID_REQUEST_ERROR",
        "0x62, REMOTE_ACCESS_ERROR",
        "0x63, REMOTE_OPERATION_ERROR",
        "0x64, BAD_RESPONSE_ERROR",
        "0x40, BAD_RESPONSE_ERROR"
    })
    void shouldFailTheRequestThatIsRefused(String syndrome, CompletionStatus status) {
        write(1, UNIT);
        write(2, 2 * UNIT);
        write(3, UNIT);
        sent(0);
        requester.onAcknowledgement(psn(2), Integer.decode(syndrome), 1);
        end.flushIfFailed();
        assertEquals(
                List.of(CompletionStatus.SUCCESS, status, CompletionStatus.FLUSHED),
                end.poll().stream().map(WorkCompletion::status).toList());
    }

    @Test
    void shouldWaitForAReceiverThatIsNotReady() {
        assertTrue(end.post(new SendWorkRequest().send(1, SendFlags.NONE), 0, UNIT));
        write(2, UNIT);
        sent(0);
        requester.onAcknowledgement(psn(0), Aeth.receiverNotReady(14), 10);
        long ready = 10 + RnrTimer.nanos(14);
        assertEquals(ready, requester.deadlineNs());
        sequenceNak(0, 20); // SoftRoCE sends one for what follows
        requester.onTime(ready - 1);
        assertEquals(List.of(), sent(ready - 1));
        assertEquals(List.of("4@0a", "10@1a"), sent(ready));
        acknowledge(1, ready);
        assertEquals(List.of(1L, 2L), completed());
    }

    @Test
    void shouldGiveUpOnAReceiverThatIsNeverReady() {
        assertTrue(end.post(new SendWorkRequest().send(1, SendFlags.NONE), 0, UNIT));
        long now = 0;
        for (int i = 0; i <= RNR_RETRIES; i++) {
            assertNull(requester.failure());
            assertEquals(1, sent(now).size());
            requester.onAcknowledgement(psn(0), Aeth.receiverNotReady(1), now);
            now += RnrTimer.nanos(1);
        }
        assertEquals(CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED_ERROR, requester.failure());
    }

    @Test
    void shouldHaveNoMoreReadsInFlightThanThePeerServes() {
        for (int i = 1; i <= 3; i++) {
            read(i, 2 * UNIT, SendFlags.NONE);
        }
        write(4, UNIT);
        assertEquals(List.of("12@0a", "12@2a"), sent(0));
        respond(RoceOpcode.READ_RESPONSE_FIRST, 0, UNIT);
        assertEquals(List.of(), sent(1));
        respond(RoceOpcode.READ_RESPONSE_LAST, 1, UNIT);
        assertEquals(List.of("12@4a", "10@6a"), sent(1));
        assertEquals(List.of(1L), completed());
    }

    private void respond(int opcode, int index, int length) {
        if (requester.onReadResponse(opcode, psn(index), length, 1)) {
            requester.responsePlaced(1);
        }
    }

    private static RcSettings requesting(int reads, long timeoutNs, int retries, int rnrRetries) {
        return new RcSettings(UNIT, reads, READS, WINDOW, READ_WINDOW, true, timeoutNs, retries, rnrRetries, 1);
    }

    @Test
    void shouldHaveMoreReadsInFlightFromNowOn() {
        for (int i = 1; i <= 6; i++) {
            read(i, UNIT, SendFlags.NONE);
        }
        assertEquals(List.of("12@0a", "12@1a"), sent(0));
        respond(RoceOpcode.READ_RESPONSE_ONLY, 0, UNIT);
        assertEquals(List.of("12@2a"), sent(1));
        requester.goOnBy(requesting(4, TIMEOUT_NS, 3, RNR_RETRIES));
        assertEquals(List.of("12@3a", "12@4a"), sent(1));
        respond(RoceOpcode.READ_RESPONSE_ONLY, 1, UNIT);
        assertEquals(List.of("12@5a"), sent(1));
        for (int i = 2; i <= 4; i++) {
            respond(RoceOpcode.READ_RESPONSE_ONLY, i, UNIT);
        }
        requester.goOnBy(requesting(1, TIMEOUT_NS, 3, RNR_RETRIES));
        read(7, UNIT, SendFlags.NONE);
        assertEquals(List.of(), sent(1));
        respond(RoceOpcode.READ_RESPONSE_ONLY, 5, UNIT);
        assertEquals(List.of("12@6a"), sent(1));
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L), completed());
    }

    @Test
    void shouldBePatientByOtherTermsFromNowOn() {
        RcEnd forEver = new RcEnd(requesting(READS, 0, 3, RNR_RETRIES), FIRST, 7, 16 * 1024, 4_096);
        assertTrue(forEver.post(new SendWorkRequest().send(1, SendFlags.NONE), 0, UNIT));
        assertEquals(1, forEver.sendAll(0).size());
        assertEquals(Long.MAX_VALUE, forEver.requester.deadlineNs());
        forEver.requester.goOnBy(requesting(READS, TIMEOUT_NS, 0, 0));
        assertEquals(TIMEOUT_NS, forEver.requester.deadlineNs());
        forEver.requester.onTime(TIMEOUT_NS);
        assertEquals(CompletionStatus.RETRY_EXCEEDED_ERROR, forEver.requester.failure());

        assertTrue(end.post(new SendWorkRequest().send(1, SendFlags.NONE), 0, UNIT));
        sent(0);
        requester.goOnBy(requesting(READS, TIMEOUT_NS, 3, 0));
        requester.onAcknowledgement(psn(0), Aeth.receiverNotReady(1), 1);
        assertEquals(CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED_ERROR, requester.failure());
    }

    @Test
    void shouldRefuseReadsIfThePeerServesNone() {
        RcEnd without =
                new RcEnd(new RcSettings(UNIT, 0, 0, WINDOW, READ_WINDOW, true, 0, 3, 3, 1), FIRST, 7, 4_096, 0);
        assertTrue(without.post(new SendWorkRequest().read(1, 0, RcEnd.KEY, SendFlags.NONE), 0, UNIT));
        assertEquals(0, without.request(0).length);
        assertEquals(CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR, without.requester.failure());
    }

    @Test
    void shouldAskForTheRestOfAReadWhosePacketIsMissing() {
        read(1, 4 * UNIT, SendFlags.NONE);
        write(2, UNIT);
        sent(0);
        respond(RoceOpcode.READ_RESPONSE_FIRST, 0, UNIT);
        respond(RoceOpcode.READ_RESPONSE_LAST, 3, UNIT); // two are missing
        assertEquals(List.of("12@1a", "10@4a"), sent(1));
        respond(RoceOpcode.READ_RESPONSE_LAST, 3, UNIT); // still of the first answer: no reason to go back again
        assertEquals(List.of(), sent(1));
        respond(RoceOpcode.READ_RESPONSE_FIRST, 1, UNIT);
        respond(RoceOpcode.READ_RESPONSE_MIDDLE, 2, UNIT);
        respond(RoceOpcode.READ_RESPONSE_LAST, 3, UNIT);
        assertEquals(List.of(1L), completed());
        assertNull(requester.failure());
    }

    @Test
    void shouldTakeAnAcknowledgementOfWhatFollowsAReadForItsLoss() {
        read(1, UNIT, SendFlags.NONE);
        write(2, UNIT);
        sent(0);
        acknowledge(1, 1);
        assertEquals(List.of(), completed());
        assertEquals(List.of("12@0a", "10@1a"), sent(1));
        respond(RoceOpcode.READ_RESPONSE_ONLY, 0, UNIT);
        acknowledge(1, 2);
        assertEquals(List.of(1L, 2L), completed());
    }

    @ParameterizedTest
    @CsvSource({
        "READ_RESPONSE_FIRST, 0, 255",
        "READ_RESPONSE_ONLY, 0, 256",
        "READ_RESPONSE_MIDDLE, 0, 256",
        "READ_RESPONSE_LAST, 0, 256"
    })
    void shouldFailAReadWhoseAnswerIsNotOfItsLength(String name, int index, int length)
            throws ReflectiveOperationException {
        read(1, 2 * UNIT, SendFlags.NONE);
        sent(0);
        respond(RoceOpcode.class.getField(name).getInt(null), index, length);
        assertEquals(CompletionStatus.BAD_RESPONSE_ERROR, requester.failure());
        assertEquals(0, requester.culprit());
    }

    @Test
    void shouldFailOnDataForWhatAskedForNone() {
        write(1, UNIT);
        sent(0);
        respond(RoceOpcode.READ_RESPONSE_ONLY, 0, UNIT);
        assertEquals(CompletionStatus.BAD_RESPONSE_ERROR, requester.failure());
    }

    @Test
    void shouldFailAReadThatIsAnsweredAsAnAtomic() {
        read(1, Long.BYTES, SendFlags.NONE);
        sent(0);
        assertFalse(requester.onAtomicResponse(psn(0), 1));
        assertEquals(CompletionStatus.BAD_RESPONSE_ERROR, requester.failure());
    }

    @Test
    void shouldHoldBackWhatIsFencedUntilReadsHaveTheirAnswers() {
        read(1, UNIT, SendFlags.NONE);
        assertTrue(end.post(new SendWorkRequest().write(2, 0, RcEnd.KEY, SendFlags.FENCE), 0, 2 * UNIT));
        assertEquals(List.of("12@0a"), sent(0));
        respond(RoceOpcode.READ_RESPONSE_ONLY, 0, UNIT);
        assertEquals(List.of("6@1", "8@2a"), sent(1));
    }

    @Test
    void shouldHaveNoMorePacketsOnTheirWayThanTheWindowHolds() {
        write(1, 12 * UNIT);
        assertEquals(List.of("6@0", "7@1a", "7@2", "7@3a", "7@4", "7@5a", "7@6", "7@7a"), sent(0)); // a quarter asks
        acknowledge(1, 1);
        assertEquals(List.of("7@8", "7@9a"), sent(1));
    }

    @Test
    void shouldNotCountTheAnswersOfReadsAsPacketsOnTheirWay() {
        read(1, 12 * UNIT, SendFlags.NONE);
        write(2, UNIT);
        assertEquals(List.of("12@0a", "10@12a"), sent(0));
    }

    @Test
    void shouldExecuteWhatIsNotSentOnce() {
        write(1, UNIT);
        assertTrue(end.post(new SendWorkRequest().invalidate(2, 5, SendFlags.NONE), 0, 0));
        write(3, UNIT);
        assertEquals(List.of("10@0a", "10@1a"), sent(0));
        requester.onTime(TIMEOUT_NS);
        assertTrue(requester.next(TIMEOUT_NS) && !requester.isLocal());
        requester.sent(TIMEOUT_NS);
        assertTrue(requester.next(TIMEOUT_NS) && requester.isLocal() && requester.isRepeated());
        acknowledge(1, TIMEOUT_NS);
        assertEquals(List.of(1L, 2L, 3L), completed());
        assertFalse(requester.next(TIMEOUT_NS));
    }

    /** As where packets overtake each other: each that comes too early looks like a loss. */
    @Test
    void shouldNotGiveUpBeforeItsTimeWhenThePeerAsksAgainAndAgain() {
        write(1, 3 * UNIT);
        for (int i = 0; i < 100; i++) {
            List<String> ignored = sent(i);
            sequenceNak(0, i);
        }
        assertEquals(null, requester.failure());
        for (int i = 1; i <= 3; i++) {
            List<String> ignored = sent(i * TIMEOUT_NS);
            sequenceNak(0, i * TIMEOUT_NS);
        }
        assertEquals(CompletionStatus.RETRY_EXCEEDED_ERROR, requester.failure());
    }

    @Test
    void shouldAskForALongReadInParts() {
        RcSettings settings = new RcSettings(UNIT, READS, READS, WINDOW, 6, true, TIMEOUT_NS, 3, RNR_RETRIES, 1);
        RcEnd parts = new RcEnd(settings, 0, 7, 16 * 1024, 4_096);
        assertTrue(parts.post(new SendWorkRequest().read(1, 0, RcEnd.KEY, SendFlags.NONE), 0, 10 * UNIT));
        List<byte[]> asked = parts.sendAll(0);
        assertEquals(List.of(0, 3), asked.stream().map(RcEnd::psn).toList());
        assertEquals(List.of(), parts.sendAll(0));
        for (int i = 0; i < 3; i++) {
            answer(parts, i, i == 2);
        }
        assertEquals(List.of(6), parts.sendAll(0).stream().map(RcEnd::psn).toList());
        for (int i = 3; i < 6; i++) {
            answer(parts, i, i == 5);
        }
        assertEquals(List.of(9), parts.sendAll(0).stream().map(RcEnd::psn).toList());
        for (int i = 6; i < 10; i++) {
            answer(parts, i, i >= 8);
        }
        assertEquals(
                List.of(1L), parts.poll().stream().map(WorkCompletion::wrId).toList());
        assertEquals(null, parts.requester.failure());
    }

    private static void answer(RcEnd of, int psn, boolean ends) {
        int opcode = ends ? RoceOpcode.READ_RESPONSE_LAST : RoceOpcode.READ_RESPONSE_MIDDLE;
        assertTrue(of.requester.onReadResponse(psn == 0 ? RoceOpcode.READ_RESPONSE_FIRST : opcode, psn, UNIT, 0));
        of.requester.responsePlaced(0);
    }

    // ---- the timeout

    private static final long LONG_NS = 250_000_000;

    private static RcEnd patient(int retries) {
        return new RcEnd(
                new RcSettings(UNIT, READS, READS, WINDOW, READ_WINDOW, true, LONG_NS, retries, RNR_RETRIES, 1),
                0,
                7,
                16 * 1024,
                4_096);
    }

    /** Writes, and gets the answer after some time; returns when that was. */
    private static long exchange(RcEnd patient, int psn, long nowNs, long roundTripNs) {
        assertTrue(patient.post(new SendWorkRequest().write(psn, 0, RcEnd.KEY, SendFlags.NONE), 0, UNIT));
        assertEquals(1, patient.sendAll(nowNs).size());
        patient.requester.onAcknowledgement(psn, Aeth.ACKNOWLEDGED, nowNs + roundTripNs);
        return nowNs + roundTripNs;
    }

    private static void writeOne(RcEnd patient, long nowNs) {
        assertTrue(patient.post(new SendWorkRequest().write(99, 0, RcEnd.KEY, SendFlags.NONE), 0, UNIT));
        assertEquals(1, patient.sendAll(nowNs).size());
    }

    @Test
    void shouldWaitForAPartOfTheTimeoutBeforeARoundTripIsKnown() {
        RcEnd patient = patient(3);
        writeOne(patient, 5);
        assertEquals(5 + LONG_NS / RoundTrip.FIRST_PART, patient.requester.deadlineNs());
    }

    @Test
    void shouldSendTheLastPacketAgainSoonOnceTheRoundTripIsKnown() {
        RcEnd patient = patient(3);
        long now = exchange(patient, 0, 0, 20_000);
        writeOne(patient, now);
        assertEquals(now + RoundTrip.LEAST_NS, patient.requester.deadlineNs());
        patient.requester.onTime(now + RoundTrip.LEAST_NS);
        assertEquals(1, patient.sendAll(now + RoundTrip.LEAST_NS).size());
    }

    @Test
    void shouldWaitLongerForAPeerThatIsFarAway() {
        RcEnd patient = patient(3);
        long now = exchange(patient, 0, 0, 8_000_000);
        writeOne(patient, now);
        assertEquals(now + 8_000_000 + 4 * 4_000_000, patient.requester.deadlineNs());
        patient.requester.onAcknowledgement(1, Aeth.ACKNOWLEDGED, now + 16_000_000);
        writeOne(patient, now);
        assertEquals(now + 9_000_000 + 4 * 5_000_000, patient.requester.deadlineNs());
    }

    @Test
    void shouldNeverWaitLongerThanTheTimeout() {
        RcEnd patient = patient(3);
        long now = exchange(patient, 0, 0, LONG_NS - 1);
        writeOne(patient, now);
        assertEquals(now + LONG_NS, patient.requester.deadlineNs());
    }

    @Test
    void shouldWaitTwiceAsLongEachTimeUntilARoundTripIsMeasuredAgain() {
        RcEnd patient = patient(3);
        long now = exchange(patient, 0, 0, 20_000);
        writeOne(patient, now);
        for (long waits = RoundTrip.LEAST_NS; waits <= 16 * RoundTrip.LEAST_NS; waits *= 2) {
            assertEquals(now + waits, patient.requester.deadlineNs());
            now += waits;
            patient.requester.onTime(now);
            assertEquals(1, patient.sendAll(now).size());
        }
        patient.requester.onAcknowledgement(1, Aeth.ACKNOWLEDGED, now + 1); // of which copy?
        writeOne(patient, now);
        assertEquals(now + 32 * RoundTrip.LEAST_NS, patient.requester.deadlineNs());
        patient.requester.onAcknowledgement(2, Aeth.ACKNOWLEDGED, now + 20_000);
        writeOne(patient, now);
        assertEquals(now + RoundTrip.LEAST_NS, patient.requester.deadlineNs());
    }

    /** What the peer says to be missing has no answer, but to the next copy. */
    @Test
    void shouldMeasureTheRoundTripOfWhatIsSentAgainBecauseItIsMissing() {
        RcEnd patient = patient(3);
        long now = exchange(patient, 0, 0, 20_000);
        writeOne(patient, now);
        now += RoundTrip.LEAST_NS;
        patient.requester.onTime(now);
        assertEquals(1, patient.sendAll(now).size());
        patient.requester.onAcknowledgement(1, Aeth.ACKNOWLEDGED, now + 20_000); // of which copy?
        writeOne(patient, now);
        writeOne(patient, now);
        patient.requester.onAcknowledgement(2, Aeth.SEQUENCE_ERROR, now + 20_000);
        assertEquals(2, patient.sendAll(now + 20_000).size());
        assertEquals(now + 20_000 + 2 * RoundTrip.LEAST_NS, patient.requester.deadlineNs());
        patient.requester.onAcknowledgement(2, Aeth.ACKNOWLEDGED, now + 40_000);
        assertEquals(now + 40_000 + RoundTrip.LEAST_NS, patient.requester.deadlineNs());
    }

    /** The peer has missed one of two copies, and may still answer the other one. */
    @Test
    void shouldNotMeasureTheRoundTripOfWhatTimeHasRunOutFor() {
        RcEnd patient = patient(3);
        long now = exchange(patient, 0, 0, 20_000);
        writeOne(patient, now);
        writeOne(patient, now);
        now += RoundTrip.LEAST_NS;
        patient.requester.onTime(now);
        assertEquals(2, patient.sendAll(now).size());
        patient.requester.onAcknowledgement(1, Aeth.SEQUENCE_ERROR, now + 10);
        assertEquals(2, patient.sendAll(now + 10).size());
        patient.requester.onAcknowledgement(1, Aeth.ACKNOWLEDGED, now + 20);
        assertEquals(now + 20 + 2 * RoundTrip.LEAST_NS, patient.requester.deadlineNs());
    }

    /** Parts of an answer to the second request, whose beginning is lost, too. */
    @Test
    void shouldAskOnceMoreWhenTheSecondAnswerLacksTheSame() {
        read(1, 4 * UNIT, SendFlags.NONE);
        sent(0);
        respond(RoceOpcode.READ_RESPONSE_FIRST, 0, UNIT);
        respond(RoceOpcode.READ_RESPONSE_LAST, 3, UNIT);
        assertEquals(List.of("12@1a"), sent(1));
        respond(RoceOpcode.READ_RESPONSE_MIDDLE, 2, UNIT); // 3 came before: not of the first answer any more
        assertEquals(List.of("12@1a"), sent(1));
    }

    @Test
    void shouldAskOnceMoreWhenAnswersComeThatAreMuchTooLate() {
        RcEnd patient = patient(3);
        long now = exchange(patient, 0, 0, 20_000);
        for (int i = 0; i < 2; i++) {
            assertTrue(patient.post(new SendWorkRequest().read(i, 0, RcEnd.KEY, SendFlags.NONE), 0, 4 * UNIT));
        }
        assertEquals(2, patient.sendAll(now).size());
        int skipping = RoceOpcode.READ_RESPONSE_MIDDLE;
        assertFalse(patient.requester.onReadResponse(skipping, 2, UNIT, now + 20_000));
        now += 20_000;
        assertEquals(2, patient.sendAll(now).size());
        assertFalse(patient.requester.onReadResponse(skipping, 3, UNIT, now + 20_000 + 4 * 10_000));
        assertEquals(0, patient.sendAll(now).size(), "it may still come");
        assertFalse(patient.requester.onReadResponse(skipping, 6, UNIT, now + 20_000 + 4 * 10_000 + 1));
        assertEquals(2, patient.sendAll(now).size());
    }

    @Test
    void shouldTimeAReadByTheFirstPacketOfItsAnswer() {
        RcEnd patient = patient(3);
        assertTrue(patient.post(new SendWorkRequest().read(1, 0, RcEnd.KEY, SendFlags.NONE), 0, 3 * UNIT));
        assertEquals(1, patient.sendAll(0).size());
        assertTrue(patient.requester.onReadResponse(RoceOpcode.READ_RESPONSE_FIRST, 0, UNIT, 20_000));
        patient.requester.responsePlaced(20_000);
        assertEquals(20_000 + RoundTrip.LEAST_NS, patient.requester.deadlineNs());
    }

    @Test
    void shouldGiveUpNoSoonerThanTheTimeoutAndItsRetriesAllow() {
        RcEnd patient = patient(3);
        long began = exchange(patient, 0, 0, 20_000);
        writeOne(patient, began);
        long now = began;
        while (patient.requester.failure() == null) {
            now = patient.requester.deadlineNs();
            patient.requester.onTime(now);
            patient.sendAll(now);
        }
        assertTrue(now - began >= 3 * LONG_NS && now - began <= 5 * LONG_NS, "after " + (now - began));
    }
}
