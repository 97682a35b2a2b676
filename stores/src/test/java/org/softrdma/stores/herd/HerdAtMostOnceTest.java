package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.fabric.network.DatagramSettings;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Requests that are repeated and delayed are executed once, in the mended form; and in the published one more than once. A
 * change is a PUT of the same pair or its removal; what counts is how many changes the server has executed.
 */
class HerdAtMostOnceTest {
    private static final byte[] KEY = HerdRun.bytes("counter");
    private static final long LONG_NS = TimeUnit.MILLISECONDS.toNanos(30);
    private static final int PAPER_SEEDS = 2000;
    private static final int CHANGES = 10;

    /** The n-th answer, and all behind it, come late. */
    private static FabricSettings lateAnswer(int number) {
        return FabricSettings.DEFAULT.with(FaultPlan.NONE.and(
                new Fault(new When.OnMessage("server", "client", MessageKind.SEND, number), new What.Stall(LONG_NS))));
    }

    private static FabricSettings cut(String from, String to, MessageKind kind, int number) {
        return FabricSettings.DEFAULT.with(
                FaultPlan.NONE.and(new Fault(new When.OnMessage(from, to, kind, number), new What.Cut())));
    }

    private static Outcome put(StoreClient client, int length) {
        return HerdRun.outcome(client, client.startPut(KEY, MemorySegment.ofArray(new byte[length]), 1));
    }

    @Test
    void shouldExecuteARequestOnceThatIsWrittenAgain() {
        new HerdRun(1, lateAnswer(3), Protocol.SAFE, true).retryUs(1000).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    StoreClient client = it.client(device)) {
                assertEquals(Outcome.STORED, put(client, 8));
                assertEquals(Outcome.STORED, put(client, 16)); // its answer is late
                assertNotEquals(0, client.counters().get(StoreCounter.DUPLICATES));
                assertEquals(Outcome.REMOVED, HerdRun.outcome(client, client.startRemove(KEY, 2)));
                assertEquals(Outcome.MISSING, HerdRun.outcome(client, client.startGet(KEY, 3)));
                assertEquals(3, it.server().changes());
                assertNotEquals(0, it.server().counters().get(StoreCounter.DUPLICATES));
                assertEquals(0, client.counters().get(StoreCounter.RECONNECTS));
            }
        });
    }

    @Test
    void shouldExecuteARequestOnceWhoseAnswerIsLostWithItsConnection() {
        for (int number = 1; number < 8; number++) {
            int lost = number;
            new HerdRun(number, cut("server", "client", MessageKind.SEND, lost + 1), Protocol.SAFE, true).run(it -> {
                try (VerbsDevice device = it.clientNode().open(Map.of());
                        StoreClient client = it.client(device)) {
                    for (int i = 0; i < 5; i++) {
                        assertEquals(Outcome.STORED, put(client, 8 * i));
                        assertEquals(Outcome.REMOVED, HerdRun.outcome(client, client.startRemove(KEY, i)));
                    }
                    assertEquals(10, it.server().changes(), "answer " + lost + " was lost");
                    assertEquals(1, client.counters().get(StoreCounter.RECONNECTS));
                    assertEquals(1, client.counters().get(StoreCounter.DUPLICATES));
                    assertEquals(1, it.server().counters().get(StoreCounter.DUPLICATES));
                }
            });
        }
    }

    @Test
    void shouldExecuteARequestThatIsLostWithItsConnection() {
        for (int number = 1; number < 8; number++) {
            new HerdRun(number, cut("client", "server", MessageKind.WRITE, number), Protocol.SAFE, true).run(it -> {
                try (VerbsDevice device = it.clientNode().open(Map.of());
                        StoreClient client = it.client(device)) {
                    for (int i = 0; i < 10; i++) {
                        assertEquals(Outcome.STORED, put(client, 8 * i));
                    }
                    assertEquals(10, it.server().changes());
                    assertEquals(1, client.counters().get(StoreCounter.RECONNECTS));
                    assertEquals(0, it.server().counters().get(StoreCounter.DUPLICATES));
                }
            });
        }
    }

    /** No request waits for ever, and what nobody waits for any more is executed once all the same. */
    @Test
    void shouldEndEveryRequestInTimeWhileTheServerStandsStill() {
        HerdRun.of(Protocol.SAFE).timeoutNs(LONG_NS).retryUs(100).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    StoreClient client = it.client(device)) {
                assertEquals(Outcome.STORED, put(client, 8));
                it.serverNode().pauseProcesses(2 * HerdRun.SECOND_NS);
                int lost = 0;
                for (int i = 0; i < 2 * client.window(); i++) {
                    long beganNs = it.fabric().clock().nanoTime();
                    assertTrue(client.startPut(KEY, MemorySegment.ofArray(new byte[8]), i));
                    while (client.poll((tag, outcome, memory, offset, length) -> assertEquals(Outcome.LOST, outcome))
                            == 0) {
                        it.sleep(LONG_NS / 30); // else the clock leaps
                    }
                    lost++;
                    long tookNs = it.fabric().clock().nanoTime() - beganNs;
                    assertTrue(tookNs < 2 * LONG_NS, "it took " + tookNs + " ns");
                }
                it.sleep(2 * HerdRun.SECOND_NS);
                for (int i = 0; i < 3 * client.window(); i++) {
                    assertEquals(Outcome.STORED, put(client, 8));
                }
                long changes = it.server().changes();
                int made = 1 + 3 * client.window();
                assertTrue(changes > made && changes <= made + lost, changes + " changes");
                assertEquals(0, client.counters().get(StoreCounter.RECONNECTS), "there was a RECV for each answer");
            }
        });
    }

    /**
     * A hole in the published protocol: requests have no number, so that one which is written again, because its answer is
     * late, is executed again. Should this test fail, then paper mode is not the paper's any more.
     */
    @Test
    void shouldExecuteARequestTwiceAsPublished() {
        new HerdRun(1, lateAnswer(3), Protocol.PAPER, true).retryUs(1000).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    StoreClient client = it.client(device)) {
                assertEquals(Outcome.STORED, put(client, 8));
                assertEquals(Outcome.STORED, put(client, 16)); // its answer is late
                it.sleep(LONG_NS);
                assertEquals(3, it.server().changes(), "of two PUTs");
            }
        });
    }

    /**
     * The same hole seen by a client: answers have no number either, so that the second answer to a request is taken for
     * that to the next one of the slot: here a GET finds an empty value where there is another. Should this test fail,
     * then paper mode is not the paper's any more.
     */
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldTakeAnAnswerForAnotherAsPublished() {
        long seed = 0;
        while (seed < PAPER_SEEDS && lengthFound(lateAnswer(seed, Protocol.PAPER)) == 16) {
            seed++;
        }
        assertTrue(seed < PAPER_SEEDS, "no answer was taken for another in " + PAPER_SEEDS + " seeds");
        System.out.println("the published client takes an answer for another: seed " + seed);
    }

    @Test
    void shouldTakeNoAnswerForAnother() {
        for (long seed = 0; seed < 200; seed++) {
            assertEquals(16, lengthFound(lateAnswer(seed, Protocol.SAFE)), "seed " + seed);
        }
    }

    /**
     * The same hole by the transport that the paper has, which may double a datagram. Should this test fail, then paper mode is
     * not the paper's any more.
     */
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldTakeADoubledAnswerForAnotherAsPublished() {
        long seed = 0;
        while (seed < PAPER_SEEDS && lengthFound(doubledAnswers(seed, Protocol.PAPER)) == 16) {
            seed++;
        }
        assertTrue(seed < PAPER_SEEDS, "no answer was taken for another in " + PAPER_SEEDS + " seeds");
        System.out.println("the published client takes a doubled answer for another: seed " + seed);
    }

    @Test
    void shouldTakeNoDoubledAnswerForAnother() {
        for (long seed = 0; seed < 200; seed++) {
            assertEquals(16, lengthFound(doubledAnswers(seed, Protocol.SAFE)), "seed " + seed);
        }
    }

    private static HerdRun lateAnswer(long seed, Protocol protocol) {
        return new HerdRun(seed, lateAnswer(3), protocol, true).retryUs(1000);
    }

    /** Of 1000 datagrams 300 come twice, and 500 late. */
    private static HerdRun doubledAnswers(long seed, Protocol protocol) {
        DatagramSettings doubling = new DatagramSettings(4096, 1 << 16, 0, 300, 500, TimeUnit.MILLISECONDS.toNanos(1));
        return HerdRun.datagrams(seed, FabricSettings.DEFAULT.with(NetworkSettings.DEFAULT.with(doubling)), protocol);
    }

    /** PUTs 16 bytes, and GETs them; there is one slot for all. */
    private static long lengthFound(HerdRun run) {
        long[] found = new long[1];
        run.options(Map.of("workers", "1")).window(1).run(it -> {
            try (VerbsDevice device = it.open(it.clientNode());
                    StoreClient client = it.client(device)) {
                assertEquals(Outcome.STORED, put(client, 8));
                assertEquals(Outcome.STORED, put(client, 16));
                assertTrue(client.startGet(KEY, 2));
                int results =
                        client.await(HerdRun.HOUR_NS, (tag, outcome, memory, offset, length) -> found[0] = length);
                assertEquals(1, results);
            }
        });
        return found[0];
    }

    /**
     * The same hole by the transport that the paper has: an answer is lost, the request comes again and is executed again.
     * Should this test fail, then paper mode is not the paper's any more.
     */
    @Test
    void shouldExecuteARequestTwiceAsPublishedWhoseAnswerIsLost() {
        long seed = 0;
        while (seed < PAPER_SEEDS && changesOverALossyTransport(seed, Protocol.PAPER) == CHANGES) {
            seed++;
        }
        assertTrue(seed < PAPER_SEEDS, "no request was executed twice in " + PAPER_SEEDS + " seeds");
        System.out.println("the published server executes a request twice: seed " + seed);
    }

    @Test
    void shouldExecuteARequestOnceWhoseAnswerIsLost() {
        for (long seed = 0; seed < 50; seed++) {
            assertEquals(CHANGES, changesOverALossyTransport(seed, Protocol.SAFE), "seed " + seed);
        }
    }

    /** PUTs of which each is answered; returns how many were executed. */
    private static long changesOverALossyTransport(long seed, Protocol protocol) {
        DatagramSettings lossy = new DatagramSettings(4096, 1 << 16, 200, 0, 0, 0);
        FabricSettings settings = FabricSettings.DEFAULT.with(NetworkSettings.DEFAULT.with(lossy));
        long[] changes = new long[1];
        HerdRun.datagrams(seed, settings, protocol).run(it -> {
            try (VerbsDevice device = it.open(it.clientNode());
                    StoreClient client = it.client(device)) {
                for (int i = 0; i < CHANGES; i++) {
                    assertEquals(Outcome.STORED, put(client, 8));
                }
                changes[0] = it.server().changes();
            }
        });
        return changes[0];
    }
}
