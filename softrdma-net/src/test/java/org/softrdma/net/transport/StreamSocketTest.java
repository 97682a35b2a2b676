package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.peer.TestBytes;

/** What a stream socket promises, on every transport, against a plain blocking socket: over TCP, and in subclasses otherwise. */
class StreamSocketTest {
    static final long DEADLINE_S = 10;

    /** Of a loop. */
    private static final int TURNS = 400;

    /** After so many a socket receives ahead. */
    private static final int SHORT_MESSAGES = 8;

    /**
     * A connection.
     *
     * @param socket of a loop
     * @param connecting it is finished when the first event has come
     * @param peer the blocking channel at its other end
     */
    record Ends(StreamSocket socket, boolean connecting, SocketChannel peer) {}

    /** Connects a socket of the transport's last loop. */
    Ends connect(Transport transport, SocketEvents events) throws Exception {
        EventLoop loop = transport.loops().getLast();
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
            InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
            StreamSocket socket = call(loop, () -> loop.connect(address, events));
            return new Ends(socket, true, server.accept());
        }
    }

    /** Runs something on a loop and waits for it. */
    static <T> T call(EventLoop loop, Callable<T> work) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        loop.execute(() -> {
            try {
                result.complete(work.call());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        try {
            return result.get(DEADLINE_S, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    /** A loop, a connection of it, and its other end. */
    private final class Pair implements AutoCloseable {
        private final Transport transport;
        private final EventLoop loop;
        private final Semaphore events = new Semaphore(0);
        private final List<Runnable> inEvents = new CopyOnWriteArrayList<>();
        private final StreamSocket socket;
        private final SocketChannel peer;
        private final InputStream input;
        private final OutputStream output;
        private final Arena arena = Arena.ofShared();

        Pair(String kind) throws Exception {
            transport = TransportKinds.service(kind, "pair", 2, new SocketOptions(0, 0, 0), () -> {});
            loop = transport.loops().getLast();
            Ends ends = connect(transport, writable -> {
                inEvents.forEach(Runnable::run);
                events.release();
            });
            socket = ends.socket();
            peer = ends.peer();
            input = Channels.newInputStream(peer);
            output = Channels.newOutputStream(peer);
            awaitEvent();
            assertTrue(!ends.connecting() || call(socket::finishConnect));
        }

        <T> T call(Callable<T> work) throws Exception {
            return StreamSocketTest.call(loop, work);
        }

        void awaitEvent() throws InterruptedException {
            assertTrue(events.tryAcquire(DEADLINE_S, TimeUnit.SECONDS), "no event came");
        }

        /** The peer reads until the socket hears of room: it may have read all before that. */
        void readUntilAnEvent() throws Exception {
            byte[] bytes = new byte[1 << 20];
            while (!events.tryAcquire()) {
                if (input.available() == 0) {
                    awaitEvent();
                    return;
                }
                assertTrue(input.read(bytes) > 0, "the socket has ended its stream");
            }
        }

        int receive(MemorySegment to) throws Exception {
            return call(() -> socket.receive(to.address(), (int) to.byteSize()));
        }

        @Override
        public void close() throws IOException {
            peer.close();
            transport.close();
            arena.close();
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldNotThrowFromShutdownCloseOrAbortWhenThePeerHasReset(String kind) throws Exception {
        try (Pair pair = new Pair(kind)) {
            MemorySegment memory = pair.arena.allocate(16);
            IoVectors unread = new IoVectors(new BufferOperations(), 1);
            unread.set(0, memory.address(), 1);
            assertEquals(1, pair.call(() -> pair.socket.gather(unread, 0, 1)));
            pair.peer.setOption(StandardSocketOptions.SO_LINGER, 0);
            pair.peer.close();
            assertThrows(IOException.class, () -> {
                for (int i = 0; i < 100 && pair.receive(memory) == 0; i++) {
                    pair.awaitEvent();
                }
            });
            pair.call(() -> {
                pair.socket.shutdownOutput();
                pair.socket.close();
                pair.socket.abort();
                pair.socket.shutdownOutput();
                return true;
            });
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldSayThatThePeerHasEndedEvenIfItsLastBytesCameInPart(String kind) throws Exception {
        try (Pair pair = new Pair(kind)) {
            MemorySegment memory = pair.arena.allocate(64);
            pair.output.write(TestBytes.pattern(1, 40));
            pair.peer.shutdownOutput();
            int total = 0;
            int received = 0;
            while (received >= 0) {
                int got = pair.receive(memory.asSlice(total, 64 - total));
                if (got == 0 || (got > 0 && !pair.call(pair.socket::hasMore))) {
                    pair.awaitEvent();
                }
                total += Math.max(0, got);
                received = got;
            }
            assertEquals(StreamSocket.END_OF_STREAM, received);
            assertEquals(40, total);
            assertEquals(
                    TestBytes.hex(TestBytes.pattern(1, 40)),
                    TestBytes.hex(memory.asSlice(0, 40).toArray(ValueLayout.JAVA_BYTE)));
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldGatherInOrderAndRaiseAnEventWhenThereIsRoomAgain(String kind) throws Exception {
        try (Pair pair = new Pair(kind)) {
            int length = 12 * 1024 * 1024;
            byte[] expected = TestBytes.pattern(3, length);
            MemorySegment memory = pair.arena.allocate(length);
            MemorySegment.copy(expected, 0, memory, ValueLayout.JAVA_BYTE, 0, length);
            IoVectors vectors = new IoVectors(new BufferOperations(), 2);
            long sent = 0;
            int shortSends = 0;
            byte[] received = new byte[length];
            int have = 0;
            while (sent < length) {
                pair.events.drainPermits();
                long first = Math.min(1001, length - sent);
                vectors.set(0, memory.address() + sent, first);
                vectors.set(1, memory.address() + sent + first, length - sent - first);
                int entries = length - sent - first > 0 ? 2 : 1;
                long offered = length - sent;
                long took = pair.call(() -> pair.socket.gather(vectors, 0, entries));
                sent += took;
                if (took < offered) {
                    shortSends++;
                    pair.call(() -> {
                        pair.socket.awaitRoom();
                        return took;
                    });
                    while (have < sent) {
                        have += pair.input.read(received, have, (int) (sent - have));
                    }
                    pair.awaitEvent();
                }
            }
            while (have < length) {
                have += pair.input.read(received, have, length - have);
            }
            assertTrue(shortSends > 0, "the kernel took everything at once");
            assertTrue(Arrays.equals(expected, received), "bytes in order");
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldSendAtTheEndOfARoundWhatItCan(String kind) throws Exception {
        int length = 1000;
        byte[] expected = TestBytes.pattern(7, length);
        try (Pair pair = new Pair(kind)) {
            MemorySegment memory = pair.arena.allocateFrom(ValueLayout.JAVA_BYTE, expected);
            IoVectors vectors = new IoVectors(new BufferOperations(), 2);
            vectors.set(0, memory.address(), 1);
            vectors.set(1, memory.address() + 1, length - 1);
            CompletableFuture<Boolean> taken = new CompletableFuture<>();
            pair.inEvents.add(() -> {
                if (!taken.isDone()) {
                    taken.complete(pair.socket.gatherLater(vectors, 2));
                }
            });
            pair.call(() -> {
                pair.socket.rearm();
                return true;
            });
            boolean later = taken.get(DEADLINE_S, TimeUnit.SECONDS);
            assertEquals(kind.equals(TransportKinds.URING), later);
            long sent = pair.call(() -> later ? pair.socket.gathered() : pair.socket.gather(vectors, 0, 2));
            assertEquals(length, sent);
            assertEquals(TestBytes.hex(expected), TestBytes.hex(pair.input.readNBytes(length)));
        }
    }

    /** A take of what came ahead is short though the socket holds more, of which an event has told already. */
    @ParameterizedTest
    @EveryTransport
    void shouldSayThatMoreIsLeftWhenATakeWasShortAndNoEventWillTell(String kind) throws Exception {
        int length = 64 * 1024;
        byte[] sent = TestBytes.pattern(5, length);
        try (Pair pair = new Pair(kind)) {
            MemorySegment memory = pair.arena.allocate(2L * length);
            int total = 0;
            for (; total < SHORT_MESSAGES; total++) { // from now on it is received ahead, if the transport does that
                pair.output.write(sent, total, 1);
                while (pair.call(() -> {
                            int got = pair.socket.receive(memory.address(), 1);
                            pair.socket.receiveAhead(true);
                            return got;
                        })
                        == 0) {
                    pair.awaitEvent();
                }
            }
            pair.events.drainPermits();
            pair.output.write(sent, total, 1000);
            pair.awaitEvent();
            pair.call(() -> {
                pair.socket.receiveAhead(false);
                return true;
            });
            pair.output.write(sent, total + 1000, length - total - 1000);
            pair.awaitEvent();
            for (int turn = 0; turn < TURNS; turn++) {
                pair.call(() -> true); // all events are raised that will be
            }
            pair.events.drainPermits();
            while (total < length) {
                int have = total;
                int got = pair.call(() -> pair.socket.receive(memory.address() + have, 2 * length - have));
                total += got;
                boolean empty = got < 2 * length - have && (got == 0 || !pair.call(pair.socket::hasMore));
                if (empty && total < length) {
                    pair.awaitEvent();
                }
            }
            assertEquals(
                    TestBytes.hex(Arrays.copyOfRange(sent, SHORT_MESSAGES, length)),
                    TestBytes.hex(memory.asSlice(SHORT_MESSAGES, length - SHORT_MESSAGES)
                            .toArray(ValueLayout.JAVA_BYTE)));
        }
    }

    /** Sends as much as there is room for, and waits for room. */
    private static Callable<Boolean> fill(Pair pair, int length) {
        IoVectors vectors = new IoVectors(new BufferOperations(), 1);
        vectors.set(0, pair.arena.allocate(length).address(), length);
        return () -> {
            while (pair.socket.gather(vectors, 0, 1) == length) {
                // more
            }
            pair.socket.awaitRoom();
            return true;
        };
    }

    /**
     * Whoever waits for room must not hear of the end of the peer's stream again and again: the kernel adds POLLRDHUP to every
     * poll of io_uring, and a selector is level triggered.
     */
    @ParameterizedTest
    @EveryTransport
    void shouldBeQuietWhileAPeerThatSendsNoMoreDoesNotRead(String kind) throws Exception {
        try (Pair pair = new Pair(kind)) {
            int length = 1 << 20;
            MemorySegment memory = pair.arena.allocate(length);
            Callable<Boolean> fill = fill(pair, length);
            pair.call(fill);
            pair.peer.shutdownOutput();
            while (pair.receive(memory) >= 0) {
                pair.awaitEvent();
            }
            pair.call(() -> {
                pair.socket.pause();
                return true;
            });
            pair.events.drainPermits(); // until then a selector raised as many as it could
            int events = 0;
            for (int turn = 0; turn < TURNS; turn++) {
                if (pair.events.tryAcquire()) {
                    events++;
                    pair.call(fill); // as owners do
                }
                pair.call(() -> true);
            }
            assertTrue(events < TURNS / 100, events + " events in " + TURNS + " turns");
            pair.events.drainPermits();
            pair.call(fill);
            pair.readUntilAnEvent();
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldTellOfRoomThoughInputIsPaused(String kind) throws Exception {
        try (Pair pair = new Pair(kind)) {
            Callable<Boolean> fill = fill(pair, 1 << 20);
            pair.call(fill);
            pair.call(() -> {
                pair.socket.pause();
                return true;
            });
            pair.events.drainPermits();
            pair.call(fill);
            pair.readUntilAnEvent();
        }
    }
}
