package org.softrdma.cli.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.DeviceProgress;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine;

class StoreCommandTest {
    private static final byte[] KEY = {'k', 'e', 'y'};
    private static final byte[] VALUE = {1, 2, 3};
    /** 128 and the number of SIGTERM. */
    private static final int TERMINATED = 143;

    private final StringWriter said = new StringWriter();

    private int execute(String... arguments) {
        List<String> all = new ArrayList<>(List.of("store"));
        all.addAll(List.of(arguments));
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(said, true));
        commandLine.setOut(new PrintWriter(said, true));
        return commandLine.execute(all.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --window=4                             | --design: missing, expected one of
        --design=nobodys                       | --design nobodys: unknown, expected one of
        --design=pilaf --option=x=1            | --option: option x: expected one of [directory, entries,
        --design=pilaf --option=entries=99     | --option: entries=99: expected 0 to 24
        --design=pilaf --option=log=never      | --option: log=never: expected one of off, async, fsync
        --design=pilaf --window=0              | --window 0: expected 1 to 4096
        --design=pilaf --max-value=1X          | --max-value: '1X' is not a size
        --design=pilaf --max-value=1G          | --max-value 1073741824: expected 0 to 16777216
        --design=pilaf --connections=0         | --connections 0: expected 1 to 10000
        --design=pilaf --port=70000            | --port 70000: expected 0 to 65535
        --design=pilaf --protocol=other        | --protocol other: expected paper or safe
        --design=pilaf --idle=never            | --idle never: expected sleep or spin
        --design=herd-rc --pin=0 --progress=manual | --pin: with --progress manual one thread does all
        --design=herd-rc --pin=-1              | --pin -1: there is no such CPU
        --design=pilaf --provider=none         | --provider none: unknown
        --design=pilaf --listen=no.such.host.invalid | --listen no.such.host.invalid: no such address
        """)
    void shouldRefuseInOneLine(String options, String message) {
        List<String> words = new ArrayList<>(List.of(options.split(" ", -1)));
        words.add("--port=0");
        if (options.contains("--port=")) {
            words.removeLast();
        }
        assertEquals(ExitCode.USAGE, execute(words.toArray(String[]::new)));
        String first = said.toString().lines().findFirst().orElse("");
        assertTrue(first.startsWith("softrdma store: " + message), said::toString);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --design=farm --protocol=paper --device=profile=siw | has no [ORDERED_PLACEMENT], which the design farm needs in its form 'paper'
        --design=herd                                       | which the design herd needs in its form 'safe'
        """)
    void shouldSayWhatADeviceHasNot(String options, String message) {
        assertEquals(ExitCode.FAILED, execute((options + " --port=0").split(" ", -1)));
        assertTrue(said.toString().contains(message), said::toString);
        assertEquals(1, said.toString().lines().count(), said::toString);
    }

    @Test
    void shouldSayThatAPortIsTaken() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            assertEquals(ExitCode.FAILED, execute("--design", "pilaf", "--port", port));
            assertTrue(said.toString().contains(port), said::toString);
            assertEquals(1, said.toString().lines().count(), said::toString);
        }
    }

    @Test
    void shouldListEveryDesign() {
        assertEquals(ExitCode.OK, execute("--list"));
        StoreDesigns.all().forEach(design -> {
            assertTrue(said.toString().contains(design.name() + System.lineSeparator() + "  paper: "), said::toString);
            design.serverOptions()
                    .keySet()
                    .forEach(option -> assertTrue(said.toString().contains("  --option " + option + ": "), option));
        });
    }

    @Test
    void shouldSleepInTheDeviceThatItDrives() {
        List<Long> slept = new ArrayList<>();
        VerbsDevice device = (VerbsDevice) Proxy.newProxyInstance(
                VerbsDevice.class.getClassLoader(), new Class<?>[] {VerbsDevice.class}, (proxy, method, arguments) -> {
                    assertEquals("progress", method.getName());
                    slept.add((Long) arguments[0]);
                    return 0;
                });
        ServingThread.Rest driven = StoreCommand.rest(StoreCommand.Idle.SLEEP, DeviceProgress.MANUAL);
        driven.after(3, device);
        assertEquals(List.of(), slept, "there may be more to do");
        driven.after(0, device);
        assertEquals(List.of(1_000_000L), slept);
        StoreCommand.rest(StoreCommand.Idle.SPIN, DeviceProgress.MANUAL).after(0, device);
        StoreCommand.rest(StoreCommand.Idle.SLEEP, DeviceProgress.ENGINE).after(0, device);
        assertEquals(1, slept.size(), "others leave the device alone");
    }

    private static Process server(String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("store", "--port", "0"));
        arguments.addAll(List.of(options));
        return new ProcessBuilder(OwnProgram.again(Main.class, arguments))
                .redirectErrorStream(true)
                .start();
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "manual"})
    void shouldServeUntilItIsTerminated(String progress) throws Exception {
        Process server = server("--design", "pilaf", "--progress", progress, "--max-value", "1K");
        try (BufferedReader lines = server.inputReader()) {
            String first = lines.readLine();
            assertTrue(first.matches("store: 127\\.0\\.0\\.1:[0-9]+, design pilaf \\(safe\\), device .+"), first);
            assertTrue(lines.readLine().startsWith("paper: Mitchell"));
            assertEquals(
                    "clients: up to 64 with 16 operations each, keys up to 250 bytes, values up to 1024",
                    lines.readLine());
            String options = lines.readLine();
            assertTrue(options.startsWith("options: defaults; progress " + progress + ", idle sleep"), options);
            assertEquals("ready", lines.readLine());
            int port = Integer.parseInt(first.replaceFirst(".*:([0-9]+),.*", "$1"));
            storeAndGet(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            assertTrue(server.toHandle().destroy()); // by SIGTERM, and leaves the streams open
            assertTrue(server.waitFor(60, TimeUnit.SECONDS));
            assertEquals(TERMINATED, server.exitValue());
            assertEquals(null, lines.readLine(), "it ends without a word");
        } finally {
            server.destroyForcibly();
        }
    }

    private static void storeAndGet(InetSocketAddress address) {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                BlockingStore store = new BlockingStore(StoreDesigns.named("pilaf")
                        .connect(
                                device,
                                new StoreClientContext(address)
                                        .maxValueLength(1024)
                                        .conclude()))) {
            assertTrue(store.put(KEY, VALUE));
            assertArrayEquals(VALUE, store.get(KEY).orElseThrow());
        }
    }

    /** Nobody has said how long values may be, and an answer of this design is one datagram. */
    @Test
    void shouldTakeValuesAsLongAsADatagramCarriesThem() throws Exception {
        List<String> arguments = new ArrayList<>(List.of("--design", "herd", "--until-input-ends"));
        DesignDevices.options(StoreDesigns.named("herd"))
                .forEach((name, value) -> arguments.addAll(List.of("--device", name + "=" + value)));
        Process server = server(arguments.toArray(String[]::new));
        try (BufferedReader lines = server.inputReader()) {
            String all = lines.readLine();
            for (String line = all; !line.equals("ready"); all += "\n" + line) {
                line = lines.readLine();
            }
            int longest = Integer.parseInt(all.replaceFirst("(?s).*values up to ([0-9]+)\n.*", "$1"));
            assertTrue(longest >= 240 && longest < 4096, all);
            assertTrue(all.contains(", threads of workers 2, "), all);
            server.outputWriter().close();
            assertTrue(server.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ExitCode.OK, server.exitValue());
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    void shouldReportToItsParent() throws Exception {
        Process server = server("--design", "farm", "--until-input-ends");
        try (BufferedReader lines = server.inputReader()) {
            String line = lines.readLine();
            while (!line.equals("ready")) {
                line = lines.readLine();
            }
            try (PrintWriter input = new PrintWriter(server.outputWriter(), true)) {
                input.println("what?");
                input.println("report");
                String report = lines.readLine();
                assertTrue(report.startsWith("report: "), report);
                assertTrue(report.contains(" pairs=0 ") && report.contains(" responderReads=0 "), report);
                assertTrue(report.matches(".* registeredBytes=[1-9][0-9]* .*"), report);
            }
            assertTrue(server.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ExitCode.OK, server.exitValue());
        } finally {
            server.destroyForcibly();
        }
    }
}
