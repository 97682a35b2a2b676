package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.net.transport.TransportKinds;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** A program that some library of the process starts keeps no connection open, and no port. java.nio does not do so. */
@Timeout(2 * 60)
class CloseOnExecTest {
    @ParameterizedTest
    @ValueSource(strings = {TransportKinds.EPOLL, TransportKinds.URING})
    void shouldLeaveNothingOpenForProgramsThatAreStarted(String transport) {
        TransportKinds.require(transport);
        ChildJvm.Outcome child = ChildJvm.run(
                List.of(),
                List.of(
                        "-XX:TieredStopAtLevel=1",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                        "-Dtest.transport=" + transport),
                Opened.class);
        assertEquals(0, child.exitCode(), child::toString);
        assertEquals(List.of("3 sockets"), child.lines(), "two ends and a listener; else what stays open");
    }

    /** The process: a connection with itself. */
    static final class Opened {
        private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
        private static final int CLOSE_ON_EXEC = 02000000;

        private Opened() {}

        public static void main(String[] arguments) throws Exception {
            QueuePairLimits limits = QueuePairLimits.of(1, 1);
            List<Path> before = descriptors();
            try (TestDevice device = new TestDevice("transport", System.getProperty("test.transport", ""))) {
                Connector connector = device.own(device.device().resolve(device.address(), TestDevice.DEADLINE_NS));
                device.own(connector.createQueuePair(device.domain(), QueuePairAttributes.of(device.queue(), limits)));
                Thread connecting = Thread.ofPlatform()
                        .start(() -> connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS));
                ConnectionRequest request = device.request();
                device.queuePair(request, limits);
                request.accept(ConnectionParameters.DEFAULT);
                connecting.join();
                int sockets = 0;
                for (Path descriptor : descriptors()) {
                    String what = before.contains(descriptor) ? "" : target(descriptor);
                    boolean socket = what.startsWith("socket:") && isOfTcp(what);
                    sockets += socket ? 1 : 0;
                    boolean own = socket || what.startsWith("anon_inode:") || what.startsWith("/memfd:");
                    if (own && !isClosedOnExec(descriptor)) {
                        System.out.println(descriptor + " " + what);
                    }
                }
                System.out.println(sockets + " sockets");
            }
        }

        private static List<Path> descriptors() throws IOException {
            try (Stream<Path> all = Files.list(DESCRIPTORS)) {
                return all.toList();
            }
        }

        /** Empty if it was closed meanwhile. */
        private static String target(Path descriptor) {
            try {
                return Files.readSymbolicLink(descriptor).toString();
            } catch (IOException e) {
                return "";
            }
        }

        private static boolean isOfTcp(String socket) throws IOException {
            String inode = socket.replaceAll("[^0-9]", "");
            for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
                for (String line : Files.readAllLines(Path.of(table))) {
                    if (List.of(line.trim().split("\\s+")).contains(inode)) {
                        return true;
                    }
                }
            }
            return false;
        }

        private static boolean isClosedOnExec(Path descriptor) throws IOException {
            Path information = Path.of("/proc/self/fdinfo").resolve(descriptor.getFileName());
            for (String line : Files.readAllLines(information)) {
                if (line.startsWith("flags:")) {
                    return (Integer.parseInt(line.substring(6).trim(), 8) & CLOSE_ON_EXEC) != 0;
                }
            }
            return false;
        }
    }
}
