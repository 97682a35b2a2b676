package org.softrdma.bench.rping;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** Both ends of a ping in one JVM, over the software RNIC and the loopback address; the original end is {@code ci/rdma-vm}'s. */
class RpingLoopbackTest {
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final long SECONDS = 40;

    private final StringWriter served = new StringWriter();
    private final StringWriter pinged = new StringWriter();

    private static VerbsDevice open(Map<String, String> options) {
        return VerbsProviders.named("sim").open(options);
    }

    private static RpingOptions options(int size, int count) {
        return new RpingOptions(size, count, true, true, false);
    }

    /** A server on a thread of its own, which a device in manual progress needs. */
    private final class Serving {
        private final CompletableFuture<RpingServer> listening = new CompletableFuture<>();
        private final CompletableFuture<Void> ended = new CompletableFuture<>();

        Serving(Map<String, String> device, RpingOptions options, boolean persistent) {
            Thread.ofPlatform().daemon().name("rping server").start(() -> {
                try (VerbsDevice opened = open(device);
                        RpingServer server =
                                new RpingServer(opened, options, new PrintWriter(served, true), ANYWHERE)) {
                    listening.complete(server);
                    if (persistent) {
                        server.serveAll();
                    } else {
                        server.serveOne();
                    }
                    ended.complete(null);
                } catch (RuntimeException e) {
                    listening.completeExceptionally(e);
                    ended.completeExceptionally(e);
                }
            });
        }

        RpingServer server() throws Exception {
            return listening.get(SECONDS, TimeUnit.SECONDS);
        }

        InetSocketAddress address() throws Exception {
            return server().localAddress();
        }

        void awaitEnd() throws Exception {
            ended.get(SECONDS, TimeUnit.SECONDS);
        }

        String failure() throws Exception {
            ExecutionException failed = assertThrows(ExecutionException.class, this::awaitEnd);
            return String.valueOf(
                    assertInstanceOf(RpingException.class, failed.getCause()).getMessage());
        }
    }

    private void ping(Map<String, String> device, RpingOptions options, InetSocketAddress server) {
        try (VerbsDevice opened = open(device)) {
            RpingClient.run(opened, options, new PrintWriter(pinged, true), server);
        }
    }

    private String pingFailure(RpingOptions options, InetSocketAddress server) {
        return String.valueOf(assertThrows(RpingException.class, () -> ping(Map.of(), options, server))
                .getMessage());
    }

    @ParameterizedTest
    @CsvSource({"26,off", "64,on", "1024,off", "1025,on", "65535,off", "65535,on"})
    void shouldPingAtAnySize(int size, String crc) throws Exception {
        Serving serving = new Serving(Map.of("crc", crc), options(size, 0), false);
        ping(Map.of(), options(size, 3), serving.address());
        serving.awaitEnd();

        List<String> client = pinged.toString().lines().toList();
        assertEquals(3, client.size());
        assertTrue(client.get(0).startsWith("ping data: rdma-ping-0: ABC"), client.get(0));
        assertTrue(client.get(2).startsWith("ping data: rdma-ping-2: C"), client.get(2));
        assertEquals("ping data: ".length() + size - 1, client.get(1).length());
        assertEquals(
                client.stream().map(line -> "server " + line).toList(),
                served.toString().lines().toList());
    }

    @ParameterizedTest
    @CsvSource({"manual,manual", "manual,engine", "engine,manual"})
    void shouldPingInEveryProgress(String server, String client) throws Exception {
        Serving serving = new Serving(Map.of("progress", server), options(100, 0), false);
        ping(Map.of("progress", client), options(100, 5), serving.address());
        serving.awaitEnd();
        assertEquals(5, served.toString().lines().count());
    }

    /** Revision 1 negotiates no depths, so each side keeps its own: softrdma's server READs, siw's would not. */
    @ParameterizedTest
    @CsvSource({"1,2", "1,1", "2,1"})
    void shouldPingWithAnyMpaRevision(String client, String server) throws Exception {
        Serving serving = new Serving(Map.of("mpa-revision", server), options(100, 0), false);
        ping(Map.of("mpa-revision", client), options(100, 2), serving.address());
        serving.awaitEnd();
        assertEquals(2, served.toString().lines().count());
    }

    /** As text: an offset of the first character for each ping, all 58 of them in turn. */
    @Test
    void shouldValidateMoreKindsOfPingThanThereAre() throws Exception {
        Serving serving = new Serving(Map.of(), new RpingOptions(64, 0, false, true, false), false);
        ping(Map.of(), options(64, 120), serving.address());
        serving.awaitEnd();
        List<String> lines = pinged.toString().lines().toList();
        assertTrue(lines.get(57).startsWith("ping data: rdma-ping-57: zABC"), lines.get(57));
        assertTrue(lines.get(58).startsWith("ping data: rdma-ping-58: ABC"), lines.get(58));
    }

    @Test
    void shouldTakeShorterPingsButNoLongerOnes() throws Exception {
        Serving larger = new Serving(Map.of(), options(200, 0), false);
        ping(Map.of(), options(100, 1), larger.address());
        larger.awaitEnd();

        Serving smaller = new Serving(Map.of(), options(99, 0), false);
        String lost = pingFailure(options(100, 1), smaller.address());
        assertTrue(lost.startsWith("the server went away when it should READ the ping 0"), lost);
        assertEquals("the client pings with 100 bytes, this server takes 99: give it -S 100", smaller.failure());
    }

    @Test
    void shouldServeManyClientsWhenPersistent() throws Exception {
        Serving serving = new Serving(Map.of(), options(64, 0), true);
        InetSocketAddress server = serving.address();
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            clients.add(CompletableFuture.runAsync(
                    () -> ping(Map.of(), new RpingOptions(64, 50, false, true, false), server),
                    task -> Thread.ofPlatform().daemon().start(task)));
        }
        for (CompletableFuture<Void> client : clients) {
            client.get(SECONDS, TimeUnit.SECONDS);
        }
        pingFailure(options(65, 1), server);
        ping(Map.of(), options(64, 1), server);
        serving.server().close();
        serving.awaitEnd();
        assertEquals(
                1,
                served.toString()
                        .lines()
                        .filter(line -> line.contains("give it -S 65"))
                        .count());
    }

    /** With a key that is wrong, or without a word after the first message, as one that is killed. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldFailWhenTheClientGoesAwayWithinAPing(boolean keyIsRight) throws Exception {
        Serving serving = new Serving(Map.of(), options(64, 0), false);
        try (VerbsDevice device = open(Map.of());
                RpingEndpoint client = new RpingEndpoint(device, options(64, 0), new PrintWriter(pinged, true))) {
            MemoryRegion source = client.register(64, Set.of(AccessFlag.REMOTE_READ));
            connect(device, client, serving.address());
            RemoteRegion good = source.remote();
            new PingText(64).write(source.memory(), 0);
            client.send(keyIsRight ? good : new RemoteRegion(good.address(), good.length(), ~good.rkey()));
            client.receive(); // "go ahead", or the end of the connection
        }
        String failure = serving.failure();
        assertTrue(
                failure.startsWith(
                        keyIsRight ? "the client went away during ping 0" : "a READ ended with REMOTE_ACCESS_ERROR"),
                failure);
    }

    @Test
    void shouldFailWhenTheServerGoesAwayWithinAPing() throws Exception {
        try (VerbsDevice device = open(Map.of());
                RpingServer listening =
                        new RpingServer(device, options(26, 0), new PrintWriter(served, true), ANYWHERE)) {
            CompletableFuture<Void> serving = CompletableFuture.runAsync(
                    listening::serveOne, task -> Thread.ofPlatform().daemon().start(task));
            String failure = pingFailure(options(27, 0), listening.localAddress());
            assertTrue(failure.contains("the server went away"), failure);
            assertThrows(ExecutionException.class, () -> serving.get(SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldSayWhenTheConnectionAllowsNoRead() throws Exception {
        Serving serving = new Serving(Map.of(), options(64, 0), false);
        try (VerbsDevice device = open(Map.of());
                RpingEndpoint client = new RpingEndpoint(device, options(64, 0), new PrintWriter(pinged, true))) {
            try (Connector connector = device.resolve(serving.address(), TimeUnit.SECONDS.toNanos(SECONDS))) {
                client.create(connector::createQueuePair);
                connector.connect(ConnectionParameters.ofReads(0), TimeUnit.SECONDS.toNanos(SECONDS));
            }
            assertNull(client.receive());
        }
        String failure = serving.failure();
        assertTrue(failure.startsWith("this connection allows no READ"), failure);
    }

    @Test
    void shouldNoticeAPingThatIsNotRpings() throws Exception {
        Serving serving = new Serving(Map.of(), options(64, 0), false);
        try (VerbsDevice device = open(Map.of());
                RpingEndpoint client = new RpingEndpoint(device, options(64, 0), new PrintWriter(pinged, true))) {
            MemoryRegion source = client.register(64, Set.of(AccessFlag.REMOTE_READ));
            connect(device, client, serving.address());
            new PingText(64).write(source.memory(), 0);
            source.memory().set(ValueLayout.JAVA_BYTE, 30, (byte) '!');
            client.send(source.remote());
            assertNull(client.receive());
        }
        assertEquals("ping 0 is not what rping sends, first at byte 30", serving.failure());
    }

    private static void connect(VerbsDevice device, RpingEndpoint client, InetSocketAddress server) {
        try (Connector connector = device.resolve(server, TimeUnit.SECONDS.toNanos(SECONDS))) {
            client.create(connector::createQueuePair);
            connector.connect(ConnectionParameters.ofReads(1), TimeUnit.SECONDS.toNanos(SECONDS));
        }
    }

    /** struct rping_rdma_info: be64 buf, be32 rkey, be32 size. */
    @Test
    void shouldAdvertiseAsRpingDoes() {
        MemorySegment message = MemorySegment.ofArray(new byte[(int) Advertisement.BYTES]);
        Advertisement.write(message, new RemoteRegion(0x0102030405060708L, 65_535, 0x8A0B0C0D));
        assertEquals(
                "01020304050607088a0b0c0d0000ffff",
                java.util.HexFormat.of().formatHex(message.toArray(ValueLayout.JAVA_BYTE)));
        message.set(ValueLayout.JAVA_BYTE, 12, (byte) 0xFF);
        assertEquals(new RemoteRegion(0x0102030405060708L, 0xFF00FFFFL, 0x8A0B0C0D), Advertisement.read(message));
    }

    @ParameterizedTest
    @CsvSource({"25,0", "65536,0", "-1,0", "64,-1"})
    void shouldRefuseWhatRpingRefuses(int size, int count) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> options(size, count));
        assertTrue(String.valueOf(refused.getMessage()).startsWith(count < 0 ? "-C -1: " : "-S " + size + ": "));
    }
}
