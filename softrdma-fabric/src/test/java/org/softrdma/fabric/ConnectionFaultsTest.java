package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
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
import org.softrdma.verbs.VerbsException;

/** Faults of one connection, and how a plan addresses it: what the application sees of them. */
class ConnectionFaultsTest {
    private static final int SEEDS = 20;
    private static final int WRITES = 6;
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final When EACH_WRITE = new When.OnMessage("client", "server", MessageKind.WRITE, When.EACH);

    private interface SeedBody {
        void run(long seed, Links links);
    }

    private static void bySeeds(FaultPlan plan, int connections, SeedBody body) {
        for (long seed = 0; seed < SEEDS; seed++) {
            long now = seed;
            Links.run(seed, plan, connections, links -> body.run(now, links));
        }
    }

    private static FaultPlan plan(When when, What what) {
        return FaultPlan.NONE.and(when, what);
    }

    /**
     * WRITEs words one after the other with wrIds from 10 on; returns how many are there when the connection is over.
     */
    private static int writtenUntilTheEnd(Links links) {
        for (int word = 0; word < WRITES; word++) {
            links.post(0, 10L + word, word);
        }
        for (int word = 0; word < WRITES; word++) {
            links.end(10L + word);
        }
        links.awaitEnd(0);
        return links.written();
    }

    // ---- cut

    @Test
    void shouldDeliverAllThatCameBeforeACutAndNothingBehindIt() {
        for (int lost = 1; lost <= WRITES; lost++) {
            int arriving = lost - 1;
            When when = new When.OnMessage("client", "server", MessageKind.WRITE, lost);
            bySeeds(
                    plan(when, new What.Cut()),
                    1,
                    (seed, links) -> assertEquals(arriving, writtenUntilTheEnd(links), "seed " + seed));
        }
    }

    @Test
    void shouldCutAtTheSameByteByEachSeed() {
        int most = 0;
        for (long bytes = 60; bytes < 170; bytes += 7) {
            int[] first = {-1};
            bySeeds(plan(new When.AfterBytes("client", "server", bytes), new What.Cut()), 1, (seed, links) -> {
                int written = writtenUntilTheEnd(links);
                first[0] = first[0] < 0 ? written : first[0];
                assertEquals(first[0], written, "seed " + seed);
            });
            assertTrue(first[0] >= most, "less is written up to byte " + bytes + " than up to one before");
            most = first[0];
        }
        assertTrue(most > 1 && most < WRITES, most + " words were written up to the last cut");
    }

    @Test
    void shouldEndARequestWhoseAnswerIsCut() {
        When answer = new When.OnMessage("server", "client", MessageKind.READ_RESPONSE, 1);
        bySeeds(plan(answer, new What.Cut()), 1, (seed, links) -> {
            assertNotEquals(CompletionStatus.SUCCESS, links.read(0, 1), "seed " + seed);
            links.awaitEnd(0);
        });
    }

    // ---- stall

    @Test
    void shouldGoOnBehindAStallThatEndsWithinTheHostTimeout() {
        bySeeds(plan(EACH_WRITE, new What.Stall(3 * SECOND_NS)), 1, (seed, links) -> {
            long beginNs = links.fabric().clock().nanoTime();
            assertEquals(CompletionStatus.SUCCESS, links.write(0, 1, 0));
            assertEquals(CompletionStatus.SUCCESS, links.read(0, 2), "seed " + seed);
            long tookNs = links.fabric().clock().nanoTime() - beginNs;
            assertTrue(tookNs >= 3 * SECOND_NS && tookNs < 4 * SECOND_NS, "took " + tookNs + " ns");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"client", "server"})
    void shouldGiveAConnectionUpThatIsStalledForEverInEitherDirection(String from) {
        MessageKind kind = from.equals("client") ? MessageKind.READ_REQUEST : MessageKind.READ_RESPONSE;
        When when = new When.OnMessage(from, When.ANY, kind, 1);
        bySeeds(
                plan(when, new What.Stall(What.FOREVER)),
                1,
                (seed, links) -> assertEquals(CompletionStatus.RETRY_EXCEEDED_ERROR, links.read(0, 1), "seed " + seed));
    }

    // ---- the handshake

    /** A socket takes a frame of the handshake whole, and the fault happens in the middle of it. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 7, 19})
    void shouldStallInTheMiddleOfAHandshakeFrame(long bytes) {
        for (String from : new String[] {"client", "server"}) {
            When when = new When.AfterBytes(from, When.ANY, bytes);
            bySeeds(plan(when, new What.Stall(3 * SECOND_NS)), 1, (seed, links) -> {
                long nowNs = links.fabric().clock().nanoTime();
                assertTrue(nowNs >= 3 * SECOND_NS, "seed " + seed + ": connected after " + nowNs + " ns");
                assertEquals(CompletionStatus.SUCCESS, links.write(0, 1, 0), "seed " + seed);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 7, 19})
    void shouldNotConnectWhenAHandshakeFrameIsCut(long bytes) {
        for (String from : new String[] {"client", "server"}) {
            When when = new When.AfterBytes(from, When.ANY, bytes);
            for (What what : new What[] {new What.Cut(), new What.Reset()}) {
                SimulationException failed = assertThrows(
                        SimulationException.class,
                        () -> bySeeds(plan(when, what), 1, (seed, links) -> assertEquals(0, seed, "connected")));
                assertFalse(String.valueOf(failed.getMessage()).contains("no room"), failed::getMessage);
                assertInstanceOf(VerbsException.class, failed.getCause());
            }
        }
    }

    // ---- a slow reader

    @Test
    void shouldWaitForAReaderThatTakesFewBytes() {
        bySeeds(plan(EACH_WRITE, new What.Slow(8, SECOND_NS / 100)), 1, SeedBodies::requireSlow);
    }

    @Test
    void shouldWaitForANodeThatReadsSlowlyOnAConnectionToCome() {
        bySeeds(plan(new When.AtTime(0), new What.SlowNode("server", 8, SECOND_NS / 100)), 1, SeedBodies::requireSlow);
    }

    /** Bodies of more than one test. */
    private static final class SeedBodies {
        private SeedBodies() {}

        static void requireSlow(long seed, Links links) {
            long beginNs = links.fabric().clock().nanoTime();
            for (int word = 0; word < WRITES; word++) {
                assertEquals(CompletionStatus.SUCCESS, links.write(0, word, word), "seed " + seed);
            }
            assertEquals(CompletionStatus.SUCCESS, links.read(0, WRITES), "seed " + seed);
            long tookNs = links.fabric().clock().nanoTime() - beginNs;
            // Each WRITE has 28 bytes on the wire, the READ request 56.
            assertTrue(tookNs >= WRITES * 3 * SECOND_NS / 100, "took " + tookNs + " ns");
            assertEquals(WRITES, links.written());
        }
    }

    // ---- which connection, request and occasion

    @Test
    void shouldHappenToTheConnectionWithTheNumber() {
        When second = new When.OnMessage("client", "server", MessageKind.WRITE, When.EACH, 2);
        bySeeds(plan(second, new What.Cut()), 3, (seed, links) -> {
            for (int other : new int[] {0, 2}) {
                assertEquals(CompletionStatus.SUCCESS, links.write(other, 3, other), "seed " + seed);
                assertEquals(CompletionStatus.SUCCESS, links.read(other, 4), "seed " + seed);
            }
            CompletionStatus ignored = links.write(1, 2, 0);
            links.awaitEnd(1);
        });
    }

    @Test
    void shouldHappenToTheMessageOfTheRequestWithTheWrId() {
        for (int lost = 0; lost < WRITES; lost++) {
            int arriving = lost;
            When when = new When.OnRequest("client", "server", 10L + lost);
            bySeeds(
                    plan(when, new What.Cut()),
                    1,
                    (seed, links) -> assertEquals(arriving, writtenUntilTheEnd(links), "seed " + seed));
        }
    }

    /** What sends nothing is no message. */
    @Test
    void shouldHappenToTheMessageOfTheRequestAmongRequestsWithoutOne() {
        When when = new When.OnRequest("client", "server", 12);
        bySeeds(plan(when, new What.Cut()), 1, (seed, links) -> {
            links.postLocal(0, 1);
            assertEquals(CompletionStatus.SUCCESS, links.write(0, 10, 0), "seed " + seed);
            links.postLocal(0, 2);
            links.postLocal(0, 3);
            assertEquals(CompletionStatus.SUCCESS, links.write(0, 11, 1), "seed " + seed);
            links.postLocal(0, 4);
            CompletionStatus ignored = links.write(0, 12, 2);
            links.awaitEnd(0);
            assertEquals(2, links.written(), "seed " + seed);
        });
    }

    @Test
    void shouldHappenAtTheNthOccasion() {
        FaultPlan third = FaultPlan.NONE.and(new Fault(EACH_WRITE, new What.Cut(), Fault.ALWAYS, 1, 2));
        bySeeds(third, 1, (seed, links) -> assertEquals(2, writtenUntilTheEnd(links), "seed " + seed));
    }

    @Test
    void shouldHappenInSomeRunsWhereItIsToHappenSometimes() {
        FaultPlan sometimes = FaultPlan.NONE.and(new Fault(EACH_WRITE, new What.Stall(SECOND_NS), 300, 1));
        int[] slow = new int[1];
        bySeeds(sometimes, 1, (seed, links) -> {
            long beginNs = links.fabric().clock().nanoTime();
            assertEquals(CompletionStatus.SUCCESS, links.write(0, 1, 0));
            assertEquals(CompletionStatus.SUCCESS, links.read(0, 2));
            slow[0] += links.fabric().clock().nanoTime() - beginNs >= SECOND_NS ? 1 : 0;
        });
        assertTrue(slow[0] > 0 && slow[0] < SEEDS, slow[0] + " of " + SEEDS + " runs were stalled");
    }
}
