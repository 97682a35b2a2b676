package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What HERD and NessieSD promise, cell by cell. That the mended form is linearizable and misses only what is evicted is in {@link
 * HerdRacesTest}; that it loses pairs, in {@link HerdOnFabricTest}; what the published form does not keep to, in {@link
 * HerdAtMostOnceTest}.
 */
class HerdPromisesTest {
    private static final byte[] KEY = HerdRun.bytes("key");
    private static final byte[] OTHER = HerdRun.bytes("other");
    private static final byte[] VALUE = HerdRun.bytes("value");
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long PAUSE_NS = 100 * HerdRun.SECOND_NS;

    @Test
    void shouldPromiseWhatItsPageSays() {
        assertEquals(
                new Promises(Consistency.LINEARIZABLE, true, false, false, true, true),
                StoreDesigns.named("herd-rc").promises(Protocol.SAFE));
        assertEquals(
                new Promises(Consistency.NONE, false, false, false, true, true),
                StoreDesigns.named("herd-rc").promises(Protocol.PAPER));
        for (Protocol protocol : Protocol.values()) {
            assertEquals(
                    StoreDesigns.named("herd-rc").promises(protocol),
                    StoreDesigns.named("herd").promises(protocol));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNeitherGetNorPutWhileTheServersApplicationStandsStill(HerdForm form) {
        form.run().timeoutNs(TIMEOUT_NS).run(it -> {
            try (VerbsDevice device = it.open(it.clientNode());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                assertTrue(store.put(KEY, VALUE));
                StoreClient client = store.client();
                it.serverNode().pauseProcesses(PAUSE_NS);
                assertEquals(Outcome.LOST, HerdRun.outcome(client, client.startGet(KEY, 1)));
                assertEquals(
                        Outcome.LOST, HerdRun.outcome(client, client.startPut(OTHER, MemorySegment.ofArray(VALUE), 2)));
                it.sleep(PAUSE_NS);
                assertTrue(store.get(KEY).isPresent());
                boolean made = store.get(OTHER).isPresent(); // the PUT whose answer came too late
                assertTrue(made || form.losesSlots(), "the PUT was in its slot");
            }
        });
        assertFalse(form.promises().getsWithoutServer());
        assertFalse(form.promises().putsWithoutServer());
    }

    @ParameterizedTest
    @EnumSource
    void shouldSurviveAClientsDeathAtAnyPoint(HerdForm form) {
        for (long afterNs = 0; afterNs < 400_000; afterNs += 20_000) {
            long dyingNs = afterNs;
            HerdRun run = form.run(afterNs);
            FabricNode victim = run.fabric().node("victim");
            run.run(it -> {
                SimulatedThread dying = victim.start("victim", () -> {
                    try (VerbsDevice device = it.open(victim);
                            BlockingStore store = new BlockingStore(it.client(device))) {
                        while (store.put(KEY, new byte[1000])) {
                            assertTrue(store.get(KEY).isPresent());
                        }
                    }
                });
                it.sleep(dyingNs);
                victim.kill();
                try (VerbsDevice device = it.open(it.clientNode());
                        BlockingStore store = new BlockingStore(it.client(device))) {
                    assertTrue(store.put(KEY, VALUE));
                    assertEquals(VALUE.length, store.get(KEY).orElseThrow().length);
                }
                assertTrue(it.fabric().scheduler().until(dying::isEnded, PAUSE_NS));
            });
        }
        assertTrue(form.promises().survivesClientDeath());
    }

    @ParameterizedTest
    @EnumSource
    void shouldRecoverFromARestartAndShowNothingOfTheOldLife(HerdForm form) {
        form.run().timeoutNs(HerdRun.SECOND_NS).run(it -> {
            try (VerbsDevice device = it.open(it.clientNode());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                StoreClient client = store.client();
                assertTrue(store.put(KEY, VALUE));
                it.running().stop();
                assertEquals(Outcome.LOST, HerdRun.outcome(client, client.startGet(KEY, 1)));
                assertEquals(Outcome.LOST, HerdRun.outcome(client, client.startRemove(KEY, 1)));
                it.startServer();
                it.sleep(HerdRun.SECOND_NS); // clients wait a little before they try again
                assertTrue(store.get(KEY).isEmpty());
                assertTrue(store.put(OTHER, VALUE));
                assertTrue(store.get(OTHER).isPresent());
                assertEquals(1, client.counters().get(StoreCounter.RECONNECTS));
                assertEquals(1, it.server().changes());
            }
        });
    }

    /** Requests that end while there is no server leave their slots to others. */
    @ParameterizedTest
    @EnumSource
    void shouldHaveAllItsSlotsAfterATimeWithoutAServer(HerdForm form) {
        long longNs = 10 * HerdRun.SECOND_NS; // a datagram may be lost, and the clock leap by a second then
        form.run().timeoutNs(longNs).run(it -> {
            try (VerbsDevice device = it.open(it.clientNode());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                StoreClient client = store.client();
                it.serverNode().pauseProcesses(longNs / 4);
                for (int i = 0; i < client.window(); i++) {
                    assertTrue(client.startPut(KEY, MemorySegment.ofArray(VALUE), i));
                }
                it.running().stop();
                while (client.outstanding() > 0) {
                    int results = client.await(PAUSE_NS, (tag, outcome, memory, offset, length) -> {});
                    assertTrue(results > 0);
                }
                it.startServer();
                it.sleep(HerdRun.SECOND_NS); // clients wait a little before they try again
                // If all requests were answered before the server stopped, the client has not heard of that yet.
                int ignored = client.poll((tag, outcome, memory, offset, length) -> {});
                for (int i = 0; i < 2 * client.window(); i++) {
                    assertTrue(store.put(KEY, VALUE));
                    assertTrue(store.get(KEY).isPresent());
                }
            }
        });
    }

    /** Clients that leave with nothing on its way make room for others. */
    @ParameterizedTest
    @EnumSource
    void shouldNoticeThatAClientHasLeft(HerdForm form) {
        form.run().connections(3).run(it -> {
            long without = it.server().space().registeredBytes();
            for (int i = 0; i < 10; i++) {
                try (VerbsDevice device = it.open(it.clientNode());
                        BlockingStore store = new BlockingStore(it.client(device))) {
                    assertTrue(store.put(KEY, VALUE));
                    assertTrue(store.get(KEY).isPresent());
                }
                it.sleep(form.noticeNs());
                assertEquals(without, it.server().space().registeredBytes(), "slots of client " + i + " are left");
            }
        });
    }

    /** What a handler throws at a reconnect does not stop the client. */
    @Test
    void shouldGoOnAfterAHandlerHasThrown() {
        HerdRun.of(Protocol.SAFE).timeoutNs(TIMEOUT_NS).run(it -> {
            try (VerbsDevice device = it.open(it.clientNode());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                StoreClient client = store.client();
                it.running().stop();
                for (int i = 0; i < 4; i++) { // the client has not heard of it yet
                    assertTrue(client.startPut(KEY, MemorySegment.ofArray(VALUE), i));
                }
                it.startServer();
                assertThrows(
                        IllegalStateException.class,
                        () -> client.await(PAUSE_NS, (tag, outcome, memory, offset, length) -> {
                            throw new IllegalStateException("thrown by a handler");
                        }));
                while (client.outstanding() > 0) {
                    int results = client.await(PAUSE_NS, (tag, outcome, memory, offset, length) -> {});
                    assertTrue(results > 0);
                }
                assertTrue(store.put(KEY, VALUE));
                assertTrue(store.get(KEY).isPresent());
            }
        });
    }

    /** The new server has another hash, and may have other workers: operations under way find their slots again. */
    @Test
    void shouldGoOnWithAServerOfAnotherShape() {
        HerdRun.of(Protocol.SAFE).timeoutNs(TIMEOUT_NS).run(it -> {
            try (VerbsDevice device = it.open(it.clientNode());
                    StoreClient client = it.client(device)) {
                it.serverNode().pauseProcesses(TIMEOUT_NS / 4);
                for (int i = 0; i < client.window(); i++) {
                    byte[] key = HerdRun.bytes("key" + i);
                    assertTrue(
                            i % 2 == 0
                                    ? client.startGet(key, i)
                                    : client.startPut(key, MemorySegment.ofArray(VALUE), i));
                }
                it.running().stop();
                it.options(Map.of("workers", "5")).startServer();
                int[] done = new int[1];
                while (client.outstanding() > 0) {
                    int ignored = client.await(HerdRun.HOUR_NS, (tag, outcome, memory, offset, length) -> {
                        done[0]++;
                        boolean get = tag % 2 == 0;
                        assertTrue(outcome == (get ? Outcome.MISSING : Outcome.LOST)
                                || outcome == (get ? Outcome.MISSING : Outcome.STORED));
                        if (done[0] <= 20) { // a handler may start operations
                            assertTrue(client.startGet(KEY, 100 + 2L * done[0]));
                        }
                    });
                }
                assertEquals(client.window() + 20, done[0]);
            }
        });
    }
}
