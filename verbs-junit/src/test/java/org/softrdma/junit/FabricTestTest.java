package org.softrdma.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.adversary.Habit;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.fabric.scheduler.Unwinding;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/** Tests on a fabric: their seeds, what they get, how they end, and what they say when they fail. */
class FabricTestTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    /** Notes its seeds and what they make happen. */
    static class Seeded {
        static final List<Long> SEEDS = new ArrayList<>();
        static final List<Long> CHOICES = new ArrayList<>();

        static void note(Fabric fabric) {
            SEEDS.add(fabric.scheduler().choices().seed());
            CHOICES.add(fabric.scheduler().choices().generator().nextLong());
        }

        @FabricTest(seeds = 7)
        void runs(Fabric fabric) {
            note(fabric);
        }
    }

    /** The same with seeds of its own. */
    static class Fixed {
        @FabricTest(seed = {42, 43, 42})
        void runs(Fabric fabric) {
            Seeded.note(fabric);
        }
    }

    /** Fails by a seed, and in a way that shows which of its runs did. */
    static class FailsBySeed {
        static int runs;

        @FabricTest(seeds = 1000)
        void fails(Fabric fabric) {
            runs++;
            assertEquals(0, fabric.scheduler().choices().below(5));
        }
    }

    /** What a test gets. */
    static class Given {
        @FabricTest(seeds = 1)
        void takes(
                Fabric fabric,
                @NodeName("server") FabricNode server,
                @NodeName("server") FabricNode same,
                @NodeName("client") FabricNode client,
                @NodeName("server") VerbsDevice device,
                @NodeName("server") VerbsDevice sameDevice) {
            assertSame(server, same);
            assertSame(device, sameDevice);
            assertEquals("client", client.name());
            assertTrue(fabric.scheduler().isRunningHere());
        }
    }

    /** A parameter that nobody can know. */
    static class Nameless {
        @FabricTest
        void takes(FabricNode node) {}
    }

    /** Ends while another process still runs. */
    static class Patient {
        static boolean ended;

        @FabricTest(seeds = 1)
        void starts(Fabric fabric, @NodeName("other") FabricNode other) {
            other.start("late", () -> {
                fabric.scheduler().sleep(60 * SECOND_NS);
                ended = true;
            });
        }
    }

    /** A process that never ends. */
    static class Endless {
        @FabricTest(seeds = 1)
        void starts(Fabric fabric, @NodeName("other") FabricNode other) {
            other.start("endless", () -> {
                while (true) {
                    fabric.scheduler().sleep(SECOND_NS);
                }
            });
        }
    }

    /** A process other than the test's fails, with an exception that is checked. */
    static class FailsElsewhere {
        @FabricTest(seeds = 1)
        void starts(@NodeName("other") FabricNode other) {
            other.start("failing", () -> {
                throw new IOException("no room");
            });
        }
    }

    /** Leaves something open, on a node that may have died. */
    static class Careless {
        static boolean killed;

        @FabricTest(seeds = 1)
        void leaves(@NodeName("node") FabricNode node) {
            VerbsDevice device = node.open(Map.of());
            ProtectionDomain domain = device.allocateProtectionDomain();
            assertTrue(domain != null);
            if (killed) {
                node.kill();
            }
        }
    }

    /** A process that is killed in the middle closes regions under its requests, if it closes anything. */
    static class Planned {
        static FaultPlan death() {
            return FaultPlan.NONE.and(new When.AtTime(SECOND_NS), new What.Kill("node"));
        }

        static FabricSettings briefly() {
            return FabricSettings.DEFAULT.with(new Scheduler.Limits(1000, 10 * SECOND_NS, 10 * SECOND_NS, 0));
        }

        @FabricTest(seeds = 1, faults = "death")
        void sleeps(Fabric fabric, @NodeName("node") FabricNode node) {
            assertTrue(node.isAlive());
            fabric.scheduler().sleep(2 * SECOND_NS);
            assertTrue(!node.isAlive());
        }

        @FabricTest(seeds = 1, settings = "briefly")
        void sleepsTooLong(Fabric fabric) {
            fabric.scheduler().sleep(20 * SECOND_NS);
        }
    }

    /** Names a plan that is not there. */
    static class Misnamed {
        @FabricTest(faults = "deth")
        void sleeps() {}
    }

    /** Kills its own node. */
    static class Suicidal {
        static FaultPlan plan() {
            return FaultPlan.NONE.and(new When.AtTime(SECOND_NS), new What.Kill("test"));
        }

        @FabricTest(seeds = 1, faults = "plan")
        void sleeps(Fabric fabric, @NodeName("other") FabricNode other) {
            other.start("sleeper", () -> fabric.scheduler().sleep(3 * SECOND_NS));
            fabric.scheduler().sleep(2 * SECOND_NS);
            throw new AssertionError("this does not happen");
        }
    }

    /** Gives up. */
    static class Assuming {
        @FabricTest(seeds = 1)
        void assumes() {
            assumeTrue(false);
        }
    }

    /** Two processes that poll one queue, where each lets the other run meanwhile. */
    static class Shared {
        static FabricSettings impatient() {
            return FabricSettings.DEFAULT.with(
                    new Scheduler.Limits(1_000_000, 10_000 * SECOND_NS, 10 * SECOND_NS, 250));
        }

        @FabricTest(seeds = 3, settings = "impatient")
        void polls(@NodeName("node") FabricNode node, @NodeName("node") VerbsDevice device) {
            CompletionQueue queue = device.createCompletionQueue(1);
            int[] pollers = {2};
            for (int i = 0; i < 2; i++) {
                node.start("poller", () -> {
                    poll(queue);
                    if (--pollers[0] == 0) {
                        queue.close();
                    }
                });
            }
        }

        private static void poll(CompletionQueue queue) {
            for (int i = 0; i < 100; i++) {
                assertEquals(0, queue.poll(WorkCompletion.array(1)));
            }
        }
    }

    /** Breaks one rule at one line many times, and fails. */
    static class Looping {
        @FabricTest(seeds = 1)
        void breaks(@NodeName("node") VerbsDevice device) {
            for (int i = 0; i < 50; i++) {
                RdmaTestTest.Rulebreaker.breakRule(device);
            }
            throw new IllegalStateException("the answer of another");
        }
    }

    /** Its client finds nobody, while its server waits for a client and fails first. */
    static class Elsewhere {
        @FabricTest(seeds = 1)
        void connects(Fabric fabric, @NodeName("server") FabricNode server) {
            server.start("server", () -> {
                fabric.scheduler().sleep(SECOND_NS);
                throw new IOException("no client came");
            });
            try (Waits waits = () -> fabric.scheduler().sleep(10 * SECOND_NS)) {
                assertSame(waits, waits);
                throw new IllegalStateException("nobody listens");
            }
        }

        private interface Waits extends AutoCloseable {
            @Override
            void close();
        }
    }

    /** What fabrics of tests do by themselves, with and without an adversary. */
    static class Adverse {
        static final List<Set<Habit>> HABITS = new ArrayList<>();

        static FabricSettings briefly() {
            return FabricSettings.DEFAULT.with(new Scheduler.Limits(1000, 10 * SECOND_NS, 10 * SECOND_NS, 0));
        }

        @FabricTest(seeds = 1)
        void usual(Fabric fabric) {
            assertEquals(Set.of(), fabric.habits());
        }

        @FabricTest(seeds = 1, adversary = true)
        void adverse(Fabric fabric) {
            HABITS.add(fabric.habits());
        }

        @FabricTest(seeds = 1, adversary = true, settings = "briefly")
        void adverseAndBrief(Fabric fabric) {
            HABITS.add(fabric.habits());
            assertThrows(Unwinding.class, () -> fabric.scheduler().sleep(20 * SECOND_NS));
        }
    }

    @Test
    void shouldNameABrokenRuleInTheMessageOfTheFailure() {
        String message = TestRun.of(Looping.class).message();

        assertTrue(
                message.matches("(?s).*\njava.lang.IllegalStateException: the answer of another\n"
                        + "and broke a rule of verbs: ARENA_CLOSED at RdmaTestTest\\.java:\\d+ \\(50 times\\)"),
                message);
    }

    @Test
    void shouldTellWhatWasThrownElsewhere() {
        Throwable failure = TestRun.of(Elsewhere.class).failure();

        String message = String.valueOf(failure.getMessage());
        assertTrue(
                message.endsWith("\njava.io.IOException: no client came"
                        + "\nand elsewhere on the fabric: java.lang.IllegalStateException: nobody listens"),
                message);
        assertEquals(
                "nobody listens",
                Objects.requireNonNull(failure.getCause()).getSuppressed()[0].getMessage());
    }

    @Test
    void shouldDoWhateverVerbsAllowWhereTheTestAsksForIt() {
        Adverse.HABITS.clear();
        TestRun run = TestRun.of(Adverse.class);

        assertTrue(run.message().contains("no end after"), run::toString);
        Set<Habit> all = EnumSet.allOf(Habit.class);
        assertEquals(List.of(all, all), Adverse.HABITS);
    }

    @Test
    void shouldTakeOtherSeedsEachTime() {
        Seeded.SEEDS.clear();
        assertTrue(TestRun.of(Seeded.class).isGreen());
        assertTrue(TestRun.of(Seeded.class).isGreen());

        Set<Long> all = new HashSet<>(Seeded.SEEDS);
        assertEquals(14, all.size(), Seeded.SEEDS::toString);
    }

    @Test
    void shouldTakeAsManySeedsAsTheParameterSays() {
        Seeded.SEEDS.clear();
        TestRun run = TestRun.of(Seeded.class, Map.of("softrdma.seeds", "3"));

        assertTrue(run.isGreen(), run::toString);
        assertEquals(3, Seeded.SEEDS.size());
        assertEquals(
                List.of("seed " + Seeded.SEEDS.get(0), "seed " + Seeded.SEEDS.get(1), "seed " + Seeded.SEEDS.get(2)),
                run.names());
    }

    @Test
    void shouldDoTheSameBySameSeed() {
        Seeded.SEEDS.clear();
        Seeded.CHOICES.clear();
        TestRun run = TestRun.of(Fixed.class);

        assertTrue(run.isGreen(), run::toString);
        assertEquals(List.of(42L, 43L, 42L), Seeded.SEEDS);
        assertEquals(Seeded.CHOICES.get(0), Seeded.CHOICES.get(2));
        assertNotEquals(Seeded.CHOICES.get(0), Seeded.CHOICES.get(1));
    }

    @Test
    void shouldStopAtTheFirstFailureAndSayHowToRepeatIt() {
        FailsBySeed.runs = 0;
        TestRun run = TestRun.of(FailsBySeed.class);

        AssertionFailedError failure = (AssertionFailedError) run.failure();
        assertEquals(FailsBySeed.runs, run.names().size());
        assertTrue(FailsBySeed.runs < 1000);
        SimulationException trace = assertInstanceOf(SimulationException.class, failure.getCause());
        String seed = Long.toString(trace.seed());
        assertTrue(run.message().contains("@FabricTest(seed = " + seed + ")"), run.message());
        assertTrue(run.message().contains("-Dsoftrdma.seed=" + seed), run.message());
        assertEquals(FailsBySeed.class.getName(), firstOfTheTest(failure).getClassName());

        TestRun again = TestRun.of(FailsBySeed.class, Map.of("softrdma.seed", seed));

        assertEquals(List.of("seed " + seed), again.names());
        AssertionFailedError repeated = (AssertionFailedError) again.failure();
        assertEquals(0, repeated.getExpected().getValue());
        assertEquals(failure.getActual().getValue(), repeated.getActual().getValue());
    }

    private static StackTraceElement firstOfTheTest(Throwable failure) {
        for (StackTraceElement frame : failure.getStackTrace()) {
            if (!frame.getClassName().startsWith("org.junit.")) {
                return frame;
            }
        }
        throw new AssertionError("no frame of the test", failure);
    }

    @Test
    void shouldGiveNodesAndDevicesByName() {
        TestRun run = TestRun.of(Given.class);

        assertTrue(run.isGreen(), run::toString);
    }

    @Test
    void shouldAskForTheNameOfANode() {
        String message = TestRun.of(Nameless.class).message();

        assertTrue(message.contains("@NodeName(\"server\")"), message);
    }

    @Test
    void shouldWaitForTheProcessesThatTheTestHasStarted() {
        Patient.ended = false;
        TestRun run = TestRun.of(Patient.class);

        assertTrue(run.isGreen(), run::toString);
        assertTrue(Patient.ended);
    }

    @Test
    void shouldFailWhenAProcessNeverEnds() {
        TestRun run = TestRun.of(Endless.class);

        assertTrue(run.message().contains("still run"), run.message());
        assertTrue(String.valueOf(run.failure().getCause()).contains("other/endless"), run.message());
    }

    @Test
    void shouldFailWhenAnotherProcessDoes() {
        String message = TestRun.of(FailsElsewhere.class).message();

        assertTrue(message.endsWith("java.io.IOException: no room"), message);
    }

    @Test
    void shouldNameWhatIsLeftOpenOnALivingNode() {
        Careless.killed = false;
        String message = TestRun.of(Careless.class).message();

        assertTrue(message.contains("left open at the end of the test: 2"), message);
        assertTrue(message.contains("protection domain"), message);
        assertTrue(message.contains("Careless.leaves"), message);
    }

    @Test
    void shouldNotExpectADeadNodeToCloseAnything() {
        Careless.killed = true;
        TestRun run = TestRun.of(Careless.class);

        assertTrue(run.isGreen(), run::toString);
    }

    @Test
    void shouldTakeFaultsAndSettingsFromMethodsOfTheTest() {
        TestRun run = TestRun.of(Planned.class);

        assertTrue(run.message().contains("no end after"), run.message());
        assertEquals(2, run.names().size());
    }

    @Test
    void shouldSayWhichMethodIsMissing() {
        String message = TestRun.of(Misnamed.class).message();

        assertTrue(message.contains("no static FaultPlan deth() in " + Misnamed.class.getName()), message);
    }

    @Test
    void shouldNotPassWhenTheTestItselfIsKilled() {
        String message = TestRun.of(Suicidal.class).message();

        assertTrue(message.contains("it was killed in the middle"), message);
    }

    @Test
    void shouldAbortByAnAssumption() {
        assertEquals(1, TestRun.of(Assuming.class).aborted());
    }

    @Test
    void shouldLetProcessesShareAQueue() {
        TestRun run = TestRun.of(Shared.class);

        assertTrue(run.isGreen(), run::toString);
    }
}
