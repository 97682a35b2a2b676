package org.softrdma.net.uring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.TransportKinds;

/** What a loop does when a queue or its buffers are full, and what is left of it when it is closed. Run by hand. */
class RingLoopTest {
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int SUBMISSIONS = 8;
    private static final int COMPLETIONS = 16;
    private static final int BUFFERS = 4;
    private static final int BUFFER_BYTES = 8 * 1024;
    private static final int PIECE = 1000;

    @BeforeAll
    static void requireIoUring() {
        TransportKinds.require(TransportKinds.URING);
    }

    /** A small loop, and sockets at whose other end this test is. */
    private static final class Bench implements AutoCloseable {
        private final RingLoop loop;
        private final Arena arena = Arena.ofConfined();
        private final List<Peer> peers = new ArrayList<>();

        Bench(int buffers) throws IOException {
            loop = new RingLoop(
                    RingCalls::new,
                    new BufferOperations(),
                    new RingLoop.Sizes(SUBMISSIONS, COMPLETIONS, buffers, BUFFER_BYTES));
            loop.start();
        }

        Peer peer() throws IOException {
            Peer peer = new Peer(this);
            peers.add(peer);
            return peer;
        }

        void turn() {
            if (loop.isIdle()) {
                loop.await(TURN_NS);
            } else {
                loop.poll();
            }
            int ignored = loop.dispatch();
        }

        void runUntil(BooleanSupplier condition, String what) {
            long start = System.nanoTime();
            while (!condition.getAsBoolean()) {
                assertTrue(System.nanoTime() - start < DEADLINE_NS, () -> "not in time: " + what);
                turn();
            }
        }

        @Override
        public void close() throws IOException {
            for (Peer peer : peers) {
                peer.close();
            }
            assertEquals(0, loop.buffers().held(), "buffers that nobody gave back");
            assertEquals(0, loop.open());
            loop.close();
            arena.close();
        }
    }

    /** A port, and the blocking socket at its other end. Its owner receives as a connection does, and checks what comes. */
    private static final class Peer implements PortEvents {
        private final Bench bench;
        private final Socket socket = Socket.newSocketStream();
        private final java.net.Socket other;
        private final RingPort port;
        private final MemorySegment buffer;
        private boolean ahead = true;
        private boolean ended;
        private long received;
        private int lends;
        private int plain;
        private int events;

        Peer(Bench bench) throws IOException {
            this.bench = bench;
            buffer = bench.arena.allocate(64 * 1024);
            try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                boolean ignored =
                        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getLocalPort()));
                other = server.accept();
            }
            other.setTcpNoDelay(true);
            port = bench.loop.open(socket.intValue(), this);
            port.awaitRoom();
        }

        @Override
        public void ready(boolean writable) {
            events++;
            try {
                receive();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        private void receive() throws IOException {
            while (!ended) {
                int lent = port.lend();
                if (lent > 0) {
                    lends++;
                    take(port.lentAddress(), lent);
                    continue;
                }
                port.receiveAhead(ahead);
                if (port.isEnded()) {
                    ended = true;
                } else if (port.isReceivingAhead()) {
                    return;
                } else {
                    int got = socket.recvAddress(buffer.address(), 0, (int) buffer.byteSize());
                    if (got <= 0) {
                        ended = got < 0;
                        return;
                    }
                    plain++;
                    take(buffer.address(), got);
                }
            }
        }

        private void take(long address, int length) {
            for (int i = 0; i < length; i++) {
                assertEquals(pattern(received), NativeMemory.getByte(address + i), "byte " + received);
                received++;
            }
        }

        private static byte pattern(long at) {
            return (byte) (at * 31 + (at >>> 8) + 7);
        }

        void send(long from, int length) throws IOException {
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                bytes[i] = pattern(from + i);
            }
            other.getOutputStream().write(bytes);
        }

        /** Sends one message after the other until they are received ahead. */
        long warmUp() throws IOException {
            long sent = 0;
            while (!port.isReceivingAhead()) {
                send(sent, 1);
                sent++;
                long all = sent;
                bench.runUntil(() -> received == all, "a byte");
                bench.turn();
            }
            return sent;
        }

        @Override
        public void sent() {
            throw new AssertionError("it sends nothing");
        }

        void close() throws IOException {
            port.close();
            if (socket.isOpen()) {
                socket.close();
            }
            other.close();
        }
    }

    @Test
    void shouldReceiveShortMessagesAheadAndLargeOnesByPlainCalls() throws IOException {
        try (Bench bench = new Bench(BUFFERS)) {
            Peer peer = bench.peer();
            long sent = peer.warmUp();
            int plain = peer.plain;
            peer.send(sent, PIECE);
            bench.runUntil(() -> peer.received == sent + PIECE, "a message");
            assertTrue(peer.lends > 0, "nothing was received ahead");
            assertEquals(plain, peer.plain, "calls that receive");

            peer.ahead = false;
            peer.port.receiveAhead(false);
            assertFalse(peer.port.isReceivingAhead());
            int lends = peer.lends;
            peer.send(sent + PIECE, PIECE);
            bench.runUntil(() -> peer.received == sent + 2 * PIECE, "a message");
            assertEquals(lends, peer.lends, "received ahead, though bytes were to stay in the socket");
        }
    }

    @Test
    void shouldLoseNoByteWhenPortsTakeTurnsAtTooFewBuffersAndTooSmallQueues() throws IOException {
        int peers = 40;
        int rounds = 60;
        try (Bench bench = new Bench(2)) {
            List<Peer> all = new ArrayList<>();
            List<Long> sent = new ArrayList<>();
            for (int i = 0; i < peers; i++) {
                all.add(bench.peer());
                sent.add(0L);
            }
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < peers; i++) {
                    int length = 1 + (round * 7919 + i * 104_729) % 20_000;
                    all.get(i).send(sent.get(i), length);
                    sent.set(i, sent.get(i) + length);
                }
                for (int i = 0; i < peers; i++) {
                    Peer peer = all.get(i);
                    long expected = sent.get(i);
                    bench.runUntil(() -> peer.received == expected, "round");
                }
            }
            assertTrue(all.stream().anyMatch(peer -> peer.lends > 0), "nothing was received ahead");
            assertTrue(all.stream().anyMatch(peer -> peer.plain > rounds / 2), "nobody went back to plain calls");
        }
    }

    /** There are two buffers, so what comes behind the next message would be put there. */
    @Test
    void shouldNotFillABufferThatIsLent() throws IOException {
        try (Bench bench = new Bench(2)) {
            Peer peer = bench.peer();
            long sent = peer.warmUp();
            peer.send(sent, PIECE);
            long start = System.nanoTime();
            int lent = 0;
            while (lent == 0) {
                assertTrue(System.nanoTime() - start < DEADLINE_NS, "nothing came ahead");
                bench.loop.poll();
                lent = peer.port.lend();
            }
            long at = peer.port.lentAddress();
            peer.send(sent + PIECE, PIECE);
            while (bench.loop.buffers().held() < 2) {
                assertTrue(System.nanoTime() - start < DEADLINE_NS, "the next one did not come ahead");
                bench.loop.poll();
            }
            peer.send(sent + 2 * PIECE, PIECE);
            for (int i = 0; i < 10; i++) {
                bench.loop.await(TURN_NS);
            }
            peer.take(at, lent);
            bench.runUntil(() -> peer.received == sent + 3 * PIECE, "the rest");
        }
    }

    /** What makes room for the wake-up's poll brings the completions that the loop would wait for. */
    @Test
    void shouldNotWaitForAnotherCompletionWhenAFullQueueHasBroughtSome() throws IOException {
        try (Bench bench = new Bench(BUFFERS)) {
            for (int i = 0; i < SUBMISSIONS; i++) {
                bench.peer().send(0, 1);
            }
            int ignored = bench.loop.dispatch(); // no port has room yet, so each asks for that: as many as fit
            assertTrue(bench.loop.isIdle());
            long start = System.nanoTime();
            bench.loop.await(DEADLINE_NS);
            assertTrue(System.nanoTime() - start < DEADLINE_NS, "it waited for another completion");
            assertFalse(bench.loop.isIdle());
        }
    }

    @Test
    void shouldTellTheEndBehindWhatCameAhead() throws IOException {
        try (Bench bench = new Bench(BUFFERS)) {
            Peer peer = bench.peer();
            long sent = peer.warmUp();
            peer.send(sent, PIECE);
            peer.other.shutdownOutput();
            bench.runUntil(() -> peer.ended, "the end");
            assertEquals(sent + PIECE, peer.received);
            int events = peer.events;
            for (int i = 0; i < 5; i++) {
                bench.turn();
            }
            assertTrue(peer.events - events <= 2, "the end is told again and again");
        }
    }

    @Test
    void shouldTellAFailureOfWhatIsReceivedAhead() throws IOException {
        try (Bench bench = new Bench(BUFFERS)) {
            Peer peer = bench.peer();
            peer.warmUp();
            peer.other.setSoLinger(true, 0);
            peer.other.close();
            bench.runUntil(() -> peer.port.error() != 0, "the reset");
            assertTrue(peer.port.hasMore());
        }
    }

    @Test
    void shouldEndTheConnectionWhenAPortWithArmedRequestsIsClosed() throws IOException {
        for (boolean ahead : new boolean[] {true, false}) {
            try (Bench bench = new Bench(BUFFERS)) {
                Peer peer = bench.peer();
                if (ahead) {
                    long ignored = peer.warmUp();
                } else {
                    peer.ahead = false;
                    bench.turn();
                    bench.turn();
                }
                peer.port.close();
                peer.socket.close();
                peer.other.setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(DEADLINE_NS));
                assertEquals(-1, peer.other.getInputStream().read(), "the end of the stream");
            }
        }
    }

    @Test
    void shouldTellNothingOfAClosedPortToTheNextOneInItsSlot() throws IOException {
        try (Bench bench = new Bench(BUFFERS)) {
            Peer first = bench.peer();
            long sent = first.warmUp();
            first.send(sent, PIECE);
            first.port.close();
            Peer second = bench.peer();
            assertEquals(first.port.slot(), second.port.slot());
            int events = first.events;
            long sentToSecond = second.warmUp();
            assertEquals(sentToSecond, second.received);
            assertEquals(events, first.events);
        }
    }

    @Test
    void shouldWakeFromAnotherThread() throws Exception {
        try (Bench bench = new Bench(BUFFERS)) {
            for (int i = 0; i < 100; i++) {
                AtomicBoolean woken = new AtomicBoolean();
                Thread waker = Thread.ofPlatform().start(() -> {
                    woken.set(true);
                    bench.loop.wake();
                });
                long start = System.nanoTime();
                bench.loop.fallAsleep();
                try {
                    if (!woken
                            .get()) { // else it may have found the loop awake, as a task's thread does before it looks
                        bench.loop.await(DEADLINE_NS);
                    }
                } finally {
                    bench.loop.awake();
                }
                waker.join();
                assertTrue(System.nanoTime() - start < DEADLINE_NS, "it slept on");
            }
        }
    }

    /** The queue of ports that have something to tell has room for those that are open, and no more. */
    @Test
    void shouldTellEachOpenPortOnceWhenOthersWereClosedBeforeTheirTurn() throws IOException {
        try (Bench bench = new Bench(BUFFERS)) {
            Socket idle = Socket.newSocketStream();
            List<RingPort> ports = new ArrayList<>();
            int[] told = new int[1000];
            for (int i = 0; i < told.length; i++) {
                int index = i;
                RingPort port = bench.loop.open(idle.intValue(), new PortEvents() {
                    @Override
                    public void ready(boolean writable) {
                        told[index]++;
                    }

                    @Override
                    public void sent() {}
                });
                port.rearm();
                if (i % 50 == 0) {
                    ports.add(port);
                } else {
                    port.close();
                }
            }
            int ignored = bench.loop.dispatch();
            for (int i = 0; i < told.length; i++) {
                assertEquals(i % 50 == 0 ? 1 : 0, told[i], "port " + i);
            }
            ports.forEach(RingPort::close);
            idle.close();
        }
    }

    @Test
    void shouldRefuseNothingWhenManyPortsAreOpenedAndClosed() throws IOException {
        try (Bench bench = new Bench(BUFFERS)) {
            Socket idle = Socket.newSocketStream();
            List<RingPort> ports = new ArrayList<>();
            PortEvents nobody = new PortEvents() {
                @Override
                public void ready(boolean writable) {}

                @Override
                public void sent() {}
            };
            for (int i = 0; i < 1000; i++) {
                RingPort port = bench.loop.open(idle.intValue(), nobody);
                port.rearm();
                ports.add(port);
            }
            bench.turn();
            assertNotEquals(0, bench.loop.open());
            ports.forEach(RingPort::close);
            assertEquals(0, bench.loop.open());
            idle.close();
        }
    }
}
