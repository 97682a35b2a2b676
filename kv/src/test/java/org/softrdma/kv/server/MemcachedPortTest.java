package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.server.host.PortSettings;

class MemcachedPortTest {
    private static final int MIB = 1 << 20;

    private final AtomicLong clock = new AtomicLong(1_700_000_000);
    private final RunningServer running =
            new RunningServer(context -> context.environment(around -> around.withClockSeconds(clock::get)));

    @AfterEach
    void stop() {
        running.close();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        get a~                                    | END~
        set a 1 0 3~abc~                          | STORED~
        set a 1 0 3~abc~get a~                    | STORED~VALUE a 1 3~abc~END~
        set a 1 0 3~abc~gets a~                   | STORED~VALUE a 1 3 1~abc~END~
        set a 4294967295 0 0~~get a b a~          | STORED~VALUE a 4294967295 0~~VALUE a 4294967295 0~~END~
        set a 0 0 3 noreply~abc~get a~            | VALUE a 0 3~abc~END~
        set a 0 0 3~abcd~version~                 | CLIENT_ERROR bad data chunk~ERROR~VERSION test-1~
        set a 0 0 3~abc~set a 0 0 2~de~get a~     | STORED~STORED~VALUE a 0 2~de~END~
        set a 0 0 20~18446744073709551615~incr a 1~           | STORED~0~
        set a 0 0 20~18446744073709551614~incr a 1~decr a 1~  | STORED~18446744073709551615~18446744073709551614~
        set a 0 0 19~9223372036854775808~ma a MD v~           | STORED~VA 19~9223372036854775807~
        set a 0 -1 3~abc~get a~                   | STORED~END~
        set a 0 2592001 3~abc~get a~              | STORED~END~
        set a 0 0 1~a~delete a~delete a~get a~    | STORED~DELETED~NOT_FOUND~END~
        set a 0 0 1~a~delete a noreply~get a~     | STORED~END~
        set a 0 0 1~a~delete a 0~                 | STORED~DELETED~
        delete a 1~                               | CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]~
        set a 0 0 -1~version~                     | CLIENT_ERROR bad command line format~VERSION test-1~
        set a b c d~                              | CLIENT_ERROR bad command line format~
        set a~                                    | ERROR~
        get~                                      | ERROR~
        bogus~                                    | ERROR~
        stats nosuch~                             | ERROR~
        rdma hello 1~                             | CLIENT_ERROR rdma version 1 not supported, expected 2~
        rdma hello two~                           | CLIENT_ERROR rdma version not supported, expected 2~
        rdma hello 1234567890~                    | CLIENT_ERROR rdma version not supported, expected 2~
        rget a 1 2 3 4~                           | CLIENT_ERROR no queue pair~
        """)
    void shouldAnswerLikeMemcached(String request, String answer) throws IOException {
        String expected = answer.replace("~", "\r\n");
        try (RawMemcached client = new RawMemcached(running.address())) {
            assertEquals(expected, client.ask(request.replace("~", "\r\n"), expected));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "4294967295", "1000000000", "-9223372036854775808"})
    void shouldCreateANumberThatExpiresAtOnceAndGoOn(String exptime) throws IOException {
        try (RawMemcached client = new RawMemcached(running.address())) {
            String expected = "VA 1\r\n7\r\nVERSION test-1\r\n";
            assertEquals(expected, client.ask("ma n N" + exptime + " J7 v\r\nversion\r\n", expected));
        }
    }

    @Test
    void shouldGiveTheSameAnswersWhereverTheRequestsAreCut() throws IOException {
        String requests = lines("set a 7 0 6", "ab", "cd", "get a", "set b 0 0 1", "xyz", "gets a nothing", "delete a");
        String expected = lines(
                "STORED",
                "VALUE a 7 6",
                "ab",
                "cd",
                "END",
                "CLIENT_ERROR bad data chunk",
                "ERROR",
                "VALUE a 7 6 CAS",
                "ab",
                "cd",
                "END",
                "DELETED");
        for (int cut = 1; cut < requests.length(); cut++) {
            try (RawMemcached client = new RawMemcached(running.address())) {
                client.send(requests.substring(0, cut));
                client.send(requests.substring(cut));
                String answer = expected.replace("CAS", Integer.toString(cut));
                assertEquals(answer, client.read(answer.length()), "cut at " + cut);
            }
        }
    }

    @Test
    void shouldCloseOnQuit() throws IOException {
        try (RawMemcached client = new RawMemcached(running.address())) {
            client.send("version\r\nquit\r\nversion\r\n");
            assertEquals("VERSION test-1", client.readLine());
            assertTrue(client.isClosedByServer());
        }
    }

    @Test
    void shouldKeepTimeOfItems() throws IOException {
        try (RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set a 0 100 1\r\nx\r\n", "STORED\r\n");
            clock.addAndGet(99);
            assertEquals("VALUE a 0 1\r\nx\r\nEND\r\n", client.ask("get a\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n"));
            clock.addAndGet(1);
            assertEquals("END\r\n", client.ask("get a\r\n", "END\r\n"));
            assertEquals("NOT_FOUND\r\n", client.ask("delete a\r\n", "NOT_FOUND\r\n"));
        }
    }

    @Test
    void shouldStoreEveryByteAndEverySize() throws IOException {
        byte[] bytes = new byte[MIB - 1024];
        new Random(5).nextBytes(bytes);
        String value = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
        try (RawMemcached client = new RawMemcached(running.address())) {
            for (int length : new int[] {0, 1, 7, 8, 47, 48, 49, 1000, 16_384, 65_536, 100_000, value.length()}) {
                String part = value.substring(0, length);
                assertEquals("STORED\r\n", client.ask("set k 0 0 " + length + "\r\n" + part + "\r\n", "STORED\r\n"));
                String expected = "VALUE k 0 " + length + "\r\n" + part + "\r\nEND\r\n";
                assertEquals(expected, client.ask("get k\r\n", expected), "length=" + length);
            }
        }
    }

    @Test
    void shouldRefuseTooLargeValueAndForgetTheOldOne() throws IOException {
        try (RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set k 0 0 1\r\nx\r\n", "STORED\r\n");
            String large = "v".repeat(MIB);
            String expected = "SERVER_ERROR object too large for cache\r\nEND\r\n";
            assertEquals(expected, client.ask("set k 0 0 " + MIB + "\r\n" + large + "\r\nget k\r\n", expected));
            assertEquals(
                    "END\r\n", client.ask("set k 0 0 " + MIB + " noreply\r\n" + large + "\r\nget k\r\n", "END\r\n"));
        }
    }

    /** As memcached: of an ms the older value goes whatever its mode is. */
    @Test
    void shouldForgetTheOldValueOfAMetaSetInAnyMode() throws IOException {
        try (RawMemcached client = new RawMemcached(running.address())) {
            for (String flags : new String[] {"", " ME", " MR", " MA", " C1"}) {
                client.ask("set k 0 0 1\r\nx\r\n", "STORED\r\n");
                String expected = "SERVER_ERROR object too large for cache\r\nEN\r\n";
                String request = "ms k " + MIB + flags + "\r\n" + "v".repeat(MIB) + "\r\nmg k\r\n";
                assertEquals(expected, client.ask(request, expected), flags);
            }
        }
    }

    @Test
    void shouldTellAnEmptyValueFromAWrongCasNumber() throws IOException {
        try (RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set e 0 0 0\r\n\r\n", "STORED\r\n");
            client.ask("set n 0 0 1\r\n1\r\n", "STORED\r\n");
            String expected = "CLIENT_ERROR cannot increment or decrement non-numeric value\r\nEX\r\n";
            assertEquals(expected, client.ask("ma e C999999\r\nma n C999999\r\n", expected));
        }
    }

    @Test
    void shouldSayWhenMemoryIsUsedUp() throws IOException {
        String value = "v".repeat(MIB - 1024);
        try (RunningServer full = new RunningServer(context -> context.items(items -> items.evicting(false)));
                RawMemcached client = new RawMemcached(full.address())) {
            for (int i = 0; i < 64; i++) {
                assertEquals(
                        "STORED\r\n",
                        client.ask("set k" + i + " 0 0 " + value.length() + "\r\n" + value + "\r\n", "STORED\r\n"));
            }
            String expected = "SERVER_ERROR out of memory storing object\r\n";
            assertEquals(expected, client.ask("set k64 0 0 " + value.length() + "\r\n" + value + "\r\n", expected));
            assertEquals("DELETED\r\n", client.ask("delete k5\r\n", "DELETED\r\n"));
            assertEquals(
                    "STORED\r\n", client.ask("set k64 0 0 " + value.length() + "\r\n" + value + "\r\n", "STORED\r\n"));
        }
    }

    @Test
    void shouldLetGarbageCostItsOwnConnectionOnly() throws IOException {
        Random random = new Random(9);
        try (RawMemcached good = new RawMemcached(running.address())) {
            for (int i = 0; i < 50; i++) {
                try (RawMemcached bad = new RawMemcached(running.address())) {
                    byte[] garbage = new byte[5000];
                    random.nextBytes(garbage);
                    bad.send(garbage);
                }
                try (RawMemcached half = new RawMemcached(running.address())) {
                    half.send("set half 0 0 100000\r\nonly so much");
                }
                assertEquals("VERSION test-1\r\n", good.ask("version\r\n", "VERSION test-1\r\n"));
            }
            try (RawMemcached endless = new RawMemcached(running.address())) {
                endless.send("x".repeat(10_000));
                assertTrue(endless.isClosedByServer());
            }
            assertEquals("END\r\n", good.ask("get half\r\n", "END\r\n"));
        }
    }

    @Test
    void shouldStopServingClientThatDoesNotRead() throws IOException {
        String value = "v".repeat(MIB / 2);
        try (RawMemcached good = new RawMemcached(running.address());
                RawMemcached deaf = new RawMemcached(running.address())) {
            good.ask("set k 0 0 " + value.length() + "\r\n" + value + "\r\n", "STORED\r\n");
            int asked = 400;
            deaf.send("get k k k k k k k k k k k k k k k k k k k k\r\n".repeat(asked / 20));
            String expected = "VALUE k 0 " + value.length() + "\r\n" + value + "\r\nEND\r\n";
            for (int i = 0; i < 20; i++) {
                assertEquals(expected, good.ask("get k\r\n", expected));
            }
            good.send("stats\r\n");
            long served = -20;
            for (String line = good.readLine(); !line.equals("END"); line = good.readLine()) {
                served += line.startsWith("STAT get_hits ") ? Long.parseLong(line.split(" ", -1)[2]) : 0;
            }
            long hits = served;
            assertTrue(
                    hits < asked / 2,
                    () -> hits + " values of " + asked + " were served to a client that reads nothing");
            String all = ("VALUE k 0 " + value.length() + "\r\n" + value + "\r\n").repeat(20) + "END\r\n";
            for (int i = 0; i < asked / 20; i++) {
                assertEquals(all, deaf.read(all.length()));
            }
        }
    }

    @Test
    void shouldCountWhatItDid() throws IOException {
        try (RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set a 0 0 1\r\nx\r\n", "STORED\r\n");
            client.ask("get a b\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n");
            client.ask("delete b\r\n", "NOT_FOUND\r\n");
            client.send("stats\r\n");
            String stats = "";
            for (String line = client.readLine(); !line.equals("END"); line = client.readLine()) {
                stats += line + "\n";
            }
            for (String expected : new String[] {
                "STAT curr_connections 1",
                "STAT cmd_get 2",
                "STAT get_hits 1",
                "STAT get_misses 1",
                "STAT cmd_set 1",
                "STAT delete_misses 1",
                "STAT curr_items 1",
                "STAT limit_maxbytes 67108864",
                "STAT threads 2"
            }) {
                assertTrue(stats.contains(expected + "\n"), "no '" + expected + "' in\n" + stats);
            }
            client.send("stats rdma\r\n");
            assertTrue(client.readLine().startsWith("STAT device "));
        }
    }

    @Test
    void shouldNotTellPlainClientsOfRdma() throws IOException {
        try (RawMemcached plain = new RawMemcached(running.address());
                RawMemcached rdma = new RawMemcached(running.address())) {
            rdma.send("rdma hello 2\r\n");
            assertTrue(rdma.readLine().matches("RDMA 2 \\d+ [0-9a-f]{32} [0-9a-f]{16} arena private-data"));
            rdma.send("set a 0 0 1\r\nx\r\n");
            assertTrue(rdma.readLine().matches("STORED [0-9a-f]{32}"));
            assertEquals("STORED\r\n", plain.ask("set a 0 0 1\r\nx\r\n", "STORED\r\n"));
        }
    }

    @Test
    void shouldRefuseConnectionsAboveTheLimit() throws IOException {
        try (RunningServer small = new RunningServer(context -> context.maxConnections(2));
                RawMemcached first = new RawMemcached(small.address());
                RawMemcached second = new RawMemcached(small.address())) {
            first.ask("version\r\n", "VERSION test-1\r\n");
            second.ask("version\r\n", "VERSION test-1\r\n");
            try (RawMemcached third = new RawMemcached(small.address())) {
                assertEquals("ERROR Too many open connections", third.readLine());
                assertTrue(third.isClosedByServer());
            }
            assertEquals("VERSION test-1\r\n", first.ask("version\r\n", "VERSION test-1\r\n"));
        }
    }

    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldServeOverEachTransport(PortSettings.Io io) throws IOException {
        try (RunningServer other = new RunningServer(context -> context.io(io));
                RawMemcached client = new RawMemcached(other.address())) {
            assertEquals(
                    "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n",
                    client.ask("set a 0 0 1\r\nx\r\nget a\r\n", "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n"));
        }
    }

    private static String lines(String... lines) {
        return String.join("\r\n", lines) + "\r\n";
    }
}
