package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.kv.client.MemcachedProcess;
import org.softrdma.kv.server.host.PortSettings;

/** Clients that send no more, or vanish, in the middle of what they have asked. */
class EndOfInputTest {
    private static final int LARGE = 900_000;
    private static final int GETS = 40;
    private static final int CLIENTS = 100;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);

    private static RunningServer start(PortSettings.Io io) {
        return new RunningServer(context -> context.io(io));
    }

    /** What {@code nc -N} gets: all of the answers, however many and large they are. */
    private static void askAndShutDown(InetSocketAddress address) throws IOException {
        String value = "v".repeat(LARGE);
        try (RawMemcached client = new RawMemcached(address)) {
            assertEquals("STORED\r\n", client.ask("set large 0 0 " + LARGE + "\r\n" + value + "\r\n", "STORED\r\n"));
        }
        int answer = ("VALUE large 0 " + LARGE + "\r\n" + value + "\r\nEND\r\n").length();
        try (RawMemcached client = new RawMemcached(address)) {
            client.send("get large\r\n".repeat(GETS));
            client.shutdownOutput();
            assertEquals((long) GETS * answer, client.readAll().length);
        }
        for (int i = 0; i < CLIENTS; i++) {
            try (RawMemcached client = new RawMemcached(address)) {
                client.send("set small 0 0 1\r\nx\r\nget small\r\n");
                client.shutdownOutput();
                String all = new String(client.readAll(), StandardCharsets.ISO_8859_1);
                assertEquals("STORED\r\nVALUE small 0 1\r\nx\r\nEND\r\n", all, "client " + i);
            }
        }
        try (RawMemcached client = new RawMemcached(address)) {
            client.send("get small\r\nset half 0 0 10\r\nx");
            client.shutdownOutput();
            assertEquals("VALUE small 0 1\r\nx\r\nEND\r\n", new String(client.readAll(), StandardCharsets.ISO_8859_1));
        }
    }

    @Test
    void shouldBeWhatMemcachedDoes() throws IOException {
        try (MemcachedProcess memcached = new MemcachedProcess()) {
            askAndShutDown(memcached.address());
        }
    }

    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldAnswerAllOfAClientThatSendsNoMore(PortSettings.Io io) throws IOException {
        try (RunningServer server = start(io)) {
            askAndShutDown(server.address());
            awaitConnections(server, 1);
        }
    }

    /** Between two requests all output may have gone, so that nothing is awaited of the socket; then it is full again. */
    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldAnswerAllWithATurnForEachRequest(PortSettings.Io io) throws IOException {
        try (RunningServer server = new RunningServer(context -> context.io(io).requestsPerTurn(1))) {
            askAndShutDown(server.address());
            awaitConnections(server, 1);
        }
    }

    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldCloseAWatcherThatSendsNoMore(PortSettings.Io io) throws IOException {
        try (RunningServer server = start(io);
                RawMemcached watcher = new RawMemcached(server.address())) {
            assertEquals("OK\r\n", watcher.ask("watch fetchers\r\n", "OK\r\n"));
            watcher.shutdownOutput();
            assertTrue(watcher.isClosedByServer());
        }
    }

    /** A request that another thread works for, then the watch: the end of the input comes before it. */
    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldCloseAWatcherThatHasSentNoMoreBefore(PortSettings.Io io) throws IOException {
        try (RunningServer server = start(io)) {
            for (int i = 0; i < CLIENTS; i++) {
                try (RawMemcached watcher = new RawMemcached(server.address())) {
                    watcher.send("flush_all noreply\r\nwatch evictions\r\n");
                    watcher.shutdownOutput();
                    assertEquals("OK\r\n", new String(watcher.readAll(), StandardCharsets.ISO_8859_1));
                }
            }
            awaitConnections(server, 1);
        }
    }

    @ParameterizedTest
    @MethodSource(EachIo.USABLE)
    void shouldForgetClientsThatAreResetInTheMiddleOfARequest(PortSettings.Io io) throws IOException {
        try (RunningServer server = start(io)) {
            for (int i = 0; i < CLIENTS; i++) {
                RawMemcached client = new RawMemcached(server.address());
                client.send(i % 2 == 0 ? "get aaa" : "set half 0 0 10\r\nx");
                client.reset();
            }
            awaitConnections(server, 1);
        }
    }

    private static void awaitConnections(RunningServer server, int count) throws IOException {
        try (RawMemcached observer = new RawMemcached(server.address())) {
            String expected = "STAT curr_connections " + count;
            long deadlineNs = System.nanoTime() + PATIENCE_NS;
            String found;
            do {
                found = "";
                observer.send("stats\r\n");
                for (String line = observer.readLine(); !line.equals("END"); line = observer.readLine()) {
                    found = line.startsWith("STAT curr_connections ") ? line : found;
                }
                assertTrue(System.nanoTime() < deadlineNs, found + ", expected " + count);
            } while (!found.equals(expected));
        }
    }
}
