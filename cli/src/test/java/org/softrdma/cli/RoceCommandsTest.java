package org.softrdma.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine;

/** Commands run on RoCEv2 by the device option alone. Beside other processes they have a UDP port that nobody has. */
@Timeout(120)
class RoceCommandsTest {
    /** From here on a port says nothing of where its owner hears. */
    private static final int FIRST_SPREADING_PORT = 0xC000;

    private static final int MAX_VALUE = 1024;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final byte[] KEY = {'k', 'e', 'y'};
    private static final byte[] VALUE = {1, 2, 3};

    private int rocePort;

    @BeforeEach
    void choosePort() throws SocketException {
        while (rocePort == 0) {
            try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
                rocePort = socket.getLocalPort() < FIRST_SPREADING_PORT ? socket.getLocalPort() : 0;
            }
        }
    }

    private List<String> onRoce(String command) {
        List<String> arguments = new ArrayList<>(List.of(command.split(" ", -1)));
        arguments.addAll(List.of("--device", "wire=roce", "--device", "roce-port=" + rocePort));
        return arguments;
    }

    /** A command in this process. */
    private int execute(String command, StringWriter said) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(said, true));
        commandLine.setErr(new PrintWriter(said, true));
        return commandLine.execute(onRoce(command).toArray(String[]::new));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Runs a server, and a client of it once it listens; both end well. */
    private String exchange(String server, String client) throws InterruptedException {
        StringWriter ofServer = new StringWriter();
        StringWriter ofClient = new StringWriter();
        AtomicInteger served = new AtomicInteger(-1);
        Thread serving = Thread.ofPlatform().daemon().start(() -> served.set(execute(server, ofServer)));
        long startNs = System.nanoTime();
        while (!ofServer.toString().contains("listening on")) {
            assertTrue(serving.isAlive(), ofServer::toString);
            assertTrue(System.nanoTime() - startNs < DEADLINE_NS, ofServer::toString);
            LockSupport.parkNanos(PAUSE_NS);
        }
        assertEquals(ExitCode.OK, execute(client, ofClient), () -> ofClient + "\n" + ofServer);
        serving.join(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NS));
        assertEquals(ExitCode.OK, served.get(), ofServer::toString);
        return ofClient.toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"read-lat", "read-bw", "write-lat", "write-bw", "send-lat", "send-bw", "atomic-lat", "atomic-bw"
            })
    void shouldMeasureWithPerf(String test) throws Exception {
        int port = freePort();
        String command = "perf " + test + " -p " + port + " -n 20 --warm-up 1";
        String said = exchange(command, "perf " + test + " 127.0.0.1 -p " + port + " -n 20 --warm-up 1");
        assertTrue(said.lines().count() > 2, said);
    }

    @Test
    void shouldPing() throws Exception {
        int port = freePort();
        String said = exchange(
                "rping -s -a 127.0.0.1 -S 10000 -p " + port, "rping -c -a 127.0.0.1 -C 3 -S 10000 -vV -p " + port);
        assertEquals(3, said.lines().count(), said);
    }

    // ---- servers in processes of their own

    private Process start(String command) throws IOException {
        return new ProcessBuilder(OwnProgram.again(Main.class, onRoce(command)))
                .redirectErrorStream(true)
                .start();
    }

    /** The port at the end of the address that a line names. */
    private static int port(BufferedReader from, String line, String ready) throws IOException {
        StringBuilder all = new StringBuilder();
        int port = 0;
        for (String next = from.readLine(); next != null; next = from.readLine()) {
            all.append(next).append('\n');
            if (next.startsWith(line)) {
                port = Integer.parseInt(next.replaceFirst("^[^:]*: [^:]*:([0-9]+).*", "$1"));
            }
            if (next.startsWith(ready)) {
                return port;
            }
        }
        throw new AssertionError("the server did not get ready: " + all);
    }

    private static void end(Process server) throws InterruptedException {
        assertTrue(server.toHandle().destroy());
        assertTrue(server.waitFor(60, TimeUnit.SECONDS), "the server does not end");
    }

    /** In a sample, one. */
    static Stream<String> designs() {
        return Stream.of("nessie", "pilaf", "herd-rc", "farm")
                .limit(Integer.getInteger("softrdma.sample", 1) == 1 ? Long.MAX_VALUE : 1);
    }

    @Tag("sampled")
    @ParameterizedTest
    @MethodSource("designs")
    void shouldServeAStoreOfAPaper(String design) throws Exception {
        Process server = start("store --port 0 --max-value 1K --design " + design);
        try (BufferedReader lines = server.inputReader()) {
            int port = port(lines, "store:", "ready");
            Map<String, String> options = Map.of("wire", "roce", "roce-port", Integer.toString(rocePort));
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            try (VerbsDevice device = new SoftRdmaProvider().open(options);
                    BlockingStore store = new BlockingStore(StoreDesigns.named(design)
                            .connect(
                                    device,
                                    new StoreClientContext(address)
                                            .maxValueLength(MAX_VALUE)
                                            .conclude()))) {
                assertTrue(store.put(KEY, VALUE));
                assertArrayEquals(VALUE, store.get(KEY).orElseThrow());
            }
            end(server);
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    void shouldServeItems() throws Exception {
        Process server = start("server -l 127.0.0.1 -p 0");
        try (BufferedReader lines = server.inputReader()) {
            String at = " -s 127.0.0.1:" + port(lines, "memcached:", "rdma:");
            StringWriter said = new StringWriter();
            assertEquals(ExitCode.OK, execute("kv set" + at + " key value", said), said::toString);
            assertEquals(ExitCode.OK, execute("kv get" + at + " key", said), said::toString);
            end(server);
        } finally {
            server.destroyForcibly();
        }
    }

    // ---- every device that a command opens

    /** An option that only the other wire has is refused, so the device was asked for this wire, before anything is measured. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "wimpy --quick",
                "compare --quick",
                "perf floor",
                "perf scale",
                "perf verbs",
                "perf read-bw",
                "perf read-bw 127.0.0.1",
                "rping -s -a 127.0.0.1",
                "rping -c -a 127.0.0.1",
                "store --design pilaf --port 0",
                "server -l 127.0.0.1 -p 0",
                "kv get -s 127.0.0.1:1 key"
            })
    void shouldOpenTheDeviceThatIsAskedFor(String command) {
        StringWriter said = new StringWriter();
        int exitCode = execute(command + " --device crc=on", said);
        assertTrue(said.toString().contains("crc: an option of wire=iwarp"), exitCode + ": " + said);
        assertNotEquals(ExitCode.OK, exitCode);
    }
}
