package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.client.MemcachedProcess;

/**
 * The names of all statistics are memcached's, in its order, and what both count they count alike. Skipped where memcached
 * is not installed.
 */
class StatisticsParityTest {
    /** Requests of each kind that is counted; items of one slab class at both. */
    private static final String SCRIPT = """
            set a 0 0 2\n10\nset b 0 0 1\nx\nadd a 0 0 1\nx\nreplace no 0 0 1\nx\nappend b 0 0 1\ny\nset c 0 0 3\nabcd
            get a\nget a b no\ngets a\nmg a v\nmg no\nmg a T100\nmg no T100\nmg new N30\ngat 100 a\ngat 100 no\ntouch a 0\ntouch no 0
            incr a 1\nincr no 1\ndecr a 2\ndecr no 1\nincr b 1\nma a\nma no\nma a MD\nma made N0\nma made C18446744073709551615
            cas a 0 0 1 1\nx\ncas no 0 0 1 1\nx\nms a 1 C1\nx\nms no 1 C1\nx\ndelete a\ndelete no\nmd b\nmd no\nms s 1\nx\nmd s I
            md s C1\nmd no I\nflush_all 100\nset after 0 0 1\nx
            get after\nget after\nget after""";

    /** What both count, and what means the same at both. */
    private static final List<String> COUNTED = List.of(
            "cmd_get",
            "cmd_set",
            "cmd_flush",
            "cmd_touch",
            "get_hits",
            "get_misses",
            "get_expired",
            "delete_misses",
            "delete_hits",
            "incr_misses",
            "incr_hits",
            "decr_misses",
            "decr_hits",
            "cas_misses",
            "cas_hits",
            "cas_badval",
            "touch_hits",
            "touch_misses",
            "store_too_large",
            "store_no_memory",
            "limit_maxbytes",
            "accepting_conns",
            "threads",
            "max_connections",
            "curr_items",
            "log_watchers",
            "evictions",
            "reclaimed");

    private MemcachedProcess memcached;
    private RunningServer ours;

    @BeforeEach
    void start() throws IOException {
        memcached = new MemcachedProcess();
        ours = new RunningServer(context -> context.threads(KvServerContext.DEFAULT_THREADS));
    }

    @AfterEach
    void stop() {
        if (memcached != null) {
            memcached.close();
            ours.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"stats", "stats settings", "stats items", "stats slabs"})
    void shouldHaveTheNamesOfMemcachedInItsOrder(String what) throws IOException {
        List<String> theirs = names(memcached.address(), what).stream()
                .filter(name ->
                        !name.startsWith("ext_") && !name.startsWith("ssl_") && !name.equals("slab_automove_freeratio"))
                .toList();
        List<String> ours = names(this.ours.address(), what).stream()
                .filter(name -> !name.startsWith("ssl_"))
                .toList();
        assertEquals(theirs, ours);
        assertTrue(theirs.size() > 10, theirs::toString);
    }

    /** Class numbers are left out: where an item goes depends on its header. */
    private static List<String> names(InetSocketAddress address, String what) throws IOException {
        try (RawMemcached client = new RawMemcached(address)) {
            client.ask("set a 0 0 1\r\nx\r\n", "STORED\r\n");
            return statistics(client, what).keySet().stream()
                    .map(name -> name.replaceFirst("^(items:)?[0-9]+:", "N:"))
                    .toList();
        }
    }

    @Test
    void shouldCountAsMemcachedDoes() throws IOException {
        assertEquals(counts(memcached.address(), ""), counts(ours.address(), ""));
    }

    @Test
    void shouldCountByClassAsMemcachedDoes() throws IOException {
        List<String> names = List.of(
                "get_hits", "cmd_set", "delete_hits", "incr_hits", "decr_hits", "cas_hits", "cas_badval", "touch_hits");
        for (String name : names) {
            assertEquals(sum(memcached.address(), "stats slabs", name), sum(ours.address(), "stats slabs", name), name);
        }
        for (String name : List.of("hits_to_temp", "evicted_active", "number")) {
            assertEquals(sum(memcached.address(), "stats items", name), sum(ours.address(), "stats items", name), name);
        }
    }

    private static long sum(InetSocketAddress address, String what, String name) throws IOException {
        run(address);
        try (RawMemcached client = new RawMemcached(address)) {
            return statistics(client, what).entrySet().stream()
                    .filter(each -> each.getKey().endsWith(":" + name))
                    .mapToLong(each -> Long.parseLong(each.getValue()))
                    .sum();
        }
    }

    private static Map<String, String> counts(InetSocketAddress address, String what) throws IOException {
        run(address);
        try (RawMemcached client = new RawMemcached(address)) {
            Map<String, String> all = statistics(client, "stats" + what);
            return COUNTED.stream()
                    .collect(Collectors.toMap(
                            name -> name, name -> String.valueOf(all.get(name)), (a, b) -> a, LinkedHashMap::new));
        }
    }

    private static void run(InetSocketAddress address) throws IOException {
        try (RawMemcached client = new RawMemcached(address)) {
            client.send(SCRIPT.lines().map(line -> line + "\r\n").collect(Collectors.joining()) + "version\r\n");
            String line = "";
            while (!line.startsWith("VERSION")) {
                line = client.readLine();
            }
        }
    }

    private static Map<String, String> statistics(RawMemcached client, String what) throws IOException {
        client.send(what + "\r\n");
        Map<String, String> lines = new LinkedHashMap<>();
        for (String line = client.readLine(); !line.equals("END"); line = client.readLine()) {
            String[] words = line.split(" ", 3);
            lines.put(words[1], words.length > 2 ? words[2] : "");
        }
        return lines;
    }
}
