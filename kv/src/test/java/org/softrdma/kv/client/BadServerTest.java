package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.testkit.KeptPorts;
import org.softrdma.verbs.device.VerbsDevice;

/** A client at servers that break the protocol, or off in the middle: an exception that says so, and no wrong value. */
class BadServerTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final String HANG = "";

    /** Answers each line it gets with what a test says, on any number of connections; no answer to HANG. */
    private static final class Script implements AutoCloseable {
        private final ServerSocket listening = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        private final Thread thread;

        Script(UnaryOperator<String> answers) throws IOException {
            thread = Thread.ofPlatform().daemon().start(() -> {
                while (!listening.isClosed()) {
                    try (Socket socket = listening.accept()) {
                        serve(socket, answers);
                    } catch (IOException e) {
                        // the client has left, or the test is over
                    }
                }
            });
        }

        private static void serve(Socket socket, UnaryOperator<String> answers) throws IOException {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            String line = lines.readLine();
            while (line != null) {
                String answer = answers.apply(line);
                socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
                if (answer.endsWith("CLOSE")) {
                    return;
                }
                line = lines.readLine();
            }
        }

        KvClientContext context() {
            return new KvClientContext((InetSocketAddress) listening.getLocalSocketAddress())
                    .requestTimeoutNs(TimeUnit.SECONDS.toNanos(20));
        }

        @Override
        public void close() throws IOException {
            listening.close();
            thread.interrupt();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "VALUE\r\n",
                "VALUE key 0 5\r\nvalue\r\nEND\r\n",
                "VALUE key x 5 1\r\nvalue\r\nEND\r\n",
                "VALUE key 0 -5 1\r\nvalue\r\nEND\r\n",
                "VALUE key 0 99999999999 1\r\nvalue\r\nEND\r\n",
                "VALUE key 0 2000000000 1\r\nvalue\r\nEND\r\n",
                "VALUE other 0 5 1\r\nvalue\r\nEND\r\n",
                "VALUE key 0 5 1\r\nvalue\r\nVALUE key 0 5 1\r\nvalue\r\nEND\r\n",
                "VALUE key 0 3 1\r\nvalue\r\nEND\r\n",
                "STORED\r\n",
                "\r\n",
                "\u0000\u0001\u00FF\r\n",
                "VALUE key 0 5 1\r\nvalCLOSE",
                "VALUE keCLOSE",
                "CLOSE"
            })
    void shouldThrowOnBadAnswerToGet(String answer) throws IOException {
        try (Script script = new Script(line -> line.equals("gets key") ? answer : "VERSION 1\r\n");
                KvClient client = KvClient.connect(
                        script.context().protocol(KvProtocol.PLAIN).conclude())) {
            KvException e = assertThrows(KvException.class, () -> client.get(KEY));
            assertSame(KvException.class, e.getClass(), e::toString);
            assertEquals("1", client.version(), "the next command connects again");
            assertEquals(2, client.counters().connections());
        }
    }

    @Test
    void shouldThrowOnLineWithoutEnd() throws IOException {
        try (Script script = new Script(line -> "x".repeat(10_000));
                KvClient client = plain(script)) {
            KvException e = assertThrows(KvException.class, () -> client.delete(KEY));
            assertTrue(String.valueOf(e.getMessage()).contains("line without an end"), e::toString);
        }
    }

    @Test
    void shouldGiveUpOnStatisticsWithoutEnd() throws IOException {
        String value = "x".repeat(4000);
        StringBuilder answer = new StringBuilder();
        for (int i = 0; i < 4400; i++) { // 17 MB
            answer.append("STAT name").append(i).append(' ').append(value).append("\r\n");
        }
        try (Script script = new Script(line -> answer.toString());
                KvClient client = plain(script)) {
            assertThrows(KvException.class, () -> client.stats(""));
        }
    }

    @Test
    void shouldTakeValuesInPieces() throws IOException {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            byte[] answer = "VALUE key 7 4 9\r\n\r\n\r\n\r\nEND\r\n".getBytes(StandardCharsets.US_ASCII);
            Thread server = Thread.ofPlatform().daemon().start(() -> {
                try (Socket socket = listening.accept()) {
                    socket.setTcpNoDelay(true);
                    for (byte b : answer) {
                        socket.getOutputStream().write(b);
                        socket.getOutputStream().flush();
                    }
                    socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                    // the client says what is wrong
                }
            });
            KvClientContext context = new KvClientContext((InetSocketAddress) listening.getLocalSocketAddress())
                    .protocol(KvProtocol.PLAIN)
                    .conclude();
            try (KvClient client = KvClient.connect(context)) {
                KvItem item = client.get(KEY).orElseThrow();
                assertArrayEquals("\r\n\r\n".getBytes(StandardCharsets.US_ASCII), item.value());
                assertEquals(7, item.flags());
                assertEquals(9, item.cas());
            }
            join(server);
        }
    }

    @Test
    void shouldTakeValueThatIsLongerThanWhatIsAllocatedAtFirst() throws IOException {
        String value = "0123456789".repeat(500_000);
        try (Script script = new Script(line -> "VALUE key 0 " + value.length() + " 1\r\n" + value + "\r\nEND\r\n");
                KvClient client = plain(script)) {
            byte[] taken = client.get(KEY).orElseThrow().value();
            assertEquals(value, new String(taken, StandardCharsets.US_ASCII));
        }
    }

    @Test
    void shouldFailRequestsAndGoOnAfterAnErrorOfItsOwn() throws IOException {
        AtomicBoolean bothCame = new AtomicBoolean();
        UnaryOperator<String> answers = line -> {
            if (line.equals("gets key")) {
                bothCame.set(true); // the first request is answered now, so that the second waits on its connection
            }
            return bothCame.get() ? "VERSION 1\r\n" : HANG;
        };
        try (Script script = new Script(answers);
                SharedKvClient client = SharedKvClient.connect(
                        script.context().protocol(KvProtocol.PLAIN).conclude())) {
            LineRequest<String> broken = new LineRequest<>("version", null, "", null, false, line -> {
                throw new OutOfMemoryError("as if there were no memory for " + line);
            });
            CompletableFuture<?> first = client.submit(broken);
            CompletableFuture<?> second = client.submit(KvRequest.get(KEY));
            for (CompletableFuture<?> each : new CompletableFuture<?>[] {first, second}) {
                CompletionException e = assertThrows(
                        CompletionException.class,
                        () -> each.orTimeout(10, TimeUnit.SECONDS).join());
                assertTrue(e.getCause() instanceof KvException, e::toString);
            }
            long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            boolean answered = false;
            while (!answered) {
                try {
                    assertEquals("1", client.version());
                    answered = true;
                } catch (KvException e) {
                    assertTrue(System.nanoTime() < endNs, e::toString); // not connected again yet
                }
            }
        }
    }

    @Test
    void shouldKeepTimeLimitsOfWhatCannotBeSent() throws IOException {
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                SharedKvClient client =
                        SharedKvClient.connect(new KvClientContext((InetSocketAddress) deaf.getLocalSocketAddress())
                                .protocol(KvProtocol.PLAIN)
                                .requestTimeoutNs(TimeUnit.MINUTES.toNanos(10))
                                .conclude())) {
            List<CompletableFuture<SetStatus>> sets = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                sets.add(client.submit(KvRequest.set(KEY, 0, 0, new byte[1_000_000]))); // more than sockets take
            }
            CompletableFuture<?> get = client.submit(KvRequest.get(KEY).timeout(Duration.ofMillis(100)))
                    .orTimeout(20, TimeUnit.SECONDS);
            CompletionException e = assertThrows(CompletionException.class, get::join);
            assertTrue(e.getCause() instanceof KvTimeoutException, e::toString);
            assertTrue(sets.stream().noneMatch(CompletableFuture::isDone), "their limit is another");
        }
    }

    @Test
    void shouldShowWhichCallOfASharedClientFailed() throws IOException {
        try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                SharedKvClient client =
                        SharedKvClient.connect(new KvClientContext((InetSocketAddress) deaf.getLocalSocketAddress())
                                .protocol(KvProtocol.PLAIN)
                                .conclude())) {
            KvTimeoutException late = assertThrows(
                    KvTimeoutException.class,
                    () -> client.execute(KvRequest.get(KEY).timeout(Duration.ofNanos(1_500_000))));

            assertTrue(String.valueOf(late.getMessage()).contains("not within 1500000 ns"), late::toString);
            assertTrue(
                    Arrays.stream(late.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().equals(BadServerTest.class.getName())),
                    () -> Arrays.toString(late.getStackTrace()));
            assertTrue(late.getCause() instanceof KvTimeoutException, "what the client's own thread found");
        }
    }

    @Test
    void shouldDropAnswerThatComesTooLate() throws IOException {
        CompletableFuture<String> late = new CompletableFuture<>();
        try (Script script = new Script(line -> line.equals("gets key") ? late.join() : "VERSION 1\r\n");
                KvClient client = plain(script)) {
            KvTimeoutException e = assertThrows(
                    KvTimeoutException.class,
                    () -> client.execute(KvRequest.get(KEY).timeout(Duration.ofMillis(20))));
            assertTrue(String.valueOf(e.getMessage()).contains("not within 20 ms"), e::toString);
            late.complete("VALUE key 0 5 1\r\nvalue\r\nEND\r\n");
            assertEquals("1", client.version(), "on the same connection, behind what nobody waits for");
            assertEquals(1, client.counters().connections());
        }
    }

    @Test
    void shouldGiveUpConnectionThatIsSilentForTooLong() throws IOException {
        try (Script script = new Script(line -> line.equals("gets key") ? HANG : "VERSION 1\r\n");
                KvClient client = KvClient.connect(script.context()
                        .protocol(KvProtocol.PLAIN)
                        .requestTimeoutNs(TimeUnit.MILLISECONDS.toNanos(50))
                        .conclude())) {
            assertThrows(KvTimeoutException.class, () -> client.get(KEY));
            assertThrows(KvTimeoutException.class, () -> client.get(KEY), "whichever of the two limits it is");
        }
    }

    @Test
    void shouldFailEveryRequestOnItsWayWithTheConnection() throws IOException {
        try (Script script = new Script(line -> line.equals("version") ? "CLOSE" : HANG);
                SharedKvClient client = SharedKvClient.connect(
                        script.context().protocol(KvProtocol.PLAIN).conclude())) {
            CompletableFuture<?> get = client.submit(KvRequest.get(KEY));
            CompletableFuture<?> delete = client.submit(KvRequest.delete(KEY));
            CompletableFuture<?> version = client.submit(KvRequest.version());
            for (CompletableFuture<?> each : new CompletableFuture<?>[] {get, delete, version}) {
                CompletionException e = assertThrows(CompletionException.class, each::join);
                assertTrue(e.getCause() instanceof KvException, e::toString);
            }
        }
    }

    @Test
    void shouldNotMixUpAnswersAfterRefusedValue() throws IOException {
        // The server takes the value for a command: two answers to one request.
        try (Script script = new Script(line -> line.equals("version") ? "VERSION 1\r\n" : "ERROR\r\n");
                KvClient client = plain(script)) {
            assertThrows(KvRefusedException.class, () -> client.add(KEY, 0, 0, KEY));
            assertEquals("1", client.version());
            assertEquals(2, client.counters().connections());
        }
    }

    @Test
    void shouldNotMixUpAnswersAfterComplaintAboutNoreply() throws IOException {
        try (Script script = new Script(line -> switch (line) {
                    case "set key 0 0 3 noreply" -> "SERVER_ERROR out of memory storing object\r\n";
                    case "key" -> "";
                    case "delete key" -> "DELETED\r\n";
                    default -> "VERSION 1\r\n";
                });
                KvClient client = plain(script)) {
            client.execute(KvRequest.set(KEY, 0, 0, KEY).noreply());
            try {
                assertTrue(client.delete(KEY)); // the complaint came before it was asked for
            } catch (KvException e) {
                assertTrue(String.valueOf(e.getMessage()).contains("wants no answer"), e::toString);
            }
            assertEquals("1", client.version());
            assertEquals(2, client.counters().connections());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "RDMA\r\n",
                "RDMA 2 99999 00112233445566778899aabbccddeeff 1 arena private-data\r\n",
                "RDMA 2 1 short 1 arena private-data\r\n",
                "RDMA 2 1 00112233445566778899aabbccddeeff 1 tape private-data\r\n",
                "RDMA 2 1 00112233445566778899aabbccddeeff 1 arena pocket\r\n",
                "RDMA 2 1 00112233445566778899aabbccddeeff 1 arena\r\n",
                "RDMA 1 1 00112233445566778899aabbccddeeff 1 arena private-data\r\n",
                "STORED\r\n",
                "CLOSE"
            })
    void shouldThrowOnBadHello(String answer) throws IOException {
        try (Script script = new Script(line -> answer);
                VerbsDevice device = new SoftRdmaProvider().open(java.util.Map.of())) {
            KvClientContext context = script.context().conclude();
            KvException e = assertThrows(KvException.class, () -> KvClient.connect(device, context));
            String port = ":" + context.server().getPort() + " ";
            assertTrue(String.valueOf(e.getMessage()).contains(port), e::toString);
        }
    }

    @Test
    void shouldSayWhyItIsPlain() throws IOException {
        try (Script script = new Script(line -> line.startsWith("rdma") ? "ERROR\r\n" : "VERSION 1\r\n");
                VerbsDevice device = new SoftRdmaProvider().open(java.util.Map.of())) {
            try (KvClient client = KvClient.connect(device, script.context().conclude())) {
                assertSame(KvProtocol.PLAIN, client.protocol());
                assertTrue(client.plainReason().contains("without RDMA"), client::plainReason);
                assertEquals("1", client.version());
            }
            KvClientContext strict = script.context().protocol(KvProtocol.RDMA).conclude();
            KvException e = assertThrows(KvException.class, () -> KvClient.connect(device, strict));
            assertTrue(String.valueOf(e.getMessage()).contains("without RDMA"), e::toString);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CLIENT_ERROR rdma version not supported, expected 1 | speaks version 1 of 'rdma hello', and this client version 2",
                "CLIENT_ERROR rdma version 2 not supported, expected 3 | speaks version 3 of 'rdma hello', and this client version 2",
                "CLIENT_ERROR rdma refused for 60 s, this address used wrong keys | refused for 60 s"
            })
    void shouldBePlainAndNameBothVersionsWhenTheServerSpeaksAnother(String answer, String reason) throws IOException {
        try (Script script = new Script(line -> line.startsWith("rdma") ? answer + "\r\n" : "VERSION 1\r\n");
                VerbsDevice device = new SoftRdmaProvider().open(java.util.Map.of())) {
            try (KvClient client = KvClient.connect(device, script.context().conclude())) {
                assertSame(KvProtocol.PLAIN, client.protocol());
                assertTrue(client.plainReason().contains(reason), client::plainReason);
                assertEquals("1", client.version());
            }
            KvClientContext strict = script.context().protocol(KvProtocol.RDMA).conclude();
            KvException e = assertThrows(KvException.class, () -> KvClient.connect(device, strict));
            assertTrue(String.valueOf(e.getMessage()).contains(reason), e::toString);
        }
    }

    @Test
    void shouldBePlainIfNoQueuePairCanBeConnected() throws IOException {
        int unused = KeptPorts.next();
        try (Script script = new Script(line -> switch (line) {
                    case "rdma hello 2" ->
                        "RDMA 2 " + unused + " 00112233445566778899aabbccddeeff 1 arena private-data\r\n";
                    case "rdma arenas" -> "END\r\n";
                    default -> "VERSION 1\r\n";
                });
                VerbsDevice device = new SoftRdmaProvider().open(java.util.Map.of());
                KvClient client = KvClient.connect(device, script.context().conclude())) {
            assertSame(KvProtocol.PLAIN, client.protocol());
            assertTrue(client.plainReason().contains("no queue pair"), client::plainReason);
            assertEquals("1", client.version());
        }
    }

    private static KvClient plain(Script script) {
        return KvClient.connect(script.context().protocol(KvProtocol.PLAIN).conclude());
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
