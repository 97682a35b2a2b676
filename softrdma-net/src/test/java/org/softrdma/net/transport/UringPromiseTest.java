package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.testkit.KeptPorts;

/**
 * What io_uring must not do: read memory that was to be sent after the call that submitted it, and leave descriptors,
 * mappings or ports behind. In manual progress, by the test's thread.
 */
class UringPromiseTest {
    private static final SocketOptions OPTIONS = new SocketOptions(64 * 1024, 64 * 1024, 0);
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int DEADLINE_MS = (int) TimeUnit.NANOSECONDS.toMillis(DEADLINE_NS);
    private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int MESSAGE = 1 << 20;
    private static final byte WHOLE = 'A';
    private static final byte OVERWRITTEN = 'B';
    private static final int ROUNDS = 20;

    @BeforeAll
    static void requireIoUring() {
        TransportKinds.require(TransportKinds.URING);
    }

    /** Fills the socket again and again by sends at the end of a turn, and overwrites the memory each time it hears of it. */
    private static final class Overwriter implements SocketEvents, AutoCloseable {
        private final Transport transport;
        private final EventLoop loop;
        private final Arena arena = Arena.ofConfined();
        private final MemorySegment memory = arena.allocate(MESSAGE);
        private final IoVectors vectors;
        private final StreamSocket socket;
        private final Socket peer;
        private final int pieces;
        private boolean connected;
        private boolean refused;
        private long sent;
        private int outcomes;
        private int empty;

        Overwriter(int pieces) throws IOException {
            this.pieces = pieces;
            vectors = new IoVectors(new BufferOperations(), pieces);
            transport = TransportKinds.open(TransportKinds.URING, true, OPTIONS);
            loop = transport.loops().getFirst();
            try (ServerSocket server = new ServerSocket()) {
                server.setReceiveBufferSize(64 * 1024);
                server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
                socket = loop.connect((InetSocketAddress) server.getLocalSocketAddress(), this);
                peer = server.accept();
            }
            peer.setSoTimeout(DEADLINE_MS);
        }

        @Override
        public void ready(boolean writable) {
            if (!connected && !finish()) {
                return;
            }
            memory.fill(WHOLE);
            long piece = MESSAGE / pieces;
            for (int i = 0; i < pieces; i++) {
                vectors.set(i, memory.address() + i * piece, piece);
            }
            refused |= !socket.gatherLater(vectors, pieces);
        }

        private boolean finish() {
            try {
                connected = socket.finishConnect();
                return connected;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void sentLater() {
            memory.fill(OVERWRITTEN); // as whoever has deregistered it may do
            try {
                long here = socket.gathered();
                sent += here;
                empty += here == 0 ? 1 : 0;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            outcomes++;
        }

        void fill() {
            int until = outcomes + 3; // short, and then nothing
            long start = System.nanoTime();
            while (outcomes < until) {
                assertTrue(System.nanoTime() - start < DEADLINE_NS, "no outcome");
                if (connected) {
                    socket.rearm();
                }
                int ignored = loop.run(TURN_NS);
            }
        }

        /** What the peer has got, all of it. */
        long drain() throws IOException {
            InputStream in = peer.getInputStream();
            byte[] chunk = new byte[64 * 1024];
            long got = 0;
            while (got < sent) {
                int here = in.read(chunk);
                for (int i = 0; i < here; i++) {
                    assertEquals(WHOLE, chunk[i], "a byte that was written after the send was over");
                }
                got += here;
            }
            assertEquals(0, in.available(), "more came than was said to be sent");
            return got;
        }

        @Override
        public void close() throws IOException {
            socket.close();
            peer.close();
            transport.close();
            arena.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 16})
    void shouldNotReadMemoryAfterTheCallThatSubmittedIt(int pieces) throws IOException {
        try (Overwriter overwriter = new Overwriter(pieces)) {
            long total = 0;
            for (int round = 0; round < ROUNDS; round++) {
                overwriter.fill();
                overwriter.sent -= total;
                total += overwriter.drain();
                overwriter.sent = total;
            }
            assertTrue(overwriter.empty > 0, "the socket was never full");
            assertTrue(!overwriter.refused, "a send was not taken");
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.count();
        }
    }

    private static long mappings() throws IOException {
        try (Stream<String> all = Files.lines(Path.of("/proc/self/maps"))) {
            return all.filter(line -> line.contains("io_uring")).count();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLeaveNoDescriptorAndNoMappingBehind(boolean manual) throws Exception {
        use(manual);
        long descriptors = descriptors();
        long mappings = mappings();
        for (int i = 0; i < 20; i++) {
            use(manual);
        }
        assertTrue(mappings() <= mappings, "mappings are left");
        assertTrue(
                descriptors() <= descriptors + 3, () -> "descriptors are left"); // a few may be of other tests' threads
    }

    private static void use(boolean manual) throws Exception {
        Transport transport = TransportKinds.open(TransportKinds.URING, manual, OPTIONS);
        try (transport) {
            EventLoop loop = transport.loops().getFirst();
            java.util.concurrent.CompletableFuture<Acceptor> listening = new java.util.concurrent.CompletableFuture<>();
            loop.execute(() -> {
                try {
                    listening.complete(loop.listen(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            1,
                            EventLoop.PendingSocket::discard));
                } catch (IOException e) {
                    listening.completeExceptionally(e);
                }
            });
            long start = System.nanoTime();
            while (!listening.isDone()) {
                assertTrue(System.nanoTime() - start < DEADLINE_NS, "it does not listen");
                int ignored = loop.run(0);
                Thread.onSpinWait();
            }
            assertEquals(1, transport.openSockets());
        }
        assertEquals(0, transport.openSockets());
    }

    private static void turn(EventLoop loop) {
        int ignored = loop.run(0);
    }

    @Test
    void shouldFreeThePortAtOnceWhenAListenerIsClosed() throws IOException {
        try (Transport transport = TransportKinds.open(TransportKinds.URING, true, OPTIONS)) {
            EventLoop loop = transport.loops().getFirst();
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), KeptPorts.next());
            Acceptor first = loop.listen(address, 1, EventLoop.PendingSocket::discard);
            turn(loop);
            for (int i = 0; i < 20; i++) {
                first.close();
                first = loop.listen(address, 1, EventLoop.PendingSocket::discard);
                turn(loop);
            }
            first.close();
        }
    }
}
