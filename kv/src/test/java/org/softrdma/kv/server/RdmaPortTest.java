package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.ItemCheck;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.memcached.AnswerDescriptor;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.memcached.TouchReportDescriptor;
import org.softrdma.kv.store.ItemDescriptor;
import org.softrdma.kv.store.Locator;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

@ParameterizedClass
@EnumSource
class RdmaPortTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int RECEIVES = 80;
    private static final int SLOT = 64;
    private static final long ITEMS = 64 * 1024;

    /** Longer than what sockets take of a peer that reads nothing. */
    private static final int LONG_ITEM = 15 << 20;

    private final KvServerContext.Registration registration;
    private final RunningServer running;

    RdmaPortTest(KvServerContext.Registration registration) {
        this.registration = registration;
        running = new RunningServer(context -> context.registration(registration)
                .threads(1)
                .memoryLimit(1L << 28)
                .maxItemLength(LONG_ITEM));
    }

    /** A queue pair that does what a test says, also what no client would do. */
    private final class RawQueuePair implements AutoCloseable {
        private final ProtectionDomain domain;
        private final CompletionQueue completions;
        private final HostMemory memory;
        private final MemoryRegion region;
        private final WorkCompletion[] one = WorkCompletion.array(1);
        private final QueuePair queuePair;

        RawQueuePair(int receives) {
            this(running, running.clientDevice(), receives, ITEMS);
        }

        RawQueuePair(RunningServer server, VerbsDevice device, int receives, long itemBytes) {
            domain = device.allocateProtectionDomain();
            completions = device.createCompletionQueue(2 * RECEIVES);
            memory = device.allocateMemory(ITEMS + itemBytes);
            region = domain.register(
                    memory.segment(),
                    java.util.Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.RECEIVE_SINK));
            try (Connector connector = device.resolve(server.server().rdmaAddress(), TIMEOUT_NS)) {
                queuePair = connector.createQueuePair(
                        domain, QueuePairAttributes.of(completions, QueuePairLimits.of(8, RECEIVES)));
                for (int i = 0; i < receives; i++) {
                    queuePair.postReceive(i, region, (long) i * SLOT, SLOT);
                }
                connector.connect(ConnectionParameters.ofReads(1), TIMEOUT_NS);
            }
        }

        void send(String token) {
            HelloDescriptor.write(region.memory(), ITEMS, token);
            queuePair.postSend(1000, region, ITEMS, HelloDescriptor.LENGTH, SendFlags.NONE);
        }

        /** Reports one record, and claims that it is so many. */
        void report(int count, long first, int generation, int hits) {
            TouchReportDescriptor.header(region.memory(), ITEMS, count, 0);
            TouchReportDescriptor.record(region.memory(), ITEMS, 0, first, generation, hits);
            queuePair.postSend(1001, region, ITEMS, TouchReportDescriptor.length(1), SendFlags.NONE);
        }

        /** Waits for the next answer; its offset. */
        long answer() {
            await(() -> completions.poll(one) == 1);
            assertTrue(one[0].isSuccess(), one[0].toString());
            assertEquals(AnswerDescriptor.LENGTH, one[0].byteLength());
            return one[0].wrId() * SLOT;
        }

        void awaitEnd() {
            await(() -> queuePair.state() == QueuePairState.ERROR);
        }

        @Override
        public void close() {
            queuePair.close();
            region.close();
            memory.close();
            completions.close();
            domain.close();
        }
    }

    @Test
    void shouldWriteItemsAndAnswerBehindThem() throws IOException {
        try (running;
                RawMemcached tcp = new RawMemcached(running.address());
                RawQueuePair raw = new RawQueuePair(RECEIVES)) {
            bind(tcp, raw);
            tcp.send("set key 5 0 3 noreply\r\nabc\r\n");
            tcp.send(rget("key", raw, 4096, 7) + rget("nokey", raw, 4096, 8) + rget("key", raw, 63, 9));
            long found = raw.answer();
            assertEquals(7, AnswerDescriptor.opaque(raw.region.memory(), found));
            assertEquals(AnswerDescriptor.FOUND, AnswerDescriptor.status(raw.region.memory(), found));
            assertEquals(72, AnswerDescriptor.itemLength(raw.region.memory(), found));
            assertEquals(1, Locator.generation(AnswerDescriptor.locatorSecond(raw.region.memory(), found)));
            byte[] item = raw.region.memory().asSlice(ITEMS, 72).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            assertEquals("keyabc", new String(item, 56, 6, StandardCharsets.US_ASCII));
            long missing = raw.answer();
            assertEquals(8, AnswerDescriptor.opaque(raw.region.memory(), missing));
            assertEquals(AnswerDescriptor.NOT_FOUND, AnswerDescriptor.status(raw.region.memory(), missing));
            long small = raw.answer();
            assertEquals(AnswerDescriptor.BUFFER_TOO_SMALL, AnswerDescriptor.status(raw.region.memory(), small));
            assertEquals(72, AnswerDescriptor.itemLength(raw.region.memory(), small));
            assertEquals("VERSION test-1\r\n", tcp.ask("version\r\n", "VERSION test-1\r\n"));
        }
    }

    /** The client takes no bytes before the item was replaced, so most of it has not been sent then. */
    @Test
    void shouldWriteTheItemThatWasFoundAlthoughItWasReplaced() throws IOException {
        int length = LONG_ITEM - 1_000_000;
        byte[] key = "key".getBytes(StandardCharsets.US_ASCII);
        try (running;
                VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                RawMemcached tcp = new RawMemcached(running.address());
                RawMemcached other = new RawMemcached(running.address());
                RawQueuePair raw = new RawQueuePair(running, device, RECEIVES, LONG_ITEM)) {
            bind(tcp, raw);
            assertEquals("STORED\r\n", other.ask(set(length, "o"), "STORED\r\n"));
            tcp.send(rget("key", raw, LONG_ITEM, 1) + "version\r\n");
            assertEquals("VERSION test-1", tcp.readLine(), "it is posted");
            for (int i = 0; i < 3; i++) {
                assertEquals("STORED\r\n", other.ask(set(length - 10_000 * i - 10_000, "n"), "STORED\r\n"));
            }
            long offset = raw.answer();
            assertEquals(1, AnswerDescriptor.opaque(raw.region.memory(), offset));
            assertEquals(AnswerDescriptor.FOUND, AnswerDescriptor.status(raw.region.memory(), offset));
            int itemLength = (int) AnswerDescriptor.itemLength(raw.region.memory(), offset);
            assertEquals(
                    ReadOutcome.HIT,
                    new ItemCheck()
                            .checkContent(
                                    raw.region.memory(),
                                    raw.region.memory().asByteBuffer(),
                                    (int) ITEMS,
                                    itemLength,
                                    key,
                                    ItemCheck.NO_EXPIRY));
            assertEquals(length, ItemDescriptor.valueLength(raw.region.memory(), ITEMS));
        }
    }

    /** Items that are gone keep their chunks as long as they are on their way to a client. */
    @Test
    void shouldKeepLittleForClientThatTakesNothingAndEndIt() throws IOException {
        int count = 40;
        int length = 500_000;
        // The kernel takes less than the first item.
        Map<String, String> little = Map.of("socket-buffer", "16384");
        try (RunningServer limited = new RunningServer(
                        context -> context.registration(registration)
                                .threads(1)
                                .answerTimeoutNs(TimeUnit.MILLISECONDS.toNanos(1)),
                        little);
                VerbsDevice device =
                        new SoftRdmaProvider().open(Map.of("progress", "manual", "socket-buffer", "16384"));
                RawMemcached tcp = new RawMemcached(limited.address());
                RawMemcached other = new RawMemcached(limited.address());
                RawQueuePair raw = new RawQueuePair(limited, device, RECEIVES, 1 << 20)) {
            bind(tcp, raw);
            StringBuilder requests = new StringBuilder();
            for (int i = 0; i < count; i++) {
                String set = "set key" + i + " 0 0 " + length + "\r\n" + "x".repeat(length) + "\r\n";
                assertEquals("STORED\r\n", other.ask(set, "STORED\r\n"));
                requests.append(rget("key" + i, raw, 1, 100 + i)); // too small a buffer pins nothing
            }
            tcp.send(requests.toString());
            requests.setLength(0);
            for (int i = 0; i < count; i++) {
                requests.append(rget("key" + i, raw, 1 << 20, i));
            }
            tcp.send(requests.toString());
            assertEquals("VERSION test-1\r\n", other.ask("version\r\n", "VERSION test-1\r\n"), "its turn comes behind");
            for (int i = 0; i < count; i++) {
                assertEquals("DELETED\r\n", other.ask("delete key" + i + "\r\n", "DELETED\r\n"));
            }
            long used = usedChunks(limited);
            assertTrue(used <= 2, () -> used + " chunks of 500 kB are kept for one client");
            await(() -> limited.server().counters().stalledQueuePairs.sum() == 1);
            await(() -> usedChunks(limited) == 0);
        }
    }

    private static long usedChunks(RunningServer running) {
        return running.server().store().classStatistics(0).stream()
                .mapToLong(each -> each.slab().usedChunks())
                .sum();
    }

    private static String set(int length, String letter) {
        return "set key 0 0 " + length + "\r\n" + letter.repeat(length) + "\r\n";
    }

    @Test
    void shouldAnswerMoreRgetsThanItsRingHolds() throws IOException {
        try (running;
                RawMemcached tcp = new RawMemcached(running.address());
                RawQueuePair raw = new RawQueuePair(RECEIVES)) {
            bind(tcp, raw);
            tcp.send("set key 0 0 30000 noreply\r\n" + "x".repeat(30_000) + "\r\n");
            for (int round = 0; round < 20; round++) {
                StringBuilder requests = new StringBuilder();
                for (int i = 0; i < RECEIVES - 1; i++) {
                    requests.append(rget("key", raw, 32_000, i));
                }
                tcp.send(requests + "version\r\n");
                for (int i = 0; i < RECEIVES - 1; i++) {
                    long offset = raw.answer();
                    assertEquals(i, AnswerDescriptor.opaque(raw.region.memory(), offset));
                    raw.queuePair.postReceive(offset / SLOT, raw.region, offset, SLOT);
                }
                assertEquals("VERSION test-1", tcp.readLine());
            }
        }
    }

    @Test
    void shouldEndQueuePairThatShowsNoGoodToken() throws IOException {
        try (running;
                RawMemcached tcp = new RawMemcached(running.address());
                RawQueuePair stranger = new RawQueuePair(2);
                RawQueuePair thief = new RawQueuePair(2);
                RawQueuePair owner = new RawQueuePair(2)) {
            stranger.send("00".repeat(HelloDescriptor.TOKEN_LENGTH));
            stranger.awaitEnd();
            String token = bind(tcp, owner);
            thief.send(token);
            thief.awaitEnd();
            await(() -> running.server().counters().rejectedQueuePairs.sum() == 2);
            assertEquals(1, running.server().counters().boundQueuePairs.get());
        }
    }

    @Test
    void shouldEndQueuePairThatSendsWhatIsNotInTheProtocol() throws IOException {
        try (running;
                RawMemcached tcp = new RawMemcached(running.address());
                RawQueuePair raw = new RawQueuePair(2)) {
            String token = bind(tcp, raw);
            raw.send(token);
            raw.awaitEnd();
            await(() -> running.server().counters().boundQueuePairs.get() == 0);
            assertEquals(
                    "CLIENT_ERROR no queue pair\r\n",
                    tcp.ask(rget("key", raw, 1, 1), "CLIENT_ERROR no queue pair\r\n"));
        }
    }

    @Test
    void shouldCountReadsThatClientsReport() throws IOException {
        try (running;
                RawMemcached tcp = new RawMemcached(running.address())) {
            byte[] key = "key".getBytes(StandardCharsets.US_ASCII);
            try (KvClient client = running.client()) {
                client.set(key, 0, 0, key);
                for (int i = 0; i < 1000; i++) {
                    client.get(key);
                }
                assertEquals(0, client.counters().touchesDropped());
            } // which tells of the last ones, and waits for the answer for a short time only
            tcp.ask("get key\r\n", "VALUE key 0 3\r\nkey\r\nEND\r\n");
            await(() -> running.server().counters().rdmaGetHits.sum() == 1000);
            tcp.send("stats\r\n");
            String line = tcp.readLine();
            while (!line.startsWith("STAT get_hits ")) {
                line = tcp.readLine();
            }
            assertEquals("STAT get_hits 1001", line);
        }
    }

    @Test
    void shouldEndQueuePairThatSendsBadTouchReports() throws IOException {
        try (running;
                KvClient good = running.client()) {
            byte[] key = "key".getBytes(StandardCharsets.US_ASCII);
            good.set(key, 0, 0, key);
            for (int hits : new int[] {0, -1}) {
                try (RawMemcached tcp = new RawMemcached(running.address());
                        RawQueuePair raw = new RawQueuePair(4)) {
                    bind(tcp, raw);
                    raw.report(1, 1234, 1, 7);
                    assertEquals(AnswerDescriptor.TOUCHED, AnswerDescriptor.status(raw.region.memory(), raw.answer()));
                    raw.report(1, -1, -1, hits);
                    raw.awaitEnd();
                }
            }
            try (RawMemcached tcp = new RawMemcached(running.address());
                    RawQueuePair raw = new RawQueuePair(4)) {
                bind(tcp, raw);
                raw.report(257, 0, 0, 1);
                raw.awaitEnd();
            }
            assertTrue(good.get(key).isPresent());
            await(() -> running.server().counters().boundQueuePairs.get() == 1);
            assertEquals(2, running.server().counters().rdmaTouchReports.sum());
        }
    }

    @Test
    void shouldEndQueuePairOfClientWithoutCreditOrWithBadBuffer() throws IOException {
        try (running;
                RawMemcached broke = new RawMemcached(running.address());
                RawQueuePair noCredit = new RawQueuePair(1);
                RawMemcached liar = new RawMemcached(running.address());
                RawQueuePair badBuffer = new RawQueuePair(4);
                KvClient good = running.client()) {
            good.set("key".getBytes(StandardCharsets.US_ASCII), 0, 0, new byte[100]);
            bind(broke, noCredit);
            broke.send(rget("key", noCredit, 4096, 1));
            noCredit.awaitEnd();
            bind(liar, badBuffer);
            liar.send("rget key 12345 0 4096 1\r\n");
            badBuffer.awaitEnd();
            assertTrue(good.get("key".getBytes(StandardCharsets.US_ASCII)).isPresent());
            await(() -> running.server().counters().boundQueuePairs.get() == 1);
        }
    }

    @Test
    void shouldEndQueuePairWithItsMemcachedConnection() throws IOException {
        try (running;
                RawQueuePair raw = new RawQueuePair(2)) {
            try (RawMemcached tcp = new RawMemcached(running.address())) {
                bind(tcp, raw);
            }
            raw.awaitEnd();
            await(() -> running.server().counters().boundQueuePairs.get() == 0);
        }
    }

    private String bind(RawMemcached tcp, RawQueuePair raw) throws IOException {
        tcp.send("rdma hello 1\r\n");
        String token = tcp.readLine().split(" ", -1)[3];
        raw.send(token);
        assertEquals(AnswerDescriptor.BOUND, AnswerDescriptor.status(raw.region.memory(), raw.answer()));
        return token;
    }

    private static String rget(String key, RawQueuePair raw, int length, long opaque) {
        return "rget " + key + " " + Integer.toUnsignedString(raw.region.rkey()) + " "
                + Long.toUnsignedString(raw.region.address() + ITEMS) + " " + length + " " + opaque + "\r\n";
    }

    private static void await(BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadlineNs, "not within 10 s");
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldCloseWhileQueuePairsAreBeingConnected() throws Exception {
        for (int life = 0; life < 6; life++) {
            RunningServer dying = new RunningServer();
            List<Thread> clients = new ArrayList<>();
            CountDownLatch connected = new CountDownLatch(4 * (life % 3));
            for (int i = 0; i < 4; i++) {
                clients.add(Thread.ofPlatform().start(() -> {
                    try {
                        while (true) {
                            dying.client().close();
                            connected.countDown();
                        }
                    } catch (KvException e) {
                        connected.countDown(); // the server is gone, as it should be
                    }
                }));
            }
            try {
                assertTrue(connected.await(TIMEOUT_NS, TimeUnit.NANOSECONDS));
                dying.stop(); // refused by the device if anything is left
            } finally {
                for (Thread client : clients) {
                    client.join();
                }
                dying.close();
            }
        }
    }
}
