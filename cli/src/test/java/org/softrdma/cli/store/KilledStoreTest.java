package org.softrdma.cli.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.testkit.KeptPorts;
import org.softrdma.verbs.device.VerbsDevice;

/** Servers in processes of their own that are killed under load; another one takes the place of each. */
class KilledStoreTest {
    private static final int KEYS = 50;
    private static final int VALUE = 1024; // which fits into a datagram
    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);
    private static final byte[] OLD = "of the old life".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NEW = "of the new life".getBytes(StandardCharsets.US_ASCII);

    static Stream<String> designs() {
        return StoreDesigns.all().stream().map(StoreDesign::name).sorted();
    }

    private static byte[] key(String name, int number) {
        return (name + number).getBytes(StandardCharsets.US_ASCII);
    }

    private static Process start(String design, int port, Map<String, String> device) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "store", "--design", design, "--port", Integer.toString(port), "--max-value", Integer.toString(VALUE)));
        device.forEach((option, value) -> command.addAll(List.of("--device", option + "=" + value)));
        return new ProcessBuilder(OwnProgram.again(Main.class, command))
                .redirectErrorStream(true)
                .start();
    }

    /** The port of a server that is ready. */
    private static int port(BufferedReader lines) throws IOException {
        String first = lines.readLine();
        String line = first;
        while (!line.equals("ready")) {
            line = lines.readLine();
            assertTrue(line != null, () -> "the server has ended: " + first);
        }
        return Integer.parseInt(first.replaceFirst(".*:([0-9]+),.*", "$1"));
    }

    @ParameterizedTest
    @Tag("slow")
    @MethodSource("designs")
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldRecoverAndServeNothingOfTheOldLife(String design) throws Exception {
        int port = KeptPorts.next();
        Map<String, String> options = DesignDevices.options(StoreDesigns.named(design));
        Process old = start(design, port, options);
        try (BufferedReader oldLines = old.inputReader()) {
            assertEquals(port, port(oldLines));
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            StoreClientContext context = new StoreClientContext(address)
                    .maxValueLength(VALUE)
                    .timeoutNs(LIMIT_NS)
                    .connectTimeoutNs(LIMIT_NS);
            try (VerbsDevice device = new SoftRdmaProvider().open(options);
                    BlockingStore store =
                            new BlockingStore(StoreDesigns.named(design).connect(device, context.conclude()))) {
                for (int i = 0; i < KEYS; i++) {
                    assertTrue(store.put(key("key", i), OLD));
                    assertEquals(OLD.length, store.get(key("key", i)).orElseThrow().length);
                }
                killUnderLoad(old, store.client());
                Process next = start(design, port, options);
                try (BufferedReader nextLines = next.inputReader()) {
                    assertEquals(port, port(nextLines));
                    awaitRecovery(store);
                    for (int i = 0; i < KEYS; i++) {
                        assertTrue(store.get(key("key", i)).isEmpty(), "key " + i + " is of the old life");
                    }
                    for (int i = 0; i < KEYS; i++) {
                        assertTrue(store.put(key("key", i), NEW));
                        assertEquals(
                                new String(NEW, StandardCharsets.US_ASCII),
                                new String(store.get(key("key", i)).orElseThrow(), StandardCharsets.US_ASCII));
                    }
                    assertTrue(store.client().counters().get(StoreCounter.RECONNECTS) > 0);
                } finally {
                    next.destroyForcibly();
                }
            }
        } finally {
            old.destroyForcibly();
        }
    }

    /** Kills the server while GETs and PUTs are under way: each of them ends in its time. */
    private static void killUnderLoad(Process server, StoreClient client) throws InterruptedException {
        MemorySegment value = MemorySegment.ofArray(OLD);
        int started = 0;
        while (started < client.window()) {
            assertTrue(
                    started % 2 == 0
                            ? client.startGet(key("key", started), started)
                            : client.startPut(key("late", started), value, started));
            started++;
        }
        server.destroyForcibly(); // SIGKILL
        assertTrue(server.waitFor(60, TimeUnit.SECONDS));
        while (client.outstanding() > 0) {
            int results = client.await(
                    PATIENCE_NS,
                    (tag, outcome, memory, offset, length) -> assertTrue(
                            outcome == Outcome.LOST || outcome == (tag % 2 == 0 ? Outcome.FOUND : Outcome.STORED),
                            () -> tag + ": " + outcome));
            assertTrue(results > 0, "an operation does not end");
        }
    }

    private static void awaitRecovery(BlockingStore store) {
        long beganNs = System.nanoTime();
        while (true) {
            try {
                assertTrue(store.get(key("nobody's", 0)).isEmpty());
                return;
            } catch (StoreException e) {
                assertTrue(
                        System.nanoTime() - beganNs < PATIENCE_NS,
                        () -> "no recovery: " + e + ", " + store.client().counters());
            }
        }
    }
}
