package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.memory.BufferOperations;

/** Connections over Unix sockets, which promise what those over TCP do; and the files where they are listened for. */
class UnixSocketTest extends StreamSocketTest {
    private static final SocketOptions PLAIN = new SocketOptions(0, 0, 0);
    private static final UnixDomainSocketAddress UNNAMED = UnixDomainSocketAddress.of("");

    @TempDir
    private Path directory;

    @Override
    Ends connect(Transport transport, SocketEvents events) throws Exception {
        EventLoop loop = transport.loops().getLast();
        try (Server server = new Server(transport, address("pair"))) {
            SocketChannel peer = SocketChannel.open(server.address);
            EventLoop.PendingSocket pending = server.next();
            return new Ends(call(loop, () -> loop.adopt(pending, events)), false, peer);
        }
    }

    private UnixDomainSocketAddress address(String name) {
        return UnixDomainSocketAddress.of(directory.resolve(name));
    }

    private static Transport open(String kind, SocketOptions options) throws IOException {
        return TransportKinds.service(kind, "unix", 2, options, () -> {});
    }

    /** Listens on the first loop of a transport. */
    private static final class Server implements AutoCloseable {
        private final EventLoop loop;
        private final UnixDomainSocketAddress address;
        private final LinkedBlockingQueue<EventLoop.PendingSocket> accepted = new LinkedBlockingQueue<>();
        private final Acceptor acceptor;

        Server(Transport transport, UnixDomainSocketAddress address) throws Exception {
            loop = transport.loops().getFirst();
            this.address = address;
            acceptor = call(loop, () -> loop.listen(address, 8, accepted::add));
        }

        EventLoop.PendingSocket next() throws InterruptedException {
            EventLoop.PendingSocket pending = accepted.poll(DEADLINE_S, TimeUnit.SECONDS);
            assertTrue(pending != null, "no connection was accepted");
            return pending;
        }

        /** The next connection, adopted by the transport's last loop. */
        StreamSocket adopt(Transport transport) throws Exception {
            EventLoop.PendingSocket pending = next();
            EventLoop adopter = transport.loops().getLast();
            return call(adopter, () -> adopter.adopt(pending, writable -> {}));
        }

        @Override
        public void close() {
            CompletableFuture.runAsync(acceptor::close, loop::execute)
                    .orTimeout(DEADLINE_S, TimeUnit.SECONDS)
                    .join();
        }
    }

    private static ListenException requireRefused(Transport transport, UnixDomainSocketAddress address) {
        ListenException refused = assertThrows(ListenException.class, () -> {
            try (Server server = new Server(transport, address)) {
                fail("listens on " + server.address);
            }
        });
        assertTrue(
                String.valueOf(refused.getMessage()).startsWith("cannot listen on " + address + ": "),
                refused::getMessage);
        return refused;
    }

    @ParameterizedTest
    @EveryTransport
    void shouldTellTheAddressesOfBothEnds(String kind) throws Exception {
        UnixDomainSocketAddress own = address("client");
        try (Transport transport = open(kind, PLAIN);
                Server server = new Server(transport, address("server"));
                SocketChannel unnamed = SocketChannel.open(server.address);
                SocketChannel named = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            StreamSocket ofUnnamed = server.adopt(transport);
            named.bind(own).connect(server.address);
            StreamSocket ofNamed = server.adopt(transport);
            EventLoop loop = transport.loops().getLast();

            assertTrue(unnamed.isConnected());
            assertEquals(server.address, server.acceptor.localAddress());
            assertEquals(server.address, call(loop, ofUnnamed::localAddress));
            assertEquals(UNNAMED, call(loop, ofUnnamed::remoteAddress));
            assertEquals(server.address, call(loop, ofNamed::localAddress));
            assertEquals(own, call(loop, ofNamed::remoteAddress));
        }
    }

    /** A name in the abstract namespace begins with a zero, which no path of Java may have. */
    @ParameterizedTest
    @EveryTransport
    void shouldTakeAPeerWhoseNameIsNoPathAsUnnamed(String kind) throws Exception {
        TransportKinds.require(TransportKinds.EPOLL); // its library makes the peer
        Socket peer = Socket.newSocketDomain();
        try (Transport transport = open(kind, PLAIN);
                Server server = new Server(transport, address("server"))) {
            peer.bind(new DomainSocketAddress("\0" + directory));
            assertTrue(peer.connect(new DomainSocketAddress(server.address.toString())));
            StreamSocket socket = server.adopt(transport);

            assertEquals(UNNAMED, call(transport.loops().getLast(), socket::remoteAddress));
        } finally {
            peer.close();
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldNotTakeThePlaceOfASocketThatIsInUse(String kind) throws Exception {
        try (Transport transport = open(kind, PLAIN);
                Server server = new Server(transport, address("taken"))) {
            ListenException refused = requireRefused(transport, server.address);

            assertEquals(ListenException.Reason.IN_USE, refused.reason());
            try (SocketChannel peer = SocketChannel.open(server.address)) {
                assertTrue(peer.isConnected());
                server.next().discard();
            }
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldNotTouchAFileThatIsNoSocket(String kind) throws Exception {
        UnixDomainSocketAddress address = address("notes");
        Files.writeString(address.getPath(), "kept");
        try (Transport transport = open(kind, PLAIN)) {
            assertEquals(
                    ListenException.Reason.IN_USE,
                    requireRefused(transport, address).reason());
        }
        assertEquals("kept", Files.readString(address.getPath()));
    }

    @ParameterizedTest
    @EveryTransport
    void shouldSayWhyAPathCannotBeListenedOn(String kind) throws Exception {
        try (Transport transport = open(kind, PLAIN)) {
            assertEquals(
                    ListenException.Reason.OTHER,
                    requireRefused(transport, address("x".repeat(120))).reason());
            assertEquals(
                    ListenException.Reason.OTHER,
                    requireRefused(transport, UNNAMED).reason());
            ListenException nowhere = requireRefused(transport, address("nowhere/socket"));
            assertTrue(String.valueOf(nowhere.getMessage()).endsWith("No such file or directory"), nowhere::getMessage);
            assertEquals(0, transport.openSockets());
        }
        try (var files = Files.list(directory)) {
            assertEquals(0, files.count());
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldLeaveTheFileToItsOwnerAndNoSocketsOpen(String kind) throws Exception {
        try (Transport transport = open(kind, PLAIN)) {
            Server server = new Server(transport, address("server"));
            try (SocketChannel adopted = SocketChannel.open(server.address)) {
                StreamSocket socket = server.adopt(transport);
                try (SocketChannel discarded = SocketChannel.open(server.address)) {
                    EventLoop.PendingSocket pending = server.next();
                    assertTrue(adopted.isConnected() && discarded.isConnected());
                    assertEquals(3, transport.openSockets());
                    pending.discard();
                }
                EventLoop loop = transport.loops().getLast();
                assertFalse(call(loop, () -> {
                    socket.abort();
                    return socket.isHostSilent();
                }));
            }
            server.close();
            assertEquals(0, transport.openSockets());
            assertTrue(Files.exists(server.address.getPath()));
            assertThrows(IOException.class, () -> SocketChannel.open(server.address));
        }
    }

    /** The kernel doubles a size that is asked for, and by default has more than ten times as much. */
    @ParameterizedTest
    @EveryTransport
    void shouldHaveBuffersAsOptionsSayAndNoneOfTcpsOptions(String kind) throws Exception {
        int asked = 8 * 1024;
        int offered = 1 << 20;
        SocketOptions options = new SocketOptions(asked, asked, 1000, false, true);
        try (Transport transport = open(kind, options);
                Server server = new Server(transport, address("server"));
                SocketChannel peer = SocketChannel.open(server.address);
                Arena arena = Arena.ofShared()) {
            StreamSocket socket = server.adopt(transport);
            IoVectors vectors = new IoVectors(new BufferOperations(), 1);
            vectors.set(0, arena.allocate(offered).address(), offered);
            EventLoop loop = transport.loops().getLast();

            long sent = call(loop, () -> socket.gather(vectors, 0, 1));
            assertTrue(sent > 0 && sent <= 4L * asked, () -> sent + " bytes went though nobody reads");
            assertFalse(call(loop, socket::isHostSilent));
            assertTrue(peer.isConnected());
        }
    }
}
