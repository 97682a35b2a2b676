package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.fabric.shrink.FailingRun;
import org.softrdma.fabric.shrink.Shrinker;
import org.softrdma.fabric.shrink.Trial;
import org.softrdma.sim.wire.MessageKind;

/**
 * Plans of several faults at random places: every request ends, whatever comes together. A plan that fails is shown
 * shrunk.
 */
class RandomPlansTest {
    private static final int SEEDS = 500 / Integer.getInteger("softrdma.sample", 1);
    private static final int MOST_RUNS = 200;
    /** An exchange takes some hundreds; whoever takes so many does nothing but turn in circles. */
    private static final Scheduler.Limits FEW_STEPS =
            new Scheduler.Limits(50_000, TimeUnit.DAYS.toNanos(1), TimeUnit.MINUTES.toNanos(2), 250);

    private static final String[] NODES = {"server", "client"};
    private static final MessageKind[] KINDS = MessageKind.values();
    private static final long MOST_NS = 12_000_000_000L;

    private static FaultPlan plan(long seed) {
        Random random = new Random(seed);
        FaultPlan plan = FaultPlan.NONE;
        for (int i = random.nextInt(1, 7); i > 0; i--) {
            When.OnConnection when = when(random);
            plan = plan.and(new Fault(
                    when,
                    what(random),
                    random.nextInt(1, Fault.ALWAYS + 1),
                    random.nextInt(1, 4),
                    random.nextInt(0, 2)));
        }
        return plan;
    }

    private static String node(Random random) {
        return NODES[random.nextInt(NODES.length)];
    }

    private static When.OnConnection when(Random random) {
        String from = node(random);
        return switch (random.nextInt(3)) {
            case 0 -> new When.AfterBytes(from, When.ANY, random.nextInt(1500));
            case 1 -> new When.OnMessage(from, When.ANY, KINDS[random.nextInt(KINDS.length)], random.nextInt(2));
            default -> new When.OnRequest("client", When.ANY, random.nextInt(1, 4));
        };
    }

    private static What what(Random random) {
        return switch (random.nextInt(11)) {
            case 0 -> new What.Reset();
            case 1 -> new What.Cut();
            case 2 -> new What.Delay(random.nextLong(MOST_NS));
            case 3 -> new What.Stall(random.nextLong(1, MOST_NS));
            case 4 -> new What.Stall(What.FOREVER);
            case 5 -> new What.Slow(random.nextInt(1, 500), random.nextLong(MOST_NS / 1000));
            case 6 -> new What.Partition("client", "server", random.nextLong(1, MOST_NS));
            case 7 -> new What.SlowNode(node(random), random.nextInt(1, 500), random.nextLong(MOST_NS / 1000));
            case 8 -> new What.Kill(node(random));
            case 9 -> new What.PowerOff(node(random));
            default -> new What.Pause(node(random), random.nextLong(1, MOST_NS), random.nextBoolean());
        };
    }

    private static long requireThatItEnds(long seed, FaultPlan plan) {
        NetworkSettings network = (seed & 1) == 0 ? NetworkSettings.DEFAULT : NetworkSettings.DEFAULT.withRing();
        Exchange exchange = new Exchange(
                seed, FabricSettings.adversary().with(network).with(FEW_STEPS).with(plan), Map.of());
        exchange.run();
        assertEquals(0, exchange.wrongBytes(), "bytes that nobody has written");
        return exchange.hash();
    }

    /** Runs, and shows a run that fails as small as it gets. */
    private static void requireThatItEnds(FailingRun run, Trial trial) {
        try {
            boolean ignored = trial.fails(run.plan(), run.steps());
        } catch (SimulationException | AssertionFailedError e) {
            fail(Shrinker.shrink(run, failure(trial), MOST_RUNS) + "\n" + e.getMessage(), e);
        }
    }

    private static Trial failure(Trial trial) {
        return (plan, steps) -> {
            try {
                return trial.fails(plan, steps);
            } catch (SimulationException | AssertionFailedError e) {
                return true;
            }
        };
    }

    @Tag("sampled")
    @Test
    void shouldEndEveryRequestWhateverComesTogether() {
        for (long seed = 0; seed < SEEDS; seed++) {
            long now = seed;
            requireThatItEnds(new FailingRun(seed, plan(seed), 1), (plan, steps) -> {
                long ignored = requireThatItEnds(now, plan);
                return false;
            });
        }
    }

    @Test
    void shouldDoTheSameBySameSeedAndPlan() {
        for (long seed = 0; seed < 50; seed++) {
            assertEquals(requireThatItEnds(seed, plan(seed)), requireThatItEnds(seed, plan(seed)), "seed " + seed);
        }
    }

    /** A stream that is cut, and whose sender cannot learn it yet: it waits, and does not try without end. */
    @Test
    void shouldWaitWhileTheNewsOfTheEndIsHeldUp() {
        When first = new When.OnRequest("client", When.ANY, 1);
        FaultPlan plan = FaultPlan.NONE
                .and(first, new What.Partition("client", "server", MOST_NS / 10))
                .and(first, new What.Cut());
        for (long seed = 0; seed < 20; seed++) {
            long ignored = requireThatItEnds(seed, plan);
        }
    }

    /**
     * A planted failure: this exchange must never be broken. Of all its faults the message shows the one that breaks
     * it.
     */
    @Test
    void shouldShowTheFaultThatIsEnough() {
        FaultPlan plan = FaultPlan.NONE
                .and(new When.AfterBytes("client", "server", 100), new What.Delay(1000))
                .and(new When.OnMessage("server", "client", MessageKind.READ_RESPONSE, 1), new What.Stall(2000))
                .and(new Fault(new When.OnRequest("client", When.ANY, 2), new What.Cut(), Fault.ALWAYS, 3, 0))
                .and(new When.AfterBytes("server", "client", 30), new What.Slow(50, 100));
        AssertionFailedError failure = assertThrows(
                AssertionFailedError.class,
                () -> requireThatItEnds(new FailingRun(5, plan, 1), (smaller, steps) -> {
                    Exchange exchange = new Exchange(5, FabricSettings.DEFAULT.with(smaller), Map.of());
                    exchange.run();
                    assertEquals(false, exchange.isBroken(), "the exchange is broken");
                    return false;
                }));

        String message = String.valueOf(failure.getMessage());
        assertTrue(message.startsWith("1 of 4 faults and 0 of 1 steps are enough to fail"), message);
        assertTrue(
                message.contains(
                        "long seed = 5L;\nlong steps = 0;\nFaultPlan plan = FaultPlan.NONE\n        .and(new Fault(new"
                                + " When.OnRequest(\"client\", \"*\", 2L, 0), new What.Cut(), 1000, 1, 0));"),
                message);
    }
}
