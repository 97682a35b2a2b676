package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that want to use up the memory of a server, which has little; and a server one of whose threads has failed. */
class HostileClientsTest {
    /** How SIGTERM ends a JVM. */
    private static final int TERMINATED = 128 + 15;

    private static final int BIG = 1_000_000;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

    /** Of answers that nobody reads; in a sample those that fit into no buffer of a port. */
    private static IntStream lengths() {
        return Integer.getInteger("softrdma.sample", 1) == 1
                ? IntStream.of(100, 10_000, 17_000, BIG)
                : IntStream.of(17_000);
    }

    private static IntStream lengthsInFrames() {
        return Integer.getInteger("softrdma.sample", 1) == 1 ? IntStream.of(100, BIG) : IntStream.of(BIG);
    }

    private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @Test
    void shouldServeOthersWhenManyHaveSentLongLines() throws Exception {
        List<Socket> hostile = new ArrayList<>();
        try (KvServerProcess server = start("-Xmx64m")) {
            byte[] line = ("get " + "a ".repeat(255_000)).getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 40; i++) {
                Socket socket = connect();
                hostile.add(socket);
                socket.getOutputStream().write(line);
                if (i % 2 == 0) {
                    socket.getOutputStream().write("\r\n".getBytes(StandardCharsets.US_ASCII));
                    assertEquals(
                            "END\r\n", new String(socket.getInputStream().readNBytes(5), StandardCharsets.US_ASCII));
                }
            }
            requireService();
            server.terminate();
            assertEquals(TERMINATED, server.awaitEnd());
        } finally {
            close(hostile);
        }
    }

    @Tag("sampled")
    @ParameterizedTest
    @MethodSource("lengths")
    void shouldServeOthersWhenManyDoNotReadTheirAnswers(int length) throws Exception {
        shouldServeOthersWhenManyDoNotReadAnswersTo("get v\r\n".getBytes(StandardCharsets.US_ASCII), length);
    }

    @Tag("sampled")
    @ParameterizedTest
    @MethodSource("lengthsInFrames")
    void shouldServeOthersWhenManyDoNotReadTheirFrames(int length) throws Exception {
        shouldServeOthersWhenManyDoNotReadAnswersTo(
                BinaryClient.frame(BinaryClient.GET, BinaryClient.NO_EXTRAS, "v", "", 0, 0), length);
    }

    private void shouldServeOthersWhenManyDoNotReadAnswersTo(byte[] request, int length) throws Exception {
        List<Socket> hostile = new ArrayList<>();
        try (KvServerProcess server = start("-Xmx128m", "-XX:MaxDirectMemorySize=32m");
                RawMemcached client = new RawMemcached(address)) {
            client.ask("set v 0 0 " + length + "\r\n" + "x".repeat(length) + "\r\n", "STORED\r\n");
            int connections = 80;
            int gets = Math.min(6 * BIG / length, 6000);
            byte[] requests = new byte[gets * request.length];
            for (int i = 0; i < gets; i++) {
                System.arraycopy(request, 0, requests, i * request.length, request.length);
            }
            for (int i = 0; i < connections; i++) {
                Socket socket = connect();
                hostile.add(socket);
                socket.getOutputStream().write(requests);
            }
            long startNs = System.nanoTime();
            while (statistic(client, "get_hits") < connections) {
                requireTimeLeft(startNs, "nobody is served");
            }
            requireService();
            requireOpen(client, connections + 1);
            server.terminate();
            assertEquals(TERMINATED, server.awaitEnd());
        } finally {
            close(hostile);
        }
    }

    @Test
    void shouldTakeNoBufferForEachShortAnswerThatNobodyReads() throws Exception {
        List<Socket> hostile = new ArrayList<>();
        try (KvServerProcess server = start(
                        "-Xmx64m", "-XX:MaxDirectMemorySize=32m", "-D" + KvServerProcess.REQUESTS_PER_TURN + "=1");
                RawMemcached client = new RawMemcached(address)) {
            client.ask("set v 0 0 100\r\n" + "x".repeat(100) + "\r\n", "STORED\r\n");
            byte[] request = "get v\r\n".getBytes(StandardCharsets.US_ASCII);
            for (int i = 0; i < 4; i++) {
                Socket socket = connect();
                socket.setTcpNoDelay(true);
                hostile.add(socket);
                Thread.ofPlatform().daemon().start(() -> sendWithoutEnd(socket, request));
            }
            long startNs = System.nanoTime();
            long before = -1;
            for (int unchanged = 0; unchanged < 100; unchanged++) { // then they wait for clients that do not read
                requireTimeLeft(startNs, "they do not stop");
                long now = statistic(client, "get_hits");
                unchanged = now == before ? unchanged : 0;
                before = now;
            }
            requireService();
            requireOpen(client, hostile.size() + 1);
            server.terminate();
            assertEquals(TERMINATED, server.awaitEnd());
        } finally {
            close(hostile);
        }
    }

    private static void sendWithoutEnd(Socket socket, byte[] request) {
        try {
            while (true) {
                socket.getOutputStream().write(request);
            }
        } catch (IOException e) {
            // the test is over
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"kv-memcached", "kv-maintenance"})
    void shouldEndWithASentenceWhenAThreadHasFailed(String thread, @TempDir Path directory) throws Exception {
        Path errors = directory.resolve("errors");
        try (KvServerProcess server = start(ProcessBuilder.Redirect.to(errors.toFile()), "-Xmx64m");
                RawMemcached client = new RawMemcached(address)) {
            client.ask("version\r\n", "VERSION test\r\n");
            server.failOn(thread);
            if (thread.equals("kv-memcached")) {
                // It may not have read its input yet; and if it does not end, a send waits for ever.
                Thread.ofPlatform().daemon().start(() -> sendUntilClosed(client));
            }
            assertEquals(ProcessEnd.EXIT_CODE, server.awaitEnd());
        }
        String said = Files.readString(errors);
        assertTrue(said.contains("test server: a thread has failed, and the server ends; start it again."), said);
        assertTrue(said.contains("java.lang.InternalError: injected"), said);
    }

    private static void sendUntilClosed(RawMemcached client) {
        try {
            while (true) {
                client.send("get a\r\n");
            }
        } catch (IOException e) {
            // as it should be
        }
    }

    private KvServerProcess start(String... options) throws IOException {
        return start(ProcessBuilder.Redirect.INHERIT, options);
    }

    private KvServerProcess start(ProcessBuilder.Redirect errors, String... options) throws IOException {
        KvServerProcess server = new KvServerProcess(0, errors, options);
        address = server.address();
        return server;
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.setSoTimeout(20_000);
        socket.connect(address, 20_000);
        return socket;
    }

    private static long statistic(RawMemcached client, String name) throws IOException {
        client.send("stats\r\n");
        String start = "STAT " + name + " ";
        long value = -1;
        for (String line = client.readLine(); !line.equals("END"); line = client.readLine()) {
            if (line.startsWith(start)) {
                value = Long.parseLong(line.substring(start.length()));
            }
        }
        return value;
    }

    /** Clients that do not read wait, but none is ended; those that came and went since may still be counted. */
    private static void requireOpen(RawMemcached client, long connections) throws IOException {
        long startNs = System.nanoTime();
        long open = Long.MAX_VALUE;
        while (open > connections) {
            requireTimeLeft(startNs, "they stay open");
            open = statistic(client, "curr_connections");
        }
        assertEquals(connections, open);
    }

    /** An interrupt at the end of a test's time does not end these loops. */
    private static void requireTimeLeft(long startNs, String otherwise) {
        assertTrue(System.nanoTime() - startNs < DEADLINE_NS, otherwise);
    }

    private void requireService() throws IOException {
        String value = "y".repeat(BIG);
        for (int i = 0; i < 5; i++) {
            try (RawMemcached client = new RawMemcached(address)) {
                assertEquals("STORED\r\n", client.ask("set w 0 0 1\r\nx\r\n", "STORED\r\n"));
                String answer = "VALUE w 0 1\r\nx\r\nEND\r\n";
                assertEquals(answer, client.ask("get w\r\n", answer));
                assertEquals("STORED\r\n", client.ask("set w 0 0 " + BIG + "\r\n" + value + "\r\n", "STORED\r\n"));
                answer = "VALUE w 0 " + BIG + "\r\n" + value + "\r\nEND\r\n";
                assertEquals(answer, client.ask("get w\r\n", answer));
            }
        }
    }

    private static void close(List<Socket> sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
