package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.peer.Frames;
import org.softrdma.sim.peer.RawPeer;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** A device that is closed leaves no descriptor behind, in whatever state its connections are. */
class ClosingDeviceTest {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final int CLIENTS = 200 / Integer.getInteger("softrdma.sample", 1);
    private static final int ROUNDS = 20;
    private static final int PEERS = 10;
    private static final byte[] REQUEST = Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 1, 1));

    @BeforeAll
    static void descriptorsCanBeCounted() {
        Assumptions.assumeTrue(Files.isDirectory(DESCRIPTORS), "no " + DESCRIPTORS + " to count descriptors by");
    }

    private static int sockets() {
        int sockets = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path one : all) {
                try {
                    sockets += Files.readSymbolicLink(one).toString().startsWith("socket:") ? 1 : 0;
                } catch (IOException e) {
                    // It was closed meanwhile.
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return sockets;
    }

    /** Fewer are no leak: what another test has dropped without closing it, the collector closes whenever it likes. */
    private static void expectSockets(int expected, String what) {
        TestDevice.await(() -> what + ": " + expected + " sockets, now " + sockets(), () -> sockets() <= expected);
    }

    private static void expectNoneOpen(VerbsDevice closed) {
        assertEquals(0L, closed.counters().get("openSockets"), "sockets of a device that is closed");
    }

    /** Whoever still holds a request when the device is gone closes it as any other. */
    @ParameterizedTest
    @EveryTransport
    void shouldCloseARequestThatOutlivesItsDevice(String transport) throws IOException {
        VerbsDevice device = new SoftRdmaProvider().open(Map.of("transport", transport));
        Listener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
        try (Socket peer = new Socket(
                listener.localAddress().getAddress(), listener.localAddress().getPort())) {
            peer.getOutputStream().write(REQUEST);
            ConnectionRequest request = listener.next(TestDevice.DEADLINE_NS).orElseThrow();
            listener.close();
            device.close();
            request.close();
            expectNoneOpen(device);
        }
    }

    /** As README's client: connect, be refused or served, close everything. */
    @Tag("sampled")
    @ParameterizedTest
    @CsvSource({"epoll, engine", "nio, engine", "epoll, manual", "nio, manual"})
    void shouldLeaveNoSocketWhenClientsComeAndGo(String transport, String progress) throws InterruptedException {
        int before = sockets();
        try (TestDevice server = new TestDevice("transport", transport)) {
            int listening = sockets();
            for (int i = 0; i < CLIENTS; i++) {
                VerbsDevice device;
                Thread responder = Thread.ofVirtual().start(() -> serve(server));
                try (TestDevice client = new TestDevice("transport", transport, "progress", progress)) {
                    device = client.device();
                    connect(server, client, i % 3 == 0);
                }
                expectNoneOpen(device);
                responder.join();
            }
            expectSockets(listening, "after the clients");
        }
        expectSockets(before, "after the server");
    }

    private static void serve(TestDevice server) {
        try (ConnectionRequest request = server.request();
                QueuePair pair = request.createQueuePair(
                        server.domain(), QueuePairAttributes.of(server.queue(), QueuePairLimits.of(2, 2)))) {
            request.accept(ConnectionParameters.DEFAULT);
            pair.disconnected().toCompletableFuture().join();
        }
    }

    private static void connect(TestDevice server, TestDevice client, boolean disconnect) {
        try (Connector connector = client.device().resolve(server.address(), TestDevice.DEADLINE_NS);
                QueuePair pair = connector.createQueuePair(
                        client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.of(2, 2)))) {
            connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS);
            if (disconnect) {
                pair.disconnect();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll, 1", "nio, 1", "epoll, 3", "nio, 3"})
    void shouldCloseHalfOpenPeersWhenClosed(String transport, String threads) throws IOException {
        int before = sockets();
        for (int round = 0; round < ROUNDS; round++) {
            List<RawPeer> peers = new ArrayList<>();
            VerbsDevice device;
            try (TestDevice server = new TestDevice("transport", transport, "threads", threads)) {
                device = server.device();
                for (int i = 0; i < PEERS; i++) {
                    RawPeer peer = RawPeer.connect(server.address());
                    peer.sendBytes(TestBytes.slice(REQUEST, 0, i));
                    peers.add(peer);
                }
            }
            expectNoneOpen(device);
            for (RawPeer peer : peers) {
                peer.awaitEnd();
                peer.close();
            }
        }
        expectSockets(before, "after the servers");
    }

    @ParameterizedTest
    @EveryTransport
    void shouldCloseConnectionsThatWaitForTheirPeerWhenClosed(String transport) throws IOException {
        int before = sockets();
        List<RawPeer> peers = new ArrayList<>();
        VerbsDevice device;
        try (TestDevice server = new TestDevice("transport", transport, "linger-timeout", "3600000")) {
            device = server.device();
            for (int i = 0; i < PEERS; i++) {
                RawPeer peer = RawPeer.connect(server.address());
                peer.sendBytes(REQUEST);
                peers.add(peer);
                if (i % 2 == 0) {
                    server.request().close();
                }
            }
        }
        expectNoneOpen(device);
        for (RawPeer peer : peers) {
            peer.awaitEnd();
            peer.close();
        }
        expectSockets(before, "after the server");
    }

    @ParameterizedTest
    @EveryTransport
    void shouldCountTheSocketsThatAreOpen(String transport) throws IOException {
        try (TestDevice server = new TestDevice("transport", transport);
                RawPeer peer = RawPeer.connect(server.address())) {
            TestDevice.await("the listener and a peer", () -> server.counter("openSockets") == 2);
            peer.reset();
            TestDevice.await("the listener", () -> server.counter("openSockets") == 1);
            server.listener().close();
            assertEquals(Map.of("openSockets", 0L), Map.of("openSockets", server.counter("openSockets")));
        }
    }
}
