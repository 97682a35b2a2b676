package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.kv.server.Passwords;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

@ParameterizedClass
@EnumSource
class KvClientTest {
    private static final byte[] KEY = bytes("key");

    private final AtomicLong clock = new AtomicLong(1_700_000_000);
    private final Registration registration;
    private final RunningServer running;

    KvClientTest(Registration registration) {
        this.registration = registration;
        running = new RunningServer(context -> context.environment(around -> around.withClockSeconds(clock::get))
                .items(items -> items.registration(registration)));
    }

    @AfterEach
    void stop() {
        running.close();
    }

    @Test
    void shouldReadWhatItSetWithoutTheStore() {
        try (KvClient client = running.client()) {
            assertEquals(SetStatus.STORED, client.set(KEY, 7, 0, bytes("value")));
            for (int i = 0; i < 10; i++) {
                KvItem item = client.get(KEY).orElseThrow();
                assertArrayEquals(bytes("value"), item.value());
                assertEquals(7, item.flags());
                assertEquals(1, item.cas());
            }
            assertEquals(10, client.counters().hits());
            assertEquals(0, client.counters().rgets());
            awaitDeviceCounter("responderReads", 10);
        }
    }

    @Test
    void shouldAskOnceForWhatOthersSet() {
        try (KvClient writer = running.client();
                KvClient reader = running.client()) {
            writer.set(KEY, 0, 0, bytes("value"));
            for (int i = 0; i < 10; i++) {
                assertArrayEquals(bytes("value"), reader.get(KEY).orElseThrow().value());
            }
            assertEquals(1, reader.counters().rgets());
            assertEquals(9, reader.counters().hits());
            assertEquals(1, reader.knownItems());
        }
    }

    @Test
    void shouldFollowItemThatWasReplaced() {
        assumeTrue(registration == Registration.ARENA, "a key of its own stays with the item: ChunkRegistrationTest");
        try (KvClient writer = running.client();
                KvClient reader = running.client()) {
            writer.set(KEY, 0, 0, bytes("old"));
            reader.get(KEY);
            writer.set(KEY, 0, 0, bytes("new"));
            assertArrayEquals(bytes("new"), reader.get(KEY).orElseThrow().value());
            assertEquals(1, reader.counters().forwarded());
            assertEquals(1, reader.counters().rgets(), "only the first get asked the server");
            writer.set(KEY, 0, 0, bytes("newer"));
            writer.set(KEY, 0, 0, bytes("newest"));
            assertArrayEquals(bytes("newest"), reader.get(KEY).orElseThrow().value());
            assertEquals(1, reader.counters().stale(), "a second forward is not followed");
            assertEquals(2, reader.counters().rgets());
        }
    }

    @Test
    void shouldNotFindWhatWasDeleted() {
        try (KvClient writer = running.client();
                KvClient reader = running.client()) {
            writer.set(KEY, 0, 0, bytes("value"));
            assertTrue(reader.get(KEY).isPresent());
            assertTrue(writer.delete(KEY));
            assertFalse(writer.delete(KEY));
            assertTrue(reader.get(KEY).isEmpty());
            assertTrue(writer.get(KEY).isEmpty());
            assertEquals(1, reader.counters().stale());
            assertEquals(0, reader.knownItems());
        }
    }

    @Test
    void shouldNotReadPastTheTimeOfAnItem() {
        try (KvClient client = running.client()) {
            client.set(KEY, 0, 100, bytes("value"));
            assertTrue(client.get(KEY).isPresent());
            assertEquals(1, client.counters().hits());
            clock.addAndGet(101); // the client does not see this clock run, but learns of it with the next answer
            client.get(bytes("other"));
            assertTrue(client.get(KEY).isEmpty());
            assertEquals(1, client.counters().expired());
        }
    }

    @ParameterizedTest
    @CsvSource({"engine,epoll", "manual,epoll", "engine,nio", "manual,nio"})
    void shouldServeEverySizeOnEachDevice(String progress, String transport) {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", progress, "transport", transport));
                KvClient writer = KvClient.connect(device, context().conclude());
                RunningServer other = new RunningServer();
                KvClient reader = running.client()) {
            Random random = new Random(3);
            for (int length : new int[] {0, 1, 7, 8, 63, 64, 1000, 4096, 65_536, 100_000, (1 << 20) - 1024}) {
                byte[] value = new byte[length];
                random.nextBytes(value);
                assertEquals(SetStatus.STORED, writer.set(KEY, 0, 0, value));
                assertArrayEquals(value, writer.get(KEY).orElseThrow().value(), "length=" + length);
                assertArrayEquals(value, reader.get(KEY).orElseThrow().value(), "length=" + length);
            }
            assertEquals(SetStatus.TOO_LARGE, writer.set(KEY, 0, 0, new byte[1 << 20]));
            assertTrue(writer.get(KEY).isEmpty());
            assertEquals(0, other.deviceCounter("accessErrors") + running.deviceCounter("accessErrors"));
        }
    }

    @Test
    void shouldGetItemThatIsLongerThanItsBufferOverTcp() {
        try (KvClient small = KvClient.connect(
                running.clientDevice(), context().maxItemLength(2048).conclude())) {
            byte[] value = new byte[10_000];
            new Random(4).nextBytes(value);
            small.set(KEY, 9, 0, value);
            KvItem item = small.get(KEY).orElseThrow();
            assertArrayEquals(value, item.value());
            assertEquals(9, item.flags());
            assertEquals(1, item.cas());
            assertEquals(0, small.counters().reads());
            assertEquals(1, small.counters().tcpGets());
            small.set(KEY, 0, 0, bytes("short"));
            assertArrayEquals(bytes("short"), small.get(KEY).orElseThrow().value());
            assertEquals(1, small.counters().hits());
        }
    }

    @Test
    void shouldLearnOfFurtherArenas() {
        try (RunningServer large = new RunningServer(context -> context.items(
                        items -> items.memoryLimit(130L << 20).evicting(false).registration(registration)));
                KvClient client = large.client()) {
            byte[] value = new byte[1_000_000];
            for (int i = 0; i < 128; i++) {
                value[0] = (byte) i;
                assertEquals(SetStatus.STORED, client.set(bytes("key" + i), 0, 0, value));
            }
            for (int i = 0; i < 128; i++) {
                assertEquals(
                        (byte) i, client.get(bytes("key" + i)).orElseThrow().value()[0]);
            }
            assertEquals(128, client.counters().hits());
            assertEquals(SetStatus.STORED, client.set(bytes("a"), 0, 0, value));
            assertEquals(SetStatus.STORED, client.set(bytes("b"), 0, 0, value));
            assertEquals(SetStatus.OUT_OF_MEMORY, client.set(bytes("c"), 0, 0, value));
        }
    }

    @Test
    void shouldKeepFullWindowsOfReadsOnManyConnections() {
        int clients = 4;
        int window = 8;
        int wanted = 20_000;
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                CompletionLoop loop = new CompletionLoop(device, clients, window)) {
            KvClient[] all = new KvClient[clients];
            for (int i = 0; i < clients; i++) {
                all[i] = new KvClient(
                        loop, context().window(window).maxItemLength(4096).conclude());
            }
            byte[][] keys = new byte[100][];
            for (int i = 0; i < keys.length; i++) {
                keys[i] = bytes("key" + i);
                all[0].set(keys[i], i, 0, new byte[i * 10]);
            }
            for (KvClient client : all) {
                for (byte[] key : keys) {
                    client.get(key);
                }
                assertEquals(keys.length, client.knownItems());
                assertTrue(client.counters().rgets() <= 1, "asks for the arenas at most: what one client knows all do");
            }
            int[] delivered = {0};
            ReadHandler handler = (tag, outcome, item) -> {
                assertSame(ReadOutcome.HIT, outcome);
                assertEquals(tag, item.flags());
                assertEquals(tag * 10, item.valueLength());
                delivered[0]++;
            };
            Random random = new Random(1);
            long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (delivered[0] < wanted && System.nanoTime() < deadlineNs) {
                for (KvClient client : all) {
                    int key = random.nextInt(keys.length);
                    while (client.start(keys[key], key) == StartStatus.STARTED) {
                        key = random.nextInt(keys.length);
                    }
                    assertEquals(window, client.outstanding());
                }
                loop.await(TimeUnit.MILLISECONDS.toNanos(10));
                for (KvClient client : all) {
                    client.deliver(handler);
                }
            }
            assertTrue(delivered[0] >= wanted);
            for (int i = clients - 1; i >= 0; i--) {
                all[i].close();
            }
        }
    }

    @Test
    void shouldDeliverEachReadOnceAlthoughItsHandlerLosesTheConnection() {
        int reads = 6;
        try (RunningServer dying = new RunningServer();
                KvClient client = KvClient.connect(
                        dying.clientDevice(),
                        new KvClientContext(dying.address()).window(8).conclude())) {
            byte[] key = bytes("key");
            client.set(key, 0, 0, key);
            for (int i = 0; i < reads; i++) {
                assertSame(StartStatus.STARTED, client.start(key, i));
            }
            assertArrayEquals(key, client.get(key).orElseThrow().value(), "a READ behind them: all are ready");
            List<Long> tags = new ArrayList<>();
            ReadHandler handler = (tag, outcome, item) -> {
                if (tags.isEmpty()) {
                    assertSame(ReadOutcome.HIT, outcome);
                    dying.stop();
                    assertThrows(KvException.class, client::version);
                } else {
                    assertSame(ReadOutcome.LOST, outcome);
                }
                tags.add(tag);
            };
            while (client.outstanding() > 0) {
                client.deliver(handler);
            }
            assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L), tags.stream().sorted().toList());
        }
    }

    @Test
    void shouldAllocateNothingPerRead() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int reads = 20_000;
        // On a device that drives itself, so that only what this client does is on this thread.
        try (CompletionLoop loop = new CompletionLoop(running.clientDevice(), 1, 8);
                KvClient client = new KvClient(loop, context().window(8).conclude())) {
            client.set(KEY, 0, 0, bytes("value"));
            long[] hits = {0};
            ReadHandler handler = (tag, outcome, item) -> hits[0] += outcome == ReadOutcome.HIT ? 1 : 0;
            double perRead = Double.MAX_VALUE;
            int rounds = 0;
            while (perRead >= 1 && rounds < 100) { // until the compiler is through with it
                long before = threads.getCurrentThreadAllocatedBytes();
                pump(loop, client, handler, reads);
                perRead = (double) (threads.getCurrentThreadAllocatedBytes() - before) / reads;
                rounds++;
            }
            assertEquals((long) rounds * reads, hits[0]);
            assertTrue(perRead < 1, perRead + " bytes per READ");
        }
    }

    private static void pump(CompletionLoop loop, KvClient client, ReadHandler handler, int reads) {
        int started = 0;
        int done = 0;
        while (done < reads) {
            while (started < reads && client.start(KEY, started) == StartStatus.STARTED) {
                started++;
            }
            loop.poll();
            done += client.deliver(handler);
        }
    }

    @Test
    void shouldTellUnknownItemsFromFullWindow() {
        try (KvClient client =
                KvClient.connect(running.clientDevice(), context().window(1).conclude())) {
            assertEquals(StartStatus.UNKNOWN, client.start(KEY, 1));
            client.set(KEY, 0, 0, bytes("value"));
            assertEquals(StartStatus.STARTED, client.start(KEY, 2));
            assertEquals(StartStatus.WINDOW_FULL, client.start(KEY, 3));
            assertArrayEquals(bytes("value"), client.get(KEY).orElseThrow().value(), "a blocking get has its own slot");
            Map<Long, ReadOutcome> results = new HashMap<>();
            assertEquals(1, client.deliver((tag, outcome, item) -> results.put(tag, outcome)));
            assertEquals(Map.of(2L, ReadOutcome.HIT), results);
            assertEquals(StartStatus.STARTED, client.start(KEY, 4));
        }
    }

    @Test
    void shouldSayThatItCannotLogInWhereALoginIsRequired(@TempDir Path directory) throws IOException {
        Passwords passwords = Passwords.read(Files.writeString(directory.resolve("passwords"), "alice:secret\n"));
        try (RunningServer closed = new RunningServer(context -> context.passwords(passwords))) {
            KvException failure =
                    assertThrows(KvException.class, () -> closed.client().close());
            assertTrue(
                    message(failure)
                            .contains("'CLIENT_ERROR unauthenticated': it requires a login (-Y), and this client"),
                    message(failure));
        }
    }

    @Test
    void shouldThrowOneClearExceptionWhenTheServerDies() {
        KvClient client = running.client();
        try (client) {
            client.set(KEY, 0, 0, bytes("value"));
            assertTrue(client.get(KEY).isPresent());
            running.stop();
            KvException first = assertThrows(KvException.class, () -> client.get(KEY));
            assertTrue(message(first).contains(" is gone"), message(first));
            assertTrue(message(first).contains(":" + client.serverAddress().getPort()), message(first));
            assertThrows(KvException.class, () -> client.set(KEY, 0, 0, bytes("value")));
            assertThrows(KvException.class, () -> client.delete(KEY));
            assertEquals(StartStatus.UNKNOWN, client.start(KEY, 0));
        }
    }

    @Test
    void shouldHandOverReadsThatAreLostAndConnectAgain() {
        try (KvClient client = running.client()) {
            client.set(KEY, 0, 0, bytes("value"));
            String firstLife = client.bootId();
            running.stop();
            int started = 0;
            while (client.start(KEY, started) == StartStatus.STARTED) {
                started++;
            }
            int[] lost = {0};
            ReadHandler handler = (tag, outcome, item) -> lost[0] += outcome == ReadOutcome.HIT ? 0 : 1;
            long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (client.outstanding() > 0 && System.nanoTime() < deadlineNs) {
                assertThrows(KvException.class, () -> client.get(bytes("other")));
                client.deliver(handler);
            }
            assertEquals(started, lost[0]);
            assertEquals(0, client.outstanding());
            assertEquals(StartStatus.UNKNOWN, client.start(KEY, 0));
            InetSocketAddress address = client.serverAddress();
            try (RunningServer next = new RunningServer(
                    context -> context.memcachedAddress(address).items(items -> items.registration(registration)))) {
                while (client.counters().connections() == 1 && System.nanoTime() < deadlineNs) {
                    try {
                        assertTrue(client.get(KEY).isEmpty(), "nothing of the old life");
                    } catch (KvException e) {
                        assertTrue(message(e).contains(":" + address.getPort()), message(e));
                    }
                }
                assertFalse(client.bootId().equals(firstLife));
                assertEquals(0, client.knownItems());
                assertEquals(SetStatus.STORED, client.set(KEY, 0, 0, bytes("new")));
                assertArrayEquals(bytes("new"), client.get(KEY).orElseThrow().value());
                assertEquals(0, next.deviceCounter("accessErrors"));
            }
        }
    }

    @Test
    void shouldPostWhatWasStartedByOneDoorbell() {
        PostingDevice posting = new PostingDevice(running.clientDevice());
        try (CompletionLoop loop = new CompletionLoop(posting.device(), 2, 4);
                KvClient client = new KvClient(loop, limited());
                KvClient other = new KvClient(loop, limited())) {
            client.set(KEY, 0, 0, bytes("value"));
            posting.lists().clear();
            for (int i = 0; i < 3; i++) {
                assertEquals(StartStatus.STARTED, client.start(KEY, i));
            }
            assertEquals(StartStatus.STARTED, other.start(KEY, 3));
            assertEquals(List.of(), posting.lists());
            int delivered = 0;
            while (delivered < 4) {
                loop.poll();
                delivered += client.deliver(KvClientTest::requireHit) + other.deliver(KvClientTest::requireHit);
            }
            assertEquals(List.of(3, 1), posting.lists());
        }
    }

    @Test
    void shouldStartSeveralUpToTheFirstThatIsNotKnown() {
        byte[][] keys = {bytes("a"), bytes("b"), bytes("c"), bytes("d"), bytes("e"), bytes("f")};
        long[] tags = {10, 11, 12, 13, 14, 15};
        try (CompletionLoop loop = new CompletionLoop(running.clientDevice(), 1, 4);
                KvClient client = new KvClient(loop, limited())) {
            for (byte[] key : keys) {
                client.set(key, 0, 0, key);
            }
            assertEquals(0, client.start(keys, tags, 0));
            assertEquals(4, client.start(keys, tags, keys.length), "the window");
            assertEquals(0, client.start(keys, tags, 1));
            assertEquals(StartStatus.WINDOW_FULL, client.start(keys[4], 14));
            assertEquals(Map.of(10L, "a", 11L, "b", 12L, "c", 13L, "d"), deliverAll(loop, client));
            client.delete(keys[1]);
            assertEquals(1, client.start(keys, tags, 3), "the second one is not known any more");
            assertEquals(StartStatus.UNKNOWN, client.start(keys[1], 11));
            assertEquals(Map.of(10L, "a"), deliverAll(loop, client));
            assertThrows(IllegalArgumentException.class, () -> client.start(keys, tags, 7));
            assertThrows(IllegalArgumentException.class, () -> client.start(keys, new long[1], 2));
            assertThrows(IllegalArgumentException.class, () -> client.start(keys, tags, -1));
            running.stop();
            assertThrows(KvException.class, client::version);
            assertEquals(0, client.start(keys, tags, 1));
        }
    }

    @Test
    void shouldStartSeveralFromAHandler() {
        byte[][] keys = {bytes("a"), bytes("b"), bytes("c")};
        try (CompletionLoop loop = new CompletionLoop(running.clientDevice(), 1, 4);
                KvClient client = new KvClient(loop, limited())) {
            for (byte[] key : keys) {
                client.set(key, 0, 0, key);
            }
            List<String> values = new ArrayList<>();
            ReadHandler handler = (tag, outcome, item) -> {
                if (tag == 0) {
                    assertEquals(3, client.start(keys, new long[] {1, 2, 3}, 3));
                }
                values.add(tag + new String(item.copy().value(), StandardCharsets.US_ASCII));
            };
            assertEquals(1, client.start(keys, new long[1], 1));
            assertThrows(NullPointerException.class, () -> client.start(new byte[][] {keys[0], null}, new long[2], 2));
            assertEquals(1, client.outstanding(), "nothing was started");
            while (client.outstanding() > 0) {
                loop.await(TimeUnit.MILLISECONDS.toNanos(10));
                client.deliver(handler);
            }
            assertEquals(List.of("0a", "1a", "2b", "3c"), values);
        }
    }

    @Test
    void shouldStartNothingUntilLostReadsWereDelivered() {
        byte[][] keys = {KEY};
        long[] tags = {1};
        try (KvClient client = running.client()) {
            client.set(KEY, 0, 0, bytes("value"));
            assertEquals(1, client.start(keys, tags, 1));
            running.stop();
            assertThrows(KvException.class, client::version);
            try (RunningServer next = new RunningServer(context -> context.memcachedAddress(client.serverAddress()))) {
                assertEquals(client.serverAddress(), next.address());
                long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                while (client.counters().connections() == 1 && System.nanoTime() < deadlineNs) {
                    try {
                        client.set(KEY, 0, 0, bytes("value"));
                    } catch (KvException e) {
                        assertTrue(
                                message(e).contains(":" + client.serverAddress().getPort()), message(e));
                    }
                }
                assertEquals(0, client.start(keys, tags, 1));
                assertEquals(StartStatus.WINDOW_FULL, client.start(KEY, 1));
                assertEquals(1, client.deliver((tag, outcome, item) -> assertSame(ReadOutcome.LOST, outcome)));
                assertEquals(1, client.start(keys, tags, 1));
            }
        }
    }

    private static Map<Long, String> deliverAll(CompletionLoop loop, KvClient client) {
        Map<Long, String> values = new HashMap<>();
        while (client.outstanding() > 0) {
            loop.await(TimeUnit.MILLISECONDS.toNanos(10));
            client.deliver((tag, outcome, item) -> values.put(
                    tag,
                    outcome == ReadOutcome.HIT
                            ? new String(item.copy().value(), StandardCharsets.US_ASCII)
                            : outcome.name()));
        }
        return values;
    }

    @Test
    void shouldLoseOnlyTheConnectionWhoseReadsCannotBePosted() {
        loseOnlyTheConnectionWhoseReadsFail(new VerbsException(VerbsErrorCode.NO_RESOURCES, "told to fail"));
        loseOnlyTheConnectionWhoseReadsFail(new OutOfMemoryError("told to fail"));
    }

    private void loseOnlyTheConnectionWhoseReadsFail(Throwable failure) {
        PostingDevice posting = new PostingDevice(running.clientDevice());
        try (CompletionLoop loop = new CompletionLoop(posting.device(), 2, 4);
                KvClient client = new KvClient(loop, limited());
                KvClient other = new KvClient(loop, limited())) {
            client.set(KEY, 0, 0, bytes("value"));
            posting.lists().clear();
            assertEquals(StartStatus.STARTED, client.start(KEY, 0));
            assertEquals(StartStatus.STARTED, client.start(KEY, 1));
            assertEquals(StartStatus.STARTED, other.start(KEY, 2));
            posting.failNext(failure);
            if (failure instanceof Error) {
                assertSame(failure, assertThrows(Error.class, loop::poll));
            }
            int[] hits = {0};
            while (hits[0] == 0) {
                loop.poll();
                other.deliver((tag, outcome, item) -> hits[0] += outcome == ReadOutcome.HIT ? 1 : 0);
            }
            try {
                assertTrue(client.get(bytes("other")).isEmpty());
            } catch (KvException e) {
                assertTrue(
                        message(e).contains("could not be posted") || message(e).contains("told to fail"), message(e));
            }
            List<ReadOutcome> outcomes = new ArrayList<>();
            client.deliver((tag, outcome, item) -> outcomes.add(outcome));
            assertEquals(List.of(ReadOutcome.LOST, ReadOutcome.LOST), outcomes);
            assertEquals(0, client.outstanding());
            assertEquals(StartStatus.STARTED, other.start(KEY, 3));
            assertEquals(List.of(1), posting.lists(), "what was refused is not posted again");
        }
    }

    private static void requireHit(long tag, ReadOutcome outcome, RemoteItem item) {
        assertEquals(ReadOutcome.HIT, outcome);
    }

    private KvClientContext limited() {
        return new KvClientContext(running.address()).window(4).conclude();
    }

    @Test
    void shouldGetManyWithOneDoorbell() {
        try (KvClient client = running.client()) {
            List<byte[]> keys = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                keys.add(bytes("key" + i));
                client.set(keys.get(i), i, 0, bytes("value" + i));
            }
            keys.add(keys.get(3));
            keys.add(bytes("nothing"));
            List<Optional<KvItem>> items = client.getAll(keys);
            for (int i = 0; i < 16; i++) {
                assertEquals(i, items.get(i).orElseThrow().flags());
            }
            assertEquals(3, items.get(16).orElseThrow().flags());
            assertTrue(items.get(17).isEmpty());
            assertEquals(17, client.counters().hits());
            assertEquals(1, client.counters().rgets());
        }
    }

    @Test
    void shouldNameServerThatCannotBeReached() throws IOException {
        try (Socket bound = new Socket()) { // its port is nobody else's, and nobody listens there
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            InetSocketAddress nowhere = (InetSocketAddress) bound.getLocalSocketAddress();
            KvException e = assertThrows(
                    KvException.class,
                    () -> KvClient.connect(running.clientDevice(), new KvClientContext(nowhere).conclude()));
            assertTrue(message(e).startsWith("cannot connect to "), message(e));
        }
    }

    @Test
    void shouldGiveUpOnServerThatDoesNotAnswer() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            KvClientContext context = new KvClientContext((InetSocketAddress) silent.getLocalSocketAddress())
                    .connectTimeoutNs(TimeUnit.MILLISECONDS.toNanos(200))
                    .conclude();
            KvException e = assertThrows(KvException.class, () -> KvClient.connect(running.clientDevice(), context));
            assertTrue(message(e).endsWith("did not answer in time"), message(e));
        }
    }

    @Test
    void shouldRefuseBadKeys() {
        try (KvClient client = running.client()) {
            assertThrows(IllegalArgumentException.class, () -> client.get(new byte[0]));
            assertThrows(IllegalArgumentException.class, () -> client.get(new byte[251]));
            assertThrows(IllegalArgumentException.class, () -> client.delete(bytes("a b")));
            assertThrows(IllegalArgumentException.class, () -> client.set(bytes("a\n"), 0, 0, bytes("x")));
            assertTrue(client.get(bytes("k".repeat(250))).isEmpty());
        }
    }

    /** The engine counts after it has answered. */
    private void awaitDeviceCounter(String name, long expected) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (running.deviceCounter(name) != expected && System.nanoTime() < deadlineNs) {
            Thread.onSpinWait();
        }
        assertEquals(expected, running.deviceCounter(name));
    }

    private KvClientContext context() {
        return new KvClientContext(running.address());
    }

    private static String message(KvException e) {
        return String.valueOf(e.getMessage());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
