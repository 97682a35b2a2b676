package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.net.kernel.ProcFile;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.sim.memory.KeyScrambler;
import org.softrdma.sim.peer.TestDevice;

/** Who gets memory, and who is sent away. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class HandoverServerTest {
    private static final int DOMAIN = 7;
    private static final String STRANGE = "softrdma strange page";

    private final AcceptedPeers peers = new AcceptedPeers();
    private SharedFiles files;
    private HandoverServer server;
    private ServerSocket listener;
    private Socket client;
    private Socket accepted;
    private InetSocketAddress address;

    @BeforeEach
    void open() throws IOException {
        files = new SharedFiles();
        listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        client = new Socket(listener.getInetAddress(), listener.getLocalPort());
        accepted = listener.accept();
        address = (InetSocketAddress) listener.getLocalSocketAddress();
        server = new HandoverServer(HandoverServer.name(address), peers, files, new int[KeyScrambler.SECRETS]);
        server.start();
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        files.close();
        client.close();
        accepted.close();
        listener.close();
    }

    private TcpEnds ends() {
        return TcpEnds.of((InetSocketAddress) client.getLocalSocketAddress(), (InetSocketAddress)
                client.getRemoteSocketAddress());
    }

    private LocalSocket connect() throws IOException {
        return LocalSocket.connect(HandoverServer.name(address), TestDevice.DEADLINE_NS);
    }

    private static void hello(LocalSocket socket, TcpEnds ends) throws IOException {
        try (ReadCounts counts = new ReadCounts()) {
            ByteBuffer hello = HandoverMessage.write(HandoverMessage.HELLO);
            ends.put(hello);
            socket.send(HandoverMessage.bytes(hello), counts.descriptor(), true);
        }
    }

    private static ByteBuffer answer(LocalSocket socket) throws IOException {
        byte[] bytes = HandoverMessage.empty();
        int file = socket.receive(bytes);
        if (file != LocalSocket.NONE) {
            Descriptor.close(file);
        }
        return ByteBuffer.wrap(bytes);
    }

    private static void assertSentAway(LocalSocket socket) {
        assertThrows(IOException.class, () -> answer(socket));
    }

    @Test
    void shouldWelcomeWhoHoldsAnAcceptedConnection() throws IOException {
        peers.add(ends(), DOMAIN);
        try (LocalSocket socket = connect()) {
            hello(socket, ends());
            ByteBuffer answer = answer(socket);
            assertEquals(HandoverMessage.WELCOME, HandoverMessage.kind(answer));
            assertEquals(DOMAIN, answer.getInt());
        }
    }

    @Test
    void shouldSendAwayWhoHasNotBeenAccepted() throws IOException {
        try (LocalSocket socket = connect()) {
            hello(socket, ends());
            assertSentAway(socket);
        }
    }

    @Test
    void shouldSendAwayWhoseConnectionHasEnded() throws IOException {
        peers.add(ends(), DOMAIN).close();
        try (LocalSocket socket = connect()) {
            hello(socket, ends());
            assertSentAway(socket);
        }
    }

    /** The connection is of another process: here of none, since both of its ends are closed. */
    @Test
    void shouldSendAwayWhoDoesNotHoldTheConnection() throws IOException {
        TcpEnds ends = ends();
        peers.add(ends, DOMAIN);
        client.close();
        accepted.close();
        try (LocalSocket socket = connect()) {
            hello(socket, ends);
            assertSentAway(socket);
        }
    }

    @Test
    void shouldSendAwayASecondVisitorOfAConnection() throws IOException {
        peers.add(ends(), DOMAIN);
        try (LocalSocket first = connect();
                LocalSocket second = connect()) {
            hello(first, ends());
            assertEquals(HandoverMessage.WELCOME, HandoverMessage.kind(answer(first)));
            hello(second, ends());
            assertSentAway(second);
        }
    }

    @Test
    void shouldHandOverNothingBeforeTheWelcome() throws IOException {
        try (LocalSocket socket = connect()) {
            socket.send(
                    HandoverMessage.bytes(
                            HandoverMessage.write(HandoverMessage.NEXT).putInt(-1)),
                    LocalSocket.NONE,
                    true);
            assertSentAway(socket);
        }
    }

    @Test
    void shouldHandOverNothingOnceTheConnectionHasEnded() throws IOException {
        AcceptedPeers.Accepted peer = peers.add(ends(), DOMAIN);
        try (LocalSocket socket = connect()) {
            hello(socket, ends());
            assertEquals(HandoverMessage.WELCOME, HandoverMessage.kind(answer(socket)));
            peer.close();
            assertThrows(IOException.class, () -> {
                socket.send(
                        HandoverMessage.bytes(
                                HandoverMessage.write(HandoverMessage.NEXT).putInt(-1)),
                        LocalSocket.NONE,
                        true);
                answer(socket);
            });
        }
    }

    /** A page that can become shorter would end the responder when it reads the counts. */
    @Test
    void shouldTakeNoPageThatCanBecomeShorter() throws IOException {
        peers.add(ends(), DOMAIN);
        try (LocalSocket socket = connect()) {
            ByteBuffer hello = HandoverMessage.write(HandoverMessage.HELLO);
            ends().put(hello);
            socket.send(HandoverMessage.bytes(hello), Descriptors.unsealed(ReadCounts.BYTES), true);
            assertSentAway(socket);
        }
    }

    /** Touching it is SIGBUS, and so would be every look at the device's counters. */
    @Test
    void shouldTakeNoPageInHugePages() throws IOException {
        int page = Descriptors.inHugePages();
        assumeTrue(page >= 0, "this kernel has no memory in huge pages");
        AcceptedPeers.Accepted peer = peers.add(ends(), DOMAIN);
        try (LocalSocket socket = connect()) {
            ByteBuffer hello = HandoverMessage.write(HandoverMessage.HELLO);
            ends().put(hello);
            socket.send(HandoverMessage.bytes(hello), page, true);
            assertSentAway(socket);
            assertArrayEquals(new long[2], peers.totals());
        } finally {
            peer.close();
            Descriptor.close(page);
        }
    }

    /** Whatever comes with a message, and whether or not anybody expects it there. */
    @Test
    void shouldKeepNoDescriptorThatComesWithAMessage() throws IOException {
        peers.add(ends(), DOMAIN);
        byte[] hello = HandoverMessage.bytes(HandoverMessage.write(HandoverMessage.HELLO));
        byte[] next = HandoverMessage.bytes(
                HandoverMessage.write(HandoverMessage.NEXT).putInt(-1));
        try (SealedMemory page = SealedMemory.create(STRANGE, ReadCounts.BYTES)) {
            int file = page.descriptor();
            for (int[] files : new int[][] {{file}, {file, file}, {file, file, file, file}}) {
                sendAndBeSentAway(hello, files);
                sendAndBeSentAway(next, files);
                sendAndBeSentAway(new byte[LocalSocket.MESSAGE_BYTES], files);
                sendAndBeSentAway(new byte[1], files);
            }
            assertEquals(1, Descriptors.open(STRANGE), "all but this test's own");
        }
    }

    private void sendAndBeSentAway(byte[] message, int[] files) throws IOException {
        try (RawLocalSocket socket = RawLocalSocket.connect(HandoverServer.name(address))) {
            socket.send(message, files);
            assertThrows(IOException.class, socket::receive);
        }
    }

    @Test
    void shouldAnswerOthersWhenAVisitorSaysNothing() throws IOException {
        peers.add(ends(), DOMAIN);
        try (LocalSocket silent = connect();
                LocalSocket confused = connect();
                LocalSocket socket = connect()) {
            confused.send(new byte[LocalSocket.MESSAGE_BYTES], LocalSocket.NONE, true);
            assertSentAway(confused);
            hello(socket, ends());
            assertEquals(HandoverMessage.WELCOME, HandoverMessage.kind(answer(socket)));
            silent.shutdown();
        }
    }

    @Test
    void shouldLetInThisUserOnly() {
        int user = LocalSocket.effectiveUser();
        assertTrue(HandoverServer.isWelcome(new LocalSocket.Peer(1, user), user));
        assertFalse(HandoverServer.isWelcome(new LocalSocket.Peer(1, user + 1), user));
        assertFalse(HandoverServer.isWelcome(new LocalSocket.Peer(0, user), user), "in another container");
    }

    /** One of this host, as the JDK lists it: with the name of its interface. */
    static Optional<Inet6Address> linkLocal() throws IOException {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(InetAddress::isLinkLocalAddress)
                .filter(Inet6Address.class::isInstance)
                .map(Inet6Address.class::cast)
                .findFirst();
    }

    /** One side has the name of the interface, the other its number. */
    @Test
    void shouldHaveTheSameNameForALinkLocalListenerOnBothSides() throws IOException {
        Optional<Inet6Address> found = linkLocal();
        assumeTrue(found.isPresent(), "this host has no link-local address");
        Inet6Address byName = found.orElseThrow();
        int number = byName.getScopeId();
        InetAddress byNumber = Inet6Address.getByAddress("", byName.getAddress(), number);
        String expected = HandoverServer.name(new InetSocketAddress(byName, 7));
        assertEquals(expected, HandoverServer.name(new InetSocketAddress(byNumber, 7)));
        assertTrue(expected.endsWith("%" + number), expected);
    }

    @Test
    void shouldKnowTheCredentialsOfAVisitor() throws IOException {
        try (LocalSocket socket = connect()) {
            assertEquals(
                    new LocalSocket.Peer((int) ProcessHandle.current().pid(), LocalSocket.effectiveUser()),
                    socket.peer());
        }
    }

    @Test
    void shouldFindTheHolderOfASocket() throws IOException {
        TcpEnds ends = ends();
        SocketOwner owners = new SocketOwner();
        int self = (int) ProcessHandle.current().pid();
        Process other = new ProcessBuilder("sleep", "60").start();
        try {
            for (int i = 0; i < 2; i++) { // the second time it is looked for where it was
                assertTrue(owners.holds(self, ends));
                assertTrue(owners.holdsByTable(self, ends));
                assertFalse(owners.holds(1, ends));
                assertFalse(owners.holds((int) other.pid(), ends));
                assertFalse(owners.holdsByTable((int) other.pid(), ends));
            }
        } finally {
            other.destroyForcibly();
        }
    }

    @Test
    void shouldAskTheKernelForOneSocket() throws IOException {
        TcpEnds ends = ends();
        OptionalLong inode = SocketOwner.inode(ends);
        assumeTrue(inode.isPresent(), "the kernel does not answer sock_diag(7)");
        List<String> table = new ArrayList<>(ProcFile.lines("/proc/net/tcp"));
        table.addAll(ProcFile.lines("/proc/net/tcp6"));
        assertEquals(SocketOwner.inode(table, ends), inode);
        TcpEnds unknown = new TcpEnds(
                ends.clientHigh(),
                ends.clientLow(),
                1, // nobody's port
                ends.serverHigh(),
                ends.serverLow(),
                ends.serverPort());
        assertEquals(OptionalLong.empty(), SocketOwner.inode(unknown));
    }

    @Test
    void shouldReadTheKernelsTables() {
        TcpEnds four = new TcpEnds(0, 0xFFFF_7F00_0001L, 0x1F90, 0, 0xFFFF_0A00_0002L, 0x0016);
        List<String> lines = List.of(
                "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
                "   0: 0200000A:0016 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  0 0 77 1 0",
                "   1: 0100007F:1F90 0200000A:0016 01 00000000:00000000 00:00000000 00000000  0 0 99 1 0");
        assertEquals(OptionalLong.of(99), SocketOwner.inode(lines, four));
        assertEquals(
                OptionalLong.of(99),
                SocketOwner.inode(
                        List.of("   1: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000200000A:0016 01"
                                + " 0:0 0:0 0  0 0 99 1 0"),
                        four));
        assertEquals(OptionalLong.empty(), SocketOwner.inode(lines.subList(0, 2), four));
    }
}
