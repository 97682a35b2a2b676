package org.softrdma.kv.client.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class KetamaTest {
    private static final long SEED = 20261123;

    private static byte[] key(int number) {
        return ("key:" + number).getBytes(StandardCharsets.US_ASCII);
    }

    private static List<ClusterServer> equal(int count) {
        List<ClusterServer> servers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            servers.add(new ClusterServer("cache" + i, ClusterServer.DEFAULT_PORT + i, 1));
        }
        return servers;
    }

    @Test
    void shouldAgreeWithLibmemcachedAboutAHundredThousandKeysOfUnequalServers() throws Throwable {
        List<ClusterServer> servers = List.of(
                new ClusterServer("10.0.0.1", 11211, 3),
                new ClusterServer("cache.example", 11212, 1),
                new ClusterServer("10.0.0.1", 11213, 7),
                new ClusterServer("fe80::1", 11214, 2),
                new ClusterServer("localhost", 65535, 16));
        assertAgrees(servers, 100_000);
    }

    @Test
    void shouldAgreeWithLibmemcachedWhateverTheWeights() throws Throwable {
        Random random = new Random(SEED);
        for (int round = 0; round < 200; round++) {
            List<ClusterServer> servers = new ArrayList<>();
            int count = 1 + random.nextInt(40);
            for (int i = 0; i < count; i++) {
                servers.add(new ClusterServer(
                        "h" + random.nextInt(9), 11211 + i, 1 + random.nextInt(1 << random.nextInt(20))));
            }
            assertAgrees(servers, 200);
        }
    }

    /** In {@code double} the first server would have four points more. */
    @Test
    void shouldComputeTheNumberOfPointsInFloatAsLibmemcachedDoes() throws Throwable {
        assertAgrees(
                List.of(
                        new ClusterServer("a", 11211, 58),
                        new ClusterServer("b", 11212, 1),
                        new ClusterServer("c", 11213, 1)),
                20_000);
        assertAgrees(
                List.of(
                        new ClusterServer("a", 11211, 1),
                        new ClusterServer("b", 11212, 6),
                        new ClusterServer("c", 11213, 6),
                        new ClusterServer("d", 11214, 6),
                        new ClusterServer("e", 11215, 6)),
                20_000);
    }

    private static void assertAgrees(List<ClusterServer> servers, int keys) throws Throwable {
        Ketama ketama = Ketama.of(servers);
        try (Libmemcached libmemcached = new Libmemcached(servers)) {
            for (int i = 0; i < keys; i++) {
                byte[] key = key(i);
                int expected = libmemcached.port(key);
                int actual = servers.get(ketama.server(key)).port();
                if (expected != actual) {
                    assertEquals(expected, actual, "key:" + i + " of " + servers + ", seed " + SEED);
                }
            }
        }
    }

    @Test
    void shouldLeaveKeysWhereTheyAreWhenAServerGoes() {
        List<ClusterServer> servers = equal(4);
        Ketama all = Ketama.of(servers);
        Ketama without = new Ketama(servers, new boolean[] {true, true, false, true});
        int moved = 0;
        for (int i = 0; i < 10_000; i++) {
            byte[] key = key(i);
            if (all.server(key) == 2) {
                moved++;
                assertTrue(without.server(key) != 2, "key:" + i);
            } else {
                assertEquals(all.server(key), without.server(key), "key:" + i);
            }
        }
        assertTrue(moved > 1_500 && moved < 3_500, moved + " of 10000 keys lived on one of four servers");
    }

    @Test
    void shouldGiveKeysByWeight() {
        List<ClusterServer> servers = List.of(new ClusterServer("a", 1, 1), new ClusterServer("b", 1, 9));
        Ketama ketama = Ketama.of(servers);
        int second = 0;
        for (int i = 0; i < 10_000; i++) {
            second += ketama.server(key(i));
        }
        assertTrue(second > 8_500 && second < 9_500, second + " of 10000 keys");
    }

    @Test
    void shouldReadServersAsPeopleWriteThem() {
        assertEquals(new ClusterServer("a", 11211, 1), ClusterServer.parse("a"));
        assertEquals(new ClusterServer("a", 7, 1), ClusterServer.parse("a:7"));
        assertEquals(new ClusterServer("a", 7, 3), ClusterServer.parse("a:7:3"));
        assertEquals(new ClusterServer("::1", 11211, 1), ClusterServer.parse("[::1]"));
        assertEquals(new ClusterServer("::1", 7, 2), ClusterServer.parse("[::1]:7:2"));
        assertEquals("[::1]:7", ClusterServer.parse("[::1]:7:2").toString());
        for (String wrong :
                List.of("", ":", "a:", "a:0", "a:65536", "a:1:0", "a:1:2:3", "::1", "[::1", "[::1]7", "a:b")) {
            IllegalArgumentException refusal =
                    assertThrows(IllegalArgumentException.class, () -> ClusterServer.parse(wrong), wrong);
            assertEquals(
                    "server \"" + wrong + "\": expected HOST, HOST:PORT or HOST:PORT:WEIGHT", refusal.getMessage());
        }
    }
}
