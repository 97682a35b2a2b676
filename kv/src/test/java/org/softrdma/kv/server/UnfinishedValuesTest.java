package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.kv.server.host.PortSettings;

/** Clients that announce values and do not send them, in each protocol and by each way of doing I/O. */
class UnfinishedValuesTest {
    private static final int MIB = 1 << 20;
    private static final int BIG = 1_000_000;
    private static final int CLIENTS = 80;
    private static final String OUT_OF_MEMORY = "SERVER_ERROR out of memory storing object\r\n";

    private final List<RawMemcached> clients = new ArrayList<>();

    private static RunningServer server(PortSettings.Io io) {
        return new RunningServer(context -> context.io(io).items(items -> items.memoryLimit(64L * MIB)));
    }

    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldTakeNoMemoryForValuesThatAreOnlyAnnounced(PortSettings.Io io) throws IOException {
        try (RunningServer server = server(io)) {
            announce(server, new byte[0]);
            assertEquals(0, pagedBytes(server));
        } finally {
            closeClients();
        }
    }

    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldStoreLargeValuesBesideManyThatStoppedAfterAByte(PortSettings.Io io) throws IOException {
        try (RunningServer server = server(io)) {
            announce(server, new byte[] {'x'});
            assertTrue(pagedBytes(server) <= 33L * MIB, () -> "they hold " + pagedBytes(server));
            String value = "y".repeat(BIG);
            try (RawMemcached client = new RawMemcached(server.address())) {
                client.send("set slow 0 0 " + BIG + "\r\n" + value.substring(0, BIG / 2));
                client.ask("", "");
                announce(server, new byte[] {'x'});
                assertEquals("STORED\r\n", client.ask(value.substring(BIG / 2) + "\r\n", "STORED\r\n"));
                for (int i = 0; i < 20; i++) {
                    assertEquals(
                            "STORED\r\n",
                            client.ask("set w" + i + " 0 0 " + BIG + "\r\n" + value + "\r\n", "STORED\r\n"));
                }
                String answer = "VALUE slow 0 " + BIG + "\r\n" + value + "\r\nEND\r\n";
                assertEquals(answer, client.ask("get slow\r\n", answer));
            }
            assertTrue(pagedBytes(server) <= 64L * MIB);
        } finally {
            closeClients();
        }
    }

    /** Nobody has memory but those that hold the only page of their class. */
    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldRefuseAValueWhoseMemoryWasTakenAndKeepTheConnection(PortSettings.Io io) throws IOException {
        try (RunningServer server = server(io)) {
            String rest = "x".repeat(BIG - 1);
            announce(server, new byte[] {'x'});
            int refused = 0;
            int stored = 0;
            for (int i = 0; i < clients.size(); i += 3) { // those of the text protocol
                RawMemcached client = clients.get(i);
                client.send(rest + "\r\nmn\r\n");
                String answer = client.readLine();
                if (answer.equals("STORED")) {
                    stored++;
                } else {
                    assertEquals(OUT_OF_MEMORY.strip(), answer);
                    refused++;
                    client.send("get k" + i + "\r\n");
                    assertEquals("MN", client.readLine());
                    assertEquals("END", client.readLine(), "an older value is not left behind");
                }
            }
            assertTrue(refused > 0 && stored > 0, refused + " refused, " + stored + " stored");
        } finally {
            closeClients();
        }
    }

    /** Begins sets of all protocols, and returns when the server has read them. */
    private void announce(RunningServer server, byte[] beginning) throws IOException {
        String first = new String(beginning, StandardCharsets.ISO_8859_1);
        for (int i = 0; i < CLIENTS; i++) {
            RawMemcached client = new RawMemcached(server.address());
            clients.add(client);
            String key = "k" + (clients.size() - 1);
            switch ((clients.size() - 1) % 3) {
                case 0 ->
                    assertEquals("MN\r\n", client.ask("mn\r\nset " + key + " 0 0 " + BIG + "\r\n" + first, "MN\r\n"));
                case 1 -> assertEquals("MN\r\n", client.ask("mn\r\nms " + key + " " + BIG + "\r\n" + first, "MN\r\n"));
                default -> {
                    byte[] noop = BinaryClient.frame(BinaryClient.NOOP, BinaryClient.NO_EXTRAS, "", "", 0, 0);
                    byte[] set = BinaryClient.frame(BinaryClient.SET, new byte[8], key, "x".repeat(BIG), 0, 0);
                    byte[] sent = new byte[noop.length + set.length - BIG + beginning.length];
                    System.arraycopy(noop, 0, sent, 0, noop.length);
                    System.arraycopy(set, 0, sent, noop.length, sent.length - noop.length);
                    client.send(sent);
                    client.read(noop.length);
                }
            }
        }
    }

    private static long pagedBytes(RunningServer server) {
        return Long.parseLong(server.server().statistics("slabs").get("total_malloced"));
    }

    private void closeClients() throws IOException {
        for (RawMemcached client : clients) {
            client.close();
        }
    }
}
