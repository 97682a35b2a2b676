package org.softrdma.bench.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** The C responder with a client of the software RNIC. */
class YardstickTest {
    private static final Path SOURCES = Path.of("native");
    private static final long MEMORY = 1 << 20;
    /** From here on a port says nothing of where its owner hears. */
    private static final int FIRST_SPREADING_PORT = 0xC000;

    /** One READ in so many is compared byte by byte. */
    private static final long COMPARED_ONCE = 1024;

    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

    @TempDir
    private static Path programs;

    /** While a responder has nothing to say, an initiator says again that it is ready, in WRITEs of no bytes. */
    @Test
    void shouldAnswerAPeerThatHasSaidAgainThatItIsReady() {
        assumeTrue(isInstalled("gcc"), "gcc is not installed: ci/install installs it");
        try (VerbsDevice device = open(Map.of("progress", "manual", "ready-repeat", "1"));
                Yardstick yardstick = Yardstick.start(
                        NativePrograms.prepare(SOURCES, programs).readResponder(new LoopbackHosts(OptionalInt.empty())),
                        List.of(),
                        device,
                        new Yardstick.Limits(2, 4, 4096, MEMORY))) {
            long startNs = System.nanoTime();
            while (device.counters().getOrDefault("sentSegments.write", 0L)
                    < 8) { // 2 connections: 1 each, and repetitions
                device.progress(TimeUnit.MILLISECONDS.toNanos(1));
                assertTrue(System.nanoTime() - startNs < DEADLINE_NS, () -> "no repetitions: " + device.counters());
            }
            Yardstick.Done done = yardstick.run(
                    1024, MEMORY, 4, Arrivals.closed(TimeUnit.MILLISECONDS.toNanos(20)), new Histogram(3));
            assertTrue(done.reads() > 0, "READs: " + done.reads());
        }
    }

    /** One packet, whole trains, and more than the stage holds; contents are compared. */
    @ParameterizedTest
    @ValueSource(ints = {1, 1024, 10_001, 100_000})
    void shouldAnswerReadsOnRoce(int size) throws SocketException {
        assumeTrue(isInstalled("gcc"), "gcc is not installed: ci/install installs it");
        LoopbackHosts hosts = new LoopbackHosts(OptionalInt.of(freeRocePort()));
        String port = Integer.toString(hosts.rocePort().orElseThrow());
        try (VerbsDevice device = open(Map.of("progress", "manual", "wire", "roce", "roce-port", port));
                Yardstick yardstick = Yardstick.start(
                        NativePrograms.prepare(SOURCES, programs).readResponder(hosts),
                        List.of(),
                        device,
                        new Yardstick.Limits(2, 16, size, MEMORY))) {
            for (long reads = 0; reads < COMPARED_ONCE; ) {
                Arrivals arrivals = Arrivals.closed(TimeUnit.MILLISECONDS.toNanos(10));
                reads += yardstick
                        .run(size, MEMORY, 16, arrivals, new Histogram(3))
                        .reads();
            }
            assertEquals(0, device.counters().get("roce.icrcErrors"), "damaged");
        }
    }

    private static int freeRocePort() throws SocketException {
        while (true) {
            try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
                if (socket.getLocalPort() < FIRST_SPREADING_PORT) {
                    return socket.getLocalPort();
                }
            }
        }
    }

    private static VerbsDevice open(Map<String, String> options) {
        return VerbsProviders.named("sim").open(options);
    }

    private static boolean isInstalled(String program) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
