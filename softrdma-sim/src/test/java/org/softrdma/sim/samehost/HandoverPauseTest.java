package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.sim.memory.KeyScrambler;
import org.softrdma.sim.peer.TestDevice;

/** What a handover server does when its process has no descriptors left, in a process of its own that has few. */
class HandoverPauseTest {
    private static final int DESCRIPTORS = 128;

    @Test
    void shouldServeAgainAfterAMomentWithoutDescriptors() {
        ChildJvm.Outcome child =
                ChildJvm.run(List.of("prlimit", "--nofile=" + DESCRIPTORS), List.of(), FewDescriptors.class);
        assertEquals(0, child.exitCode(), child::toString);
        assertEquals(List.of("welcome", "no descriptor is left", "welcome", "welcome"), child.lines());
    }

    /** The process: uses up its descriptors, lets a guest come, and gives them back. */
    static final class FewDescriptors {
        private final AcceptedPeers peers = new AcceptedPeers();
        private final InetSocketAddress address;
        private final Socket client;
        private final ByteArrayOutputStream log;

        private FewDescriptors(InetSocketAddress address, Socket client, ByteArrayOutputStream log) {
            this.address = address;
            this.client = client;
            this.log = log;
        }

        public static void main(String[] arguments) throws Exception {
            ByteArrayOutputStream log = new ByteArrayOutputStream();
            System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
            LoggerFactory.getLogger(HandoverServer.class)
                    .warn("rehearsal: loads the classes, which takes descriptors", new SystemCallException("none", 0));
            try (ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                    Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
                    Socket accepted = listener.accept();
                    SharedFiles files = new SharedFiles()) {
                InetSocketAddress address = (InetSocketAddress) listener.getLocalSocketAddress();
                FewDescriptors here = new FewDescriptors(address, client, log);
                try (HandoverServer server = new HandoverServer(
                        HandoverServer.name(address), here.peers, files, new int[KeyScrambler.SECRETS])) {
                    server.start();
                    here.run();
                }
                require(!accepted.isClosed());
            }
        }

        private void run() throws IOException {
            try (LocalSocket rehearsal = connect()) { // loads the classes, which takes descriptors
                greet(rehearsal);
            }
            List<FileInputStream> fillers = useUpDescriptors();
            fillers.removeLast().close();
            try (LocalSocket guest = connect()) { // with the last one
                while (!log.toString(StandardCharsets.UTF_8).contains("errno 24")) {
                    Thread.onSpinWait(); // the server says that it could not accept it
                }
                System.out.println("no descriptor is left");
                for (FileInputStream filler : fillers) {
                    filler.close();
                }
                greet(guest);
            }
            try (LocalSocket later = connect()) {
                greet(later);
            }
        }

        private LocalSocket connect() throws IOException {
            return LocalSocket.connect(HandoverServer.name(address), TestDevice.DEADLINE_NS);
        }

        private void greet(LocalSocket socket) throws IOException {
            TcpEnds ends = TcpEnds.of((InetSocketAddress) client.getLocalSocketAddress(), (InetSocketAddress)
                    client.getRemoteSocketAddress());
            try (AcceptedPeers.Accepted accepted = peers.add(ends, 7);
                    ReadCounts counts = new ReadCounts()) {
                ByteBuffer hello = HandoverMessage.write(HandoverMessage.HELLO);
                ends.put(hello);
                socket.send(HandoverMessage.bytes(hello), counts.descriptor(), true);
                byte[] answer = HandoverMessage.empty();
                Descriptor.close(socket.receive(answer));
                HandoverMessage.expect(ByteBuffer.wrap(answer), HandoverMessage.WELCOME);
                require(!accepted.hasEnded());
                System.out.println("welcome");
            }
        }

        private static void require(boolean open) {
            if (!open) {
                throw new AssertionError("the connection has ended");
            }
        }

        private static List<FileInputStream> useUpDescriptors() throws IOException {
            List<FileInputStream> fillers = new ArrayList<>();
            try {
                while (fillers.size() < DESCRIPTORS) {
                    fillers.add(new FileInputStream("/dev/null"));
                }
            } catch (FileNotFoundException e) {
                return fillers;
            }
            throw new AssertionError("the limit had no effect");
        }
    }
}
