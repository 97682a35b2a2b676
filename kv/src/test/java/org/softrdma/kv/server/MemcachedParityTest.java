package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.kv.client.MemcachedProcess;

/**
 * The same bytes to memcached and to us must bring the same bytes back, but for cas numbers and sizes of items. Skipped
 * where memcached is not installed. Where we differ on purpose the script leaves the case out, and says so.
 */
class MemcachedParityTest {
    private static final String LONG_KEY = "k".repeat(251);
    private static final String LONG_OPAQUE = "O" + "o".repeat(32);

    private static MemcachedProcess memcached;
    private static RunningServer ours;

    @BeforeAll
    static void start() throws Exception {
        memcached = new MemcachedProcess();
        ours = new RunningServer();
    }

    @AfterAll
    static void stop() {
        if (memcached != null) {
            memcached.close();
            ours.close();
        }
    }

    /** Each script is of lines, "\r\n" is added; the conversation ends with a marker that both repeat. */
    static List<String> scripts() {
        return List.of(
                // storage
                """
                set k 1 0 1\nx\nadd k 0 0 1\ny\nadd k2 5 0 1\ny\nreplace k 2 0 2\nzz\nreplace nope 0 0 1\nx
                append k 9 9 1\nb\nprepend k 9 9 1\na\nappend nope 0 0 1\nx\nprepend nope 0 0 1\nx
                get k k2 nope\nset e 0 0 0\n\nget e\nset k 0 0 1 noreply\nq\nget k\nset k 0 -1 1\nq\nget k
                delete k\ndelete k2\ndelete k2\ndelete e 0\ndelete e noreply\ndelete e 5\ndelete e 0 noreply""",
                // cas
                """
                cas k 0 0 1 1\nx\nset k 0 0 1\nx\ncas k 0 0 1 0\ny\ncas k 0 0 1 18446744073709551615\ny
                cas k 0 0 1 x\ncas k 0 0 1 -1\ncas k 0 0 1\ncas k 0 0 1 1 noreply\ny\nget k""",
                // arithmetic
                """
                incr n 1\ndecr n 1\nset n 0 0 2\n10\ndecr n 1\nget n\nincr n 1\nget n\nincr n 90\nget n
                set n 0 0 20\n18446744073709551615\nincr n 1\nget n\nset n 0 0 0\n\nincr n 1\nset n 0 0 3\n 5 \nincr n 1
                get n\nset n 0 0 2\n-1\nincr n 1\nset n 0 0 21\n184467440737095516150\nincr n 1\nset n 0 0 3\n1x2\nincr n 1
                set n 7 0 1\n3\ndecr n 5\nget n\nincr n x\nincr n -1\nincr n 99999999999999999999\nincr n\nincr n 1 noreply
                get n\nincr n 1 bogus\nget n""",
                // touch, gat
                """
                touch n 0\nset n 3 0 1\n1\ntouch n 100\ntouch n x\ntouch n\ntouch n 0 noreply\ngat 100 n m\ngat x n\ngat 0
                gat\ngats\ngats 0 m\ngat -1 n\nget n\nset n 0 0 1\n1\ntouch n -1\nget n""",
                // bad lines
                """
                bogus\n\nx\nset\nset k\nset k 0 0\nset k x 0 1\nset k 0 x 1\nset k 0 0 x\nset k 0 0 -1\nset k 0 0 1 2 3
                get\ngets\ndelete\ntouch\nincr\nflush_all x\nflush_all 1 2 3\nverbosity\nverbosity x\nverbosity 1\nverbosity 1 2
                verbosity 1 noreply\nflush_all noreply\nstats bogus\nshutdown\nset k 0 0 1\nxyz\nmn""",
                // long keys; one at a time, because memcached forgets queued answers when a get fails
                "mn\nget %1$s\nmn\ngets %1$s\nmn\nset %1$s 0 0 1\nx\ndelete %1$s\ntouch %1$s 0\nincr %1$s 1\nmg %1$s v\nmd %1$s\nma %1$s\nms %1$s 1\nx\nme %1$s"
                        .formatted(LONG_KEY),
                // meta get
                """
                mg miss\nmg miss v\nmg miss k Oabc\nmg miss q\nmn\nset k 9 0 3\nabc\nmg k\nmg k v\nmg k s v t f h l k Oabc\nmg k h
                mg k v q\nmg k u h\nmg k T30 t\nmg k t T0\nmg k t\nmg k b\nmg a!! b\nmg k Nx\nmg k Tx\nmg k v v\nmg k ?\nmg
                mg k %s\nmg k a b c d e f g h i j k l m n o p q r s t u v\nmn x\nmx""".formatted(LONG_OPAQUE),
                // meta get: recaching
                """
                mg n N30 v t\nmg n N30 v t\nmg n v\nms n 1 T30\nx\nmg n R60 t\nmg n R60 t\nmg n R60 v\nms n 1\nx\nmg n R60
                mg n2 N30 v q k\nmg n2 N30 v q
                mg n3 T30 N60 t v\nmg n4 N60 T30 t""",
                // meta set
                """
                ms k 2 Oa k q\nab\nms k 2 Oa k\nab\nms k 2 F5 T100\nab\nmg k f t v\nms k 2 ME\ncd\nms k 1 MA\nx
                ms k 1 MP\ny\nms k 2 MR\nab\nms k3 2 MR\nab\nms k3 1 MA Ob k\nx\nms k 2 MQ\nab\nms k 2 M\nab\nms k 2 MSS\nab
                ms k 2 C999999 q\nab\nms k 2 C999999 k O3\nab\nms nope 2 C5\nab\nms k 2 Cx\nab\nms k 2 Fx\nab\nms k 2 Tx\nab
                ms k 2 v v\nab\nms k x\nms k -1\nms k\nms\nms k 4\nab\nmn\nms !!! 2 b\nab\nms Zm9v 3 b k\nabc\nmg Zm9v b k v
                mg foo k v\nms k 2 %s\nab
                ms k 2 C999999 c k Oa\nab\nms nope 2 C5 c\nab\nms nope 2 MR c\nab\nms k 2 ME c\nab""".formatted(LONG_OPAQUE),
                // meta delete
                """
                md k\nset k 1 0 3\nabc\nmd k q\nmd k Oa k\nmg k\nset k 1 0 3\nabc\nmd k C999999\nmd k I T30\nmg k s v t f h
                mg k v\nmg k v\nmd k I\nmg k v t\nmd nope q\nmd k x\nmd k q q\nmd k\nmg k\nms k 2 T50\nab\nms k 2 C1 I\ncd
                mg k s v t\nms k 2 I C1 MR\nef\nmg k v""",
                // meta arithmetic
                """
                ma n\nma n q\nma n Oa k\nset n 0 0 2\n10\nma n\nma n v\nma n v t k Oq\nma n D10 v\nma n MD D5 v\nma n M- D500 v
                mg n v\nma n M+ v\nma n MX\nma n D-1\nma n Dx\nma n Jx\nma c N0 J13 v\nma c N0 J13 v\nma c N0 J13 v q\nma c2 N90 J7 v t
                ma c2 T33 t v\nma c C99999\nset s 0 0 1\nx\nma s\nma s v""",
                // keys in base 64, one with a line end, and stale items, rewritten; each of its own, for memcached
                // forgets all
                // of it about an item whose answer is on its way to a client
                """
                ms YQ0KRU4NCg== 1 b\n1\nma YQ0KRU4NCg== b\nmg YQ0KRU4NCg== k v b
                ms Yg0KRU4NCg== 1 b\n1\nmd Yg0KRU4NCg== I q b\nmg Yg0KRU4NCg== k v b\nmg Yg0KRU4NCg== k v b
                set a 0 0 1\n1\nmd a I\nma a\nmg a v\nset b 0 0 1\n1\nmd b I\nincr b 2\ndecr b 1\nmg b v
                set c 0 0 1\n1\nmd c I\nmg c\nmg c\nmd c I\nmg c v\nset d 0 0 1\n1\nmd d I\nappend d 0 0 1\n1\nmg d v""",
                // too large
                "set k 0 0 1\nx\nset k 0 0 1048577\n%1$s\nget k\nset k 0 0 1\nx\nadd k 0 0 1048577\n%1$s\nget k\nms k 1048577 Oa\n%1$s\nmg k"
                        .formatted("x".repeat(1_048_577)),
                // flush
                "set a 0 0 1\nx\nset b 0 0 1\nx\nflush_all\nget a b\nset a 0 0 1\nx\nflush_all 0\nget a\nset a 0 0 1\nx\nflush_all 100\nget a\nflush_all 0 noreply\nget a");
    }

    @ParameterizedTest
    @MethodSource("scripts")
    void shouldAnswerAsMemcachedDoes(String script) throws Exception {
        String bytes = "flush_all\n" + script + "\nget end-of-script\nmn\nversion\n";
        bytes = bytes.lines().map(line -> line + "\r\n").collect(Collectors.joining());
        String theirs = converse(memcached.address(), bytes);
        String answers = converse(ours.address(), bytes);
        assertEquals(theirs.replace("\r\n", "\n"), answers.replace("\r\n", "\n"));
    }

    /** Sends all, and reads up to the answer to the version at the end. */
    private static String converse(InetSocketAddress address, String bytes) throws Exception {
        StringBuilder answers = new StringBuilder();
        try (RawMemcached client = new RawMemcached(address)) {
            Thread sender = Thread.ofVirtual().start(() -> {
                try {
                    client.send(bytes);
                } catch (IOException e) {
                    answers.append(e);
                }
            });
            while (true) {
                String line = client.readLine();
                if (line.startsWith("VERSION")) {
                    sender.join();
                    return answers.toString();
                }
                answers.append(line).append("\r\n");
            }
        }
    }
}
