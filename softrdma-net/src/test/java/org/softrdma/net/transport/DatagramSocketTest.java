package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.net.transport.DatagramEnds.Arrived;
import org.softrdma.net.transport.DatagramEnds.End;

/** What a socket for datagrams promises, on every transport and over IPv4 and IPv6, on loopback. */
class DatagramSocketTest {
    private static final String IPV4 = "127.0.0.1";
    private static final String IPV6 = "::1";
    private static final int SEGMENT = 1040;
    private static final int TRAIN = 20;

    // Of Linux, as in UdpSocket; here for what only a test sets.
    private static final int SOL_SOCKET = 1;
    private static final int SO_NO_CHECK = 11;
    private static final int IPPROTO_IP = 0;
    private static final int IP_TOS = 1;
    private static final int IP_MTU_DISCOVER = 10;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_MTU_DISCOVER = 23;
    private static final int IPV6_TCLASS = 67;
    private static final int IPPROTO_UDP = 17;
    private static final int UDP_NO_CHECK6_TX = 101;
    private static final int PMTUDISC_DO = 2;
    private static final int CLOSE_ON_EXEC = 02000000;
    /** What the JDK 25 makes for a call that leaves errno: a MemorySegment. */
    private static final int SLICE_BYTES = 40;

    /** Every transport, and both families. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @MethodSource("everywhere")
    private @interface Everywhere {}

    /** Those of Linux. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @MethodSource("linux")
    private @interface OnLinux {}

    static Stream<Arguments> everywhere() {
        return TransportKinds.names()
                .flatMap(kind -> Stream.of(IPV4, IPV6)
                        .filter(DatagramSocketTest::isHere)
                        .map(host -> Arguments.of(new Kind(kind), host)));
    }

    static Stream<Arguments> linux() {
        return everywhere().filter(arguments -> !arguments.get()[0].toString().equals(TransportKinds.NIO));
    }

    /** The name of a transport. */
    record Kind(String name) {
        DatagramEnds open(SocketOptions options) throws IOException {
            TransportKinds.require(name);
            return new DatagramEnds(name, options);
        }

        DatagramEnds open() throws IOException {
            return open(new SocketOptions(0, 0, 0));
        }

        boolean isLinux() {
            return !name.equals(TransportKinds.NIO);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static InetAddress address(String host) throws IOException {
        return InetAddress.getByName(host);
    }

    private static boolean isHere(String host) {
        try {
            return NetworkInterface.getByInetAddress(address(host)) != null;
        } catch (IOException e) {
            return false;
        }
    }

    private static io.netty.channel.unix.Socket kernelSocket(End end) {
        return ((LinuxDatagramSocket) end.socket).socket;
    }

    private static DatagramBatch one(MemorySegment bytes, int length, End to) {
        DatagramBatch batch = new DatagramBatch(1);
        batch.add(bytes.address(), length, to.peer());
        return batch;
    }

    private static DatagramBatch train(MemorySegment bytes, int length, int segment, End to) {
        DatagramBatch batch = new DatagramBatch(1);
        batch.addTrain(bytes.address(), length, segment, to.peer());
        return batch;
    }

    private static byte[] all(List<Arrived> arrived) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        arrived.forEach(each -> bytes.writeBytes(each.bytes()));
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @Everywhere
    void shouldStayOpenAndRaiseAnEventAgainThatHasFailed(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            ends.settle();
            byte[] content = TestBytes.pattern(1, 100);
            int before = there.events;
            there.failure = new OutOfMemoryError("as if there were no memory in an event");
            assertEquals(1, here.socket.send(one(ends.bytes(content), content.length, there), 0, 1));
            ends.awaitThat("the event comes again", () -> there.events >= before + 2);
            assertEquals(1, there.take());
            assertArrayEquals(content, there.arrived.getFirst().bytes());
        }
    }

    // ---- datagrams

    @ParameterizedTest
    @Everywhere
    void shouldCarryDatagramsOfEverySize(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            int longest = host.equals(IPV4) ? 65_507 : 65_488; // what a packet of loopback holds beside its headers
            int[] lengths = {0, 1, 2, 3, 4, 60, 1040, 1472, 4160, 9000, 32_768, longest};
            for (int i = 0; i < lengths.length; i++) {
                byte[] content = TestBytes.pattern(i, lengths[i]);
                assertEquals(1, here.socket.send(one(ends.bytes(content), content.length, there), 0, 1));
                there.awaitDatagrams(i + 1);
                Arrived arrived = there.arrived.get(i);
                assertArrayEquals(content, arrived.bytes(), "length " + content.length);
                assertEquals(content.length, arrived.length());
                assertEquals(content.length, arrived.segment());
                assertEquals(here.address(), arrived.from());
            }
            assertEquals(0, here.socket.refused());
            if (host.equals(IPV6)) {
                MemorySegment tooLong = ends.arena.allocate(longest + 2L);
                assertEquals(1, here.socket.send(one(tooLong, longest + 1, there), 0, 1));
                assertEquals(1, here.socket.refused(), "nothing is cut into fragments");
                assertEquals(1, here.socket.send(train(tooLong, longest + 2, longest + 1, there), 0, 1));
                there.awaitDatagrams(lengths.length + 1);
                assertEquals(1, there.arrived.getLast().length(), "the last of the train fits");
                assertEquals(2, here.socket.refused());
                assertEquals(kind.isLinux() ? 64 : 1, here.socket.maxSegments(), "not because it was a train");
            }
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldRefuseWhatIsTooLongAndSendNothingOfItsBatch(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            MemorySegment bytes = ends.arena.allocate(65_508);
            for (int[] wrong : new int[][] {{65_508, 65_508}, {65_508, 1040}, {65, 1}}) {
                DatagramBatch batch = new DatagramBatch(2);
                batch.add(bytes.address(), 1, there.peer());
                batch.addTrain(bytes.address(), wrong[0], wrong[1], there.peer());
                assertThrows(
                        IllegalArgumentException.class, () -> here.socket.send(batch, 0, 2), Arrays.toString(wrong));
            }
            assertEquals(1, here.socket.send(one(bytes, 5, there), 0, 1));
            there.awaitDatagrams(1);
            assertEquals(5, there.arrived.getFirst().length(), "nothing came before it");
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldSayHowLongADatagramWasThatWasCutOff(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host, 1, 9);
            byte[] content = TestBytes.pattern(1, 100);
            here.socket.send(one(ends.bytes(content), 100, there), 0, 1);
            there.awaitDatagrams(1);
            assertEquals(100, there.arrived.getFirst().length());
            assertArrayEquals(
                    Arrays.copyOf(content, 9), there.arrived.getFirst().bytes());
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldCarryABatchThatIsLargerThanACallOfTheKernel(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End first = ends.end(host, 150, 64);
            End second = ends.end(host, 1, 64);
            int count = 150;
            MemorySegment bytes = ends.arena.allocate(2L * count * Integer.BYTES, Integer.BYTES);
            DatagramBatch batch = new DatagramBatch(2 * count);
            for (int i = 0; i < 2 * count; i++) {
                bytes.setAtIndex(java.lang.foreign.ValueLayout.JAVA_INT, i, i);
                batch.add(bytes.address() + 4L * i, 4, (i % 2 == 0 ? first : second).peer());
            }
            assertEquals(2 * count - 7, here.socket.send(batch, 7, 2 * count - 7));
            first.awaitDatagrams(count - 4);
            second.awaitDatagrams(count - 3);
            for (int i = 7; i < 2 * count; i++) {
                End to = i % 2 == 0 ? first : second;
                byte[] expected = bytes.asSlice(4L * i, 4).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
                assertArrayEquals(
                        expected, to.arrived.get((i - (i % 2 == 0 ? 8 : 7)) / 2).bytes(), "number " + i);
            }
        }
    }

    // ---- trains

    @ParameterizedTest
    @Everywhere
    void shouldCarryTrains(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            for (int length : new int[] {SEGMENT, SEGMENT + 1, TRAIN * SEGMENT - 7, TRAIN * SEGMENT, 62 * SEGMENT}) {
                there.arrived.clear();
                byte[] content = TestBytes.pattern(length, length);
                int datagrams = Math.ceilDiv(length, SEGMENT);
                assertEquals(1, here.socket.send(train(ends.bytes(content), length, SEGMENT, there), 0, 1));
                there.awaitDatagrams(datagrams);
                assertEquals(datagrams, there.datagrams());
                assertArrayEquals(content, all(there.arrived));
                for (Arrived each : there.arrived) {
                    assertEquals(here.address(), each.from());
                }
                if (kind.isLinux()) {
                    assertEquals(1, there.arrived.size(), "it arrives as it was sent");
                    assertEquals(
                            Math.min(SEGMENT, length), there.arrived.getFirst().segment());
                }
            }
            assertEquals(kind.isLinux() ? 64 : 1, here.socket.maxSegments());
            assertEquals(kind.isLinux() ? 0 : 4, here.socket.trainsCut());
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldKeepTrainsAndDatagramsOfABatchApart(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End first = ends.end(host);
            End second = ends.end(host);
            byte[] content = TestBytes.pattern(4, 10_000);
            MemorySegment bytes = ends.bytes(content);
            DatagramBatch batch = new DatagramBatch(4);
            batch.addTrain(bytes.address(), 4000, 1000, first.peer());
            batch.add(bytes.address() + 4000, 1500, second.peer());
            batch.addTrain(bytes.address() + 5500, 2500, 2000, second.peer());
            batch.add(bytes.address() + 8000, 2000, first.peer());
            assertEquals(4, here.socket.send(batch, 0, 4));
            first.awaitDatagrams(5);
            second.awaitDatagrams(3);
            assertArrayEquals(
                    TestBytes.concat(Arrays.copyOfRange(content, 0, 4000), Arrays.copyOfRange(content, 8000, 10_000)),
                    all(first.arrived));
            assertArrayEquals(Arrays.copyOfRange(content, 4000, 8000), all(second.arrived));
        }
    }

    /** A socket that leaves UDP's checksum out sends no trains. */
    @ParameterizedTest
    @OnLinux
    void shouldCutATrainThatTheKernelRefuses(Kind kind, String host) throws IOException {
        Assumptions.assumeTrue(host.equals(IPV4), "SO_NO_CHECK is of IPv4");
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            kernelSocket(here).setIntOpt(SOL_SOCKET, SO_NO_CHECK, 1);
            byte[] content = TestBytes.pattern(2, 3 * 1000 - 1);
            MemorySegment bytes = ends.bytes(content);
            DatagramBatch batch = new DatagramBatch(3);
            batch.add(bytes.address(), 1, there.peer());
            batch.addTrain(bytes.address(), content.length, 1000, there.peer());
            batch.add(bytes.address(), 2, there.peer());
            for (int round = 1; round <= 2; round++) {
                there.arrived.clear();
                assertEquals(3, here.socket.send(batch, 0, 3));
                there.awaitDatagrams(5);
                assertEquals(
                        List.of(1, 1000, 1000, 999, 2),
                        there.arrived.stream().map(Arrived::length).toList());
                assertArrayEquals(content, all(there.arrived.subList(1, 4)));
                assertEquals(1, here.socket.maxSegments(), "the owner can know");
                assertEquals(round, here.socket.trainsCut());
                assertEquals(0, here.socket.refused());
            }
        }
    }

    // ---- peers and loss

    @ParameterizedTest
    @Everywhere
    void shouldLoseOnlyWhatGoesToAPeerThatIsGone(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End gone = ends.end(host);
            End there = ends.end(host);
            PeerAddress nobody = gone.peer();
            gone.socket.close();
            int rounds = 200;
            MemorySegment bytes = ends.bytes(TestBytes.pattern(1, 16));
            DatagramBatch batch = new DatagramBatch(2);
            batch.add(bytes.address(), 16, nobody);
            batch.add(bytes.address(), 16, there.peer());
            for (int i = 0; i < rounds; i++) {
                assertEquals(2, here.socket.send(batch, 0, 2));
                ends.settle(); // ICMP has said that nobody is there
                here.take();
            }
            there.awaitDatagrams(rounds);
            assertEquals(rounds, there.datagrams());
            there.socket.send(one(bytes, 16, here), 0, 1);
            here.awaitDatagrams(1);
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldCountWhatTheKernelRefusesAndSendTheRest(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            PeerAddress portZero = there.peer();
            portZero.set(portZero.high(), portZero.low(), 0, 0);
            MemorySegment bytes = ends.bytes(TestBytes.pattern(1, 16));
            DatagramBatch batch = new DatagramBatch(5);
            batch.add(bytes.address(), 1, portZero);
            batch.add(bytes.address(), 2, there.peer());
            batch.addTrain(bytes.address(), 3, 1, portZero);
            batch.add(bytes.address(), 4, portZero);
            batch.add(bytes.address(), 5, there.peer());
            assertEquals(5, here.socket.send(batch, 0, 5));
            there.awaitDatagrams(2);
            assertEquals(
                    List.of(2, 5), there.arrived.stream().map(Arrived::length).toList());
            assertEquals(1 + 3 + 1, here.socket.refused());
            if (kind.isLinux()) {
                assertEquals(64, here.socket.maxSegments(), "not the train was refused, but where it goes");
            }
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldCountWhatItHasNoRoomFor(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open(new SocketOptions(0, 16 * 1024, 0))) {
            End here = ends.end(host);
            End there = ends.end(host);
            int count = 400;
            DatagramBatch batch = one(ends.bytes(TestBytes.pattern(1, 1000)), 1000, there);
            for (int i = 0; i < count; i++) {
                assertEquals(1, here.socket.send(batch, 0, 1));
            }
            there.awaitDatagrams(1);
            ends.settle();
            there.take();
            int received = there.datagrams();
            assertTrue(received < count, received + " received");
            assertEquals(kind.isLinux() ? count - received : 0, there.socket.dropped());
            long dropped = there.socket.dropped();
            there.socket.close();
            assertEquals(dropped, there.socket.dropped());
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldAskForABufferAndSayWhatItGot(Kind kind, String host) throws IOException {
        int small;
        try (DatagramEnds ends = kind.open(new SocketOptions(0, 64 * 1024, 0))) {
            small = ends.end(host).socket.receiveBuffer();
            assertTrue(small >= 64 * 1024 && small <= 2 * 64 * 1024, small + " bytes");
        }
        try (DatagramEnds ends = kind.open()) {
            int usual = ends.end(host).socket.receiveBuffer();
            assertTrue(usual > small, usual + " bytes: the most that the kernel gives");
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldRefuseAPeerOfTheOtherFamily(Kind kind, String host) throws IOException {
        Assumptions.assumeTrue(host.equals(IPV4), "IPv6 sockets send to both");
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            DatagramBatch batch = new DatagramBatch(1);
            batch.add(ends.arena.allocate(1).address(), 1, new InetSocketAddress(address(IPV6), 9));
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> here.socket.send(batch, 0, 1));
            assertEquals("peer=[::1]:9: expected an IPv4 address, because the socket has one", refused.getMessage());
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldAnswerIpv4OnASocketOfAllAddresses(Kind kind, String host) throws IOException {
        Assumptions.assumeTrue(host.equals(IPV6), "of IPv6 sockets");
        try (DatagramEnds ends = kind.open()) {
            End both = ends.end("::");
            End old = ends.end(IPV4);
            MemorySegment bytes = ends.bytes(TestBytes.pattern(1, 10));
            DatagramBatch to = new DatagramBatch(1);
            to.add(
                    bytes.address(),
                    10,
                    new InetSocketAddress(address(IPV4), both.address().getPort()));
            old.socket.send(to, 0, 1);
            both.awaitDatagrams(1);
            assertEquals(old.address(), both.arrived.getFirst().from());
            DatagramBatch back = new DatagramBatch(1);
            back.add(bytes.address(), 10, both.arrived.getFirst().from());
            assertEquals(1, both.socket.send(back, 0, 1));
            old.awaitDatagrams(1);
        }
    }

    // ---- events

    @ParameterizedTest
    @Everywhere
    void shouldRaiseAnEventForWhatArrivesAfterEverythingWasReceived(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            DatagramBatch batch = one(ends.bytes(TestBytes.pattern(1, 10)), 10, there);
            for (int i = 0; i < 50; i++) {
                ends.settle();
                there.take();
                int before = there.events;
                here.socket.send(batch, 0, 1);
                ends.awaitThat("event " + i, () -> there.events > before);
                assertEquals(1, there.take());
            }
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldRaiseAnEventForWhatWasLeftAfterRearm(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            here.socket.send(one(ends.bytes(TestBytes.pattern(1, 10)), 10, there), 0, 1);
            ends.awaitThat("the event", () -> there.events > 0);
            ends.settle();
            int before = there.events;
            there.socket.rearm();
            ends.awaitThat("an event again", () -> there.events > before);
            assertEquals(1, there.take());
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldTellOfRoomWhenAskedAndBeQuietElse(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            ends.settle();
            int before = here.rooms;
            ends.settle();
            assertEquals(before, here.rooms, "nobody has asked");
            here.socket.awaitRoom();
            ends.awaitThat("room", () -> here.rooms > before);
            ends.settle();
            int events = here.events;
            ends.settle();
            assertEquals(events, here.events, "told once");
        }
    }

    // ---- the port

    @ParameterizedTest
    @Everywhere
    void shouldBeAloneOnItsPortUntilItIsClosed(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            assertEquals(1, ends.transport.openSockets());
            ListenException refused = assertThrows(ListenException.class, () -> ends.new End(here.address(), 1, 1));
            assertEquals(ListenException.Reason.IN_USE, refused.reason());
            assertEquals(1, ends.transport.openSockets());
            here.socket.close();
            here.socket.close();
            assertEquals(0, ends.transport.openSockets());
            End again = ends.new End(here.address(), 1, 1);
            assertEquals(here.address(), again.address());
            assertThrows(IOException.class, () -> here.socket.send(new DatagramBatch(1), 0, 0));
            assertThrows(IOException.class, here::take);
        }
    }

    @ParameterizedTest
    @Everywhere
    void shouldRefuseAnAddressThatIsNotHere(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            String elsewhere = host.equals(IPV4) ? "192.0.2.1" : "2001:db8::1";
            ListenException refused = assertThrows(ListenException.class, () -> ends.end(elsewhere));
            assertEquals(ListenException.Reason.NOT_HERE, refused.reason());
            assertEquals(0, ends.transport.openSockets());
        }
    }

    /** Neither with SO_REUSEADDR nor with SO_REUSEPORT, of which both sides must think so. */
    @ParameterizedTest
    @Everywhere
    void shouldLetNoSocketJoinThatSharesItsPort(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            for (var option : List.of(StandardSocketOptions.SO_REUSEADDR, StandardSocketOptions.SO_REUSEPORT)) {
                try (DatagramChannel other = DatagramChannel.open()) {
                    other.setOption(option, true);
                    assertThrows(BindException.class, () -> other.bind(here.address()), option.name());
                }
            }
        }
    }

    @Test
    void shouldTellASecondProcessThatThePortIsInUse() throws IOException {
        try (DatagramEnds ends = new DatagramEnds(TransportKinds.NIO)) {
            End here = ends.end(IPV4);
            ChildJvm.Outcome child = ChildJvm.run(
                    List.of(),
                    List.of(
                            "-XX:TieredStopAtLevel=1",
                            "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                            "-Dtest.port=" + here.address().getPort()),
                    SecondProcess.class);
            assertEquals(0, child.exitCode(), child::toString);
            List<String> said = TransportKinds.names()
                    .map(kind -> kind + ": cannot listen on " + AddressText.of(here.address())
                            + ": the port is in use; choose another (0 takes any free one)")
                    .toList();
            for (String line : child.lines()) {
                assertTrue(said.contains(line) || line.contains("does not work here"), child::toString);
            }
            assertEquals(said.size(), child.lines().size(), child::toString);
        }
    }

    /** Binds the port of another process by each transport. */
    static final class SecondProcess {
        private SecondProcess() {}

        public static void main(String[] arguments) throws IOException {
            InetSocketAddress taken = new InetSocketAddress(address(IPV4), Integer.getInteger("test.port"));
            for (String kind : TransportKinds.names().toList()) {
                try {
                    TransportKinds.require(kind);
                    try (DatagramEnds ends = new DatagramEnds(kind)) {
                        System.out.println(kind + ": bound " + ends.new End(taken, 1, 1).address());
                    }
                } catch (IOException | RuntimeException e) {
                    System.out.println(kind + ": " + e.getMessage());
                }
            }
        }
    }

    // ---- options of Linux

    @ParameterizedTest
    @OnLinux
    void shouldNeverCutDatagramsIntoFragmentsAndCloseOnExec(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            assertEquals(PMTUDISC_DO, kernelSocket(here).getIntOpt(IPPROTO_IP, IP_MTU_DISCOVER));
            if (host.equals(IPV6)) {
                assertEquals(PMTUDISC_DO, kernelSocket(here).getIntOpt(IPPROTO_IPV6, IPV6_MTU_DISCOVER));
            }
            Path information = Path.of("/proc/self/fdinfo/" + kernelSocket(here).intValue());
            String flags = Files.readAllLines(information).stream()
                    .filter(line -> line.startsWith("flags:"))
                    .findFirst()
                    .orElseThrow();
            assertTrue((Integer.parseInt(flags.substring(6).trim(), 8) & CLOSE_ON_EXEC) != 0, flags);
        }
    }

    @ParameterizedTest
    @OnLinux
    void shouldSayTheTypeOfService(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            if (host.equals(IPV4)) {
                kernelSocket(here).setIntOpt(IPPROTO_IP, IP_TOS, 0xB8);
            } else {
                kernelSocket(here).setIntOpt(IPPROTO_IPV6, IPV6_TCLASS, 0xB8);
            }
            MemorySegment bytes = ends.bytes(TestBytes.pattern(1, 100));
            here.socket.send(one(bytes, 100, there), 0, 1);
            here.socket.send(train(bytes, 100, 10, there), 0, 1);
            there.awaitDatagrams(11);
            for (Arrived each : there.arrived) {
                assertEquals(0xB8, each.typeOfService());
            }
            assertEquals(10, there.arrived.getLast().segment(), "beside it");
        }
    }

    /** As senders of RoCE leave it out; without an option of its own the kernel drops such datagrams. */
    @ParameterizedTest
    @OnLinux
    void shouldReceiveOverIpv6WithoutAChecksum(Kind kind, String host) throws IOException {
        Assumptions.assumeTrue(host.equals(IPV6), "over IPv4 the checksum is optional anyway");
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            kernelSocket(here).setIntOpt(IPPROTO_UDP, UDP_NO_CHECK6_TX, 1);
            here.socket.send(one(ends.bytes(TestBytes.pattern(1, 100)), 100, there), 0, 1);
            there.awaitDatagrams(1);
        }
    }

    // ---- allocation

    @ParameterizedTest
    @OnLinux
    void shouldAllocateNothing(Kind kind, String host) throws IOException {
        try (DatagramEnds ends = kind.open()) {
            End here = ends.end(host);
            End there = ends.end(host);
            MemorySegment bytes = ends.bytes(TestBytes.pattern(1, 4000));
            DatagramBatch out = new DatagramBatch(4);
            DatagramBatch in = new DatagramBatch(4);
            for (int i = 0; i < 4; i++) {
                in.addBuffer(
                        ends.arena.allocate(DatagramSocket.MAX_TRAIN_BYTES).address(), DatagramSocket.MAX_TRAIN_BYTES);
            }
            PeerAddress peer = there.peer();
            PeerAddress known = new PeerAddress();
            Runnable round = () -> {
                try {
                    out.clear();
                    out.add(bytes.address(), 100, peer);
                    out.addTrain(bytes.address(), 4000, 1000, peer);
                    round(here.socket, there.socket, out, in, known);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            };
            requireNoAllocation(round);
            assertTrue(known.isSame(here.peer()), known + ": expected " + here.address());
        }
    }

    private static void round(
            DatagramSocket from, DatagramSocket to, DatagramBatch out, DatagramBatch in, PeerAddress known)
            throws IOException {
        assertEquals(2, from.send(out, 0, 2));
        int got = 0;
        while (got < 2) {
            int here = to.receive(in);
            for (int i = 0; i < here; i++) {
                known.set(in.peer(i));
            }
            got += here;
        }
    }

    /**
     * In one attempt at least, a round allocates nothing but the slice of the place for errno that the JDK makes for each of its
     * two calls, until its compiler sees through that; it does not everywhere.
     */
    private static void requireNoAllocation(Runnable round) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 100 && least > 0; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1000; i++) {
                round.run();
            }
            long bytes = threads.getCurrentThreadAllocatedBytes() - before;
            least = Math.min(least, bytes / 1000);
        }
        assertTrue(least % SLICE_BYTES == 0 && least <= 2 * SLICE_BYTES, least + " bytes per round of two calls");
    }
}
