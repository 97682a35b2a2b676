package org.softrdma.sim.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.DatagramBatch;
import org.softrdma.net.transport.DatagramLoop;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.net.transport.Transport;
import org.softrdma.net.transport.TransportKinds;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.PseudoHeader;
import org.softrdma.sim.roce.wire.RocePacket;

/** A capture holds each datagram once, with the headers that it had. */
class DatagramCaptureTest {
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int ROOM = DatagramSocket.MAX_TRAIN_BYTES;
    /** The packets of a kernel that the layouts of RoCE are tested with. */
    private static final String GOLDEN = "/org/softrdma/sim/roce/wire/golden.txt";

    @TempDir
    private Path directory = Path.of("");

    private final Arena arena = Arena.ofAuto();

    private long memory(byte[] content) {
        MemorySegment memory = arena.allocate(Math.max(1, content.length), Long.BYTES);
        MemorySegment.copy(content, 0, memory, ValueLayout.JAVA_BYTE, 0, content.length);
        return memory.address();
    }

    /** Receives so many datagrams, on the test's thread. */
    private void receive(Transport transport, DatagramSocket socket, int datagrams) throws IOException {
        DatagramBatch batch = new DatagramBatch(1);
        batch.addBuffer(arena.allocate(ROOM).address(), ROOM);
        long startNs = System.nanoTime();
        for (int got = 0; got < datagrams; ) {
            assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "only " + got);
            if (socket.receive(batch) == 1) {
                got += batch.datagrams(0);
            } else {
                int ignored = transport.loops().getFirst().run(TimeUnit.MILLISECONDS.toNanos(1));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll,127.0.0.1", "uring,127.0.0.1", "nio,127.0.0.1", "epoll,::1", "uring,::1", "nio,::1"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldHoldEachDatagramOnceWithTheIdentificationOfItsPlaceInTheTrain(String kind, String host)
            throws IOException {
        InetAddress address = InetAddress.getByName(host);
        Assumptions.assumeTrue(NetworkInterface.getByInetAddress(address) != null, "no " + host + " here");
        Path file = directory.resolve("datagrams.pcapng");
        byte[] train = TestBytes.pattern(3, 3 * 1040 - 5);
        byte[] lone = TestBytes.pattern(4, 77);
        byte[] foreign = TestBytes.pattern(5, 99);
        boolean cut;
        InetSocketAddress from;
        InetSocketAddress to;
        InetSocketAddress stranger;
        try (Transport transport =
                CapturingTransport.of(TransportKinds.open(kind, true, new SocketOptions(0, 0, 0)), file)) {
            DatagramLoop loop = (DatagramLoop) transport.loops().getFirst();
            DatagramSocket here = loop.bind(new InetSocketAddress(address, 0), writable -> {});
            DatagramSocket there = loop.bind(new InetSocketAddress(address, 0), writable -> {});
            from = here.localAddress();
            to = there.localAddress();
            cut = here.maxSegments() == 1;
            DatagramBatch batch = new DatagramBatch(2);
            batch.addTrain(memory(train), train.length, 1040, PeerAddress.of(to));
            batch.add(memory(lone), lone.length, to);
            assertEquals(2, here.send(batch, 0, 2));
            receive(transport, there, 4);
            try (java.net.DatagramSocket outside = new java.net.DatagramSocket(new InetSocketAddress(address, 0))) {
                stranger = (InetSocketAddress) outside.getLocalSocketAddress();
                outside.send(new DatagramPacket(foreign, foreign.length, to));
                receive(transport, there, 1);
            }
            there.close();
            assertEquals(1, here.send(batch, 1, 1), "lost, and captured");
            here.close();
        }
        List<CaptureReader.Datagram> datagrams = CaptureReader.read(file).datagrams();
        assertEquals(6, datagrams.size());
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < 3; i++) {
            CaptureReader.Datagram datagram = datagrams.get(i);
            all.writeBytes(datagram.payload());
            if (host.equals("127.0.0.1")) {
                assertEquals(cut ? 0 : i, datagram.identification());
                assertTrue(datagram.mayNotBeCut());
            }
        }
        assertArrayEquals(train, all.toByteArray());
        assertArrayEquals(lone, datagrams.get(3).payload());
        assertArrayEquals(foreign, datagrams.get(4).payload());
        assertArrayEquals(lone, datagrams.get(5).payload());
        for (CaptureReader.Datagram datagram : datagrams) {
            assertEquals(datagram == datagrams.get(4) ? stranger : from, datagram.from());
            assertEquals(to, datagram.to());
            assertEquals(0, datagram.typeOfService());
        }
    }

    // ---- packets of RoCE

    /** Sends nothing: what it is given is captured all the same. */
    private record Nowhere(InetSocketAddress localAddress) implements DatagramSocket {
        @Override
        public int maxBytes() {
            return ROOM;
        }

        @Override
        public int maxSegments() {
            return MAX_SEGMENTS;
        }

        @Override
        public int send(DatagramBatch batch, int from, int count) {
            return count;
        }

        @Override
        public int receive(DatagramBatch batch) {
            return 0;
        }

        @Override
        public int receiveBuffer() {
            return 0;
        }

        @Override
        public long dropped() {
            return 0;
        }

        @Override
        public long refused() {
            return 0;
        }

        @Override
        public long trainsCut() {
            return 0;
        }

        @Override
        public void awaitRoom() {}

        @Override
        public void rearm() {}

        @Override
        public void close() {}
    }

    /** A packet of a kernel: its addresses, and BTH to ICRC. */
    @SuppressWarnings("ArrayRecordComponent") // looked into, never compared
    private record Golden(byte[] from, byte[] to, int port, byte[] packet) {
        static Golden of(byte[] whole) {
            boolean ipv4 = whole[0] >>> 4 == 4;
            int udp = ipv4 ? 20 : 40;
            int first = ipv4 ? 12 : 8;
            int length = ipv4 ? 4 : 16;
            return new Golden(
                    Arrays.copyOfRange(whole, first, first + length),
                    Arrays.copyOfRange(whole, first + length, first + 2 * length),
                    Short.toUnsignedInt(ByteBuffer.wrap(whole).getShort(udp)),
                    Arrays.copyOfRange(whole, udp + 8, whole.length));
        }

        InetSocketAddress source() throws IOException {
            return new InetSocketAddress(InetAddress.getByAddress(from), port);
        }

        /** The same with the ICRC for an identification; of IPv6 for any. */
        byte[] withIcrcFor(int identification) {
            MemorySegment memory = Arena.ofAuto().allocate(packet.length, Long.BYTES);
            NativeMemory.put(memory.address(), packet);
            int icrc = new Icrc()
                    .compute(
                            header(identification),
                            memory.asByteBuffer(),
                            memory.address(),
                            memory.address(),
                            packet.length);
            RocePacket.putIcrc(memory.address(), packet.length, icrc);
            return NativeMemory.bytes(memory.address(), packet.length);
        }

        private PseudoHeader header(int identification) {
            PseudoHeader header = new PseudoHeader(from, to);
            header.ports(port, RocePacket.UDP_PORT);
            if (header.isIpv4()) {
                header.identification(identification);
            }
            return header;
        }
    }

    private static List<Golden> golden() throws IOException {
        try (InputStream resource = DatagramCaptureTest.class.getResourceAsStream(GOLDEN)) {
            assertNotNull(resource, GOLDEN);
            String text = new String(resource.readAllBytes(), StandardCharsets.US_ASCII);
            return text.lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> Golden.of(HexFormat.of().parseHex(line.substring(line.lastIndexOf(' ') + 1))))
                    .toList();
        }
    }

    /** Writes each packet by itself, and some as a train; returns what went into the file, in order. */
    private List<byte[]> capture(Path path) throws IOException {
        List<byte[]> written = new ArrayList<>();
        try (PcapngFile file = new PcapngFile(path)) {
            for (Golden each : golden()) {
                InetSocketAddress peer = new InetSocketAddress(InetAddress.getByAddress(each.to), RocePacket.UDP_PORT);
                CapturingDatagramSocket socket =
                        new CapturingDatagramSocket(file, new CapturedDatagramSockets(), new Nowhere(each.source()));
                DatagramBatch batch = new DatagramBatch(2);
                byte[] alone = each.withIcrcFor(0);
                byte[] second = each.withIcrcFor(1);
                batch.add(memory(alone), alone.length, peer);
                batch.addTrain(
                        memory(TestBytes.concat(alone, second)), 2 * alone.length, alone.length, PeerAddress.of(peer));
                socket.send(batch, 0, 2);
                written.addAll(List.of(alone, alone, second));
            }
        }
        return written;
    }

    @Test
    void shouldWriteThePacketsOfRoceWithHeadersThatFitTheirIcrc() throws IOException {
        Path path = directory.resolve("roce.pcapng");
        List<byte[]> written = capture(path);
        List<CaptureReader.Datagram> datagrams = CaptureReader.read(path).datagrams();
        assertEquals(written.size(), datagrams.size());
        for (int i = 0; i < written.size(); i++) {
            CaptureReader.Datagram datagram = datagrams.get(i);
            assertArrayEquals(written.get(i), datagram.payload(), "packet " + i);
            assertEquals(RocePacket.UDP_PORT, datagram.to().getPort());
            Golden again = new Golden(
                    datagram.from().getAddress().getAddress(),
                    datagram.to().getAddress().getAddress(),
                    datagram.from().getPort(),
                    datagram.payload());
            assertArrayEquals(datagram.payload(), again.withIcrcFor(datagram.identification()), "ICRC of packet " + i);
        }
    }

    @Test
    @Tag("slow")
    void shouldBeReadByWireshark() throws Exception {
        Path path = directory.resolve("roce.pcapng");
        int packets = capture(path).size();
        List<String> lines = tshark(
                path,
                "-T",
                "fields",
                "-e",
                "infiniband.bth.opcode",
                "-e",
                "infiniband.invariant.crc",
                "-e",
                "_ws.malformed");
        assertEquals(packets, lines.size());
        for (String line : lines) {
            String[] fields = line.split("\t", -1);
            assertFalse(fields[0].isEmpty() || fields[1].isEmpty(), "not dissected as RoCE: " + line);
            assertEquals("", fields[2], line);
        }
        String text = String.join("\n", tshark(path, "-V"));
        assertFalse(text.contains("Malformed") || text.contains("incorrect"), () -> text);
        assertEquals(packets, text.split("\\[Checksum Status: Good\\]", -1).length - 1, "checksums of UDP");
    }

    /** Without the dissector that takes the payload of a SEND for calls of procedures. */
    private List<String> tshark(Path capture, String... options) throws Exception {
        Path output = directory.resolve("tshark.txt");
        Path errors = directory.resolve("errors.txt");
        List<String> command = new ArrayList<>(List.of(
                "tshark",
                "--disable-protocol",
                "rpcordma",
                "-r",
                capture.toString(),
                "-o",
                "udp.check_checksum:TRUE",
                "-o",
                "ip.check_checksum:TRUE"));
        command.addAll(List.of(options));
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectOutput(output.toFile())
                    .redirectError(errors.toFile())
                    .start();
        } catch (IOException e) {
            Assumptions.abort("no tshark here: " + e.getMessage());
            throw e;
        }
        try {
            assertTrue(process.waitFor(100, TimeUnit.SECONDS), "tshark did not end");
            assertEquals(0, process.exitValue(), () -> String.valueOf(errors));
        } finally {
            process.destroyForcibly();
        }
        return Files.readAllLines(output);
    }
}
