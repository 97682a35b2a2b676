package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

class SharedKvClientTest {
    private static final byte[] KEY = bytes("key");
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    @Test
    void shouldServeManyThreads() throws Exception {
        int threads = 8;
        int rounds = 300;
        try (RunningServer running = new RunningServer();
                SharedKvClient client = connect(running, context(running))) {
            ExecutorService users = Executors.newFixedThreadPool(threads);
            try {
                List<Future<?>> all = new ArrayList<>();
                for (int thread = 0; thread < threads; thread++) {
                    byte[] key = bytes("key" + thread);
                    all.add(users.submit(() -> {
                        for (int i = 0; i < rounds; i++) {
                            assertEquals(SetStatus.STORED, client.set(key, i, 0, key));
                            assertEquals(i, client.get(key).orElseThrow().flags());
                            assertArrayEquals(key, client.get(key).orElseThrow().value());
                        }
                    }));
                }
                for (Future<?> each : all) {
                    each.get(60, TimeUnit.SECONDS);
                }
            } finally {
                users.shutdownNow();
            }
            assertEquals(2L * threads * rounds, client.counters().hits(), "every get was a READ");
        }
    }

    @Test
    void shouldSeeEveryChangeThatWasAskedForBefore() {
        try (RunningServer running = new RunningServer();
                SharedKvClient client = connect(running, context(running).window(4))) {
            List<CompletableFuture<SetStatus>> sets = new ArrayList<>();
            List<CompletableFuture<Optional<KvItem>>> gets = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                sets.add(client.submit(KvRequest.set(KEY, i, 0, KEY)));
                gets.add(client.submit(KvRequest.get(KEY)));
                gets.add(client.submit(KvRequest.get(KEY)));
            }
            for (int i = 0; i < gets.size(); i++) {
                assertTrue(gets.get(i).join().orElseThrow().flags() >= i / 2, "get " + i);
            }
            sets.forEach(set -> assertEquals(SetStatus.STORED, set.join()));
        }
    }

    /** The answer to an earlier set must not lead a get past a change that has no answer. */
    @Test
    void shouldSeeChangesWithoutAnswerThatWereAskedForBefore() throws IOException {
        try (RunningServer running = new RunningServer();
                HoldingProxy proxy = new HoldingProxy(running.address());
                SharedKvClient client = connect(running, new KvClientContext(proxy.address()))) {
            byte[] other = bytes("other");
            client.set(KEY, 0, 0, bytes("v0"));
            client.set(other, 0, 0, other);
            proxy.holdAfter("set key 0 0 2\r\nv1\r\n".length());
            CompletableFuture<SetStatus> answered = client.submit(KvRequest.set(KEY, 0, 0, bytes("v1")));
            client.execute(KvRequest.set(KEY, 0, 0, bytes("v2")).noreply());
            assertEquals(SetStatus.STORED, answered.join());
            CompletableFuture<Optional<KvItem>> get = client.submit(KvRequest.get(KEY));
            assertArrayEquals(other, client.get(other).orElseThrow().value(), "a READ behind it");
            assertFalse(get.isDone(), "it waits behind the set");
            proxy.release();
            assertArrayEquals(bytes("v2"), get.join().orElseThrow().value());
        }
    }

    @Test
    void shouldSeeFlushWithoutAnswerThatWasAskedForBefore() throws IOException {
        try (RunningServer running = new RunningServer();
                HoldingProxy proxy = new HoldingProxy(running.address());
                SharedKvClient client = connect(running, new KvClientContext(proxy.address()))) {
            client.set(KEY, 0, 0, bytes("v0"));
            proxy.holdAfter("set key 0 0 2\r\nv1\r\n".length());
            CompletableFuture<SetStatus> answered = client.submit(KvRequest.set(KEY, 0, 0, bytes("v1")));
            client.execute(KvRequest.flushAll(0).noreply());
            assertEquals(SetStatus.STORED, answered.join());
            CompletableFuture<Optional<KvItem>> get = client.submit(KvRequest.get(KEY));
            proxy.release();
            assertTrue(get.join().isEmpty());
        }
    }

    @Test
    void shouldHaveNoMoreOnTheWayThanAllowed() {
        try (RunningServer running = new RunningServer();
                SharedKvClient client = connect(running, context(running).maxOutstanding(2))) {
            List<CompletableFuture<SetStatus>> sets = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                sets.add(client.submit(KvRequest.set(bytes("key" + i), 0, 0, new byte[10_000])));
                assertTrue(sets.stream().filter(set -> !set.isDone()).count() <= 3); // one may be about to be done
            }
            sets.forEach(set -> assertEquals(SetStatus.STORED, set.join()));
        }
    }

    @Test
    void shouldConnectAgainToNewLifeOfTheServer() {
        try (RunningServer first = new RunningServer()) {
            InetSocketAddress address = first.address();
            try (SharedKvClient client = connect(first, context(first))) {
                client.set(KEY, 0, 0, bytes("old"));
                assertArrayEquals(bytes("old"), client.get(KEY).orElseThrow().value());
                first.stop();
                KvException gone = assertThrows(KvException.class, () -> awaitFailure(client));
                assertTrue(String.valueOf(gone.getMessage()).contains(":" + address.getPort()), gone::toString);
                try (RunningServer second = new RunningServer(context -> context.memcachedAddress(address))) {
                    assertTrue(awaitAnswer(client).isEmpty(), "nothing of the old life");
                    assertEquals(SetStatus.STORED, client.set(KEY, 0, 0, bytes("new")));
                    assertArrayEquals(
                            bytes("new"), client.get(KEY).orElseThrow().value());
                    assertEquals(second.address(), address);
                    assertEquals(KvProtocol.RDMA, client.protocol());
                }
            }
        }
    }

    @Test
    void shouldRunChainedWorkAndRefuseToWaitThere() {
        try (RunningServer running = new RunningServer();
                SharedKvClient client = connect(running, context(running))) {
            assertEquals(
                    7,
                    client.submit(KvRequest.set(KEY, 7, 0, KEY))
                            .thenCompose(status -> client.submit(KvRequest.get(KEY)))
                            .join()
                            .orElseThrow()
                            .flags());
            CompletableFuture<Optional<KvItem>> waiting =
                    client.submit(KvRequest.version()).thenApply(version -> client.get(KEY));
            if (waiting.isCompletedExceptionally()) {
                CompletionException e = assertThrows(CompletionException.class, waiting::join);
                assertTrue(e.getCause() instanceof IllegalStateException, e::toString);
            }
        }
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        try (RunningServer running = new RunningServer();
                VerbsDevice manual = new SoftRdmaProvider().open(Map.of("progress", "manual"))) {
            KvClientContext context = context(running).conclude();
            assertThrows(IllegalArgumentException.class, () -> SharedKvClient.connect(manual, context));
            assertThrows(IllegalArgumentException.class, () -> SharedKvClient.connectPlain(context));
            SharedKvClient client = SharedKvClient.connect(running.clientDevice(), context);
            KvRequest<Optional<KvItem>> once = KvRequest.get(KEY);
            client.execute(once);
            assertThrows(IllegalStateException.class, () -> client.execute(once));
            client.close();
            client.close();
            assertThrows(IllegalStateException.class, () -> client.get(KEY));
        }
    }

    /** Gets until the client has noticed that the server is gone. */
    private static void awaitFailure(SharedKvClient client) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (System.nanoTime() < deadlineNs) {
            client.get(KEY);
        }
    }

    /** Gets until there is an answer again. */
    private static Optional<KvItem> awaitAnswer(SharedKvClient client) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (true) {
            try {
                return client.get(KEY);
            } catch (KvException e) {
                if (System.nanoTime() > deadlineNs) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    private static SharedKvClient connect(RunningServer running, KvClientContext context) {
        return SharedKvClient.connect(running.clientDevice(), context.conclude());
    }

    private static KvClientContext context(RunningServer running) {
        return new KvClientContext(running.address());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
