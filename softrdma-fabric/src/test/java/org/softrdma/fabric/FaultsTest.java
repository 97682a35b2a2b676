package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.verbs.CompletionStatus;

/** What the software RNIC does when something goes wrong between two nodes, at every place and time where it can. */
class FaultsTest {
    /** In a sample one byte in so many. */
    private static final int STEP = Integer.getInteger("softrdma.sample", 1) == 1 ? 1 : 7;

    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private static Exchange exchange(long seed, FaultPlan plan) {
        return exchange(seed, plan, Map.of());
    }

    private static Exchange exchange(long seed, FaultPlan plan, Map<String, String> options) {
        Exchange exchange = new Exchange(seed, FabricSettings.DEFAULT.with(plan), options);
        exchange.run();
        return exchange;
    }

    /** By any of some seeds the plan costs nothing but time; returns the most it took, in nanoseconds. */
    private static long requireSuccess(FaultPlan plan) {
        long longestNs = 0;
        for (long seed = 0; seed < 20; seed++) {
            Exchange exchange = exchange(seed, plan);
            assertEquals(Set.of(CompletionStatus.SUCCESS), EnumSet.copyOf(exchange.statuses()), "seed " + seed);
            longestNs = Math.max(longestNs, exchange.tookNs());
        }
        return longestNs;
    }

    private static FaultPlan plan(When when, What what) {
        return FaultPlan.NONE.and(when, what);
    }

    @Test
    void shouldSucceedWhereNothingGoesWrong() {
        Exchange exchange = exchange(1, FaultPlan.NONE);

        assertEquals(Set.of(CompletionStatus.SUCCESS), EnumSet.copyOf(exchange.statuses()));
        assertEquals("", exchange.failure());
    }

    @Tag("sampled")
    @ParameterizedTest
    @ValueSource(strings = {"client", "server"})
    void shouldEndEveryRequestWhereverTheConnectionIsReset(String from) {
        String to = from.equals("client") ? "server" : "client";
        int broken = 0;
        for (long bytes = 0; bytes < 700; bytes += STEP) {
            Exchange exchange = exchange(bytes, plan(new When.AfterBytes(from, to, bytes), new What.Reset()));
            broken += exchange.isBroken() ? 1 : 0;
        }

        assertTrue(broken > 50 / STEP, "only " + broken + " of " + 700 / STEP + " resets had an effect");
    }

    @ParameterizedTest
    @ValueSource(strings = {"client", "server"})
    void shouldEndEveryRequestWhenANodeIsKilledAtAnyByte(String victim) {
        for (long bytes = 0; bytes < 300; bytes += 7) {
            exchange(bytes, plan(new When.AfterBytes(When.ANY, When.ANY, bytes), new What.Kill(victim)));
        }
    }

    @Test
    void shouldFindThatAHostIsGone() {
        for (long seed = 0; seed < 20; seed++) {
            Exchange exchange = exchange(
                    seed,
                    plan(
                            new When.OnMessage("client", "server", MessageKind.READ_REQUEST, 1),
                            new What.PowerOff("server")));
            List<CompletionStatus> statuses = exchange.statuses();

            assertTrue(statuses.contains(CompletionStatus.RETRY_EXCEEDED_ERROR), "seed " + seed + ": " + statuses);
        }
    }

    @Test
    void shouldSurviveAPartitionThatEndsWithinTheHostTimeout() {
        long tookNs = requireSuccess(plan(
                new When.OnMessage("client", "server", MessageKind.WRITE, 1),
                new What.Partition("client", "server", 3 * SECOND_NS)));

        assertTrue(tookNs >= 3 * SECOND_NS, "took " + tookNs + " ns");
    }

    @Test
    void shouldSurviveANodeThatStandsStillForAWhile() {
        long tookNs = requireSuccess(plan(
                new When.OnMessage("client", "server", MessageKind.READ_REQUEST, 1),
                new What.Pause("server", 5 * SECOND_NS, true)));

        assertTrue(tookNs >= 5 * SECOND_NS, "took " + tookNs + " ns");
    }

    @Test
    void shouldServeReadsWhileTheProcessesOfTheNodeStandStill() {
        long tookNs = requireSuccess(plan(
                new When.OnMessage("client", "server", MessageKind.WRITE, 1),
                new What.Pause("server", 30 * SECOND_NS, false)));

        assertTrue(tookNs < 20 * SECOND_NS, "took " + tookNs + " ns");
    }

    @Test
    void shouldSeeEveryChangedBitWithCrcAndPlaceNothingOfIt() {
        for (long bytes = 100; bytes < 1500; bytes += 13) {
            Exchange exchange = exchange(
                    bytes,
                    plan(new When.AfterBytes("client", "server", bytes), new What.Corrupt((int) (bytes % 8))),
                    Map.of("crc", "on"));

            assertEquals(0, exchange.wrongBytes(), "a bit changed behind " + bytes + " bytes");
        }
    }

    @Test
    void shouldDelayWithoutHarm() {
        Fault fault = new Fault(
                new When.OnMessage(When.ANY, When.ANY, MessageKind.READ_RESPONSE, 0),
                new What.Delay(SECOND_NS / 10),
                500,
                10);

        long tookNs = requireSuccess(FaultPlan.NONE.and(fault));

        assertTrue(tookNs >= SECOND_NS / 10, "took " + tookNs + " ns");
    }

    @Test
    void shouldHappenOnceOnAConnectionWhereItHappensAtAPlace() {
        Fault fault = new Fault(new When.AfterBytes("client", "server", 300), new What.Delay(SECOND_NS), 1000, 2);
        Exchange exchange = exchange(1, FaultPlan.NONE.and(fault));

        assertTrue(
                exchange.tookNs() >= SECOND_NS && exchange.tookNs() < 2 * SECOND_NS,
                "delayed by " + exchange.tookNs() + " ns");
    }

    @Test
    void shouldRefuseAPlanThatNamesAnUnknownNode() {
        SimulationException failure = assertThrows(
                SimulationException.class, () -> exchange(1, plan(new When.AtTime(0), new What.Kill("serevr"))));

        assertTrue(String.valueOf(failure.getMessage()).contains("\"serevr\""), failure.getMessage());
    }
}
