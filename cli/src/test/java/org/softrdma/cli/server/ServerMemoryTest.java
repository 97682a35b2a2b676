package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.OwnProgram;

/** The bound on the memory of a server that docs/guide/store.md tells administrators, with as many items as fit. */
@EnabledOnOs(OS.LINUX)
class ServerMemoryTest {
    private static final int ITEMS_MIB = 32;
    /** What the guide says of items of any size: as much as for items, and 16 MB. */
    private static final int HEAP_MIB = ITEMS_MIB + 16;

    private static final int DIRECT_MIB = 32;
    private static final int JVM_MIB = 160;

    /** Nearly twice as many of the smallest items as fit. */
    private static final int SETS = 600_000;

    private static final int BATCH = 2000;

    @TempDir
    private Path directory = Path.of("");

    @Test
    void shouldStayWithinItsBoundWhenFullOfTheSmallestItems() throws Exception {
        Path ports = directory.resolve("ports");
        List<String> command = OwnProgram.again(
                Main.class, List.of("server", "-l", "127.0.0.1", "-p", "-1", "-t", "2", "-m", "" + ITEMS_MIB));
        int ownOptions = Math.max(command.indexOf("-cp"), command.indexOf("-jar"));
        command.addAll(
                ownOptions,
                List.of(
                        "-Xmx" + HEAP_MIB + "m",
                        "-XX:MaxDirectMemorySize=" + DIRECT_MIB + "m",
                        "-XX:+ExitOnOutOfMemoryError"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put(PortFile.VARIABLE, ports.toString());
        Process server = builder.start();
        try (BufferedReader said = server.inputReader()) {
            awaitStart(said);
            String port =
                    Files.readString(ports).strip().replaceFirst(".*:", "").strip();
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port))) {
                client.setSoTimeout((int) TimeUnit.SECONDS.toMillis(60));
                fill(client);
                assertTrue(statistic(client, "evictions") > 0, "it is full");
            }
            assertTrue(server.isAlive());
            long mib = residentKib(server.pid()) >> 10;
            long most = ITEMS_MIB + HEAP_MIB + DIRECT_MIB + JVM_MIB;
            assertTrue(mib <= most, "RSS is " + mib + " MiB, more than " + most);
            assertTrue(mib > ITEMS_MIB, "RSS is " + mib + " MiB: that is not the server");
        } finally {
            server.destroyForcibly().waitFor();
        }
    }

    private static void awaitStart(BufferedReader said) throws IOException {
        List<String> all = new ArrayList<>();
        for (String line = said.readLine(); line != null; line = said.readLine()) {
            if (line.startsWith(Background.LAST_LINE)) {
                return;
            }
            all.add(line);
        }
        throw new IOException("it does not start: " + all);
    }

    private static void fill(Socket client) throws IOException {
        BufferedReader answers =
                new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
        for (int first = 0; first < SETS; first += BATCH) {
            StringBuilder requests = new StringBuilder();
            for (int i = first; i < first + BATCH; i++) {
                requests.append("set k").append(i).append(" 0 0 1 noreply\r\nx\r\n");
            }
            client.getOutputStream().write(requests.append("mn\r\n").toString().getBytes(StandardCharsets.US_ASCII));
            assertEquals("MN", answers.readLine());
        }
    }

    private static long statistic(Socket client, String name) throws IOException {
        client.getOutputStream().write("stats\r\n".getBytes(StandardCharsets.US_ASCII));
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
        long value = -1;
        for (String line = lines.readLine(); !"END".equals(line); line = lines.readLine()) {
            String[] words = String.valueOf(line).split(" ", -1);
            if (words.length == 3 && words[1].equals(name)) {
                value = Long.parseLong(words[2]);
            }
        }
        return value;
    }

    private static long residentKib(long pid) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
