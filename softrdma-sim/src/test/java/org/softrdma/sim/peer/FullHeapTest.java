package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.net.transport.EveryTransport;

/**
 * Engines go on when the heap is full now and then. Each process is a fresh one: what has failed once has its classes and texts
 * made, so a second failure shows nothing.
 */
class FullHeapTest {
    private static final long SEED = Long.getLong("softrdma.full-heap.seed", System.nanoTime() & 0xFFFF);
    private static final boolean SHORT = Boolean.getBoolean("softrdma.slow.short");
    private static final String SLOW_MS = SHORT ? "2000" : "5000";
    private static final int SOAK_SECONDS = Integer.getInteger("softrdma.full-heap.seconds", SHORT ? 5 : 900);

    private static List<String> options(String wire, String transport, String... properties) {
        List<String> options = new ArrayList<>(List.of(
                "-Xmx64m",
                "-D" + FullHeapProcess.SEED + "=" + SEED,
                "-D" + FullHeapProcess.WIRE + "=" + wire,
                "-D" + FullHeapProcess.TRANSPORT + "=" + transport));
        if (wire.equals("roce")) {
            options.add("-D" + FullHeapProcess.ROCE_PORT + "=" + TestDevice.freeRocePort());
        }
        for (int i = 0; i < properties.length; i += 2) {
            options.add("-D" + properties[i] + "=" + properties[i + 1]);
        }
        return options;
    }

    private static void requireThatItGoesOn(String wire, String transport, String... properties) {
        ChildJvm.Outcome child = ChildJvm.run(List.of(), options(wire, transport, properties), FullHeapProcess.class);
        assertEquals(0, child.exitCode(), child::toString);
    }

    @Tag("sampled")
    @ParameterizedTest
    @EveryWire
    void shouldGoOnWhenTheHeapWasFullWithoutAndWithTraffic(String wire, String transport) {
        requireThatItGoesOn(wire, transport, FullHeapProcess.IDLE_MS, "800", FullHeapProcess.BUSY_MS, "1500");
    }

    @Tag("sampled")
    @ParameterizedTest
    @EveryWire
    void shouldConnectAfterTheHeapWasFullDuringTheFirstAttempts(String wire, String transport) {
        requireThatItGoesOn(wire, transport, FullHeapProcess.COLD, "true", FullHeapProcess.BUSY_MS, "1000");
    }

    @Tag("slow")
    @ParameterizedTest
    @EveryWire
    void shouldGoOnWhileConnectionsComeAndGo(String wire, String transport) {
        requireThatItGoesOn(wire, transport, FullHeapProcess.RECONNECTING, "true", FullHeapProcess.BUSY_MS, SLOW_MS);
    }

    @Tag("slow")
    @ParameterizedTest
    @EveryWire
    void shouldRaiseCompletionEvents(String wire, String transport) {
        requireThatItGoesOn(wire, transport, FullHeapProcess.EVENTS, "true", FullHeapProcess.BUSY_MS, SLOW_MS);
    }

    @Tag("slow")
    @ParameterizedTest
    @EveryTransport
    void shouldGoOnWithReadsOnTheSameHost(String transport) {
        requireThatItGoesOn("iwarp", transport, FullHeapProcess.SAME_HOST, "auto", FullHeapProcess.BUSY_MS, SLOW_MS);
    }

    @Tag("slow")
    @ParameterizedTest
    @EveryWire
    void shouldLoseNoReadWhileTheHeapsOfBothSidesAreFullEachSecond(String wire, String transport) throws Exception {
        List<String> options = options(
                wire,
                transport,
                FullHeapProcess.PAUSE_MS,
                "1900",
                FullHeapProcess.BUSY_MS,
                Long.toString(TimeUnit.SECONDS.toMillis(SOAK_SECONDS)));
        Process server = start(options, "-D" + FullHeapProcess.ONLY_SERVER + "=true");
        try (BufferedReader saidByServer = server.inputReader()) {
            try {
                requireReads(server, saidByServer, options);
            } finally {
                server.destroyForcibly(); // a reader that somebody waits in cannot be closed
            }
        }
    }

    private static void requireReads(Process server, BufferedReader saidByServer, List<String> options)
            throws Exception {
        String where = saidByServer
                .lines()
                .filter(line -> line.matches("\\d+ -?\\d+ -?\\d+"))
                .findFirst()
                .orElse(null);
        assertNotNull(where, "the server did not say where it is");
        Thread.ofVirtual().start(() -> saidByServer.lines().forEach(line -> {}));
        Process client = start(options, "-D" + FullHeapProcess.SERVER + "=" + where);
        try {
            requireEnd(client);
        } finally {
            client.destroyForcibly();
        }
        assertTrue(server.isAlive(), "the server has ended");
    }

    private static Process start(List<String> options, String role) throws IOException {
        return new ProcessBuilder(ChildJvm.command(
                        Stream.concat(options.stream(), Stream.of(role)).toList(), FullHeapProcess.class))
                .redirectErrorStream(true)
                .start();
    }

    private static void requireEnd(Process client) throws Exception {
        List<String> said = new ArrayList<>();
        Thread reading =
                Thread.ofVirtual().start(() -> client.inputReader().lines().forEach(said::add));
        boolean ended = client.waitFor(SOAK_SECONDS + 100L, TimeUnit.SECONDS);
        assertTrue(ended, "the client hangs");
        reading.join();
        System.out.println(said.isEmpty() ? "" : said.getLast());
        assertEquals(0, client.exitValue(), said::toString);
    }
}
