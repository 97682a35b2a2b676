package org.softrdma.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** What an application is told when its process has no descriptors or ports left, in a process of its own. */
@Timeout(2 * 60)
class NothingLeftTest {
    private static final int DESCRIPTORS = 300;
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final String TRANSPORT = "test.transport";
    private static final String SPARE = "test.spare";

    private static ChildJvm.Outcome run(List<String> prefix, String option, String value, Class<?> main) {
        return ChildJvm.run(
                prefix,
                List.of("-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", option + value),
                main);
    }

    @Tag("sampled")
    @ParameterizedTest
    @EveryTransport
    void shouldSayThatNoDescriptorsAreLeft(String transport) {
        ChildJvm.Outcome child = run(
                List.of("prlimit", "--nofile=" + DESCRIPTORS), "-D" + TRANSPORT + "=", transport, NoDescriptors.class);
        assertEquals(
                List.of(
                        "connect: NO_RESOURCES",
                        "listen: NO_RESOURCES",
                        "open: NO_RESOURCES",
                        "open auto: NO_RESOURCES",
                        "open with a capture: NO_RESOURCES",
                        "shareable memory: NO_RESOURCES",
                        "no fault",
                        "connect: done",
                        "listen: done",
                        "open: done",
                        "open auto: done",
                        "open with a capture: done",
                        "shareable memory: done",
                        "no fault"),
                child.lines());
    }

    @Tag("sampled")
    @ParameterizedTest
    @EveryTransport
    void shouldSayThatNoPortsAreLeft(String transport) {
        List<String> few = List.of(
                "unshare",
                "--map-root-user",
                "--net",
                "sh",
                "-c",
                "ip link set lo up && echo 40000 40005 >/proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"",
                "sh");
        Assumptions.assumeTrue(ChildJvm.works(few), "no network namespaces");
        ChildJvm.Outcome child = run(few, "-D" + TRANSPORT + "=", transport, NoPorts.class);
        assertEquals(List.of("connect: NO_RESOURCES", "listen: NO_RESOURCES", "no fault"), child.lines());
    }

    static IntStream spares() {
        return Integer.getInteger("softrdma.sample", 1) == 1 ? IntStream.of(0, 2, 6, 11, 18) : IntStream.of(6);
    }

    /** The first device of a process, which has as many descriptors left. */
    @Tag("sampled")
    @ParameterizedTest
    @MethodSource("spares")
    void shouldForgetThatNoDescriptorsWereLeft(int spare) {
        String usual;
        try (var transport = Transports.open("auto", 1, false, new SocketOptions(0, 0, 0))) {
            usual = transport.name();
        }
        List<String> lines = run(
                        List.of("prlimit", "--nofile=" + DESCRIPTORS),
                        "-D" + SPARE + "=",
                        Integer.toString(spare),
                        FirstDevice.class)
                .lines();
        assertEquals(2, lines.size(), lines::toString);
        assertTrue(List.of("first NO_RESOURCES", "first " + usual).contains(lines.getFirst()), lines::toString);
        assertEquals("then " + usual, lines.getLast());
    }

    /** As its name says. */
    static String transport(VerbsDevice device) {
        return device.name().replaceAll(".*\\((.*),.*", "$1");
    }

    private static VerbsDevice open(String transport) {
        return new SoftRdmaProvider().open(Map.of("transport", transport));
    }

    /** Says how something went. */
    private static void say(String what, Runnable action) {
        try {
            action.run();
            System.out.println(what + ": done");
        } catch (VerbsException e) {
            System.out.println(what + ": " + e.code());
        }
    }

    private static void connect(TestDevice device, InetSocketAddress address, Deque<AutoCloseable> opened) {
        Connector connector = device.device().resolve(address, TestDevice.DEADLINE_NS);
        opened.push(connector);
        var pair = connector.createQueuePair(
                device.domain(), QueuePairAttributes.of(device.queue(), QueuePairLimits.of(1, 1)));
        opened.push(pair);
        byte[] ignored = connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS);
    }

    /** Accepts whatever comes, for as long as the process lives. */
    private static void serve(TestDevice server) {
        Thread.ofPlatform().daemon().start(() -> {
            while (true) {
                server.listener().next(TestDevice.DEADLINE_NS).ifPresent(request -> {
                    var ignored = server.queuePair(request, QueuePairLimits.of(1, 1));
                    request.accept(ConnectionParameters.DEFAULT);
                });
            }
        });
    }

    private static void requireNoFault(TestDevice device) {
        System.out.println(device.counter("engineFaults") == 0 ? "no fault" : "engine faults");
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

    /** The process without descriptors. */
    static final class NoDescriptors {
        private final String transport = System.getProperty(TRANSPORT, "");
        private final TestDevice client = new TestDevice("transport", transport);
        private final TestDevice server = new TestDevice("transport", transport);
        private final Deque<AutoCloseable> opened = new ArrayDeque<>();
        private final Path capture;

        private NoDescriptors(Path capture) {
            this.capture = capture;
        }

        public static void main(String[] arguments) throws Exception {
            LoadedClasses.load();
            Path capture = Files.createTempFile("nothing-left", ".pcapng");
            new NoDescriptors(capture).run();
            Files.delete(capture);
            System.exit(0);
        }

        private void run() throws Exception {
            serve(server);
            PrintStream said = System.out;
            System.setOut(new PrintStream(OutputStream.nullOutputStream()));
            tryAll(); // what loads libraries takes descriptors, too
            System.setOut(said);
            List<FileInputStream> fillers = useUpDescriptors();
            tryAll();
            for (FileInputStream filler : fillers) {
                filler.close();
            }
            tryAll();
        }

        private void tryAll() throws Exception {
            say("connect", () -> connect(client, server.address(), opened));
            say("listen", () -> opened.push(client.device().listen(ANY, 1)));
            say("open", () -> opened.push(open(transport)));
            say("open auto", () -> opened.push(open("auto")));
            say(
                    "open with a capture",
                    () -> opened.push(
                            new SoftRdmaProvider().open(Map.of("transport", transport, "pcap", capture.toString()))));
            say(
                    "shareable memory",
                    () -> opened.push(client.device().allocateMemory(4096, new MemorySource.Shareable())));
            requireNoFault(client);
            while (!opened.isEmpty()) {
                opened.pop().close();
            }
        }
    }

    /** The process without ports. */
    static final class NoPorts {
        private NoPorts() {}

        public static void main(String[] arguments) {
            String transport = System.getProperty(TRANSPORT, "");
            TestDevice server = new TestDevice("transport", transport);
            TestDevice client = new TestDevice("transport", transport);
            serve(server);
            Deque<AutoCloseable> opened = new ArrayDeque<>();
            say("connect", () -> {
                while (opened.size() < DESCRIPTORS) {
                    connect(client, server.address(), opened);
                }
            });
            say("listen", () -> {
                while (opened.size() < DESCRIPTORS) {
                    Listener more = client.device().listen(ANY, 1);
                    opened.push(more);
                }
            });
            requireNoFault(client);
            System.exit(0);
        }
    }

    /** The process that opens its first device when few descriptors are left. */
    static final class FirstDevice {
        private FirstDevice() {}

        public static void main(String[] arguments) throws Exception {
            LoadedClasses.load();
            int spare = Integer.getInteger(SPARE, 0);
            List<FileInputStream> fillers = useUpDescriptors();
            for (int i = 0; i < spare; i++) {
                fillers.removeLast().close();
            }
            String first;
            try (VerbsDevice device = open("auto")) {
                first = transport(device);
            } catch (VerbsException e) {
                first = e.code().toString();
            }
            for (FileInputStream filler : fillers) {
                filler.close();
            }
            System.out.println("first " + first);
            try (VerbsDevice device = open("auto")) {
                System.out.println("then " + transport(device));
            }
        }
    }
}
