package org.softrdma.run.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Verb;
import org.softrdma.fabric.fault.VerbError;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.verbs.CompletionOpcode;

/** Which faults of a plan happen, and when. The clock is the test's. */
class CardFaultsTest {
    private static final String HERE = "10.0.0.1";
    private static final String THERE = "10.0.0.2";

    private final List<String> log = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private long now = -5;

    private CardFaults faults(FaultPlan plan, long seed) {
        CardFaults made = CardFaults.of(plan, false, seed, log::add, () -> now);
        made.whenPortChanges(() -> events.add(made.isPortDown() ? "down" : "up"));
        return made;
    }

    /** The errno of a call, or 0. */
    private static int call(CardFaults faults, Verb verb) {
        try {
            faults.onVerb(verb);
            return 0;
        } catch (CallRefusedException e) {
            return e.errno();
        }
    }

    private static What.@Nullable OnDatagram datagram(CardFaults faults, String from, String to) {
        return faults.onDatagram(from, to, 0, 0);
    }

    @Test
    void shouldFailTheCallThatThePlanNames() {
        CardFaults faults =
                faults(FaultPlan.NONE.and(new When.OnVerb(Verb.REG_MR, 2), new What.Refuse(VerbError.ENOMEM)), 1);
        assertEquals(0, call(faults, Verb.REG_MR));
        assertEquals(0, call(faults, Verb.CREATE_QP));
        assertEquals(ErrorNumber.ENOMEM, call(faults, Verb.REG_MR));
        assertEquals(0, call(faults, Verb.REG_MR));
        assertEquals(List.of("REG_MR 2: Refuse[error=ENOMEM] (fault 1)"), log);
    }

    /** The network's part in it differs from run to run. */
    @Test
    void shouldDoTheSameToTheSameCallsWhateverTheNetworkDoes() {
        assertEquals(outcomes(42, 0), outcomes(42, 3));
        assertNotEquals(outcomes(42, 0), outcomes(43, 0));
    }

    private List<String> outcomes(long seed, int packets) {
        log.clear();
        When each = new When.OnVerb(Verb.REG_MR, When.EACH);
        When lost = new When.OnDatagram(When.ANY, When.ANY, When.EACH);
        CardFaults faults = faults(
                FaultPlan.NONE
                        .and(new Fault(lost, new What.Lose(), 500, 100))
                        .and(new Fault(each, new What.Refuse(VerbError.ENOMEM), 300, 100))
                        .and(new Fault(each, new What.Refuse(VerbError.EAGAIN), 300, 100)),
                seed);
        for (int i = 0; i < 60; i++) {
            for (int j = 0; j < packets; j++) {
                var _ = datagram(faults, HERE, THERE);
            }
            int ignored = call(faults, Verb.REG_MR);
        }
        log.removeIf(line -> line.startsWith("datagram"));
        assertTrue(log.size() > 10, log::toString);
        assertTrue(log.stream().anyMatch(line -> line.contains("ENOMEM")), log::toString);
        assertTrue(log.stream().anyMatch(line -> line.contains("EAGAIN")), log::toString);
        return List.copyOf(log);
    }

    /** Two alike do not happen together. */
    @Test
    void shouldDrawForEachFaultByItself() {
        What refusal = new What.Refuse(VerbError.ENOMEM);
        CardFaults faults = faults(
                FaultPlan.NONE
                        .and(new Fault(new When.OnVerb(Verb.REG_MR, When.EACH), refusal, 500, 100))
                        .and(new Fault(new When.OnVerb(Verb.CREATE_QP, When.EACH), refusal, 500, 100)),
                1);
        int together = 0;
        for (int i = 0; i < 60; i++) {
            together += call(faults, Verb.REG_MR) == call(faults, Verb.CREATE_QP) ? 1 : 0;
        }
        assertTrue(together > 10 && together < 50, "together: " + together);
    }

    @Test
    void shouldTellThatThePortIsDownAndUp() {
        CardFaults faults = faults(FaultPlan.NONE.and(new When.AtTime(10), new What.PortDown(20)), 1);
        assertEquals(10, faults.waitNs(1000));
        faults.runDue();
        assertFalse(faults.isPortDown());
        now += 10;
        faults.runDue();
        assertTrue(faults.isPortDown());
        assertEquals(new What.Lose(), datagram(faults, HERE, THERE));
        assertEquals(20, faults.waitNs(1000));
        now += 20;
        faults.runDue();
        assertEquals(null, datagram(faults, HERE, THERE));
        assertEquals(1000, faults.waitNs(1000));
        assertEquals(List.of("down", "up"), events);
    }

    @Test
    void shouldSeparateHosts() {
        CardFaults faults = faults(
                FaultPlan.NONE
                        .and(new When.OnDatagram(HERE, THERE, 2), new What.Partition(THERE, HERE, 100))
                        .and(new When.AtTime(1000), new What.PowerOff(THERE)),
                1);
        assertEquals(null, datagram(faults, HERE, THERE));
        assertEquals(new What.Lose(), datagram(faults, HERE, THERE));
        assertEquals(new What.Lose(), datagram(faults, THERE, HERE));
        assertEquals(null, datagram(faults, HERE, "10.0.0.3"));
        now += 100;
        assertEquals(null, datagram(faults, HERE, THERE));
        now += 1000;
        faults.runDue();
        assertEquals(new What.Lose(), datagram(faults, "10.0.0.3", THERE));
        assertEquals(null, datagram(faults, "10.0.0.3", HERE));
    }

    @Test
    void shouldWithholdReceivesForATime() {
        CardFaults faults = faults(
                FaultPlan.NONE.and(new When.OnCompletion(CompletionOpcode.RECEIVE, 1), new What.NoReceives(7)), 1);
        assertFalse(faults.withholdsReceives());
        assertEquals(null, faults.onCompletion(CompletionOpcode.RECEIVE));
        assertTrue(faults.withholdsReceives());
        now += 7;
        assertFalse(faults.withholdsReceives());
    }

    /** From any thread, while the program runs. */
    @Test
    void shouldTakeAndGiveBackFaults() {
        CardFaults faults = CardFaults.of(FaultPlan.NONE, true, 1, log::add, () -> now);
        Fault fault = new Fault(new When.OnVerb(Verb.POST_SEND, When.EACH), new What.Refuse(VerbError.ENOMEM), 1000, 2);
        assertEquals(1, faults.add(fault));
        assertEquals(2, faults.add(new Fault(new When.AtTime(0), new What.NoReceives(What.FOREVER))));
        faults.runDue();
        assertEquals(ErrorNumber.ENOMEM, call(faults, Verb.POST_SEND));
        assertTrue(faults.list().getFirst().startsWith("1: Fault["), faults.list()::toString);
        assertTrue(faults.list().getFirst().endsWith(", left 1"), faults.list()::toString);
        assertTrue(faults.remove(1));
        assertFalse(faults.remove(1));
        assertEquals(0, call(faults, Verb.POST_SEND));
        assertTrue(faults.withholdsReceives());
        faults.clear();
        assertFalse(faults.withholdsReceives());
        assertEquals(List.of(), faults.list());
        assertTrue(faults.waitNs(1_000_000_000) < 1_000_000_000, "somebody may add faults meanwhile");
    }

    @Test
    void shouldSayWhatACardCannotHave() {
        for (Fault fault : List.of(
                new Fault(new When.AfterBytes(When.ANY, When.ANY, 1), new What.Partition(HERE, THERE, 1)),
                new Fault(new When.AtTime(1), new What.Kill(HERE)),
                new Fault(new When.AtTime(1), new What.Pause(HERE, 1, true)))) {
            IllegalArgumentException refusal =
                    assertThrows(IllegalArgumentException.class, () -> CardFaults.requirePossible(fault));
            assertTrue(String.valueOf(refusal.getMessage()).contains(": expected "), refusal::getMessage);
        }
    }
}
