package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.kv.server.RunningServer;

/** Every command, with every kind of client, at stock memcached and at ours: what a program sees is the same. */
class KvCommandsTest {
    private static final byte[] KEY = bytes("key");
    private static final byte[] OTHER = bytes("other");

    enum Setup {
        MEMCACHED(false, false, KvProtocol.PLAIN),
        MEMCACHED_SHARED(false, true, KvProtocol.PLAIN),
        MEMCACHED_AUTO(false, false, KvProtocol.AUTO),
        KV_SERVER(true, false, KvProtocol.RDMA),
        KV_SERVER_CHUNK(true, false, KvProtocol.RDMA),
        KV_SERVER_SHARED(true, true, KvProtocol.AUTO),
        KV_SERVER_CHUNK_SHARED(true, true, KvProtocol.AUTO),
        KV_SERVER_PLAIN(true, false, KvProtocol.PLAIN),
        KV_SERVER_PLAIN_SHARED(true, true, KvProtocol.PLAIN);

        private final boolean ours;
        private final boolean shared;
        private final KvProtocol protocol;

        Setup(boolean ours, boolean shared, KvProtocol protocol) {
            this.ours = ours;
            this.shared = shared;
            this.protocol = protocol;
        }

        boolean isRdma() {
            return ours && protocol != KvProtocol.PLAIN;
        }

        KvCommands open(CloseStack owned) throws IOException {
            Registration registration = name().contains("CHUNK") ? Registration.CHUNK : Registration.ARENA;
            RunningServer running =
                    owned.add(new RunningServer(context -> context.items(items -> items.registration(registration))));
            InetSocketAddress address = ours
                    ? running.address()
                    : owned.add(new MemcachedProcess().soiled()).address();
            KvClientContext context =
                    new KvClientContext(address).protocol(protocol).conclude();
            return owned.add(
                    shared
                            ? SharedKvClient.connect(running.clientDevice(), context)
                            : KvClient.connect(running.clientDevice(), context));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSetGetAndDelete(Setup setup) throws IOException {
        try (CloseStack owned = new CloseStack()) {
            KvCommands client = setup.open(owned);
            assertEquals(setup.isRdma() ? KvProtocol.RDMA : KvProtocol.PLAIN, client.protocol());
            assertTrue(client.get(KEY).isEmpty());
            Random random = new Random(5);
            for (int length : new int[] {0, 1, 1000, 70_000, 500_000}) {
                byte[] value = new byte[length];
                random.nextBytes(value);
                assertEquals(SetStatus.STORED, client.set(KEY, -1, 0, value));
                KvItem item = client.get(KEY).orElseThrow();
                assertArrayEquals(value, item.value());
                assertEquals(-1, item.flags());
                assertTrue(item.cas() != 0);
            }
            assertEquals(SetStatus.TOO_LARGE, client.set(KEY, 0, 0, new byte[2 << 20]));
            client.set(KEY, 0, 0, bytes("value"));
            assertTrue(client.delete(KEY));
            assertFalse(client.delete(KEY));
            assertTrue(client.get(KEY).isEmpty());
            assertFalse(client.version().isEmpty());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldGetManyInOrder(Setup setup) throws IOException {
        try (CloseStack owned = new CloseStack()) {
            KvCommands client = setup.open(owned);
            List<byte[]> keys = new ArrayList<>();
            for (int i = 0; i < 100; i++) { // more than slots in the window
                keys.add(bytes("key" + i % 70));
                if (i % 3 != 0) {
                    client.set(bytes("key" + i), i, 0, bytes("value" + i));
                }
            }
            for (int round = 0; round < 2; round++) { // at first most places are unknown to others, then known
                List<Optional<KvItem>> items = client.getAll(keys);
                assertEquals(keys.size(), items.size());
                for (int i = 0; i < keys.size(); i++) {
                    int number = i % 70;
                    assertEquals(number % 3 != 0, items.get(i).isPresent(), "key" + number);
                    items.get(i).ifPresent(item -> assertArrayEquals(bytes("value" + number), item.value()));
                }
            }
            assertEquals(List.of(), client.getAll(List.of()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldStoreUnderConditions(Setup setup) throws IOException {
        try (CloseStack owned = new CloseStack()) {
            KvCommands client = setup.open(owned);
            assertEquals(SetStatus.NOT_STORED, client.replace(KEY, 0, 0, bytes("x")));
            assertEquals(SetStatus.NOT_STORED, client.append(KEY, bytes("x")));
            assertEquals(SetStatus.NOT_FOUND, client.cas(KEY, 0, 0, bytes("x"), 1));
            assertEquals(SetStatus.STORED, client.add(KEY, 3, 0, bytes("b")));
            assertEquals(SetStatus.NOT_STORED, client.add(KEY, 0, 0, bytes("x")));
            assertEquals(SetStatus.STORED, client.append(KEY, bytes("c")));
            assertEquals(SetStatus.STORED, client.prepend(KEY, bytes("a")));
            KvItem item = client.get(KEY).orElseThrow();
            assertArrayEquals(bytes("abc"), item.value());
            assertEquals(3, item.flags());
            assertEquals(SetStatus.STORED, client.cas(KEY, 0, 0, bytes("new"), item.cas()));
            assertEquals(SetStatus.EXISTS, client.cas(KEY, 0, 0, bytes("newer"), item.cas()));
            assertArrayEquals(bytes("new"), client.get(KEY).orElseThrow().value());
            assertEquals(SetStatus.STORED, client.replace(KEY, 0, 0, bytes("newest")));
            assertArrayEquals(bytes("newest"), client.get(KEY).orElseThrow().value());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCount(Setup setup) throws IOException {
        try (CloseStack owned = new CloseStack()) {
            KvCommands client = setup.open(owned);
            assertEquals(OptionalLong.empty(), client.incr(KEY, 1));
            client.set(KEY, 0, 0, bytes("1")); // with 2^63 and more memcached 1.6.18 may answer that it is no number
            assertEquals(OptionalLong.of(-1), client.incr(KEY, -2));
            assertArrayEquals(
                    bytes("18446744073709551615"), client.get(KEY).orElseThrow().value());
            client.set(KEY, 0, 0, bytes("1"));
            assertEquals(OptionalLong.of(0), client.incr(KEY, -1));
            client.set(KEY, 0, 0, bytes("5"));
            assertEquals(OptionalLong.of(0), client.decr(KEY, 7));
            assertArrayEquals(bytes("0"), client.get(KEY).orElseThrow().value());
            client.set(KEY, 0, 0, bytes("five"));
            assertThrows(KvRefusedException.class, () -> client.incr(KEY, 1));
            assertArrayEquals(bytes("five"), client.get(KEY).orElseThrow().value(), "a refusal ends nothing");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTouchAndFlush(Setup setup) throws IOException {
        try (CloseStack owned = new CloseStack()) {
            KvCommands client = setup.open(owned);
            assertFalse(client.touch(KEY, 100));
            assertTrue(client.getAndTouch(KEY, 100).isEmpty());
            client.set(KEY, 9, 0, bytes("value"));
            client.set(OTHER, 0, 0, bytes("other"));
            assertTrue(client.touch(KEY, 1000));
            assertArrayEquals(bytes("value"), client.get(KEY).orElseThrow().value());
            assertEquals(9, client.getAndTouch(KEY, 0).orElseThrow().flags());
            assertTrue(client.touch(OTHER, -1));
            assertTrue(client.get(OTHER).isEmpty());
            client.flushAll(Duration.ZERO);
            assertTrue(client.get(KEY).isEmpty());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellStatistics(Setup setup) throws IOException {
        try (CloseStack owned = new CloseStack()) {
            KvCommands client = setup.open(owned);
            client.set(KEY, 0, 0, bytes("value"));
            client.get(KEY);
            Map<String, String> statistics = client.stats("");
            assertEquals("1", statistics.get("curr_items"));
            assertEquals(client.version(), statistics.get("version"));
            assertThrows(KvRefusedException.class, () -> client.stats("no such thing at all"));
            assertThrows(IllegalArgumentException.class, () -> client.stats("a\r\nflush_all"));
            assertEquals("1", client.stats("").get("curr_items"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotWaitForAnswersThatWillNotCome(Setup setup) throws IOException {
        try (CloseStack owned = new CloseStack()) {
            KvCommands client = setup.open(owned);
            for (int i = 0; i < 100; i++) {
                assertTrue(client.execute(
                        KvRequest.set(KEY, i, 0, bytes("value" + i)).noreply()));
                KvItem item = client.get(KEY).orElseThrow();
                assertEquals(i, item.flags(), "a get behind a set sees it");
            }
            assertTrue(client.execute(KvRequest.delete(KEY).noreply()));
            assertTrue(client.get(KEY).isEmpty());
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
