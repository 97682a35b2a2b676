package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.softrdma.run.uverbs.ScriptedProgram.DONE;
import static org.softrdma.run.uverbs.ScriptedProgram.SEND;
import static org.softrdma.run.uverbs.ScriptedProgram.SIGNALLED;
import static org.softrdma.run.uverbs.StateTransitions.ACCESS;
import static org.softrdma.run.uverbs.StateTransitions.PATH;
import static org.softrdma.run.uverbs.StateTransitions.PORT;
import static org.softrdma.run.uverbs.StateTransitions.QUEUE_KEY;
import static org.softrdma.run.uverbs.StateTransitions.READS;
import static org.softrdma.run.uverbs.StateTransitions.RETRIES;
import static org.softrdma.run.uverbs.StateTransitions.RNR_RETRIES;
import static org.softrdma.run.uverbs.StateTransitions.RNR_TIMER;
import static org.softrdma.run.uverbs.StateTransitions.SERVED_READS;
import static org.softrdma.run.uverbs.StateTransitions.STATE;
import static org.softrdma.run.uverbs.StateTransitions.TIMEOUT;

import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;

/** MODIFY_QP: what is refused changes nothing, and what is granted in SQD holds at once, as SoftRoCE does it. */
@EnabledOnOs(OS.LINUX)
class ModifiedPairsTest {
    private static final int RELIABLE = 2;
    private static final int UNRELIABLE = 3;
    private static final int DATAGRAMS = 4;
    private static final int WRITE = 0;
    private static final int READ = 4;
    private static final int TO_INIT = 0x39;
    private static final int TO_RTR = 0x12_9181;
    private static final int RESET = 0;
    private static final int INIT = 1;
    private static final int RTR = 2;
    private static final int RTS = 3;
    private static final int SQD = 4;
    private static final int ERROR = 6;

    private static final int SUCCESS = 0;
    private static final int OPERATION_ERROR = 2;
    private static final int FLUSHED = 5;
    private static final int REMOTE_INVALID = 9;
    private static final int RETRY_EXCEEDED = 12;
    private static final int RNR_RETRY_EXCEEDED = 13;
    /** 127.0.0.9, as {@link ScriptedProgram#LOOPBACK}: nobody is there. */
    private static final long ELSEWHERE = 0x0900_007F_FFFF_0000L;

    private ScriptedProgram program;
    private ScriptedProgram.Completions completions;
    private ScriptedProgram.Pair from;
    private ScriptedProgram.Pair to;

    @BeforeEach
    void open() throws CallRefusedException {
        program = new ScriptedProgram(List.of(
                new GidEntry(InetAddress.ofLiteral("127.0.0.1"), "lo"),
                new GidEntry(InetAddress.ofLiteral("::1"), "lo"),
                new GidEntry(InetAddress.ofLiteral("127.0.0.3"), "lo")));
        completions = program.completions(100, -1, 5);
        from = program.pair(RELIABLE, completions, 7, 7);
        to = program.pair(RELIABLE, completions, 7, 7);
    }

    @AfterEach
    void close() {
        program.close();
    }

    private void expectRefused(ScriptedProgram.Pair pair, int mask, int state) {
        String before = program.attributes(pair);
        assertEquals(ErrorNumber.EINVAL, program.modify(pair, mask, state, 4711, 0));
        assertEquals(before, program.attributes(pair));
    }

    private void post(ScriptedProgram.Pair pair, long wrId, int operation) {
        var _ = pair.remote(pair.fill(wrId, operation, SIGNALLED, 0, 10), 1000);
        pair.give();
        assertEquals(DONE, program.doorbell(pair));
    }

    private void connect() {
        program.connect(from, to);
    }

    private void drain(ScriptedProgram.Pair pair) {
        assertEquals(DONE, program.modify(pair, STATE, SQD, 0, 0));
    }

    private void goOn(ScriptedProgram.Pair pair) {
        assertEquals(DONE, program.modify(pair, STATE, RTS, 0, 0));
    }

    // ---- refused

    @Test
    void shouldChangeNothingWhenAChangeIsRefused() {
        program.port = 2;
        expectRefused(from, TO_INIT, INIT);
        program.port = 1;
        assertEquals(DONE, program.initialise(from));
        program.ownGid = 3;
        expectRefused(from, TO_RTR | ACCESS, RTR);
        program.ownGid = 1; // of the other family
        expectRefused(from, TO_RTR, RTR);
        program.ownGid = 0;
        for (int unit : new int[] {0, 6}) {
            program.transferUnit = unit;
            expectRefused(from, TO_RTR, RTR);
        }
        program.transferUnit = 3;
        assertEquals(DONE, program.toReceive(from, to.number));
        program.timeout = 32;
        expectRefused(from, 0x1_2E01, RTS);
        program.timeout = 14;
        program.reads = 129;
        expectRefused(from, 0x1_2E01, RTS);
        program.reads = 128;
        assertEquals(DONE, program.toSend(from));
        drain(from);
        program.port = 0;
        expectRefused(from, PORT | TIMEOUT, SQD);
        program.port = 1;
        program.ownGid = 2; // it stays where it is
        expectRefused(from, PATH | TIMEOUT, SQD);
    }

    /** It is to be refused for its path; the rights before that are the peer's still. */
    @Test
    void shouldKeepRightsWhenTheirChangeIsRefused() {
        assertEquals(DONE, program.initialise(to));
        program.ownGid = 3;
        expectRefused(to, TO_RTR | ACCESS, RTR);
        program.ownGid = 0;
        assertEquals(DONE, program.toReceive(to, from.number));
        assertEquals(DONE, program.initialise(from));
        assertEquals(DONE, program.toReceive(from, to.number));
        assertEquals(DONE, program.toSend(from));
        post(from, 1, WRITE);
        completions.expect(1, SUCCESS);
    }

    @Test
    void shouldKeepAQueueKeyWhenItsChangeIsRefused() {
        ScriptedProgram.Pair sender = program.pair(DATAGRAMS, completions, 7, 7);
        ScriptedProgram.Pair receiver = program.pair(DATAGRAMS, completions, 7, 7);
        program.connect(sender, receiver);
        ScriptedProgram.Pair other = program.pair(DATAGRAMS, completions, 7, 7);
        assertEquals(DONE, program.initialise(other));
        program.port = 2;
        assertEquals(ErrorNumber.EINVAL, program.modify(other, STATE | QUEUE_KEY | PORT, INIT, 0, 0, 99));
        program.port = 1;
        assertEquals(DONE, program.toReceive(other, 0));
        other.receive(1, 20_000, 128);
        var _ = sender.to(sender.fill(2, SEND, SIGNALLED, 0, 10), other, 17, program.address(0, true, 1));
        sender.give();
        assertEquals(DONE, program.doorbell(sender));
        completions.expect(2, SUCCESS);
        completions.expect(1, SUCCESS);
    }

    @Test
    void shouldGoNowhereButToErrorBeforeItHasDrained() {
        program.timeout = 0; // for ever
        connect();
        assertEquals(DONE, program.modify(to, STATE, RESET, 0, 0));
        post(from, 1, WRITE);
        drain(from);
        for (int state : new int[] {RESET, RTS, SQD}) {
            expectRefused(from, STATE, state);
        }
        assertEquals(DONE, program.modify(from, STATE, ERROR, 0, 0));
        completions.expect(1, FLUSHED);
    }

    // ---- granted

    @Test
    void shouldGiveUpByOtherTermsWhatIsOnItsWay() {
        program.timeout = 0; // for ever
        connect();
        assertEquals(DONE, program.modify(to, STATE, RESET, 0, 0));
        post(from, 1, WRITE);
        drain(from);
        program.timeout = 8; // 1 ms
        program.retries = 1;
        assertEquals(DONE, program.modify(from, TIMEOUT | RETRIES, 0, 0, 0));
        completions.expect(1, RETRY_EXCEEDED);
        assertEquals(ERROR, program.state(from));
    }

    @Test
    void shouldGiveUpAPeerWithoutAReceiveByOtherTerms() {
        connect();
        drain(from);
        program.rnrRetries = 0;
        assertEquals(DONE, program.modify(from, STATE | RNR_RETRIES, SQD, 0, 0));
        goOn(from);
        from.post(1, SEND, SIGNALLED, 0, 10);
        completions.expect(1, RNR_RETRY_EXCEEDED);
    }

    @Test
    void shouldSendAndServeReadsByOtherTerms() {
        program.reads = 0;
        program.servedReads = 0;
        connect();
        drain(from);
        drain(to);
        program.reads = 4;
        program.servedReads = 4;
        assertEquals(DONE, program.modify(from, READS, 0, 0, 0));
        assertEquals(DONE, program.modify(to, SERVED_READS, 0, 0, 0));
        goOn(from);
        for (int i = 0; i < 4; i++) {
            post(from, i, READ);
            completions.expect(i, SUCCESS);
        }
        drain(to);
        program.servedReads = 0;
        assertEquals(DONE, program.modify(to, SERVED_READS, 0, 0, 0));
        post(from, 5, READ);
        completions.expect(5, REMOTE_INVALID);
    }

    @Test
    void shouldSendNoReadsByOtherTerms() {
        connect();
        drain(from);
        program.reads = 0;
        assertEquals(DONE, program.modify(from, READS, 0, 0, 0));
        goOn(from);
        post(from, 1, READ);
        completions.expect(1, OPERATION_ERROR);
    }

    @Test
    void shouldSendToAPeerThatHasMoved() {
        program.timeout = 8;
        program.retries = 1;
        connect();
        drain(from);
        program.peerGid = ELSEWHERE;
        assertEquals(DONE, program.modify(from, PATH, 0, 0, 0));
        goOn(from);
        post(from, 1, WRITE);
        completions.expect(1, RETRY_EXCEEDED);
    }

    @Test
    void shouldSendUnreliablyToAPeerThatHasMoved() {
        from = program.pair(UNRELIABLE, completions, 7, 7);
        to = program.pair(UNRELIABLE, completions, 7, 7);
        connect();
        drain(from);
        program.peerGid = ELSEWHERE;
        assertEquals(DONE, program.modify(from, PATH, 0, 0, 0));
        goOn(from);
        to.receive(1, 20_000, 64);
        from.post(2, SEND, SIGNALLED, 0, 10);
        completions.expect(2, SUCCESS);
        drain(from);
        program.peerGid = ScriptedProgram.LOOPBACK;
        assertEquals(DONE, program.modify(from, PATH, 0, 0, 0));
        goOn(from);
        from.post(3, SEND, SIGNALLED, 0, 20);
        completions.expect(3, SUCCESS);
        assertEquals(20, completions.next().get(ValueLayout.JAVA_INT, 20), "not the first one");
    }

    /** Behind RTR it may be told without SQD. */
    @Test
    void shouldTellAnotherRnrTimerInRtsAndSqd() {
        connect();
        for (int timer : new int[] {1, 2}) {
            program.rnrTimer = timer;
            String before = program.attributes(to);
            assertEquals(DONE, program.modify(to, RNR_TIMER, 0, 0, 0));
            assertNotEquals(before, program.attributes(to));
            from.post(timer, SEND, SIGNALLED, 0, 10);
            to.receive(10 + timer, 20_000, 64);
            completions.expect(10 + timer, SUCCESS);
            completions.expect(timer, SUCCESS);
            if (timer == 1) {
                drain(to);
            }
        }
    }
}
