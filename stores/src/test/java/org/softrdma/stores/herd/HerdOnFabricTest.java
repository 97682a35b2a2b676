package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.device.VerbsDevice;

/** One client and one server. */
class HerdOnFabricTest {
    @ParameterizedTest
    @EnumSource(Protocol.class)
    void shouldDoAsAMapWhileThereIsRoom(Protocol protocol) {
        HerdRun.of(protocol).options(Map.of("log", "20")).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                HerdRun.doAsAMap(store, 48, () -> it.server().space().pairs());
            }
        });
    }

    /** One WRITE and one SEND per operation, counted by the devices too. */
    @Test
    void shouldNeedOneWriteAndOneSendPerOperation() {
        HerdRun.of(Protocol.SAFE).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    BlockingStore store = new BlockingStore(it.client(device))) {
                int operations = 300;
                for (int i = 0; i < operations / 3; i++) {
                    byte[] key = HerdRun.bytes("key" + i);
                    assertTrue(store.put(key, new byte[5 * i]));
                    assertEquals(5 * i, store.get(key).orElseThrow().length);
                    assertTrue(store.remove(key));
                }
                StoreCounters client = store.client().counters();
                Map<String, Long> responder = it.running().device().counters();
                assertEquals(operations, client.get(StoreCounter.WRITES));
                assertEquals(operations, client.get(StoreCounter.ROUND_TRIPS));
                assertEquals(1, client.get(StoreCounter.SENDS), "only the first message");
                assertEquals(0, client.get(StoreCounter.READS));
                assertEquals(0, client.get(StoreCounter.DUPLICATES));
                assertEquals(operations, responder.get("responderWrites"));
                assertEquals(1, responder.get("responderSends"));
                assertEquals(operations + 1, it.server().counters().get(StoreCounter.SENDS), "and the welcome");
                assertEquals(operations + 1, device.counters().get("responderSends"));
                assertEquals(operations * 2 / 3, it.server().changes());
            }
        });
    }

    /**
     * Up to 256 bytes are inline, and few requests are signalled (sections 2.2.2 and 3.2.1 of the paper): what clients ask,
     * and what the server answers.
     */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NESSIE_SD")
    void shouldSendInlineWhatFitsAndSignalFewRequests(HerdForm form) {
        PostedRequests ofClient = new PostedRequests();
        PostedRequests ofServer = new PostedRequests();
        form.run().posting(ofServer).run(it -> {
            try (VerbsDevice device = it.open(it.clientNode());
                    BlockingStore store = new BlockingStore(it.client(ofClient.of(device)))) {
                for (int length = 0; length < 500; length += 25) {
                    for (int i = 0; i < 5; i++) {
                        assertTrue(store.put(HerdRun.bytes("key"), new byte[length]));
                        assertEquals(length, store.get(HerdRun.bytes("key")).orElseThrow().length);
                    }
                }
            }
        });
        for (PostedRequests requests : List.of(ofClient, ofServer)) {
            Set<Boolean> seen = new HashSet<>();
            int inline = 0;
            int signalled = 0;
            for (PostedRequests.Posted posted : requests.all()) {
                if (posted.method().equals("postSendTo")) {
                    continue; // a hello
                }
                assertEquals(posted.length() <= 256, posted.isInline(), posted.toString());
                seen.add(posted.isInline());
                inline += posted.isInline() ? 1 : 0;
                signalled += posted.isInline() && posted.isSignalled() ? 1 : 0;
            }
            assertEquals(Set.of(true, false), seen);
            assertTrue(signalled > 0 && signalled <= inline / 8, signalled + " signalled of " + inline);
        }
    }

    /** More operations than slots, of one worker, with values that are inline and that are not. */
    @ParameterizedTest
    @EnumSource(Protocol.class)
    void shouldHaveAWindowOfOperationsOnTheirWay(Protocol protocol) {
        HerdRun.of(protocol).options(Map.of("workers", "1")).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    StoreClient client = it.client(device)) {
                int total = 400;
                int[] started = new int[1];
                int[] done = new int[1];
                while (done[0] < total) {
                    while (started[0] < total && start(client, started[0])) {
                        started[0]++;
                    }
                    int ignored = client.await(HerdRun.HOUR_NS, (tag, outcome, memory, offset, length) -> {
                        done[0]++;
                        assertEquals(tag % 2 == 0 ? Outcome.STORED : Outcome.FOUND, outcome);
                    });
                }
                assertEquals(0, client.counters().get(StoreCounter.RECONNECTS));
            }
        });
    }

    /** A PUT of a key, and the GET behind it of another, which is there already. */
    private static boolean start(StoreClient client, int number) {
        byte[] key = HerdRun.bytes("key" + number / 2 % 5);
        if (number < 10) {
            key = HerdRun.bytes("key" + number / 2);
            if (number % 2 == 1) {
                return client.outstanding() == 0 && client.startGet(key, number);
            }
        }
        return number % 2 == 0
                ? client.startPut(key, MemorySegment.ofArray(new byte[number * 7 % 1000]), number)
                : client.startGet(key, number);
    }

    @Test
    void shouldEvictWhatIsOldestWhenThereIsNoRoom() {
        HerdRun.of(Protocol.SAFE)
                .options(Map.of("workers", "1", "buckets", "0", "log", "13"))
                .run(it -> {
                    try (VerbsDevice device = it.clientNode().open(Map.of());
                            BlockingStore store = new BlockingStore(it.client(device))) {
                        for (int i = 0; i < 100; i++) {
                            assertTrue(store.put(HerdRun.bytes("key" + i), new byte[8]));
                        }
                        for (int i = 0; i < 100; i++) {
                            assertEquals(
                                    i >= 92, store.get(HerdRun.bytes("key" + i)).isPresent(), "key" + i);
                        }
                        for (int i = 0; i < 5; i++) {
                            assertTrue(store.put(HerdRun.bytes("large" + i), new byte[3000]));
                        }
                        assertTrue(store.get(HerdRun.bytes("key99")).isEmpty(), "the log holds two large ones");
                        assertTrue(store.get(HerdRun.bytes("large4")).isPresent());
                        assertTrue(store.get(HerdRun.bytes("large3")).isPresent());
                        assertTrue(store.get(HerdRun.bytes("large2")).isEmpty());
                    }
                });
        assertTrue(new HerdRcDesign().promises(Protocol.SAFE).lossy());
    }
}
