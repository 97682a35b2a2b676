package org.softrdma.fabric.shrink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Resource;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.sim.wire.MessageKind;

/** Failing runs become smaller, and still fail. */
class ShrinkerTest {
    private static final int PLENTY = 10_000;

    private static Fault kill(int node) {
        return new Fault(new When.AtTime(0), new What.Kill("node" + node));
    }

    private static FaultPlan kills(int count) {
        List<Fault> faults = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            faults.add(kill(i));
        }
        return new FaultPlan(faults);
    }

    private static Shrinker.Outcome shrink(FaultPlan plan, long steps, Trial trial) {
        Shrinker.Outcome outcome = Shrinker.shrink(new FailingRun(1, plan, steps), trial, PLENTY);
        assertTrue(outcome.finished());
        assertTrue(trial.fails(outcome.best().plan(), outcome.best().steps()), "what is left does not fail");
        return outcome;
    }

    @Test
    void shouldFindTheOneFaultOfMany() {
        for (int guilty = 0; guilty < 33; guilty++) {
            Fault one = kill(guilty);
            Shrinker.Outcome outcome =
                    shrink(kills(33), 10, (plan, steps) -> plan.faults().contains(one));

            assertEquals(List.of(one), outcome.best().plan().faults());
            assertTrue(outcome.runs() < 50, outcome.runs() + " runs");
        }
    }

    @Test
    void shouldFindFaultsThatFailTogetherOnly() {
        Set<Fault> guilty = Set.of(kill(1), kill(14), kill(31));
        Shrinker.Outcome outcome =
                shrink(kills(32), 10, (plan, steps) -> plan.faults().containsAll(guilty));

        assertEquals(guilty, new HashSet<>(outcome.best().plan().faults()));
        assertEquals(3, outcome.best().plan().faults().size());
    }

    @Test
    void shouldLeaveNoFaultWhereTheRunFailsWithoutAny() {
        Shrinker.Outcome outcome = shrink(kills(8), 100, (plan, steps) -> steps >= 7);

        assertEquals(FaultPlan.NONE, outcome.best().plan());
        assertEquals(7, outcome.best().steps());
    }

    @Test
    void shouldTakeFewerStepsAndThenLeaveOutFaultsThatOnlyTheManyNeeded() {
        Shrinker.Outcome outcome = shrink(
                kills(4),
                1000,
                (plan, steps) -> plan.faults().contains(kill(2))
                        && (steps <= 10 || plan.faults().size() == 4)
                        && steps > 3);

        assertEquals(new FailingRun(1, new FaultPlan(List.of(kill(2))), 4), outcome.best());
    }

    @Test
    void shouldMakeFaultsSimpler() {
        Fault fault =
                new Fault(new When.OnMessage("a", "b", MessageKind.SEND, 9), new What.Stall(5_000_000_000L), 400, 8, 3);
        Shrinker.Outcome outcome = shrink(
                new FaultPlan(List.of(fault)),
                1,
                (plan, steps) -> plan.faults().size() == 1
                        && plan.faults().getFirst().when() instanceof When.OnMessage on
                        && on.number() >= 4
                        && plan.faults().getFirst().what() instanceof What.Stall(long ns)
                        && ns > 1_000_000_000L);

        Fault left = outcome.best().plan().faults().getFirst();
        assertEquals(new When.OnMessage("a", "b", MessageKind.SEND, 4), left.when());
        assertTrue(left.what() instanceof What.Stall(long ns) && ns < 1_200_000_000L, left.toString());
        assertEquals(1, left.times());
        assertEquals(Fault.ALWAYS, left.perMille());
        assertEquals(0, left.skipped());
    }

    @Test
    void shouldStopAtTheLimitOfRunsWithWhatFails() {
        int[] runs = new int[1];
        Trial trial = (plan, steps) -> {
            runs[0]++;
            return plan.faults().contains(kill(50));
        };
        Shrinker.Outcome outcome = Shrinker.shrink(new FailingRun(1, kills(100), 1000), trial, 5);

        assertEquals(5, runs[0]);
        assertEquals(5, outcome.runs());
        assertFalse(outcome.finished());
        assertTrue(trial.fails(outcome.best().plan(), outcome.best().steps()));
        assertTrue(outcome.best().plan().faults().size() < 100);
    }

    @Test
    void shouldRunNothingTwice() {
        Set<FailingRun> seen = new HashSet<>();
        Trial trial = (plan, steps) -> {
            assertTrue(seen.add(new FailingRun(1, plan, steps)), "a second time: " + plan);
            return plan.faults().contains(kill(3)) && plan.faults().contains(kill(17));
        };
        Shrinker.Outcome outcome = Shrinker.shrink(new FailingRun(1, kills(20), 50), trial, PLENTY);

        assertEquals(2, outcome.best().plan().faults().size());
    }

    @Test
    void shouldRefuseARunThatDoesNotFailAgain() {
        assertThrows(
                IllegalArgumentException.class,
                () -> Shrinker.shrink(new FailingRun(1, kills(2), 5), (plan, steps) -> false, PLENTY));
    }

    @Test
    void shouldSayWhatCanBePasted() {
        FaultPlan plan = FaultPlan.NONE
                .and(new Fault(
                        new When.OnMessage("client", When.ANY, MessageKind.SEND, 2), new What.Stall(7), 500, 3, 1))
                .and(new When.AtTime(0), new What.Quota("a \"b\" \\", Resource.QUEUE_PAIRS, 4))
                .and(new When.AfterBytes("a", "b", 5), new What.Pause("b", 6, true));
        Shrinker.Outcome outcome =
                new Shrinker.Outcome(new FailingRun(42, kills(9), 200), new FailingRun(42, plan, 17), 88, true);

        assertEquals("""
                3 of 9 faults and 17 of 200 steps are enough to fail, as found by 88 runs:
                long seed = 42L;
                long steps = 17;
                FaultPlan plan = FaultPlan.NONE
                        .and(new Fault(new When.OnMessage("client", "*", MessageKind.SEND, 2, 0), new What.Stall(7L), 500, 3, 1))
                        .and(new Fault(new When.AtTime(0L), new What.Quota("a \\"b\\" \\\\", Resource.QUEUE_PAIRS, 4L), 1000, 1, 0))
                        .and(new Fault(new When.AfterBytes("a", "b", 5L, 0), new What.Pause("b", 6L, true), 1000, 1, 0));\
                """, outcome.toString());
    }
}
