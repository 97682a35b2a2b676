package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ServerOptionsTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(KvServerContext.Transport.class)
    void shouldServeUnixSocket(KvServerContext.Transport transport) throws IOException {
        Path file = directory.resolve("socket");
        for (int life = 0; life < 2; life++) { // the second finds the file of the first
            try (RunningServer running = new RunningServer(
                            context -> context.unixSocket(file, 0750).transport(transport));
                    SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                client.connect(UnixDomainSocketAddress.of(file));
                assertThrows(IllegalStateException.class, running::address);
                assertEquals("rwxr-x---", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
                client.write(ByteBuffer.wrap("set k 0 0 1\r\nx\r\n".getBytes(StandardCharsets.US_ASCII)));
                ByteBuffer answer = ByteBuffer.allocate(8);
                while (answer.hasRemaining() && client.read(answer) >= 0) {
                    // reads on
                }
                assertEquals("STORED\r\n", new String(answer.array(), StandardCharsets.US_ASCII));
            }
        }
    }

    @Test
    void shouldNotTakeTheSocketOfAnotherServerNorAFile() throws IOException {
        Path file = directory.resolve("socket");
        try (RunningServer running = new RunningServer(context -> context.unixSocket(file, 0700))) {
            assertTrue(running.server().rdmaAddress().getPort() > 0);
            UncheckedIOException failure = assertThrows(
                    UncheckedIOException.class, () -> new RunningServer(context -> context.unixSocket(file, 0700)));
            assertTrue(String.valueOf(failure.getMessage()).contains("another server"), failure.getMessage());
        }
        Path plain = Files.writeString(directory.resolve("file"), "precious");
        assertThrows(UncheckedIOException.class, () -> new RunningServer(context -> context.unixSocket(plain, 0700)));
        assertEquals("precious", Files.readString(plain));
    }

    @Test
    void shouldRefuseFlushWhereItIsSwitchedOff() throws IOException {
        try (RunningServer running = new RunningServer(context -> context.flushAllowed(false));
                RawMemcached client = new RawMemcached(running.address())) {
            String expected = "CLIENT_ERROR flush_all not allowed\r\n";
            assertEquals(expected, client.ask("flush_all\r\n", expected));
        }
    }

    @Test
    void shouldStopOnShutdownWhereItIsSwitchedOn() throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        try (RunningServer running = new RunningServer(context -> context.shutdown(stopped::countDown));
                RawMemcached client = new RawMemcached(running.address())) {
            String expected = "CLIENT_ERROR invalid shutdown mode\r\n";
            assertEquals(expected, client.ask("shutdown now\r\n", expected));
            assertEquals(1, stopped.getCount());
            client.send("shutdown graceful\r\n");
            assertTrue(client.isClosedByServer());
            assertTrue(stopped.await(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldCloseIdleConnections() throws IOException {
        AtomicLong now = new AtomicLong(1_000_000);
        try (RunningServer running = new RunningServer(
                        context -> context.idleTimeoutSeconds(3).clockSeconds(now::get));
                RawMemcached client = new RawMemcached(running.address())) {
            assertEquals("MN\r\n", client.ask("mn\r\n", "MN\r\n"));
            now.addAndGet(4);
            assertTrue(client.isClosedByServer());
            assertFalse(running.server().counters().idleKicks.sum() == 0);
        }
    }

    @Test
    void shouldFlushLater() throws IOException {
        AtomicLong now = new AtomicLong(1_000_000);
        try (RunningServer running = new RunningServer(context -> context.clockSeconds(now::get));
                RawMemcached client = new RawMemcached(running.address())) {
            assertEquals("STORED\r\nOK\r\n", client.ask("set k 0 0 1\r\nx\r\nflush_all 1\r\n", "STORED\r\nOK\r\n"));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (running.server().store().statistics().currentItems() > 0) {
                assertTrue(System.nanoTime() < deadline, "not flushed in 20 s");
                Thread.onSpinWait();
            }
            assertEquals("END\r\n", client.ask("get k\r\n", "END\r\n"));
        }
    }

    @Test
    void shouldShowWhatItCounts() throws IOException {
        try (RunningServer running = new RunningServer(context -> context.verbosity(1));
                RawMemcached client = new RawMemcached(running.address())) {
            client.ask("set k 0 0 1\r\n1\r\n", "STORED\r\n");
            client.ask("incr k 1\r\n", "2\r\n");
            client.ask("decr nope 1\r\n", "NOT_FOUND\r\n");
            client.ask("touch k 0\r\n", "TOUCHED\r\n");
            client.ask("get k\r\n", "VALUE k 0 1\r\n2\r\nEND\r\n");
            String general = stats(client, "stats");
            for (String line : new String[] {
                "cmd_set 1", "incr_hits 1", "decr_misses 1", "touch_hits 1", "get_hits 1", "curr_items 1", "evictions 0"
            }) {
                assertTrue(general.contains("STAT " + line + "\n"), line + " in " + general);
            }
            assertTrue(stats(client, "stats settings").contains("STAT verbosity 1\n"));
            assertTrue(stats(client, "stats items").contains(":number 1\n"));
            assertTrue(stats(client, "stats slabs").contains(":total_pages 1\n"));
            client.ask("stats reset\r\n", "RESET\r\n");
            assertTrue(stats(client, "stats").contains("STAT get_hits 0\n"));
            assertTrue(stats(client, "stats").contains("STAT curr_items 1\n"));
        }
    }

    private static String stats(RawMemcached client, String command) throws IOException {
        client.send(command + "\r\n");
        StringBuilder lines = new StringBuilder();
        for (String line = client.readLine(); !line.equals("END"); line = client.readLine()) {
            lines.append(line).append('\n');
        }
        return lines.toString();
    }
}
