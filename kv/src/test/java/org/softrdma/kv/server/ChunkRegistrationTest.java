package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.server.ItemSettings.Registration;

/** Registration "chunk" as clients see it. */
class ChunkRegistrationTest {
    private static final int STEPS = Integer.getInteger("softrdma.sample", 1) == 1 ? 800 : 300;
    private static final byte[] KEY = bytes("key");

    @Test
    void shouldReadEveryReplacementByTheStagOfTheFirst() {
        try (RunningServer running = chunkServer();
                KvClient writer = running.client();
                KvClient reader = running.client()) {
            writer.set(KEY, 0, 0, bytes("first"));
            assertTrue(reader.get(KEY).isPresent());
            for (int i = 0; i < 100; i++) {
                byte[] value = bytes("value " + i);
                writer.set(KEY, i, 0, value);
                KvItem item = reader.get(KEY).orElseThrow();
                assertArrayEquals(value, item.value());
                assertEquals(i, item.flags());
            }
            assertEquals(1, reader.counters().rgets(), "only the first get asked the server");
            assertEquals(100, reader.counters().reads(), "one READ per get");
            assertEquals(100, reader.counters().hits());
            assertEquals(0, running.deviceCounter("accessErrors"));
        }
    }

    @Test
    void shouldAnswerStorageCommandsWithTheSameStag() throws IOException {
        try (RunningServer running = chunkServer();
                RawMemcached memcached = new RawMemcached(running.address())) {
            memcached.send("rdma hello 2\r\n");
            assertTrue(memcached.readLine().endsWith(" chunk private-data"));
            Locator first = set(memcached, "set key 0 0 5\r\nvalue\r\n");
            assertEquals(0, first.offset());
            assertEquals(96, first.length());
            for (int i = 0; i < 100; i++) {
                Locator next = set(memcached, "set key 0 0 3\r\n" + (100 + i) + "\r\n");
                assertEquals(first.first(), next.first());
                assertEquals(first.length(), next.length());
            }
            assertEquals(
                    first.first(), set(memcached, "append key 0 0 1\r\n0\r\n").first());
            Locator larger = set(memcached, "set key 0 0 300\r\n" + "x".repeat(300) + "\r\n");
            assertNotEquals(first.rkey(), larger.rkey());
            assertNotEquals(first.sizeClass(), larger.sizeClass());
            memcached.send("rdma arenas\r\n");
            List<String> lines = new ArrayList<>();
            for (String line = memcached.readLine(); !line.equals("END"); line = memcached.readLine()) {
                lines.add(line);
            }
            assertEquals("CLASS 0 96", lines.getFirst());
            assertEquals("CLASS " + (lines.size() - 1) + " " + (1 << 20), lines.getLast());
            memcached.send("stats rdma\r\n");
            Map<String, String> statistics = new HashMap<>();
            for (String line = memcached.readLine(); !line.equals("END"); line = memcached.readLine()) {
                String[] words = line.split(" ", -1);
                statistics.put(words[1], words[2]);
            }
            assertEquals("chunk", statistics.get("registration"));
            int pages = (1 << 20) / first.length() + (1 << 20) / larger.length();
            assertEquals(
                    Integer.toString(1 + pages), statistics.get("item_regions"), "an arena, and two pages' chunks");
        }
    }

    @Test
    void shouldAskOnceWhenTheClassChanges() {
        try (RunningServer running = chunkServer();
                KvClient writer = running.client();
                KvClient reader = running.client()) {
            writer.set(KEY, 0, 0, bytes("value"));
            reader.get(KEY);
            for (int length : new int[] {1000, 100_000, 10, 1_000_000}) {
                long asked = reader.counters().rgets();
                byte[] value = new byte[length];
                new Random(length).nextBytes(value);
                writer.set(KEY, 0, 0, value);
                for (int i = 0; i < 3; i++) {
                    assertArrayEquals(value, reader.get(KEY).orElseThrow().value());
                }
                assertEquals(asked + 1, reader.counters().rgets());
            }
            assertEquals(4, reader.counters().stale());
            assertEquals(0, running.deviceCounter("accessErrors"));
        }
    }

    /**
     * Clients that keep whatever stag a key once had, while few chunks go from key to key (one for each key, one for the next
     * item, and some that an answer may still be reading): what they get is what a map has.
     * One command at a time, so there is but one right answer.
     */
    @Tag("sampled")
    @ParameterizedTest
    @EnumSource
    void shouldNeverGetAnOlderStateByAnOldStag(Registration registration) {
        long seed = Long.getLong("softrdma.seed", 99);
        Random random = new Random(seed);
        Map<String, byte[]> model = new HashMap<>();
        try (RunningServer running = new RunningServer(context -> context.items(items ->
                        items.registration(registration).memoryLimit(9L << 20).evicting(false)));
                KvClient writer = running.client();
                KvClient first = running.client();
                KvClient second = running.client();
                KvClient third = running.client()) {
            KvClient[] readers = {first, second, third};
            for (int step = 0; step < STEPS; step++) {
                String key = "key" + random.nextInt(4);
                if (random.nextInt(3) == 0) {
                    assertEquals(model.remove(key) != null, writer.delete(bytes(key)));
                } else {
                    byte[] value = new byte[random.nextInt(4) == 0 ? 100 : 850_000 + random.nextInt(150_000)];
                    random.nextBytes(value);
                    assertEquals(SetStatus.STORED, writer.set(bytes(key), 0, 0, value));
                    model.put(key, value);
                }
                KvClient reader = readers[random.nextInt(readers.length)];
                for (int i = 0; i < 2; i++) {
                    String asked = "key" + random.nextInt(4);
                    assertArrayEquals(
                            model.get(asked),
                            reader.get(bytes(asked)).map(KvItem::value).orElse(null),
                            asked + " in step " + step + ", softrdma.seed=" + seed);
                }
            }
            long hits = first.counters().hits() + second.counters().hits();
            long dead = first.counters().stale() + second.counters().stale();
            assertTrue(hits > STEPS / 16 && dead > STEPS / 16, hits + " hits, " + dead + " dead");
            assertEquals(0, running.deviceCounter("accessErrors"));
        }
    }

    @Test
    void shouldMakeRoomWhenTheDeviceHasNoMoreRegions() throws IOException {
        int chunksOfAPage = (1 << 20) / 96;
        Map<String, String> device = Map.of("regions", Integer.toString(chunksOfAPage + 1000));
        try (RunningServer running = new RunningServer(
                        context -> context.items(items -> items.registration(Registration.CHUNK))
                                .maxConnections(8),
                        device);
                KvClient client = running.client()) {
            for (int i = 0; i < 2 * chunksOfAPage; i++) {
                assertEquals(SetStatus.STORED, client.set(bytes("key" + i), 0, 0, bytes("value")));
            }
            assertTrue(client.get(bytes("key0")).isEmpty(), "evicted");
            assertTrue(client.get(bytes("key" + (2 * chunksOfAPage - 1))).isPresent());
            assertEquals(Long.toString(1 << 20), client.stats("slabs").get("total_malloced"), "one page");
            assertEquals(
                    SetStatus.OUT_OF_MEMORY,
                    client.set(KEY, 0, 0, new byte[300]),
                    "a class without a page has nothing to evict");
            assertEquals(SetStatus.STORED, client.set(KEY, 0, 0, new byte[900_000]), "a page of one chunk fits");
            try (KvClient another = running.client()) {
                assertTrue(another.get(KEY).isPresent(), "there are regions for queue pairs");
            }
        }
    }

    @Test
    void shouldCountHitsByWhateverStag() {
        try (RunningServer running = chunkServer();
                KvClient writer = running.client()) {
            KvClient reader =
                    KvClient.connect(running.clientDevice(), new KvClientContext(running.address()).conclude());
            try (reader) {
                writer.set(KEY, 0, 0, bytes("value"));
                reader.get(KEY);
                for (int i = 0; i < 10; i++) {
                    writer.set(KEY, 0, 0, bytes("value" + i));
                    reader.get(KEY);
                }
            }
            // Told at the latest when it was closed, which waits for the answer for a short time only.
            long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (!"10".equals(writer.stats("rdma").get("rdma_get_hits"))) {
                assertTrue(System.nanoTime() < deadlineNs, () -> "after 20 s: " + writer.stats("rdma"));
            }
        }
    }

    private static Locator set(RawMemcached memcached, String command) throws IOException {
        memcached.send(command);
        String[] words = memcached.readLine().split(" ", -1);
        assertEquals("STORED", words[0]);
        return Locator.ofHex(words[1]);
    }

    private static RunningServer chunkServer() {
        return new RunningServer(context -> context.items(items -> items.registration(Registration.CHUNK)));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
