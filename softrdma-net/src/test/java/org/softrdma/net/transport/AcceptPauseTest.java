package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** What a listener does when a process has no descriptors left, in a process of its own that has few. */
class AcceptPauseTest {
    private static final int DESCRIPTORS = 128;
    private static final long PROCESS_SECONDS = 100;

    @Tag("sampled")
    @ParameterizedTest
    @EveryTransport
    void shouldRestAndAcceptLaterWhenNoDescriptorsAreLeft(String kind, @TempDir Path directory) throws Exception {
        Path output = directory.resolve("output");
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "ulimit is a command of /bin/sh");
        Process process = new ProcessBuilder(
                        "/bin/sh",
                        "-c",
                        "ulimit -n " + DESCRIPTORS + " && exec \"$@\"",
                        "sh",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FewDescriptors.class.getName(),
                        kind)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(process.waitFor(PROCESS_SECONDS, TimeUnit.SECONDS), () -> "still runs: " + text(output));
            assertEquals(0, process.exitValue(), () -> text(output));
        } finally {
            process.destroyForcibly();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The process: uses up its descriptors, lets a client connect, and gives them back. */
    static final class FewDescriptors {
        private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(10);
        private static final long WATCH_NS = TimeUnit.MILLISECONDS.toNanos(350);
        private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
        /** Far more than a pause's timer and event for each 100 ms; without a pause there are thousands. */
        private static final int FEW_EVENTS = 50;

        private FewDescriptors() {}

        public static void main(String[] arguments) throws Exception {
            SocketOptions options = new SocketOptions(0, 0, 0);
            try (Transport transport = TransportKinds.open(arguments[0], true, options)) {
                EventLoop loop = transport.loops().getFirst();
                List<EventLoop.PendingSocket> accepted = new ArrayList<>();
                InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
                Acceptor acceptor = loop.listen(any, 8, accepted::add);
                rehearse(loop, acceptor, accepted);
                try (SocketChannel client = SocketChannel.open()) {
                    List<FileInputStream> fillers = useUpDescriptors();
                    client.connect(acceptor.localAddress());
                    int events = 0;
                    long start = System.nanoTime();
                    while (System.nanoTime() - start < WATCH_NS) {
                        events += loop.run(TURN_NS);
                    }
                    for (FileInputStream filler : fillers) {
                        filler.close();
                    }
                    assertTrue(accepted.isEmpty(), "accepted without a descriptor");
                    assertTrue(events > 0, "the connection was not noticed");
                    assertTrue(events < FEW_EVENTS, events + " events: the loop spins");
                    runUntil(loop, () -> accepted.size() == 1);
                    accepted.removeFirst().discard();
                }
                acceptor.close();
            }
        }

        /** Loads the classes, which takes descriptors. */
        private static void rehearse(EventLoop loop, Acceptor acceptor, List<EventLoop.PendingSocket> accepted)
                throws Exception {
            loop.schedule(() -> {}, 1, TimeUnit.NANOSECONDS).cancel();
            try (SocketChannel client = SocketChannel.open(acceptor.localAddress())) {
                assertTrue(client.isConnected());
                runUntil(loop, () -> accepted.size() == 1);
                accepted.removeFirst().discard();
            }
        }

        private static List<FileInputStream> useUpDescriptors() {
            List<FileInputStream> fillers = new ArrayList<>();
            try {
                while (fillers.size() < DESCRIPTORS) {
                    fillers.add(new FileInputStream("/dev/null"));
                }
            } catch (FileNotFoundException e) {
                return fillers;
            }
            throw new AssertionError("ulimit had no effect");
        }

        private static void runUntil(EventLoop loop, BooleanSupplier condition) {
            long start = System.nanoTime();
            while (!condition.getAsBoolean()) {
                assertTrue(System.nanoTime() - start < DEADLINE_NS, "not in time");
                int ignored = loop.run(TURN_NS);
            }
        }
    }
}
