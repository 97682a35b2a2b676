package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Listing keys: {@code lru_crawler metadump} and {@code mgdump}, {@code stats cachedump}, {@code stats sizes}. */
class ItemDumpTest {
    private static final int ITEMS = 5000;

    private static Set<String> lines(RawMemcached client, String request, String end) throws IOException {
        client.send(request + "\r\n");
        Set<String> lines = new TreeSet<>();
        for (String line = client.readLine(); !line.equals(end); line = client.readLine()) {
            assertTrue(lines.add(line), () -> "twice: " + lines);
        }
        return lines;
    }

    private static void store(RawMemcached client, String key, int length) throws IOException {
        client.ask("set " + key + " 0 0 " + length + "\r\n" + "x".repeat(length) + "\r\n", "STORED\r\n");
    }

    @Test
    void shouldListEachItemOnceWithAllThatIsKnownOfIt() throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached client = new RawMemcached(server.address())) {
            store(client, "a%b", 3);
            client.ask("set t 0 1000 1\r\nx\r\nget t\r\n", "STORED\r\nVALUE t 0 1\r\nx\r\nEND\r\n");
            client.ask("set gone 0 -1 1\r\nx\r\n", "STORED\r\n");
            Set<String> lines = lines(client, "lru_crawler metadump all", "END");
            assertEquals(2, lines.size(), lines::toString);
            String form = "key=%s exp=%s la=[0-9]{10} cas=[1-9][0-9]* fetch=%s cls=1 size=[0-9]+";
            assertTrue(
                    lines.stream().anyMatch(line -> line.matches(form.formatted("a%25b", "-1", "no"))),
                    lines::toString);
            assertTrue(
                    lines.stream().anyMatch(line -> line.matches(form.formatted("t", "[0-9]{10}", "yes"))),
                    lines::toString);
            assertEquals(lines, lines(client, "lru_crawler metadump hash", "END"));
            assertEquals(lines, lines(client, "lru_crawler metadump 1,2", "END"));
            assertEquals(Set.of(), lines(client, "lru_crawler metadump 5", "END"));
        }
    }

    @Test
    void shouldListKeysAsTheCommandsThatGetThem() throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached client = new RawMemcached(server.address())) {
            store(client, "plain", 1);
            client.ask("ms YQ0K 1 b\r\nx\r\n", "HD\r\n");
            assertEquals(Set.of("mg plain", "mg YQ0K b"), lines(client, "lru_crawler mgdump all", "EN"));
        }
    }

    @Test
    void shouldListAllThatStaysWhileOthersComeAndGo() throws Exception {
        try (RunningServer server = new RunningServer();
                RawMemcached client = new RawMemcached(server.address());
                RawMemcached other = new RawMemcached(server.address())) {
            Set<String> stay =
                    IntStream.range(0, ITEMS).mapToObj(i -> "mg stays" + i).collect(Collectors.toSet());
            for (String each : stay) {
                store(client, each.substring(3), 10);
            }
            Thread changes = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < ITEMS; i++) {
                    try {
                        store(other, "comes" + i, 10);
                        if (i % 2 == 0) {
                            other.ask("delete comes" + i + "\r\n", "DELETED\r\n");
                        }
                    } catch (IOException e) {
                        return;
                    }
                }
            });
            while (changes.isAlive()) {
                client.send("lru_crawler mgdump all\r\n");
                Set<String> seen = new TreeSet<>();
                for (String line = client.readLine(); !line.equals("EN"); line = client.readLine()) {
                    seen.add(line);
                }
                assertTrue(seen.containsAll(stay));
            }
            changes.join();
        }
    }

    @Test
    void shouldListColdItemsOfAClass() throws IOException {
        try (RunningServer server = new RunningServer();
                RawMemcached client = new RawMemcached(server.address())) {
            for (int i = 0; i < 10; i++) {
                store(client, "key" + i, 2);
            }
            client.ask("ms YQ0K 1 b\r\nx\r\n", "HD\r\n"); // a key that is not for people
            Set<String> all = lines(client, "stats cachedump 1 0", "END");
            assertTrue(all.size() > 4 && all.size() <= 10, all::toString);
            assertTrue(all.stream().allMatch(line -> line.matches("ITEM key[0-9] \\[2 b; 0 s\\]")), all::toString);
            assertEquals(3, lines(client, "stats cachedump 1 3", "END").size());
            assertEquals(Set.of(), lines(client, "stats cachedump 0 0", "END"));
            assertEquals(Set.of(), lines(client, "stats cachedump 63 0", "END"));
        }
    }

    @Test
    void shouldCountItemsByTheirLength() throws IOException {
        try (RunningServer server =
                        new RunningServer(context -> context.diagnosis(settings -> settings.withSizesTracked(true)));
                RawMemcached client = new RawMemcached(server.address())) {
            for (int i = 0; i < 7; i++) {
                store(client, "small" + i, 2);
            }
            store(client, "large", 4000);
            Set<String> lines = lines(client, "stats sizes", "END");
            assertEquals(2, lines.size(), lines::toString);
            assertTrue(lines.stream().anyMatch(line -> line.matches("STAT (64|96) 7")), lines::toString);
            assertTrue(lines.stream().anyMatch(line -> line.matches("STAT 40[0-9]{2} 1")), lines::toString);
            String disabled = "STAT sizes_status disabled\r\n";
            assertEquals(disabled, client.ask("stats sizes_disable\r\n", disabled));
            assertEquals(Set.of(disabled.strip()), lines(client, "stats sizes", "END"));
            String enabled = "STAT sizes_status enabled\r\n";
            assertEquals(enabled, client.ask("stats sizes_enable\r\n", enabled));
            assertEquals(2, lines(client, "stats sizes", "END").size());
        }
    }

    @Test
    void shouldListNothingWhereThatIsSwitchedOff() throws IOException {
        try (RunningServer server =
                        new RunningServer(context -> context.diagnosis(settings -> settings.withDumpAllowed(false)));
                RawMemcached client = new RawMemcached(server.address())) {
            client.send("stats cachedump 1 0\r\n");
            assertEquals("CLIENT_ERROR stats cachedump not allowed", client.readLine());
            client.send("lru_crawler metadump all\r\n");
            assertEquals("ERROR metadump not allowed", client.readLine());
            client.send("lru_crawler mgdump all\r\n");
            assertEquals("ERROR mgdump not allowed", client.readLine());
        }
    }

    @Test
    void shouldCountByPrefixesWithTheDelimiterThatWasGiven() throws IOException {
        try (RunningServer server =
                        new RunningServer(context -> context.diagnosis(settings -> settings.withPrefixes('/')));
                RawMemcached client = new RawMemcached(server.address())) {
            store(client, "a/b:c", 1);
            assertEquals(Set.of("PREFIX a get 0 hit 0 set 1 del 0"), lines(client, "stats detail dump", "END"));
        }
    }
}
