package org.softrdma.sim.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.peer.Frames;
import org.softrdma.sim.peer.RawPeer;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** A capture holds each byte that a peer has sent and received, in packets that fit each other. */
class CaptureTest {
    private static final ConnectionParameters READS = ConnectionParameters.ofReads(4);
    /** More than a packet holds, in more than one segment. */
    private static final int LARGE = 200_000;

    @TempDir
    private Path directory = Path.of("");

    /** What a raw peer has sent, and what it has received. */
    @SuppressWarnings("ArrayRecordComponent") // looked into, never compared
    private record Said(byte[] sent, byte[] received) {}

    /** A stream to a device with both ways of everything: a WRITE, a READ of it, a SEND of the device. */
    private static Said converse(TestDevice device, int length) throws IOException {
        TestDevice.Guarded memory =
                device.guarded(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        byte[] request = Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 4, 4));
        byte[] pattern = TestBytes.pattern(3, length);
        List<byte[]> sent = new ArrayList<>(List.of(request));
        List<byte[]> received = new ArrayList<>();
        try (RawPeer peer = RawPeer.connect(device.address())) {
            peer.sendBytes(request);
            try (ConnectionRequest asked = device.request()) {
                QueuePair pair = device.queuePair(asked, QueuePairLimits.of(4, 4));
                asked.accept(READS);
                received.add(peer.receiveMpa());
                int key = memory.region().rkey();
                long address = memory.region().address();
                for (int at = 0; at < length; at += 60_000) {
                    int end = Math.min(length, at + 60_000);
                    byte[] fpdu = Frames.fpdu(
                            Frames.tagged(
                                    Frames.WRITE, end == length, key, address + at, TestBytes.slice(pattern, at, end)),
                            false);
                    sent.add(fpdu);
                    peer.sendBytes(fpdu);
                }
                byte[] read = Frames.fpdu(Frames.readRequest(1, 7, 8, length, key, address), false);
                sent.add(read);
                peer.sendBytes(read);
                for (int got = 0; got < length; ) {
                    byte[] segment = peer.next().orElseThrow();
                    received.add(Frames.fpdu(segment, false));
                    got += segment.length - 14;
                }
                pair.postSend(1, memory.region(), 0, 5, SendFlags.NONE);
                received.add(Frames.fpdu(peer.next().orElseThrow(), false));
                peer.shutdownOutput();
                peer.expectEnd();
            }
        }
        return new Said(
                TestBytes.concat(sent.toArray(new byte[0][])), TestBytes.concat(received.toArray(new byte[0][])));
    }

    /** In manual progress the thread that writes is the application's, and whoever interrupts it does not mean the capture. */
    @Test
    void shouldGoOnWhenTheWritingThreadIsInterrupted() throws IOException {
        Path path = directory.resolve("interrupted.pcapng");
        try (PcapngFile file = new PcapngFile(path)) {
            file.write(packet -> packet.put(new byte[] {1, 2, 3, 4}));
            long one = Files.size(path);
            Thread.currentThread().interrupt();
            try {
                file.write(packet -> packet.put(new byte[] {5, 6, 7, 8}));
                assertTrue(Thread.currentThread().isInterrupted(), "the interrupt is the application's");
            } finally {
                Thread.interrupted();
            }
            assertTrue(file.isOpen(), "the capture goes on");
            file.write(packet -> packet.put(new byte[] {9, 10, 11, 12}));
            assertEquals(one + 2 * (32 + 4), Files.size(path), "two packets more");
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll,100", "uring,100", "nio,101", "epoll," + LARGE, "uring," + LARGE, "nio," + LARGE})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldHoldWhatThePeerSentAndReceived(String transport, int length) throws IOException {
        Path file = directory.resolve("capture.pcapng");
        Said said;
        InetSocketAddress server;
        try (TestDevice device = new TestDevice("transport", transport, "pcap", file.toString())) {
            server = device.address();
            said = converse(device, length);
        }
        CaptureReader capture = CaptureReader.read(file);
        assertEquals(1, capture.sections());
        List<List<InetSocketAddress>> ways = capture.ways();
        assertEquals(2, ways.size());
        assertEquals(server, ways.get(0).get(1), "the peer connects");
        assertArrayEquals(said.sent, capture.bytes(ways.get(0)), "peer to device");
        assertArrayEquals(said.received, capture.bytes(ways.get(1)), "device to peer");
        assertTrue(capture.hasEnded(ways.get(0)) && capture.hasEnded(ways.get(1)), "both ways end");
        long before = 0;
        for (CaptureReader.Packet packet : capture.packets()) {
            assertTrue(packet.timeNs() >= before, "time goes on");
            before = packet.timeNs();
        }
    }

    private static boolean isHere(String address) throws IOException {
        return NetworkInterface.getByInetAddress(InetAddress.getByName(address)) != null;
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldHoldAConnectionOnceWhenBothEndsAreOfTheDevice(String address) throws Exception {
        Assumptions.assumeTrue(isHere(address), "this machine has no address " + address);
        Path file = directory.resolve("both.pcapng");
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("pcap", file.toString()));
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(64);
                Listener listener = device.listen(new InetSocketAddress(InetAddress.getByName(address), 0), 4)) {
            QueuePairAttributes attributes = QueuePairAttributes.of(queue, QueuePairLimits.of(4, 4));
            for (int i = 0; i < 2; i++) {
                try (Connector connector = device.resolve(listener.localAddress(), TestDevice.DEADLINE_NS);
                        QueuePair active = connector.createQueuePair(domain, attributes)) {
                    CompletableFuture<byte[]> connected = CompletableFuture.supplyAsync(
                            () -> connector.connect(READS, TestDevice.DEADLINE_NS),
                            task -> Thread.ofPlatform().daemon().start(task));
                    try (ConnectionRequest request =
                                    listener.next(TestDevice.DEADLINE_NS).orElseThrow();
                            QueuePair passive = request.createQueuePair(domain, attributes)) {
                        request.accept(READS);
                        connected.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
                        active.disconnect();
                        passive.disconnected().toCompletableFuture().get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
                    }
                }
            }
        }
        CaptureReader capture = CaptureReader.read(file);
        assertEquals(4, capture.ways().size(), "two connections, two ways each");
        byte[] request = capture.bytes(capture.ways().get(0));
        assertEquals(Frames.REQUEST_KEY, new String(request, 0, 16, java.nio.charset.StandardCharsets.US_ASCII));
    }

    @Test
    void shouldAppendASectionWhenTheFileIsThere() throws IOException {
        Path file = directory.resolve("twice.pcapng");
        for (int i = 0; i < 2; i++) {
            try (TestDevice device = new TestDevice("pcap", file.toString())) {
                converse(device, 10);
            }
        }
        CaptureReader capture = CaptureReader.read(file);
        assertEquals(2, capture.sections());
        assertEquals(4, capture.ways().size());
    }

    /** A port used again by another connection is another stream: the reader would complain about sequence numbers. */
    @Test
    void shouldShowAResetAsSuch() throws IOException {
        Path file = directory.resolve("reset.pcapng");
        try (TestDevice device = new TestDevice("pcap", file.toString());
                RawPeer peer = RawPeer.connect(device.address())) {
            peer.sendBytes(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 4, 4)));
            try (ConnectionRequest request = device.request()) {
                QueuePair pair = device.queuePair(request, QueuePairLimits.of(4, 4));
                request.accept(READS);
                peer.receiveMpa();
                peer.reset();
                TestDevice.await(
                        "the end",
                        () -> pair.disconnected().toCompletableFuture().isDone());
            }
        }
        CaptureReader capture = CaptureReader.read(file);
        CaptureReader.Packet last = capture.packets().getLast();
        assertEquals(4, last.flags() & 4, "RST");
        assertEquals(capture.ways().get(0), List.of(last.from(), last.to()));
    }

    @Test
    void shouldRefuseAFileThatCannotBeWritten() {
        String inNoDirectory = directory.resolve("none").resolve("file").toString();
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> new SoftRdmaProvider().open(Map.of("pcap", inNoDirectory)));
        assertTrue(String.valueOf(refused.getMessage()).startsWith("pcap=" + inNoDirectory + ": cannot be written: "));
        assertThrows(IllegalArgumentException.class, () -> new SoftRdmaProvider().open(Map.of("pcap", "")));
    }
}
