package org.softrdma.bench.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.bench.read.ReadResponder;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** The loads of WRITEs and SENDs, to a responder on the software RNIC and to the C program. */
class MessageLoadTest {
    private static final LoopbackHosts HOSTS = new LoopbackHosts(OptionalInt.empty());
    private static final InetSocketAddress ANYWHERE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final long SECONDS = 60;
    private static final int CONNECTIONS = 3;
    /** A share of it is no multiple of the pattern's period. */
    private static final long MEMORY = 1_000_001;
    /** Two segments. */
    private static final long LONG = 100_000;

    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final PipedOutputStream commands = new PipedOutputStream();
    private @Nullable CompletableFuture<Void> responder;

    @TempDir
    private static Path programs;

    @AfterEach
    void endResponder() throws Exception {
        commands.close();
        if (responder != null) {
            responder.get(SECONDS, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @CsvSource({"engine, 1, 1", "engine, 16, 1024", "manual, 4, 100000"})
    void shouldFindWhatItWroteInPlace(String progress, int window, long size) throws Exception {
        serve(
                progress,
                (device, in, out) -> ReadResponder.run(
                        device, new ReadResponder.Settings(ANYWHERE, MEMORY, List.of(), 0, true, false), in, out));
        InetSocketAddress address = address();
        String[] words = await("MEMORY").split(" ", -1);
        RemoteRegion memory =
                new RemoteRegion(Long.parseLong(words[1]), Long.parseLong(words[2]), Integer.parseInt(words[3]));
        try (VerbsDevice device = open("manual");
                WriteLoad load = WriteLoad.connect(device, address, memory, CONNECTIONS, window, size)) {
            assertRuns(load, window, size);
            Map<String, Long> counters = device.counters();
            assertTrue(
                    counters.getOrDefault("sentSegments.readRequest", 0L) * window
                            <= counters.getOrDefault("sentSegments.write", 0L),
                    () -> "a READ for each window of WRITEs: " + counters);
        }
    }

    @ParameterizedTest
    @CsvSource({"engine, 1, 1", "engine, 16, 1024", "manual, 1, 1024", "manual, 16, 100000", "manual, 100, 10"})
    void shouldGetItsOwnBytesBack(String progress, int window, long size) throws Exception {
        serve(progress, (device, in, out) -> EchoResponder.run(device, ANYWHERE, false, in, out));
        InetSocketAddress address = address();
        try (VerbsDevice device = open("manual")) {
            for (int i = 0; i < 2; i++) { // the second load takes the place of the first
                try (SendLoad load = SendLoad.connect(device, address, CONNECTIONS, window, size)) {
                    assertRuns(load, window, size);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false, 1, 1", "false, 16, 100000", "true, 1, 16", "true, 16, 4096", "true, 100, 100000"})
    void shouldGetTheAnswerThatItAskedFor(boolean spin, int window, long answer) throws Exception {
        serve("manual", (device, in, out) -> EchoResponder.run(device, ANYWHERE, spin, in, out));
        InetSocketAddress address = address();
        try (VerbsDevice device = open("manual");
                SendLoad load = SendLoad.asking(device, address, CONNECTIONS, window, answer)) {
            assertRuns(load, window, answer);
            assertThrows(IllegalArgumentException.class, () -> load.run(window, answer + 1, 1));
        }
    }

    @ParameterizedTest
    @CsvSource({"engine, 1, 16", "manual, 1, 24", "manual, 16, 4096", "manual, 100, 100000", "manual, 4096, 16"})
    void shouldFindAnswersInItsMemory(String progress, int window, long answer) throws Exception {
        serve(progress, (device, in, out) -> EchoResponder.run(device, ANYWHERE, true, in, out));
        InetSocketAddress address = address();
        try (VerbsDevice device = open("manual")) {
            for (int i = 0; i < 2; i++) { // the second load takes the place of the first
                try (PolledLoad load = PolledLoad.connect(device, address, CONNECTIONS, window, answer)) {
                    assertRuns(load, window, answer);
                    Map<String, Long> counters = device.counters();
                    assertEquals(0, counters.getOrDefault("sentSegments.send", 0L), counters::toString);
                    assertEquals(0, counters.getOrDefault("sentSegments.readRequest", 0L), counters::toString);
                }
            }
        }
    }

    /** One that it took would end the responder once all its work requests are flushed at a time. */
    @Test
    void shouldRefuseConnectionsWhoseCompletionsHaveNoRoom() throws Exception {
        serve("manual", (device, in, out) -> EchoResponder.run(device, ANYWHERE, true, in, out));
        InetSocketAddress address = address();
        try (VerbsDevice device = open("manual")) {
            assertThrows(ConnectionRejectedException.class, () -> SendLoad.asking(device, address, 4, 4096, 16));
            await("MEMORY");
            assertEquals("READY", said.poll(SECONDS, TimeUnit.SECONDS));
            assertTrue(await("LOST").contains("no room for 20480 more completions"));
            try (SendLoad load = SendLoad.asking(device, address, CONNECTIONS, 4096, 16)) {
                assertRuns(load, 4096, 16);
            }
        }
    }

    @Test
    void shouldSayWhyThereAreNoAnswersInMemory() throws Exception {
        serve("manual", (device, in, out) -> EchoResponder.run(device, ANYWHERE, false, in, out));
        InetSocketAddress address = address();
        try (VerbsDevice device = open("manual")) {
            assertThrows(ConnectionRejectedException.class, () -> PolledLoad.connect(device, address, 1, 1, 16));
            await("MEMORY");
            assertEquals("READY", said.poll(SECONDS, TimeUnit.SECONDS));
            assertTrue(await("LOST").contains("WRITEs were asked for: expected a responder that spins"));
            assertThrows(IllegalArgumentException.class, () -> PolledLoad.connect(device, address, 1, 1, 20));
            assertThrows(IllegalArgumentException.class, () -> PolledLoad.connect(device, address, 1, 1, 8));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 1024, 10_240, LONG})
    void shouldLoadTheCProgramToo(long size) {
        assumeTrue(isInstalled("gcc"), "gcc is not installed: ci/install installs it");
        NativePrograms prepared = NativePrograms.prepare(Path.of("native"), programs);
        try (VerbsDevice device = open("manual");
                ResponderProcess process =
                        ResponderProcess.yardstick(prepared.messageResponder(HOSTS), List.of(), MEMORY, false);
                WriteLoad writes =
                        WriteLoad.connect(device, process.address(), process.memory(), CONNECTIONS, 16, size);
                SendLoad sends = SendLoad.connect(device, process.address(), CONNECTIONS, 16, size)) {
            assertRuns(writes, 16, size);
            assertRuns(sends, 16, size);
        }
    }

    /** The program compares one copy in 256. */
    @Test
    void shouldCopyFromAnotherProcessInC() {
        assumeTrue(isInstalled("gcc"), "gcc is not installed: ci/install installs it");
        String program =
                NativePrograms.prepare(Path.of("native"), programs).sharedCopy().toString();
        JsonNode result = NativePrograms.run(
                "the C copy", List.of(program, "--size", "5000", "--region", "1000000", "--millis", "20"), 60);
        assertTrue(result.get("copies").asLong() > 256, result::toString);
        assertTrue(result.get("nanoseconds").asLong() >= 20_000_000, result::toString);
        assertEquals(0, result.get("wrong").asLong());
        MeasurementException refused = assertThrows(
                MeasurementException.class,
                () -> NativePrograms.run("the C copy", List.of(program, "--size", "x"), 60));
        assertTrue(String.valueOf(refused.getMessage()).contains("expected a whole number from 1"), refused::toString);
    }

    /** A program that is as it should be when it is older than a header is not. */
    @Test
    void shouldCompileAProgramAgainWhenAHeaderIsNewer(@TempDir Path own) throws Exception {
        assumeTrue(isInstalled("gcc"), "gcc is not installed: ci/install installs it");
        Path sources = Files.createDirectory(own.resolve("sources"));
        for (String name : List.of(
                "read_responder.c",
                "message_responder.c",
                "ping_pong.c",
                "shared_copy.c",
                "iwarp.h",
                "responder.h",
                "read_batch.h")) {
            Files.copy(Path.of("native", name), sources.resolve(name));
        }
        Path built = Path.of(NativePrograms.prepare(sources, own)
                .messageResponder(HOSTS)
                .command()
                .getFirst());
        Files.setLastModifiedTime(built, java.nio.file.attribute.FileTime.fromMillis(1));
        for (String name : List.of("message_responder.c", "iwarp.h")) {
            Files.setLastModifiedTime(sources.resolve(name), java.nio.file.attribute.FileTime.fromMillis(1));
        }
        NativePrograms.prepare(sources, own);
        assertTrue(Files.getLastModifiedTime(built).toMillis() > 1, "responder.h is newer");
    }

    @Test
    void shouldRefuseAMemoryThatIsTooSmallForAllConnections() {
        RemoteRegion small = new RemoteRegion(0, 4096, 0);
        try (VerbsDevice device = open("manual")) {
            assertThrows(IllegalArgumentException.class, () -> WriteLoad.connect(device, ANYWHERE, small, 8, 1, 1024));
        }
    }

    private static void assertRuns(RequestLoad load, int window, long size) {
        for (int i = 0; i < 2; i++) {
            RequestLoad.Outcome outcome = load.run(window, size, TimeUnit.MILLISECONDS.toNanos(100));
            assertTrue(outcome.requests() >= (long) window * CONNECTIONS, "as many as the windows hold: " + outcome);
            assertTrue(i > 0 || outcome.verified() > 0, "the first is verified: " + outcome);
        }
    }

    private interface Responder {
        void run(VerbsDevice device, InputStream in, PrintStream out);
    }

    /** On a thread of its own, which keeps a device in manual progress. */
    private void serve(String progress, Responder what) throws IOException {
        InputStream in = new PipedInputStream(commands);
        CompletableFuture<Void> ended = new CompletableFuture<>();
        responder = ended;
        PrintStream out = new PrintStream(java.io.OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8) {
            @Override
            public void println(String line) {
                said.add(line);
            }
        };
        Thread.ofPlatform().daemon().name("responder").start(() -> {
            try (VerbsDevice device = open(progress)) {
                what.run(device, in, out);
                ended.complete(null);
            } catch (RuntimeException | Error e) {
                ended.completeExceptionally(e);
                said.add("ENDED " + e);
            }
        });
    }

    private InetSocketAddress address() throws InterruptedException {
        int port = Integer.parseInt(await("LISTENING").split(" ", -1)[1]);
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private String await(String word) throws InterruptedException {
        String line = said.poll(SECONDS, TimeUnit.SECONDS);
        assertTrue(line != null && line.startsWith(word + " "), "the responder said " + line);
        return line;
    }

    private static VerbsDevice open(String progress) {
        return VerbsProviders.named("sim").open(Map.of("progress", progress));
    }

    private static boolean isInstalled(String program) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
