package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.kv.server.RawQueuePair.ITEMS;
import static org.softrdma.kv.server.RawQueuePair.RECEIVES;
import static org.softrdma.kv.server.RawQueuePair.SLOT;
import static org.softrdma.kv.server.RawQueuePair.TIMEOUT_NS;
import static org.softrdma.kv.server.RawQueuePair.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.ItemCheck;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.message.AnswerDescriptor;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.TouchReportDescriptor;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.device.VerbsDevice;

@ParameterizedClass
@EnumSource
class RdmaPortTest {
    /** Each with other numbers of clients that have connected before the end. */
    private static final int LIVES = Integer.getInteger("softrdma.sample", 1) == 1 ? 6 : 3;

    /** Longer than what sockets take of a peer that reads nothing. */
    private static final int LONG_ITEM = 15 << 20;

    private final ItemSettings.Registration registration;
    private final RunningServer running;

    RdmaPortTest(ItemSettings.Registration registration) {
        this.registration = registration;
        running = new RunningServer(context -> context.items(items -> items.registration(registration))
                .threads(1)
                .items(items -> items.memoryLimit(1L << 28).maxItemLength(LONG_ITEM)));
    }

    @Test
    void shouldWriteItemsAndAnswerBehindThem() throws IOException {
        try (running;
                RawMemcached tcp = new RawMemcached(running.address());
                RawQueuePair raw = RawQueuePair.bound(tcp, running, RECEIVES)) {
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
                RawQueuePair raw = RawQueuePair.bound(tcp, running, device, RECEIVES, LONG_ITEM)) {
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
                        context -> context.items(items -> items.registration(registration))
                                .threads(1)
                                .timeouts(timeouts -> timeouts.withAnswerTimeoutNs(TimeUnit.MILLISECONDS.toNanos(1))),
                        little);
                VerbsDevice device =
                        new SoftRdmaProvider().open(Map.of("progress", "manual", "socket-buffer", "16384"));
                RawMemcached tcp = new RawMemcached(limited.address());
                RawMemcached other = new RawMemcached(limited.address());
                RawQueuePair raw = RawQueuePair.bound(tcp, limited, device, RECEIVES, 1 << 20)) {
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
            await(() -> limited.server().rdmaCounters().stalledQueuePairs.sum() == 1);
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
                RawQueuePair raw = RawQueuePair.bound(tcp, running, RECEIVES)) {
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
    void shouldEndQueuePairThatSendsWhatIsNotInTheProtocol() throws IOException {
        try (running;
                RawMemcached tcp = new RawMemcached(running.address());
                RawQueuePair raw = RawQueuePair.bound(tcp, running, 2)) {
            raw.hello("00".repeat(HelloDescriptor.TOKEN_LENGTH)); // a second one
            raw.awaitEnd();
            await(() -> running.server().rdmaCounters().boundQueuePairs.get() == 0);
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
                assertEquals(2, client.counters().touchesNamed(), "what is said more often changes nothing");
                assertEquals(0, client.counters().touchesDropped());
            } // which tells of the last ones, and waits for the answer for a short time only
            tcp.ask("get key\r\n", "VALUE key 0 3\r\nkey\r\nEND\r\n");
            await(() -> running.server().rdmaCounters().getHits.sum() == 1000);
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
                        RawQueuePair raw = RawQueuePair.bound(tcp, running, 4)) {
                    report(raw, 1, 1234, 1, 7);
                    assertEquals(AnswerDescriptor.TOUCHED, AnswerDescriptor.status(raw.region.memory(), raw.answer()));
                    report(raw, 1, -1, -1, hits);
                    raw.awaitEnd();
                }
            }
            try (RawMemcached tcp = new RawMemcached(running.address());
                    RawQueuePair raw = RawQueuePair.bound(tcp, running, 4)) {
                report(raw, 257, 0, 0, 1);
                raw.awaitEnd();
            }
            assertTrue(good.get(key).isPresent());
            await(() -> running.server().rdmaCounters().boundQueuePairs.get() == 1);
            assertEquals(2, running.server().rdmaCounters().touchReports.sum());
        }
    }

    @Test
    void shouldEndQueuePairOfClientWithoutCreditOrWithBadBuffer() throws IOException {
        try (running;
                RawMemcached broke = new RawMemcached(running.address());
                RawQueuePair noCredit = RawQueuePair.bound(broke, running, 1);
                RawMemcached liar = new RawMemcached(running.address());
                RawQueuePair badBuffer = RawQueuePair.bound(liar, running, 4);
                KvClient good = running.client()) {
            good.set("key".getBytes(StandardCharsets.US_ASCII), 0, 0, new byte[100]);
            broke.send(rget("key", noCredit, 4096, 1));
            noCredit.awaitEnd();
            liar.send("rget key 12345 0 4096 1\r\n");
            badBuffer.awaitEnd();
            assertTrue(good.get("key".getBytes(StandardCharsets.US_ASCII)).isPresent());
            await(() -> running.server().rdmaCounters().boundQueuePairs.get() == 1);
        }
    }

    /** Reports one record, and claims that it is so many. */
    private static void report(RawQueuePair raw, int count, long first, int generation, int hits) {
        TouchReportDescriptor.header(raw.region.memory(), ITEMS, count, 0);
        TouchReportDescriptor.record(raw.region.memory(), ITEMS, 0, first, generation, hits);
        raw.queuePair.postSend(1001, raw.region, ITEMS, TouchReportDescriptor.length(1), SendFlags.NONE);
    }

    private static String rget(String key, RawQueuePair raw, int length, long opaque) {
        return "rget " + key + " " + Integer.toUnsignedString(raw.region.rkey()) + " "
                + Long.toUnsignedString(raw.region.address() + ITEMS) + " " + length + " " + opaque + "\r\n";
    }

    @Tag("sampled")
    @Test
    void shouldCloseWhileQueuePairsAreBeingConnected() throws Exception {
        for (int life = 0; life < LIVES; life++) {
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
