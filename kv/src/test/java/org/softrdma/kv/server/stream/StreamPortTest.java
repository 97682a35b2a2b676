package org.softrdma.kv.server.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.kv.server.RawMemcached;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.kv.server.host.PortInUseException;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.net.transport.NettyTransport;
import org.softrdma.testkit.KeptPorts;

/** The port with the store behind it. */
class StreamPortTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);

    private static ServerPort port(RunningServer running) {
        return running.server().memcachedPort();
    }

    @Test
    void shouldTakeIoUringUnlessAnotherIsChosen() {
        NettyTransport.uringObstacle().ifPresent(reason -> Assumptions.abort("io_uring does not work here: " + reason));
        for (PortSettings.Io io : PortSettings.Io.values()) {
            try (RunningServer running = new RunningServer(context -> context.io(io))) {
                String expected =
                        io == PortSettings.Io.AUTO ? "uring" : io.name().toLowerCase(Locale.ROOT);
                assertEquals(expected, ((StreamPort) port(running)).io());
            }
        }
    }

    @Test
    void shouldListenOnSeveralAddresses() throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (RunningServer running = new RunningServer(context -> context.memcachedAddresses(List.of(any, any)))) {
            assertEquals(2, port(running).localAddresses().size());
            assertEquals(
                    port(running).localAddress(), port(running).localAddresses().getFirst());
            for (var address : port(running).localAddresses()) {
                try (RawMemcached client = new RawMemcached((InetSocketAddress) address)) {
                    assertEquals("VERSION test-1\r\n", client.ask("version\r\n", "VERSION test-1\r\n"));
                }
            }
        }
    }

    @Test
    void shouldSayThatThePortIsInUse() {
        try (RunningServer running = new RunningServer()) {
            UncheckedIOException failure = assertThrows(
                    UncheckedIOException.class,
                    () -> new RunningServer(context -> context.memcachedAddress(running.address())));
            assertEquals(
                    "cannot listen on 127.0.0.1:" + running.address().getPort()
                            + ": the port is in use; choose another with -p (0 takes any free one)",
                    failure.getMessage());
        }
    }

    @Test
    void shouldOpenNoneIfOneOfSeveralIsInUse() throws IOException {
        InetSocketAddress free = new InetSocketAddress(InetAddress.getLoopbackAddress(), KeptPorts.next());
        try (RunningServer running = new RunningServer()) {
            assertThrows(
                    PortInUseException.class,
                    () -> new RunningServer(context -> context.memcachedAddresses(List.of(free, running.address()))));
            try (RunningServer second = new RunningServer(context -> context.memcachedAddress(free))) {
                assertEquals(free, second.address());
            }
        }
    }

    @Test
    void shouldCloseTwice() {
        try (RunningServer running = new RunningServer()) {
            port(running).close();
            port(running).stopAccepting();
            port(running).close();
        }
    }

    /** More connections than sends that go with one call, and than slots of a ring; and their end when the server stops. */
    @Test
    void shouldServeManyConnectionsAndEndThem() throws Exception {
        List<RawMemcached> clients = new ArrayList<>();
        try (RunningServer running = new RunningServer()) {
            for (int i = 0; i < 500; i++) {
                clients.add(new RawMemcached(running.address()));
            }
            for (int round = 0; round < 10; round++) {
                CountDownLatch release = stick((StreamPort) port(running)); // so that a turn has all of them
                for (RawMemcached each : clients) {
                    each.send("version\r\n");
                }
                release.countDown();
                for (RawMemcached each : clients) {
                    assertEquals("VERSION test-1", each.readLine());
                }
            }
            running.stop();
            for (RawMemcached each : clients) {
                assertTrue(each.isClosedByServer());
            }
        } finally {
            for (RawMemcached each : clients) {
                each.close();
            }
        }
    }

    @Test
    void shouldTakeNoFurtherConnectionsAndGoOn() throws IOException {
        try (RunningServer running = new RunningServer();
                RawMemcached client = new RawMemcached(running.address())) {
            assertEquals("VERSION test-1\r\n", client.ask("version\r\n", "VERSION test-1\r\n"));
            port(running).stopAccepting();
            assertThrows(IOException.class, () -> new RawMemcached(running.address()));
            assertEquals("VERSION test-1\r\n", client.ask("version\r\n", "VERSION test-1\r\n"));
        }
    }

    /** READs take no thread of the port. */
    @ParameterizedTest
    @EnumSource
    void shouldLetReadsGoOnWhileEveryThreadIsStuck(Registration registration) throws Exception {
        try (RunningServer running =
                        new RunningServer(context -> context.items(items -> items.registration(registration)));
                KvClient client = running.client()) {
            client.set(KEY, 0, 0, KEY);
            CountDownLatch release = stick((StreamPort) port(running));
            try {
                for (int i = 0; i < 100; i++) {
                    assertArrayEquals(KEY, client.get(KEY).orElseThrow().value());
                }
                assertEquals(100, client.counters().hits());
            } finally {
                release.countDown();
            }
            assertTrue(client.delete(KEY));
        }
    }

    /** Stops all threads of a port until the latch is counted down. */
    private static CountDownLatch stick(StreamPort port) throws InterruptedException {
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch stuck = new CountDownLatch(port.loops().size());
        for (StreamLoop each : port.loops()) {
            each.loop().execute(() -> {
                stuck.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        assertTrue(stuck.await(10, TimeUnit.SECONDS));
        return release;
    }
}
