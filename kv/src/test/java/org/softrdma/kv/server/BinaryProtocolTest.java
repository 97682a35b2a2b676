package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.kv.server.BinaryClient.NO_EXTRAS;
import static org.softrdma.kv.server.BinaryClient.count;
import static org.softrdma.kv.server.BinaryClient.frame;
import static org.softrdma.kv.server.BinaryClient.store;
import static org.softrdma.kv.server.BinaryClient.word;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.server.BinaryClient.Answer;
import org.softrdma.kv.server.session.ClientRules;

/** The binary protocol where memcached need not be installed; {@link BinaryParityTest} compares with it. */
class BinaryProtocolTest {
    private static final String NOOP_ANSWER = "0a 0000 #0 - () : ";

    private final AtomicLong clock = new AtomicLong(1_700_000_000);
    private RunningServer running;
    private BinaryClient client;

    @BeforeEach
    void start() throws IOException {
        running = new RunningServer(context -> context.environment(around -> around.withClockSeconds(clock::get)));
        client = new BinaryClient(running.address());
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        running.close();
    }

    @Test
    void shouldStoreAndFindItems() throws IOException {
        Answer stored = client.ask(BinaryClient.SET, store(0xdeadbeef, 0), "k", "value");
        assertEquals("01 0000 #0 cas () : ", stored.toString());
        Answer found = client.ask(BinaryClient.GETK, NO_EXTRAS, "k", "");
        assertEquals("0c 0000 #0 cas (deadbeef) k: value", found.toString());
        assertEquals(stored.cas(), found.cas());
        assertEquals(
                "00 0001 #0 - () : Not found",
                client.ask(BinaryClient.GET, NO_EXTRAS, "x", "").toString());
        assertEquals(
                "0c 0001 #0 - () x: ",
                client.ask(BinaryClient.GETK, NO_EXTRAS, "x", "").toString());
    }

    @Test
    void shouldLeaveOutWhatQuietFormsLeaveOut() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(frame(BinaryClient.GETQ, NO_EXTRAS, "a", "", 1, 0));
        all.writeBytes(frame(BinaryClient.SETQ, store(7, 0), "a", "v", 2, 0));
        all.writeBytes(frame(BinaryClient.GETQ, NO_EXTRAS, "a", "", 3, 0));
        all.writeBytes(frame(BinaryClient.GETKQ, NO_EXTRAS, "b", "", 4, 0));
        all.writeBytes(frame(BinaryClient.GETKQ, NO_EXTRAS, "a", "", 5, 0));
        all.writeBytes(frame(0x12, store(0, 0), "a", "v", 6, 0)); // ADDQ of what is there
        all.writeBytes(frame(0x14, NO_EXTRAS, "a", "", 7, 0)); // DELETEQ
        all.writeBytes(frame(0x14, NO_EXTRAS, "a", "", 8, 0));
        all.writeBytes(frame(0x15, count(1, 41, 0), "n", "", 9, 0)); // INCREMENTQ
        all.writeBytes(frame(0x15, count(1, 41, 0), "n", "", 10, 0));
        all.writeBytes(frame(BinaryClient.GET, NO_EXTRAS, "n", "", 11, 0));
        all.writeBytes(frame(BinaryClient.FLUSHQ, NO_EXTRAS, "", "", 12, 0));
        all.writeBytes(frame(BinaryClient.GET, NO_EXTRAS, "n", "", 13, 0));
        assertEquals(
                List.of(
                        "09 0000 #3 cas (00000007) : v",
                        "0d 0000 #5 cas (00000007) a: v",
                        "12 0002 #6 - () : Data exists for key.",
                        "14 0001 #8 - () : Not found",
                        "00 0000 #b cas (00000000) : 42",
                        "00 0001 #d - () : Not found"),
                client.askAll(all.toByteArray()));
    }

    @Test
    void shouldGiveTheSameAnswersWhereverTheRequestsAreCut() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(frame(BinaryClient.SET, store(5, 0), "key", "some value", 1, 0));
        all.writeBytes(frame(BinaryClient.APPEND, NO_EXTRAS, "key", ", and more", 2, 0));
        all.writeBytes(frame(BinaryClient.GETK, NO_EXTRAS, "key", "", 3, 0));
        all.writeBytes(frame(0x55, store(1, 2), "unknown", "opcode", 4, 0));
        all.writeBytes(frame(BinaryClient.NOOP, NO_EXTRAS, "", "", 0, 0));
        byte[] bytes = all.toByteArray();
        List<String> expected = List.of(
                "01 0000 #1 cas () : ",
                "0e 0000 #2 cas () : ",
                "0c 0000 #3 cas (00000005) key: some value, and more",
                "55 0081 #4 - () : Unknown command",
                NOOP_ANSWER);
        for (int cut = 1; cut < bytes.length; cut++) {
            client.send(java.util.Arrays.copyOf(bytes, cut));
            client.send(java.util.Arrays.copyOfRange(bytes, cut, bytes.length));
            for (String answer : expected) {
                assertEquals(answer, client.read().toString(), "cut at " + cut);
            }
        }
    }

    @Test
    void shouldCompareCasNumbers() throws IOException {
        long cas = client.ask(BinaryClient.SET, store(0, 0), "k", "10").cas();
        client.send(frame(BinaryClient.SET, store(0, 0), "k", "11", 0, cas + 1));
        assertEquals(2, client.read().status());
        client.send(
                frame(BinaryClient.ADD, store(0, 0), "k", "11", 0, cas)); // to memcached a set, as any with a number
        cas = client.read().cas();
        client.send(frame(BinaryClient.INCREMENT, count(1, 0, 0), "k", "", 0, cas + 1));
        assertEquals(2, client.read().status());
        client.send(frame(BinaryClient.INCREMENT, count(1, 0, 0), "k", "", 0, cas));
        cas = client.read().cas();
        client.send(frame(BinaryClient.APPEND, NO_EXTRAS, "k", "0", 0, cas - 1));
        assertEquals(2, client.read().status());
        client.send(frame(BinaryClient.APPEND, NO_EXTRAS, "k", "0", 0, cas));
        cas = client.read().cas();
        client.send(frame(BinaryClient.DELETE, NO_EXTRAS, "k", "", 0, cas - 1));
        assertEquals(2, client.read().status());
        assertEquals("120", client.ask(BinaryClient.GET, NO_EXTRAS, "k", "").value());
        client.send(frame(BinaryClient.DELETE, NO_EXTRAS, "k", "", 0, cas));
        assertEquals(0, client.read().status());
        client.send(frame(BinaryClient.SET, store(0, 0), "k", "v", 0, cas));
        assertEquals(1, client.read().status());
    }

    /** An exptime has no sign here: what is never in the text protocol is a year from now or later in this one. */
    @Test
    void shouldKeepTimeOfItems() throws IOException {
        client.ask(BinaryClient.SET, store(0, 100), "a", "v");
        client.ask(BinaryClient.SET, store(0, -1), "b", "v");
        client.ask(BinaryClient.SET, store(0, 0x9000_0000), "c", "v");
        client.ask(BinaryClient.SET, store(0, 2_592_001), "d", "v");
        clock.addAndGet(99);
        assertEquals("v", client.ask(BinaryClient.GET, NO_EXTRAS, "a", "").value());
        assertEquals("v", client.ask(BinaryClient.GET, NO_EXTRAS, "b", "").value());
        assertEquals("v", client.ask(BinaryClient.GET, NO_EXTRAS, "c", "").value());
        assertEquals(1, client.ask(BinaryClient.GET, NO_EXTRAS, "d", "").status());
        assertEquals(
                "1c 0000 #0 cas (00000000) : ",
                client.ask(BinaryClient.TOUCH, word(10), "a", "").toString());
        clock.addAndGet(9);
        assertEquals("v", client.ask(BinaryClient.GAT, word(20), "a", "").value());
        clock.addAndGet(19);
        assertEquals("a", client.ask(BinaryClient.GATK, word(1), "a", "").key());
        clock.addAndGet(1);
        assertEquals(
                "23 0001 #0 - () a: ",
                client.ask(BinaryClient.GATK, word(1), "a", "").toString());
        assertEquals(
                "1c 0001 #0 - () : Not found",
                client.ask(BinaryClient.TOUCH, word(1), "a", "").toString());
    }

    @Test
    void shouldSendStatisticsInFrames() throws IOException {
        client.ask(BinaryClient.SET, store(0, 0), "p:k", "v");
        Map<String, String> general = statistics("");
        assertEquals("test-1", general.get("version"));
        assertEquals("1", general.get("curr_items"));
        assertEquals("1", general.get("cmd_set"));
        assertEquals("auto-negotiate", statistics("settings").get("binding_protocol"));
        assertEquals("1", statistics("items").get("items:1:number"));
        assertTrue(statistics("slabs").containsKey("active_slabs"));
        assertTrue(statistics("rdma").containsKey("queue_pairs"));
        assertEquals(Map.of(), statistics("detail on"));
        client.ask(BinaryClient.GET, NO_EXTRAS, "p:k", "");
        assertEquals(Map.of("detailed", "PREFIX p get 1 hit 1 set 0 del 0\r\nEND\r\n"), statistics("detail dump"));
        assertEquals(Map.of(), statistics("reset"));
        assertEquals("0", statistics("").get("cmd_set"));
        assertEquals(1, client.ask(BinaryClient.STAT, NO_EXTRAS, "nosuch", "").status());
    }

    private Map<String, String> statistics(String what) throws IOException {
        Map<String, String> all = new HashMap<>();
        client.send(BinaryClient.STAT, NO_EXTRAS, what, "");
        for (Answer next = client.read(); !next.key().isEmpty(); next = client.read()) {
            assertEquals(0, next.status());
            all.put(next.key(), next.value());
        }
        return all;
    }

    @Test
    void shouldSetVerbosityAndQuit() throws IOException {
        assertEquals(
                "1b 0000 #0 - () : ",
                client.ask(BinaryClient.VERBOSITY, word(2), "", "").toString());
        assertEquals("2", statistics("settings").get("verbosity"));
        assertEquals(
                "test-1", client.ask(BinaryClient.VERSION, NO_EXTRAS, "", "").value());
        assertEquals(
                "07 0000 #0 - () : ",
                client.ask(BinaryClient.QUIT, NO_EXTRAS, "", "").toString());
        assertTrue(client.isClosedByServer());
        try (BinaryClient quiet = new BinaryClient(running.address())) {
            quiet.send(BinaryClient.QUITQ, NO_EXTRAS, "", "");
            assertTrue(quiet.isClosedByServer());
        }
    }

    /** What is copied, and what is sent from where it is stored. */
    @Test
    void shouldStoreEveryByteAndEverySize() throws IOException {
        byte[] bytes = new byte[(1 << 20) - 1024];
        new Random(7).nextBytes(bytes);
        String value = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
        for (int length : new int[] {0, 1, 7, 16_384, 16_385, 65_536, 100_000, value.length()}) {
            String part = value.substring(0, length);
            assertEquals(0, client.ask(BinaryClient.SET, store(1, 0), "k", part).status());
            assertEquals(part, client.ask(BinaryClient.GET, NO_EXTRAS, "k", "").value(), "length=" + length);
        }
    }

    @Test
    void shouldRefuseTooLargeAValueAndForgetTheOldOne() throws IOException {
        client.ask(BinaryClient.SET, store(0, 0), "k", "v");
        client.ask(BinaryClient.ADD, store(0, 0), "other", "v");
        String large = "x".repeat(1 << 20);
        assertEquals(
                "01 0003 #0 - () : Too large.",
                client.ask(BinaryClient.SET, store(0, 0), "k", large).toString());
        assertEquals(
                3, client.ask(BinaryClient.REPLACE, store(0, 0), "other", large).status());
        assertEquals(
                3, client.ask(BinaryClient.APPEND, NO_EXTRAS, "other", large).status());
        assertEquals(1, client.ask(BinaryClient.GET, NO_EXTRAS, "k", "").status());
        assertEquals("v", client.ask(BinaryClient.GET, NO_EXTRAS, "other", "").value());
        assertEquals(
                "test-1", client.ask(BinaryClient.VERSION, NO_EXTRAS, "", "").value());
    }

    @Test
    void shouldSayWhenMemoryIsUsedUp() throws IOException {
        String value = "v".repeat((1 << 20) - 1024);
        try (RunningServer full = new RunningServer(context -> context.items(items -> items.evicting(false)));
                BinaryClient filler = new BinaryClient(full.address())) {
            int status = 0;
            int stored = 0;
            String answer = "";
            while (status == 0 && stored < 100) {
                Answer next = filler.ask(BinaryClient.SET, store(0, 0), "k" + stored, value);
                status = next.status();
                answer = next.toString();
                stored++;
            }
            assertEquals("01 0082 #0 - () : Out of memory allocating item", answer);
            assertEquals(0, filler.ask(BinaryClient.NOOP, NO_EXTRAS, "", "").status());
        }
    }

    @Test
    void shouldRefuseAFlushWhereItIsSwitchedOff() throws IOException {
        try (RunningServer strict = new RunningServer(context -> context.flushAllowed(false));
                BinaryClient asking = new BinaryClient(strict.address())) {
            asking.ask(BinaryClient.SET, store(0, 0), "k", "v");
            assertEquals(
                    "08 0020 #0 - () : Auth failure.",
                    asking.ask(BinaryClient.FLUSH, NO_EXTRAS, "", "").toString());
            assertEquals(
                    List.of("18 0020 #9 - () : Auth failure."),
                    asking.askAll(frame(BinaryClient.FLUSHQ, word(0), "", "", 9, 0)));
            assertEquals("v", asking.ask(BinaryClient.GET, NO_EXTRAS, "k", "").value());
        }
    }

    /** The first byte of a connection decides, and whoever is refused hears it in the protocol it speaks. */
    @ParameterizedTest
    @EnumSource(ClientRules.Protocol.class)
    void shouldSpeakTheProtocolOfTheFirstByte(ClientRules.Protocol protocol) throws IOException {
        try (RunningServer server = new RunningServer(context -> context.protocol(protocol));
                BinaryClient binary = new BinaryClient(server.address());
                RawMemcached text = new RawMemcached(server.address())) {
            Answer answer = binary.ask(BinaryClient.VERSION, NO_EXTRAS, "", "");
            text.send("version\r\n");
            String line = text.readLine();
            if (protocol == ClientRules.Protocol.ASCII) {
                assertEquals(
                        "0b 0083 #0 - () : The binary protocol is switched off; use the text protocol",
                        answer.toString());
                assertTrue(binary.isClosedByServer());
            } else {
                assertEquals("test-1", answer.value());
            }
            if (protocol == ClientRules.Protocol.BINARY) {
                assertEquals("CLIENT_ERROR only the binary protocol is spoken here", line);
                assertTrue(text.isClosedByServer());
            } else {
                assertEquals("VERSION test-1", line);
            }
        }
    }

    @Test
    void shouldNotChangeTheProtocolOfAConnection() throws IOException {
        try (RawMemcached text = new RawMemcached(running.address())) {
            text.send("set k 0 0 1\r\nx\r\n");
            assertEquals("STORED", text.readLine());
            text.send("\u0080binary\r\nversion\r\n");
            assertEquals("ERROR", text.readLine());
            assertEquals("VERSION test-1", text.readLine());
        }
        assertEquals("x", client.ask(BinaryClient.GET, NO_EXTRAS, "k", "").value());
        client.send(BinaryClient.bytes("get k\r\n"));
        assertTrue(client.isClosedByServer());
    }

    @Test
    void shouldTellOneTooManyInItsProtocol() throws IOException {
        try (RunningServer small =
                        new RunningServer(context -> context.maxConnections(1).protocol(ClientRules.Protocol.BINARY));
                BinaryClient first = new BinaryClient(small.address())) {
            assertEquals(0, first.ask(BinaryClient.NOOP, NO_EXTRAS, "", "").status());
            try (BinaryClient second = new BinaryClient(small.address())) {
                assertEquals(
                        "00 0085 #0 - () : Too many open connections",
                        second.read().toString());
                assertTrue(second.isClosedByServer());
            }
        }
    }

    /** What one protocol stores the other finds. */
    @Test
    void shouldShareItemsWithTheTextProtocol() throws IOException {
        client.ask(BinaryClient.SET, store(42, 0), "k", "1");
        try (RawMemcached text = new RawMemcached(running.address())) {
            assertEquals("VALUE k 42 1\r\n1\r\nEND\r\n", text.ask("get k\r\n", "VALUE k 42 1\r\n1\r\nEND\r\n"));
            assertEquals("2\r\n", text.ask("incr k 1\r\n", "2\r\n"));
        }
        assertEquals(
                "0000000000000003",
                hex(client.ask(BinaryClient.INCREMENT, count(1, 0, 0), "k", "").value()));
        assertFalse(client.lastCas() == 0);
    }

    private static String hex(String value) {
        return java.util.HexFormat.of().formatHex(BinaryClient.bytes(value));
    }
}
