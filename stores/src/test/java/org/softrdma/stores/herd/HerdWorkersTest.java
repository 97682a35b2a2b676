package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.FabricStores;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.herd.transport.HerdAnswers;
import org.softrdma.stores.herd.transport.HerdChannel;
import org.softrdma.stores.herd.transport.HerdChannels;
import org.softrdma.stores.herd.transport.RcChannels;
import org.softrdma.stores.herd.wire.HerdForms;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdRequestForm;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdTestRequest;
import org.softrdma.verbs.device.VerbsDevice;

/** Workers: one that has a thread of its own stops nobody but itself. */
class HerdWorkersTest {
    private static final int KEYS = 12;
    private static final byte[] VALUE = new byte[8];
    private static final int TURNS = 100;
    /** Whose memory a server with room for one client holds is fewer. */
    private static final int MOST_CAME = 20;

    private static final long CLIENT = 4711;
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(300);

    /** PUTs of all keys; the outcome of each. */
    private static Map<String, Outcome> putAll(StoreClient client) {
        Map<String, Outcome> outcomes = new HashMap<>();
        for (int i = 0; i < KEYS; i++) {
            String key = "key" + i;
            outcomes.put(
                    key, HerdRun.outcome(client, client.startPut(HerdRun.bytes(key), MemorySegment.ofArray(VALUE), i)));
        }
        return outcomes;
    }

    @ParameterizedTest
    @EnumSource
    void shouldServeTheKeysOfOthersWhileAWorkerStandsStill(HerdForm form) {
        form.run().threads().timeoutNs(TIMEOUT_NS).run(it -> {
            Agent still = it.running().workers().get(1);
            try (VerbsDevice device = it.open(it.clientNode());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                it.running().stand(still, true);
                Map<String, Outcome> outcomes = putAll(store.client());
                List<String> lost = new ArrayList<>();
                outcomes.forEach((key, outcome) -> {
                    if (outcome == Outcome.LOST) {
                        lost.add(key);
                    } else {
                        assertEquals(Outcome.STORED, outcome, key);
                    }
                });
                assertTrue(!lost.isEmpty() && lost.size() < KEYS, lost + " are lost");
                it.running().stand(still, false);
                it.sleep(2 * HerdRun.SECOND_NS);
                int ignored = store.client().poll((tag, outcome, memory, offset, length) -> {});
                for (String key : outcomes.keySet()) {
                    boolean mayMiss = form.losesSlots() && lost.contains(key); // it may have said hello again
                    assertTrue(store.get(HerdRun.bytes(key)).isPresent() || mayMiss, key);
                }
            }
        });
    }

    /** A worker between two turns touches nobody: the memory of former clients need not wait for it. */
    @ParameterizedTest
    @EnumSource
    void shouldLetClientsComeAndGoWithoutEndWhileAWorkerStandsBetweenTwoTurns(HerdForm form) {
        form.run().threads().connections(1).timeoutNs(TIMEOUT_NS / 10).run(it -> {
            FabricStores.RunningServer running = it.running();
            long without = regions(running);
            running.stand(running.workers().get(1), true);
            for (int came = 0; came < MOST_CAME; came++) {
                assertTrue(comesAndGoes(it, form), "client " + came);
            }
            it.sleep(form.noticeNs());
            assertEquals(without, regions(running), "what former clients had");
            running.stand(running.workers().get(1), false);
        });
    }

    /** Others come and go; only when too much memory of former clients waits for the worker, nobody comes any more. */
    @ParameterizedTest
    @EnumSource
    void shouldFreeTheMemoryOfFormerClientsWhenAWorkerGoesOn(HerdForm form) {
        form.run().threads().connections(1).timeoutNs(TIMEOUT_NS / 10).run(it -> {
            FabricStores.RunningServer running = it.running();
            long without = regions(running);
            it.standInATurn(true);
            int came = 0;
            while (came < 100 && comesAndGoes(it, form)) {
                came++;
            }
            // A client without a connection comes again if it hears nothing for a second.
            assertTrue(came >= (form.losesSlots() ? 3 : 16) && came < MOST_CAME, came + " clients");
            assertNotEquals(without, regions(running));
            it.standInATurn(false);
            it.sleep(HerdRun.SECOND_NS + form.noticeNs());
            assertEquals(without, regions(running), "what former clients had");
            assertTrue(comesAndGoes(it, form));
        });
    }

    private static long regions(FabricStores.RunningServer running) {
        return running.device().counters().getOrDefault("memoryRegions", 0L);
    }

    /** A client connects, is answered by the worker that works, and leaves; false if it is not let in, or not again. */
    private static boolean comesAndGoes(HerdRun it, HerdForm form) {
        try (VerbsDevice device = it.open(it.clientNode());
                StoreClient client = it.client(device)) {
            if (!putAll(client).containsValue(Outcome.STORED)) {
                return false;
            }
        } catch (StoreException e) {
            return false;
        }
        it.sleep(form.noticeNs());
        return true;
    }

    /** A turn's answers to a client, or by datagrams to all clients, are one list. Packets that overtake others are lost. */
    @ParameterizedTest
    @EnumSource
    void shouldSendTheAnswersOfATurnWithOneDoorbell(HerdForm form) {
        PostedRequests posted = new PostedRequests();
        form.run()
                .options(Map.of("workers", "1"))
                .retryUs(10_000_000)
                .posting(posted)
                .run(it -> {
                    try (VerbsDevice device = it.open(it.clientNode());
                            StoreClient client = it.client(device)) {
                        int lists = posted.lists();
                        int all = posted.all().size();
                        it.serverNode().pauseProcesses(HerdRun.SECOND_NS / 10);
                        for (int i = 0; i < client.window(); i++) {
                            assertTrue(client.startGet(HerdRun.bytes("key" + i), i));
                        }
                        int answers = client.await(
                                HerdRun.HOUR_NS,
                                (tag, outcome, memory, offset, length) -> assertEquals(Outcome.MISSING, outcome));
                        assertTrue(answers > 0);
                        assertEquals(1, posted.lists() - lists);
                        assertTrue(posted.all().size() - all > 1, "one doorbell for one answer");
                    }
                });
    }

    /** A request that is not in the next slot of the ring, as where one was lost, is found. */
    @Test
    void shouldFindARequestBehindAnEmptySlot() {
        HerdRun.of(Protocol.SAFE).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    HerdChannels channels =
                            new RcChannels(device, it.clientContext().servers().getFirst(), HerdAnswers.SENT, false);
                    HerdChannel channel =
                            channels.connect(it.clientContext().conclude(), new StoreCounters(), CLIENT)) {
                HerdShape shape = channel.welcome().shape();
                HerdTestRequest any = HerdTestRequest.get(0, 1, 1);
                HerdRequestForm form = HerdForms.of(
                        Protocol.SAFE,
                        channel.welcome().maxKeyLength(),
                        channel.welcome().maxValueLength(),
                        channel.welcome().seed());
                long hash = form.hash(any.memory(), any.keyAt(), any.keyLength());
                int slot = shape.firstSlot(shape.worker(hash)) + 3;
                channel.write(
                        slot,
                        form.put(channel.slots(), channel.view(), shape.end(slot), HerdTestRequest.get(slot, 1, 1)));
                int[] answered = new int[1];
                for (int i = 0; i < TURNS && answered[0] == 0; i++) {
                    assertTrue(channel.poll((memory, at, length) -> {
                        assertEquals(slot, HerdReplyDescriptor.slot(memory, at));
                        answered[0]++;
                    }));
                    it.sleep(HerdRun.SECOND_NS / TURNS);
                }
                assertEquals(1, answered[0]);
            }
        });
    }
}
