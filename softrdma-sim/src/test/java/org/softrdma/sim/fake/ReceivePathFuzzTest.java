package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.sim.peer.Bystander;
import org.softrdma.sim.peer.Frames;
import org.softrdma.sim.peer.RawPeer;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * Peers that say anything, in any pieces: nothing escapes the engine, other connections are served the right data, memory that
 * was not granted stays as it is and is not told, every work request ends once, every connection ends, and errors are counted.
 */
class ReceivePathFuzzTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 5_044L);
    private static final long FAST_BYTES = 150_000;
    /** By hand more, as -Dsoftrdma.fuzz.bytes=100000000. */
    private static final long SLOW_BYTES =
            Long.getLong("softrdma.fuzz.bytes", Boolean.getBoolean("softrdma.slow.short") ? 500_000 : 5_000_000);

    /** Of opcodes 8 to 11. By hand more, as -Dsoftrdma.fuzz.rfc7306.bytes=100000000. */
    private static final long SLOW_RFC_7306_BYTES = Long.getLong(
            "softrdma.fuzz.rfc7306.bytes", Boolean.getBoolean("softrdma.slow.short") ? 1_000_000 : 10_000_000);

    private static final long FAST_RFC_7306_BYTES = 100_000;
    private static final long FAST_SOCKET_BYTES = 50_000;
    private static final long SLOW_SOCKET_BYTES = SLOW_BYTES / 10;
    private static final QueuePairLimits LIMITS =
            new QueuePairLimits(FuzzPlot.READS.length + FuzzPlot.ATOMICS, FuzzPlot.RECEIVES.length, 1, 4, 0);
    private static final int INBOUND_READS = 6;
    /** A peer-to-peer peer that never finishes its first message: the fake sockets know no time-out of the handshake. */
    private static final long PATIENCE_NS = 50_000_000;

    private static final List<String> MUST_MOVE_BY_RFC_7306 = List.of(
            "accessErrors",
            "protocolErrors",
            "crcErrors",
            "terminatesSent",
            "responderAtomics",
            "responderImmediates",
            "receivedSegments.atomicResponse");

    private static final List<String> MUST_MOVE = Stream.concat(
                    MUST_MOVE_BY_RFC_7306.stream(),
                    Stream.of(
                            "handshakeErrors",
                            "terminatesReceived",
                            "responderReads",
                            "responderWrites",
                            "responderSends",
                            "receivedSegments.readResponse"))
            .toList();

    @ParameterizedTest
    @CsvSource({"off,off", "on,off", "off,on", "on,on"})
    void shouldSurviveAnythingAPeerSays(String crc, String ring) {
        overFakeSockets(crc, ring, false, FAST_BYTES);
        overFakeSockets(crc, ring, true, FAST_RFC_7306_BYTES);
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"off,off", "on,off", "off,on", "on,on"})
    void shouldSurviveAnythingAPeerSaysForLong(String crc, String ring) {
        overFakeSockets(crc, ring, false, SLOW_BYTES);
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"off,off", "on,off", "off,on", "on,on"})
    void shouldSurviveAnythingAPeerSaysByRfc7306ForLong(String crc, String ring) {
        overFakeSockets(crc, ring, true, SLOW_RFC_7306_BYTES / 4);
    }

    @ParameterizedTest
    @EveryTransport
    void shouldKeepItsThreadWhenPeersSayAnything(String transport) throws Exception {
        overSockets(transport, FAST_SOCKET_BYTES);
    }

    @Tag("slow")
    @ParameterizedTest
    @EveryTransport
    void shouldKeepItsThreadWhenPeersSayAnythingForLong(String transport) throws Exception {
        overSockets(transport, SLOW_SOCKET_BYTES);
    }

    private static AssertionError failure(int connection, Throwable e) {
        return new AssertionError(
                "connection " + connection + ", seed " + SEED + " (-Dsoftrdma.test.seed): " + e.getMessage(), e);
    }

    // ---- a device in manual progress over fake sockets, in one thread

    private static void overFakeSockets(String crc, String ring, boolean extendedOnly, long bytes) {
        int connection = 0;
        try (Arena arena = new Arena(crc, ring, extendedOnly)) {
            while (arena.said < bytes) {
                connection++;
                arena.fight(new Random(SEED * 1_000_003 + connection));
            }
            assertEquals(0, arena.device.counter("engineFaults"));
            assertTrue(
                    arena.connected > 0 && arena.refused > 0,
                    () -> arena.connected + " connected to, " + arena.refused + " refused");
            for (String name : extendedOnly ? MUST_MOVE_BY_RFC_7306 : MUST_MOVE) {
                assertTrue(arena.device.counter(name) > 0, name + " has not moved");
            }
        } catch (AssertionError | RuntimeException e) {
            throw failure(connection, e);
        }
    }

    private static final class Arena implements AutoCloseable {
        private static final int FIGHTS_PER_NEIGHBOUR = 50;

        private final boolean crc;
        private final boolean extendedOnly;
        private final FakeDevice device;
        private final FuzzPlot plot;
        private final MemoryRegion served;
        private Neighbour neighbour;
        private int fights;
        /** Of the connections that the device began. */
        private int connected;

        private int refused;
        /** Bytes behind the handshakes. */
        private long said;

        Arena(String crc, String ring, boolean extendedOnly) {
            this.crc = crc.equals("on");
            this.extendedOnly = extendedOnly;
            device = new FakeDevice("crc", crc, "ring", ring);
            plot = new FuzzPlot(
                    device.memory(FuzzPlot.BLOCK),
                    device.domain(),
                    device.own(device.device().allocateProtectionDomain()),
                    device::own);
            served = device.region(77, 4000, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
            neighbour = new Neighbour(device, served, this.crc);
        }

        /** One hostile connection while the neighbour works. */
        void fight(Random random) {
            if (++fights % FIGHTS_PER_NEIGHBOUR == 0) {
                neighbour.close();
                neighbour = new Neighbour(device, served, crc);
            }
            neighbour.begin(random);
            FakeSocket socket = random.nextInt(3) == 0 ? initiate(random) : respond(random);
            neighbour.continueOne(random);
            end(socket, random);
            device.run();
            assertTrue(socket.isClosed(), "the connection outlives its peer");
            neighbour.finish();
            plot.requireUntouched();
            FuzzPlot.requireNoSecret(socket.sent());
        }

        /** The device connects to a hostile peer. */
        private FakeSocket initiate(Random random) {
            FakeSocket socket = new FakeSocket();
            FuzzedStream stream = new FuzzedStream(random, plot, extendedOnly);
            byte[] reply = stream.reply();
            stream.crc(crc || FuzzedStream.asksForCrc(reply));
            give(socket, reply, random);
            if (stream.isWrong()) {
                give(socket, stream.garbage(), random);
                end(socket, random);
            }
            try (Connector connector = device.connector(socket);
                    QueuePair pair = device.queuePair(connector, LIMITS)) {
                int posted = plot.postReceives(pair);
                try {
                    connector.connect(ConnectionParameters.ofReads(INBOUND_READS), PATIENCE_NS);
                    posted += postReads(pair);
                    connected++;
                } catch (VerbsException e) {
                    refused++;
                    assertEquals(QueuePairState.ERROR, pair.state());
                }
                talk(socket, stream, random);
                assertEquals(posted, device.drain().size(), "completions");
                assertEquals(QueuePairState.ERROR, pair.state());
            }
            return socket;
        }

        /** A hostile peer connects to the device. */
        private FakeSocket respond(Random random) {
            FakeSocket socket = device.socket();
            FuzzedStream stream = new FuzzedStream(random, plot, extendedOnly);
            byte[] handshake = stream.handshake();
            stream.crc(crc || FuzzedStream.asksForCrc(handshake));
            give(socket, handshake, random);
            device.run();
            Optional<ConnectionRequest> request = device.request();
            if (request.isEmpty()) {
                give(socket, stream.garbage(), random);
                end(socket, random);
                device.run();
                request = device.request();
            }
            if (request.isPresent()) {
                decide(socket, request.get(), FuzzedStream.isPeerToPeer(handshake), stream, random);
            }
            return socket;
        }

        /** A handshake may leave this side without READs. */
        private int postReads(QueuePair pair) {
            return pair.connectionCapabilities().maxOutboundReads().orElse(0) > 0 ? plot.postReads(pair) : 0;
        }

        /** What comes behind the handshake, and the end. */
        private void talk(FakeSocket socket, FuzzedStream stream, Random random) {
            if (random.nextBoolean()) {
                socket.taking(offered -> random.nextInt(4) > 0 ? offered : random.nextLong(offered + 1));
            }
            for (int left = random.nextInt(25); left >= 0; left -= stream.isWrong() ? 8 : 1) {
                byte[] frame = stream.frame();
                said += frame.length;
                give(socket, frame, random);
                if (random.nextBoolean()) {
                    device.run();
                }
            }
            neighbour.continueOne(random);
            device.run();
            end(socket, random);
        }

        private void decide(
                FakeSocket socket, ConnectionRequest request, boolean peerToPeer, FuzzedStream stream, Random random) {
            if (random.nextInt(20) == 0) {
                request.reject(new byte[random.nextInt(20)]);
                give(socket, stream.frame(), random);
                return;
            }
            try (QueuePair pair = device.queuePair(request, LIMITS)) {
                int posted = plot.postReceives(pair);
                if (peerToPeer) {
                    give(socket, stream.readyToReceive(), random);
                    if (stream.isWrong()) {
                        end(socket, random);
                    }
                }
                try {
                    request.accept(ConnectionParameters.ofReads(INBOUND_READS));
                    posted += postReads(pair);
                } catch (VerbsException e) {
                    assertEquals(QueuePairState.ERROR, pair.state());
                }
                talk(socket, stream, random);
                assertEquals(posted, device.drain().size(), "completions");
                assertEquals(QueuePairState.ERROR, pair.state());
            }
        }

        private void give(FakeSocket socket, byte[] bytes, Random random) {
            int most = random.nextInt(3) == 0 ? 8 : 3000;
            for (int at = 0; at < bytes.length; ) {
                int end = random.nextInt(3) == 0 ? bytes.length : Math.min(bytes.length, at + 1 + random.nextInt(most));
                socket.give(TestBytes.slice(bytes, at, end));
                at = end;
                if (random.nextInt(50) == 0) {
                    device.run();
                }
            }
        }

        private static void end(FakeSocket socket, Random random) {
            if (random.nextInt(4) == 0) {
                socket.giveReset();
            } else {
                socket.giveEnd();
            }
        }

        @Override
        public void close() {
            neighbour.close();
            device.close();
        }
    }

    /** A peer that keeps to the rules on the same engine, a READ and a WRITE at a time, in pieces between the others'. */
    private static final class Neighbour implements AutoCloseable {
        private static final int BYTES = 900;
        private static final int WRITTEN_AT = 2000;

        private final FakeDevice device;
        private final MemoryRegion served;
        private final boolean crc;
        private final FakeSocket socket;
        private final QueuePair pair;
        private byte[] left = {};
        private byte[] written = {};
        private int msn;
        private int answered;

        Neighbour(FakeDevice device, MemoryRegion served, boolean crc) {
            this.device = device;
            this.served = served;
            this.crc = crc;
            socket = device.socket();
            pair = device.connect(socket, LIMITS, 1);
        }

        void begin(Random random) {
            written = new byte[BYTES];
            random.nextBytes(written);
            msn++;
            left = TestBytes.concat(
                    Frames.fpdu(
                            Frames.tagged(Frames.WRITE, true, served.rkey(), served.address() + WRITTEN_AT, written),
                            crc),
                    Frames.fpdu(Frames.readRequest(msn, 7, 8, BYTES, served.rkey(), served.address() + msn), crc));
            continueOne(random);
        }

        void continueOne(Random random) {
            give(random.nextInt(left.length + 1));
        }

        private void give(int length) {
            socket.give(TestBytes.slice(left, 0, length));
            left = TestBytes.slice(left, length, left.length);
            device.run();
        }

        void finish() {
            give(left.length);
            byte[] stream = FakeDevice.stream(socket);
            assertArrayEquals(
                    Frames.fpdu(
                            Frames.tagged(
                                    Frames.READ_RESPONSE,
                                    true,
                                    7,
                                    8,
                                    TestBytes.slice(TestBytes.pattern(77, msn + BYTES), msn, msn + BYTES)),
                            crc),
                    TestBytes.slice(stream, answered, stream.length),
                    "the neighbour's READ");
            answered = stream.length;
            assertArrayEquals(
                    written,
                    served.memory().asSlice(WRITTEN_AT, BYTES).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE),
                    "the neighbour's WRITE");
            assertEquals(QueuePairState.READY_TO_SEND, pair.state(), "the neighbour");
        }

        @Override
        public void close() {
            socket.giveEnd();
            device.run();
            pair.close();
        }
    }

    // ---- engine threads over real sockets

    private static void overSockets(String transport, long bytes) throws Exception {
        int connection = 0;
        long given = 0;
        try (TestDevice server = new TestDevice("transport", transport, "linger-timeout", "200");
                Bystander bystander = new Bystander(server, transport)) {
            FuzzPlot plot = new FuzzPlot(
                    server.memory(FuzzPlot.BLOCK),
                    server.domain(),
                    server.own(server.device().allocateProtectionDomain()),
                    server::own);
            while (given < bytes) {
                connection++;
                Random random = new Random(SEED * 999_983 + connection);
                bystander.begin();
                given += attack(server, plot, random);
                bystander.finish();
                plot.requireUntouched();
            }
            assertEquals(0, server.counter("engineFaults"));
            assertTrue(server.counter("protocolErrors") > 0, "no protocol error");
            assertTrue(server.counter("accessErrors") > 0, "no access error");
        } catch (AssertionError | RuntimeException e) {
            throw failure(connection, e);
        }
    }

    /** One hostile connection with a good handshake; returns the bytes it sent. */
    private static long attack(TestDevice server, FuzzPlot plot, Random random) throws Exception {
        long given = 0;
        boolean crc = random.nextBoolean();
        FuzzedStream stream = new FuzzedStream(random, plot);
        stream.crc(crc);
        try (RawPeer peer = RawPeer.connect(server.address())) {
            peer.sendBytes(Frames.mpa(
                    Frames.REQUEST_KEY, Frames.ENHANCED | (crc ? Frames.CRC : 0), 2, Frames.depths(0, 8, 8)));
            ConnectionRequest request = server.request();
            try (QueuePair pair = server.queuePair(request, LIMITS)) {
                int posted = plot.postReceives(pair);
                request.accept(ConnectionParameters.ofReads(INBOUND_READS));
                posted += plot.postReads(pair);
                try {
                    for (int left = random.nextInt(25); left >= 0; left -= stream.isWrong() ? 8 : 1) {
                        byte[] frame = stream.frame();
                        given += frame.length;
                        int cut = random.nextInt(frame.length + 1);
                        peer.sendBytes(TestBytes.slice(frame, 0, cut));
                        peer.sendBytes(TestBytes.slice(frame, cut, frame.length));
                    }
                    peer.shutdownOutput();
                    peer.awaitEnd();
                } catch (java.io.IOException e) {
                    // The device ended the connection first, and may.
                }
                server.take(posted);
                assertEquals(QueuePairState.ERROR, pair.state());
            }
        }
        return given;
    }
}
