package org.softrdma.kv.client.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvCommands;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.KvRequest;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.client.StartStatus;
import org.softrdma.kv.server.RunningServer;

class KvClusterTest {
    private static final int SERVERS = 3;
    private static final int KEYS = 200;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private final List<RunningServer> running = new ArrayList<>();

    @BeforeEach
    void start() {
        for (int i = 0; i < SERVERS; i++) {
            running.add(new RunningServer());
        }
    }

    @AfterEach
    void stop() {
        running.reversed().forEach(RunningServer::close);
    }

    private List<ClusterServer> servers() {
        return running.stream()
                .map(server -> new ClusterServer("127.0.0.1", server.address().getPort(), 1))
                .toList();
    }

    private KvClusterContext context() {
        return new KvClusterContext(servers());
    }

    private KvCluster cluster() {
        return KvCluster.connect(running.getFirst().clientDevice(), context());
    }

    private static byte[] key(int number) {
        return ("key:" + number).getBytes(StandardCharsets.US_ASCII);
    }

    private static void fill(KvCommands client) {
        for (int i = 0; i < KEYS; i++) {
            assertEquals(SetStatus.STORED, client.set(key(i), i, 0, key(i)));
        }
    }

    @Test
    void shouldReadEachItemFromTheServerThatItLivesOn() {
        try (KvCluster client = cluster()) {
            assertEquals(KvProtocol.AUTO, client.protocol());
            fill(client);
            for (int i = 0; i < KEYS; i++) {
                assertEquals(i, client.get(key(i)).orElseThrow().flags());
                KvItem again = client.get(key(i)).orElseThrow();
                assertArrayEquals(key(i), again.value());
            }
            assertEquals(KvProtocol.RDMA, client.protocol());
            long hits = 0;
            for (ClusterServer server : client.servers()) {
                KvClient one = client.client(server);
                assertTrue(one.counters().hits() > 0, "READs of " + server);
                hits += one.counters().hits();
            }
            assertEquals(2L * KEYS, hits, "every get was a READ");
            int here = 0;
            for (RunningServer server : running) {
                try (KvClient direct = server.client()) {
                    for (int i = 0; i < KEYS; i++) {
                        here += direct.get(key(i)).isPresent() ? 1 : 0;
                    }
                }
            }
            assertEquals(KEYS, here, "each key lives on one server");
        }
    }

    @Test
    void shouldGetManyKeysInTheirOrder() {
        try (KvCluster client = cluster();
                SharedKvCluster shared =
                        SharedKvCluster.connect(running.getFirst().clientDevice(), context())) {
            fill(client);
            List<byte[]> keys = new ArrayList<>();
            for (int i = KEYS + 9; i >= 0; i--) {
                keys.add(key(i));
                keys.add(key(i / 2));
            }
            for (KvCommands each : List.of(client, shared)) {
                List<Optional<KvItem>> items = each.getAll(keys);
                assertEquals(keys.size(), items.size());
                for (int i = 0; i < keys.size(); i++) {
                    int number = i % 2 == 0 ? KEYS + 9 - i / 2 : (KEYS + 9 - i / 2) / 2;
                    Optional<KvItem> item = items.get(i);
                    assertEquals(number < KEYS, item.isPresent(), "key:" + number);
                    item.ifPresent(found -> assertEquals(number, found.flags()));
                }
            }
        }
    }

    @Test
    void shouldAskEveryServerWhatNamesNoKey() {
        try (KvCluster client = cluster();
                SharedKvCluster shared =
                        SharedKvCluster.connect(running.getFirst().clientDevice(), context())) {
            for (KvCommands each : List.of(client, shared)) {
                fill(each);
                Map<String, String> statistics = each.stats("");
                long items = 0;
                for (ClusterServer server : servers()) {
                    items += Long.parseLong(statistics.get(server + " curr_items"));
                }
                assertEquals(KEYS, items);
                assertFalse(each.version().contains(", "), each.version());
                each.flushAll(Duration.ZERO);
                assertEquals(Optional.empty(), each.get(key(1)));
                IllegalArgumentException refusal =
                        assertThrows(IllegalArgumentException.class, () -> each.execute(KvRequest.flushAll(0)));
                assertEquals(
                        "a request about 0 keys: expected one; a cluster has methods of its own for many keys and for"
                                + " whole servers",
                        refusal.getMessage());
            }
        }
    }

    /** Of five servers the second and the fourth are down. */
    @Test
    void shouldFlushAllServersThatAreThereAndNameThoseThatAreNot() {
        List<ClusterServer> five = new ArrayList<>(servers());
        five.add(1, new ClusterServer("127.0.0.1", 1, 1));
        five.add(3, new ClusterServer("127.0.0.1", 2, 1));
        try (KvCluster client = KvCluster.connect(new KvClusterContext(five));
                SharedKvCluster shared = SharedKvCluster.connect(new KvClusterContext(five))) {
            for (KvCommands each : List.of(client, shared)) {
                for (RunningServer server : running) {
                    try (KvClient direct = server.client()) {
                        assertEquals(SetStatus.STORED, direct.set(key(1), 0, 0, key(1)));
                    }
                }
                KvException failure = assertThrows(KvException.class, () -> each.flushAll(Duration.ZERO));
                String message = String.valueOf(failure.getMessage());
                assertTrue(message.startsWith("2 of 5 servers failed: "), message);
                assertTrue(message.contains("127.0.0.1:1: "), message);
                assertTrue(message.contains("127.0.0.1:2: "), message);
                assertEquals(1, failure.getSuppressed().length);
                for (RunningServer server : running) {
                    try (KvClient direct = server.client()) {
                        assertTrue(direct.get(key(1)).isEmpty(), each + " flushed " + server.address());
                    }
                }
            }
        }
    }

    @Test
    void shouldPipelineReadsToAllServers() {
        try (KvCluster client = cluster()) {
            fill(client);
            Set<Long> delivered = new HashSet<>();
            long deadlineNs = System.nanoTime() + PATIENCE_NS;
            for (int i = 0; i < KEYS; i++) {
                while (client.start(key(i), i) == StartStatus.WINDOW_FULL) {
                    deliver(client, delivered);
                    assertTrue(System.nanoTime() - deadlineNs < 0);
                }
            }
            while (client.outstanding() > 0) {
                deliver(client, delivered);
                assertTrue(System.nanoTime() - deadlineNs < 0);
            }
            assertEquals(KEYS, delivered.size());
        }
    }

    private static void deliver(KvCluster client, Set<Long> delivered) {
        client.deliver((tag, outcome, _) -> {
            assertEquals(ReadOutcome.HIT, outcome);
            assertTrue(delivered.add(tag));
        });
    }

    @Test
    void shouldFailRequestsToAServerThatIsGoneAndNoOthers() {
        try (KvCluster client = cluster()) {
            fill(client);
            running.get(1).stop();
            ClusterServer gone = servers().get(1);
            int failed = 0;
            for (int i = 0; i < KEYS; i++) {
                byte[] key = key(i);
                if (client.server(key).equals(gone)) {
                    failed++;
                    assertThrows(KvException.class, () -> client.get(key));
                } else {
                    assertEquals(i, client.get(key).orElseThrow().flags());
                }
            }
            assertTrue(failed > 0);
        }
    }

    @Test
    void shouldStartWhileAServerCannotBeReached() {
        running.get(2).stop();
        try (KvCluster client = cluster()) {
            for (int i = 0; i < KEYS; i++) {
                byte[] key = key(i);
                if (!client.server(key).equals(servers().get(2))) {
                    assertEquals(SetStatus.STORED, client.set(key, i, 0, key));
                }
            }
        }
    }

    @Test
    void shouldEjectAServerThatIsGoneAndTakeItBack() {
        AtomicLong skippedNs = new AtomicLong();
        KvClusterContext context = context()
                .withEjection(3, TimeUnit.MINUTES.toNanos(1))
                .withSettings(
                        one -> one.nanoClock(() -> System.nanoTime() + skippedNs.get(), BusySpinIdleStrategy.INSTANCE));
        try (SharedKvCluster client = SharedKvCluster.connect(running.getFirst().clientDevice(), context)) {
            fill(client);
            ClusterServer gone = servers().get(1);
            byte[] key = keyOf(client, gone);
            running.get(1).stop();
            while (client.server(key).equals(gone)) {
                assertThrows(KvException.class, () -> client.get(key));
            }
            assertEquals(List.of(gone), client.ejected());
            fill(client);
            for (int i = 0; i < KEYS; i++) {
                assertEquals(i, client.get(key(i)).orElseThrow().flags());
            }
            skippedNs.addAndGet(TimeUnit.MINUTES.toNanos(2));
            assertEquals(gone, client.server(key), "it is tried again");
            assertThrows(KvException.class, () -> client.get(key));
            assertEquals(List.of(gone), client.ejected(), "one failure is enough now");
            assertEquals(SetStatus.STORED, client.set(key, 1, 0, key));
        }
    }

    private static byte[] keyOf(SharedKvCluster client, ClusterServer server) {
        int number = 0;
        while (!client.server(key(number)).equals(server)) {
            number++;
        }
        return key(number);
    }

    @Test
    void shouldServeManyThreads() {
        try (SharedKvCluster client = SharedKvCluster.connect(running.getFirst().clientDevice(), context())) {
            List<CompletableFuture<SetStatus>> sets = new ArrayList<>();
            List<CompletableFuture<Optional<KvItem>>> gets = new ArrayList<>();
            for (int i = 0; i < KEYS; i++) {
                sets.add(client.submit(KvRequest.set(key(i), i, 0, key(i))));
                gets.add(client.submit(KvRequest.get(key(i))));
            }
            sets.forEach(set -> assertEquals(SetStatus.STORED, set.join()));
            for (int i = 0; i < KEYS; i++) {
                assertEquals(i, gets.get(i).join().orElseThrow().flags());
            }
        }
    }

    @Test
    void shouldSayWhatIsWrongWithAContext() {
        ClusterServer one = new ClusterServer("a", 1, 1);
        IllegalArgumentException refusal = assertThrows(
                IllegalArgumentException.class, () -> new KvClusterContext(List.of(one, one), its -> its, -1, 0));
        assertEquals(
                "server a:1: named twice; ejectAfter=-1: expected 0 to 1048576; retryNs=0: expected 1 to"
                        + " 86400000000000",
                refusal.getMessage());
        KvClusterContext right = new KvClusterContext(List.of(one));
        assertThrows(IllegalArgumentException.class, () -> right.withSettings(its -> its.window(0)));
        assertThrows(IllegalArgumentException.class, () -> right.withEjection(1, 0));
        assertThrows(IllegalArgumentException.class, () -> new KvClusterContext(List.of()));
    }
}
