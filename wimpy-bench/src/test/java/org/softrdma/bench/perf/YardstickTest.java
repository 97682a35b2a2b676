package org.softrdma.bench.perf;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** The C responder with a client of the software RNIC. */
class YardstickTest {
    private static final Path SOURCES = Path.of("native");
    private static final long MEMORY = 1 << 20;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

    @TempDir
    private Path programs;

    /** While a responder has nothing to say, an initiator says again that it is ready, in WRITEs of no bytes. */
    @Test
    void shouldAnswerAPeerThatHasSaidAgainThatItIsReady() {
        assumeTrue(isInstalled("gcc"), "gcc is not installed: ci/install installs it");
        try (VerbsDevice device = open(Map.of("progress", "manual", "ready-repeat", "1"));
                Yardstick yardstick = Yardstick.start(
                        NativePrograms.prepare(SOURCES, programs),
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

    private static VerbsDevice open(Map<String, String> options) {
        return VerbsProviders.named("sim").open(options);
    }

    private static boolean isInstalled(String program) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
