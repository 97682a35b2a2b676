package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.server.host.PortSettings;

/**
 * Clients that store and ask in bulk, as set_multi and get_multi of client libraries do, and pipelined meta gets. Each has
 * keys of its own, so it knows what every answer must be.
 */
class BulkClientsTest {
    private static final int STORED = 3000;
    private static final int ASKED = 20_000;
    private static final int PIPELINED = 2000;
    private static final int VALUE_BYTES = 100;
    private static final int CLIENTS = 2;
    private static final int LOAD = 1;
    private static final int THREADS = 4;

    /** How long, on each transport: {@code -Dsoftrdma.bulk.seconds=N}. */
    private static final int SECONDS =
            Integer.getInteger("softrdma.bulk.seconds", Boolean.getBoolean("softrdma.slow.short") ? 10 : 900);

    @ParameterizedTest
    @EnumSource(names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
    void shouldAnswerBulkRequestsWithWhatWasStored(PortSettings.Io io) throws Exception {
        run(io, 0);
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
    void shouldAnswerBulkRequestsForALongTime(PortSettings.Io io) throws Exception {
        // The default transport for all of the time, the others to compare with.
        run(io, io == PortSettings.Io.URING ? SECONDS : Math.max(1, SECONDS / 10));
    }

    private static void run(PortSettings.Io io, int seconds) throws Exception {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        try (LoadedServer server = new LoadedServer(io, THREADS, LOAD);
                ExecutorService clients = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<Integer>> rounds = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                String name = "client" + i + "-";
                rounds.add(clients.submit(() -> new BulkClient(server, name).runUntil(endNs)));
            }
            for (Future<Integer> each : rounds) {
                try {
                    System.out.println(io + ": " + each.get() + " rounds");
                } catch (ExecutionException e) {
                    throw new AssertionError(io + ": " + e.getCause(), e);
                }
            }
        }
    }

    private static final class BulkClient {
        private final LoadedServer server;
        private final String name;
        private final int[] versions = new int[ASKED];
        private int next;

        BulkClient(LoadedServer server, String name) {
            this.server = server;
            this.name = name;
        }

        /** One round at least. */
        int runUntil(long endNs) throws IOException {
            int rounds = 0;
            try (LoadedServer.Client client = new LoadedServer.Client(server.address())) {
                do {
                    rounds++;
                    for (int i = 0; i < (rounds == 1 ? ASKED : STORED); i += STORED) {
                        store(client, rounds);
                    }
                    askForAll(client);
                    askOneByOne(client, rounds);
                } while (System.nanoTime() - endNs < 0);
            }
            return rounds;
        }

        private String value(int key) {
            String text = name + key + " version " + versions[key] + " ";
            return text + "x".repeat(VALUE_BYTES - text.length());
        }

        private static byte[] ascii(StringBuilder text) {
            return text.toString().getBytes(StandardCharsets.US_ASCII);
        }

        private void store(LoadedServer.Client client, int round) throws IOException {
            StringBuilder request = new StringBuilder();
            StringBuilder answer = new StringBuilder();
            for (int i = 0; i < STORED; i++) {
                int key = next;
                next = (next + 1) % ASKED;
                versions[key] = round;
                request.append("set ").append(name).append(key).append(" 7 0 ").append(VALUE_BYTES);
                request.append("\r\n").append(value(key)).append("\r\n");
                answer.append("STORED\r\n");
            }
            client.send(ascii(request));
            client.expect(ascii(answer));
        }

        private void askForAll(LoadedServer.Client client) throws IOException {
            StringBuilder request = new StringBuilder("get");
            StringBuilder answer = new StringBuilder();
            for (int key = 0; key < ASKED; key++) {
                request.append(' ').append(name).append(key);
                answer.append("VALUE ").append(name).append(key).append(" 7 ").append(VALUE_BYTES);
                answer.append("\r\n").append(value(key)).append("\r\n");
            }
            client.send(ascii(request.append("\r\n")));
            client.expect(ascii(answer.append("END\r\n")));
        }

        private void askOneByOne(LoadedServer.Client client, int round) throws IOException {
            StringBuilder request = new StringBuilder();
            StringBuilder answer = new StringBuilder();
            for (int i = 0; i < PIPELINED; i++) {
                int key = (i * 7919 + round) % ASKED;
                request.append("mg ").append(name).append(key).append(" v k\r\n");
                answer.append("VA ")
                        .append(VALUE_BYTES)
                        .append(" k")
                        .append(name)
                        .append(key);
                answer.append("\r\n").append(value(key)).append("\r\n");
            }
            client.send(ascii(request.append("mn\r\n")));
            client.expect(ascii(answer.append("MN\r\n")));
        }
    }
}
