package org.softrdma.run.uverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.run.uverbs.ScriptedProgram.DONE;
import static org.softrdma.run.uverbs.ScriptedProgram.SEND;
import static org.softrdma.run.uverbs.ScriptedProgram.SIGNALLED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Verb;
import org.softrdma.fabric.fault.VerbError;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.run.card.CardSettings;
import org.softrdma.run.faults.CardFaults;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.sim.roce.wire.PacketKind;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;

/** A program whose card has faults: it sees what a card's driver would tell it. */
@EnabledOnOs(OS.LINUX)
class FaultyRingsTest {
    private static final int SUCCESS = 0;
    private static final int FLUSHED = 5;
    private static final int REMOTE_ACCESS = 10;
    private static final int RETRIES_EXCEEDED = 12;
    private static final int RECEIVER_NOT_READY = 13;
    private static final int ERROR = 6;
    private static final int NO_CHANNEL = -1;
    private static final long COOKIE = 0x1122_3344_5566L;
    private static final int CQ_ERROR = 0;
    private static final int PORT_ACTIVE = 9;
    private static final int PORT_ERROR = 10;

    private final List<String> log = new ArrayList<>();
    private LongSupplier clock = System::nanoTime;

    // Each test begins with them.
    @SuppressWarnings("NullAway.Init")
    private ScriptedProgram program;

    @SuppressWarnings("NullAway.Init")
    private ScriptedProgram.Completions completions;

    @SuppressWarnings("NullAway.Init")
    private ScriptedProgram.Pair from;

    @SuppressWarnings("NullAway.Init")
    private ScriptedProgram.Pair to;

    private ScriptedProgram begin(FaultPlan plan) throws CallRefusedException {
        CardFaults faults = CardFaults.of(plan, false, 1, log::add, clock);
        program = new ScriptedProgram(new CardSettings(faults, Optional.empty(), counters -> {}));
        return program;
    }

    private ScriptedProgram connect(FaultPlan plan) throws CallRefusedException {
        return connect(begin(plan));
    }

    private ScriptedProgram connect(ScriptedProgram begun) throws CallRefusedException {
        completions = begun.completions(100, NO_CHANNEL, COOKIE);
        from = begun.pair(2, completions, 7, 7);
        to = begun.pair(2, completions, 7, 7);
        begun.connect(from, to);
        return begun;
    }

    @AfterEach
    void close() {
        program.close();
    }

    private void expect(long number, int status) {
        completions.expect(number, status);
    }

    private void send(long number) {
        to.receive(100 + number, 20_000, 3000);
        from.post(number, SEND, SIGNALLED, 100, 2000);
    }

    @Test
    void shouldRefuseTheCallThatThePlanNames() throws CallRefusedException {
        // The program itself has made a domain and a region before.
        ScriptedProgram begun =
                begin(FaultPlan.NONE.and(new When.OnVerb(Verb.REG_MR, 2), new What.Refuse(VerbError.ENOMEM)));
        long address = begun.memory.address();
        int low = ScriptedProgram.low(address);
        int high = ScriptedProgram.high(address);
        int[] registration = {0, 0, low, high, 4096, 0, low, high, begun.domain, 1};
        assertEquals(ErrorNumber.ENOMEM, begun.command(9, 12, registration));
        assertEquals(DONE, begun.command(9, 12, registration));
        assertEquals(List.of("REG_MR 2: Refuse[error=ENOMEM] (fault 1)"), log);
    }

    /** What was refused is not sent later. */
    @Test
    void shouldTakeARefusedPostOutOfTheRing() throws CallRefusedException {
        ScriptedProgram begun =
                connect(FaultPlan.NONE.and(new When.OnVerb(Verb.POST_SEND, 1), new What.Refuse(VerbError.ENOMEM)));
        to.receive(101, 20_000, 3000);
        var _ = from.fill(1, SEND, SIGNALLED, 100, 2000);
        from.give();
        assertEquals(ErrorNumber.ENOMEM, begun.doorbell(from));
        from.post(2, SEND, SIGNALLED, 100, 2000);
        expect(101, SUCCESS);
        expect(2, SUCCESS);
        assertEquals(1, from.sends.consumer());
    }

    @Test
    void shouldFailARequestAndFlushWhatFollows() throws CallRefusedException {
        ScriptedProgram begun = connect(FaultPlan.NONE.and(
                new When.OnCompletion(CompletionOpcode.SEND, 1), new What.Fail(CompletionStatus.REMOTE_ACCESS_ERROR)));
        to.receive(101, 20_000, 3000);
        to.receive(102, 20_000, 3000);
        var _ = from.fill(1, SEND, SIGNALLED, 100, 2000);
        from.give();
        from.post(2, SEND, SIGNALLED, 100, 2000);
        int[] statuses = new int[103];
        for (int i = 0; i < 4; i++) { // the peer's RECVs may be complete before, or between
            MemorySegment next = completions.next();
            statuses[(int) next.get(ValueLayout.JAVA_LONG, 0)] = next.get(ValueLayout.JAVA_INT, 8);
        }
        assertEquals(
                List.of(REMOTE_ACCESS, FLUSHED, SUCCESS, SUCCESS),
                List.of(statuses[1], statuses[2], statuses[101], statuses[102]));
        begun.until(() -> begun.state(from) == ERROR, "the queue pair is in ERR");
        from.post(3, SEND, SIGNALLED, 100, 2000);
        expect(3, FLUSHED);
    }

    @Test
    void shouldFailAReceive() throws CallRefusedException {
        ScriptedProgram begun = connect(FaultPlan.NONE.and(
                new When.OnCompletion(CompletionOpcode.RECEIVE, 1),
                new What.Fail(CompletionStatus.LOCAL_PROTECTION_ERROR)));
        send(1);
        expect(101, CompletionStatus.LOCAL_PROTECTION_ERROR.code());
        begun.until(() -> begun.state(to) == ERROR, "the queue pair is in ERR");
    }

    @Test
    void shouldLoseACompletion() throws CallRefusedException {
        ScriptedProgram ignored =
                connect(FaultPlan.NONE.and(new When.OnCompletion(CompletionOpcode.SEND, 1), new What.Lose()));
        send(1);
        send(2);
        expect(101, SUCCESS);
        expect(102, SUCCESS);
        expect(2, SUCCESS);
        assertEquals(2, from.sends.consumer());
    }

    /** Nothing overtakes it in its queue. */
    @Test
    void shouldDelayACompletion() throws CallRefusedException {
        ScriptedProgram begun = connect(
                FaultPlan.NONE.and(new When.OnCompletion(CompletionOpcode.RECEIVE, 1), new What.Delay(200_000_000)));
        long begin = System.nanoTime();
        send(1);
        begun.until(() -> from.sends.consumer() == 1, "the request has left the ring");
        expect(101, SUCCESS);
        assertTrue(System.nanoTime() - begin >= 200_000_000, "it was not late");
        expect(1, SUCCESS);
    }

    /** Its memory may be another's by then. */
    @Test
    void shouldForgetADelayedCompletionWithItsQueue() throws CallRefusedException {
        long[] now = {0};
        clock = () -> now[0];
        ScriptedProgram begun =
                connect(FaultPlan.NONE.and(new When.OnCompletion(CompletionOpcode.RECEIVE, 1), new What.Delay(10)));
        send(1);
        begun.until(() -> from.sends.consumer() == 1, "the request has left the ring");
        assertEquals(DONE, begun.command(27, 4, 0, 0, from.handle, 0));
        assertEquals(DONE, begun.command(27, 4, 0, 0, to.handle, 0));
        assertEquals(DONE, begun.command(20, 8, 0, 0, completions.handle, 0));
        now[0] = 20;
        assertEquals(4, begun.portState()); // before a call, what is due is done
        assertEquals(0, completions.ring.producer());
    }

    @Test
    void shouldOverrunAQueue() throws CallRefusedException {
        ScriptedProgram begun =
                connect(FaultPlan.NONE.and(new When.OnCompletion(CompletionOpcode.SEND, 1), new What.Overrun()));
        send(1);
        expect(101, SUCCESS);
        begun.expectEvent(COOKIE, CQ_ERROR);
        send(2);
        expect(102, SUCCESS);
        expect(2, SUCCESS);
    }

    /** A sender that does not try again hears of it. */
    @Test
    void shouldFindNoReceiveForATime() throws CallRefusedException {
        ScriptedProgram ignored =
                connect(FaultPlan.NONE.and(new When.OnVerb(Verb.POST_SEND, 1), new What.NoReceives(100_000_000)));
        long begin = System.nanoTime();
        send(1);
        expect(101, SUCCESS); // RNR retries 7: for ever
        assertTrue(System.nanoTime() - begin >= 100_000_000, "the RECV was found");
        expect(1, SUCCESS);
    }

    @Test
    void shouldTellOfReceiversThatAreNotReady() throws CallRefusedException {
        ScriptedProgram begun = begin(FaultPlan.NONE.and(new When.AtTime(0), new What.NoReceives(What.FOREVER)));
        completions = begun.completions(100, NO_CHANNEL, COOKIE);
        from = begun.pair(2, completions, 7, 7);
        to = begun.pair(2, completions, 7, 7);
        begun.rnrRetries = 1;
        begun.connect(from, to);
        send(1);
        expect(1, RECEIVER_NOT_READY);
        begun.until(() -> begun.state(from) == ERROR, "the queue pair is in ERR");
        assertEquals(DONE, begun.modify(to, 1, ERROR, 0, 0));
        expect(101, FLUSHED); // what was posted is there
    }

    @Test
    void shouldTakeThePortDown() throws CallRefusedException {
        ScriptedProgram begun =
                begin(FaultPlan.NONE.and(new When.OnVerb(Verb.POST_SEND, 1), new What.PortDown(1_000_000_000)));
        begun.timeout = 17; // 537 ms, seven times: much longer than the port is down
        ScriptedProgram ignored = connect(begun);
        assertEquals(4, begun.portState());
        send(1);
        begun.expectEvent(1, PORT_ERROR);
        assertEquals(1, begun.portState());
        begun.until(() -> begun.portState() == 4, "the port is up");
        begun.expectEvent(1, PORT_ACTIVE);
        expect(101, SUCCESS); // by its retries
        expect(1, SUCCESS);
    }

    @Test
    void shouldTellOfAPeerThatHasVanished() throws CallRefusedException {
        ScriptedProgram ignored =
                connect(FaultPlan.NONE.and(new When.OnVerb(Verb.POST_SEND, 1), new What.PowerOff("127.0.0.1")));
        send(1);
        expect(1, RETRIES_EXCEEDED);
    }

    @Test
    void shouldComeToItsEndOverANetworkThatLosesAndDoubles() throws CallRefusedException {
        When each = new When.OnPacket(When.ANY, When.ANY, PacketKind.SEND, When.EACH);
        When answered = new When.OnPacket(When.ANY, "127.0.0.1", PacketKind.ACKNOWLEDGEMENT, When.EACH);
        ScriptedProgram ignored = connect(FaultPlan.NONE
                .and(new Fault(each, new What.Lose(), 300, 1000))
                .and(new Fault(each, new What.Repeat(), 300, 1000))
                .and(new Fault(each, new What.Delay(1_000_000), 300, 1000))
                .and(new Fault(answered, new What.Lose(), 300, 1000)));
        for (int i = 1; i <= 10; i++) {
            send(i);
            expect(100 + i, SUCCESS);
            expect(i, SUCCESS);
        }
        for (String what : List.of("Lose", "Repeat", "Delay")) {
            assertTrue(log.stream().anyMatch(line -> line.contains(": " + what)), () -> what + ": " + log);
        }
    }
}
