package org.softrdma.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Tests with devices of this process: what they get, and what they are told of when it stays open or breaks a rule. */
class RdmaTestTest {
    /** Every parameter is a device of its own, and closed after the test. */
    static class Given {
        static @Nullable VerbsDevice kept;

        @RdmaTest
        void takes(VerbsDevice one, VerbsDevice other) {
            assertTrue(one != other);
            try (ProtectionDomain domain = one.allocateProtectionDomain()) {
                assertTrue(domain != null);
            }
            kept = one;
        }
    }

    /** Opens in one method, closes in another. */
    static class ClosedAfterwards {
        private CompletionQueue queue;

        @BeforeEach
        void open(VerbsDevice device) {
            queue = device.createCompletionQueue(1);
        }

        @RdmaTest
        void uses() {
            assertEquals(1, queue.entries());
        }

        @AfterEach
        void close() {
            queue.close();
        }
    }

    /** Leaves one thing of each kind open. */
    static class Careless {
        @RdmaTest
        void leaves(VerbsDevice device) {
            ProtectionDomain domain = device.allocateProtectionDomain();
            HostMemory memory = device.allocateMemory(64);
            MemoryRegion region = domain.register(memory.segment(), Set.of(AccessFlag.LOCAL_WRITE));
            CompletionQueue queue = device.createCompletionQueue(16);
            Listener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
            assertEquals(5, List.of(domain, memory, region, queue, listener).size());
        }
    }

    /** Breaks a rule of verbs: a region is closed behind its memory. */
    static class Rulebreaker {
        static void breakRule(VerbsDevice device) {
            try (ProtectionDomain domain = device.allocateProtectionDomain()) {
                Arena arena = Arena.ofShared();
                MemoryRegion region = domain.register(arena.allocate(64), Set.of(AccessFlag.LOCAL_WRITE));
                arena.close();
                region.close();
            }
        }

        @RdmaTest
        void breaks(VerbsDevice device) {
            breakRule(device);
        }
    }

    /** The same, and nobody minds. */
    static class Tolerated {
        @RdmaTest(sanitised = false)
        void breaks(VerbsDevice device) {
            Rulebreaker.breakRule(device);
        }
    }

    /** Breaks a rule, and fails. */
    static class Failing {
        @RdmaTest
        void fails(VerbsDevice device) {
            Rulebreaker.breakRule(device);
            assertEquals("one thing", "another");
        }
    }

    /** Breaks one rule at one line many times, as a loop does. */
    static class Looping {
        @RdmaTest
        void breaks(VerbsDevice device) {
            for (int i = 0; i < 50; i++) {
                Rulebreaker.breakRule(device);
            }
        }
    }

    /** The same, and fails by an exception of its own. */
    static class LoopingAndFailing {
        @RdmaTest
        void breaks(VerbsDevice device) {
            for (int i = 0; i < 50; i++) {
                Rulebreaker.breakRule(device);
            }
            throw new IllegalStateException("the answer of another");
        }
    }

    @Test
    void shouldGiveDevicesAndCloseThem() {
        TestRun run = TestRun.of(Given.class);

        assertTrue(run.isGreen(), run::toString);
        assertEquals("CLOSED", stateOf(Objects.requireNonNull(Given.kept)));
    }

    private static String stateOf(VerbsDevice device) {
        try (ProtectionDomain domain = device.allocateProtectionDomain()) {
            return "open, for it has " + domain;
        } catch (RuntimeException e) {
            return "CLOSED";
        }
    }

    @Test
    void shouldWaitForTheMethodsAfterTheTest() {
        TestRun run = TestRun.of(ClosedAfterwards.class);

        assertTrue(run.isGreen(), run::toString);
    }

    @Test
    void shouldNameWhatIsLeftOpenAndWhereItWasCreated() {
        String message = TestRun.of(Careless.class).message();

        assertTrue(message.startsWith("left open at the end of the test: 5"), message);
        for (String each :
                List.of("protection domain", "memory of 64 bytes", "the region", "completion queue", "listener")) {
            assertTrue(message.contains("\n  " + each), each + " in " + message);
        }
        assertEquals(5, message.split("\n    at .*Careless.leaves").length - 1, message);
    }

    @Test
    void shouldFailOnABrokenRule() {
        String message = TestRun.of(Rulebreaker.class).message();

        assertTrue(message.contains("ARENA_CLOSED"), message);
    }

    @Test
    void shouldTolerateABrokenRuleWhereTheTestSaysSo() {
        TestRun run = TestRun.of(Tolerated.class);

        assertTrue(run.isGreen(), run::toString);
    }

    @Test
    void shouldAddABrokenRuleToTheFailureOfTheTest() {
        Throwable failure = TestRun.of(Failing.class).failure();

        assertTrue(String.valueOf(failure.getMessage()).contains("one thing"), failure::toString);
        assertTrue(String.valueOf(failure.getSuppressed()[0].getMessage()).contains("ARENA_CLOSED"), failure::toString);
        assertEquals(Failing.class.getName(), firstOfTheTest(failure).getClassName());
    }

    private static StackTraceElement firstOfTheTest(Throwable failure) {
        return Arrays.stream(failure.getStackTrace())
                .filter(frame -> !frame.getClassName().startsWith("org.junit."))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldShowAFindingOnceAndHowOftenItCame() {
        String message = TestRun.of(Looping.class).message();

        assertTrue(message.startsWith("broken rules of verbs: ARENA_CLOSED at RdmaTestTest.java:"), message);
        assertTrue(message.lines().findFirst().orElseThrow().endsWith(" (50 times)"), message);
        assertEquals(1, message.split("\n  rule: ", -1).length - 1, message);
        assertTrue(message.contains("\n  times: 50; this is the first"), message);
    }

    @Test
    void shouldNameABrokenRuleInTheMessageOfTheFailure() {
        Throwable failure = TestRun.of(LoopingAndFailing.class).failure();

        List<String> message = String.valueOf(failure.getMessage()).lines().toList();
        assertEquals("java.lang.IllegalStateException: the answer of another", message.get(0));
        assertTrue(
                message.get(1)
                        .matches("and broke a rule of verbs: ARENA_CLOSED at RdmaTestTest\\.java:\\d+ \\(50 times\\)"),
                message::toString);
        assertEquals(2, message.size(), message::toString);
        assertInstanceOf(IllegalStateException.class, failure.getCause());
        String finding = String.valueOf(failure.getSuppressed()[0].getMessage());
        assertEquals(1, finding.split("\n  rule: ", -1).length - 1, finding);
    }
}
