package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;

/** {@code softrdma server} as a process: signals, {@code -d}, {@code -u}, {@code -Y}. */
@EnabledOnOs(OS.LINUX)
class ServerProcessTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int HANG_UP = 1;
    private static final int INTERRUPT = 2;

    @TempDir
    private Path directory = Path.of("");

    private static Process server(String... options) throws IOException {
        return builder(options).start();
    }

    private static ProcessBuilder builder(String... options) {
        List<String> arguments = new ArrayList<>(List.of("server", "-l", "127.0.0.1", "-p", "-1", "-t", "1"));
        arguments.addAll(List.of(options));
        return new ProcessBuilder(OwnProgram.again(Main.class, arguments)).redirectErrorStream(true);
    }

    /** The port of the server that prints this; all it prints until it serves. */
    private static int port(BufferedReader lines) throws IOException {
        int port = 0;
        StringBuilder all = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            all.append(line).append('\n');
            if (line.startsWith("memcached: ")) {
                port = Integer.parseInt(line.replaceFirst(".*:", ""));
            }
            if (line.startsWith(Background.LAST_LINE)) {
                return port;
            }
        }
        throw new IOException("it does not start: " + all);
    }

    private static Socket connect(int port) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
        client.setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(PATIENCE_NS));
        return client;
    }

    private static String ask(Socket client, String request, int length) throws IOException {
        client.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return new String(client.getInputStream().readNBytes(length), StandardCharsets.US_ASCII);
    }

    private static void signal(long pid, String name) throws Exception {
        assertEquals(
                0,
                new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                        .inheritIO()
                        .start()
                        .waitFor());
    }

    @Test
    void shouldEndGracefullyBySignal() throws Exception {
        Process server = server();
        try (Socket idle = connectTo(server);
                Socket busy = connect(idle.getPort());
                Socket busier = connect(idle.getPort())) {
            for (Socket each : List.of(busy, busier)) { // the value of b has not come
                assertEquals("STO", ask(each, "set a 0 0 1\r\nx\r\nset b 0 0 1\r\n", 3));
            }
            signal(server.pid(), "USR1");
            assertEquals(-1, idle.getInputStream().read());
            assertTrue(server.isAlive());
            assertEquals("RED\r\nSTORED\r\n", ask(busy, "y\r\n", 13)); // and what had begun is answered
            assertEquals(-1, busy.getInputStream().read());
            // All were asked to end when the first one was, before this one was asked again.
            assertEquals("RED\r\nSTORED\r\n", ask(busier, "y\r\n", 13));
            assertEquals(-1, busier.getInputStream().read());
            assertTrue(server.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ExitCode.OK, server.exitValue());
        } finally {
            server.destroyForcibly();
        }
    }

    private static Socket connectTo(Process server) throws IOException {
        return connect(port(server.inputReader()));
    }

    /** What this process ignores its children ignore too; signal 1 is the lowest bit (proc_pid_status(5)). */
    private static boolean ignores(int signal) throws IOException {
        try (Stream<String> status = Files.lines(Path.of("/proc/self/status"))) {
            return status.filter(line -> line.startsWith("SigIgn:"))
                    .anyMatch(line -> (Long.parseUnsignedLong(
                                                    line.substring("SigIgn:".length())
                                                            .strip(),
                                                    16)
                                            >>> (signal - 1)
                                    & 1)
                            != 0);
        }
    }

    @Test
    void shouldReadPasswordsAgainBySignal() throws Exception {
        Assumptions.assumeFalse(ignores(HANG_UP), "run by nohup, whose children ignore SIGHUP");
        Path file = Files.writeString(directory.resolve("passwords"), "ann:old\n");
        Process server = server("-Y", file.toString());
        try (BufferedReader lines = server.inputReader()) {
            int port = port(lines);
            assertEquals("STORED", login(port, "ann old"));
            Files.writeString(file, "bob:new\n");
            signal(server.pid(), "HUP");
            long deadlineNs = System.nanoTime() + PATIENCE_NS;
            while (!login(port, "bob new").equals("STORED")) {
                assertTrue(System.nanoTime() < deadlineNs, "the passwords are not read");
            }
            assertEquals("CLIENT", login(port, "ann old"));
            Files.delete(file);
            signal(server.pid(), "HUP");
            String line = lines.readLine();
            assertTrue(line.endsWith("there is no such file; the passwords are unchanged."), line);
            assertEquals("STORED", login(port, "bob new"));
            signal(server.pid(), "TERM");
            assertTrue(server.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ExitCode.OK, server.exitValue(), "as memcached");
        } finally {
            server.destroyForcibly();
        }
    }

    private static String login(int port, String words) throws IOException {
        try (Socket client = connect(port)) {
            return ask(client, "set login 0 0 " + words.length() + "\r\n" + words + "\r\n", 6);
        }
    }

    @Test
    void shouldRunInTheBackground() throws Exception {
        Path pidFile = directory.resolve("pid");
        Process starter = server("-d", "-P", pidFile.toString(), "-A");
        Optional<ProcessHandle> server = Optional.empty();
        try (BufferedReader lines = starter.inputReader()) {
            int port = port(lines);
            assertTrue(starter.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ExitCode.OK, starter.exitValue());
            long pid = Long.parseLong(Files.readString(pidFile).strip());
            server = ProcessHandle.of(pid);
            assertTrue(server.isPresent() && server.get().isAlive());
            assertFalse(pid == starter.pid());
            assertEquals(Long.toString(pid), session(pid), "a session of its own");
            try (Socket client = connect(port)) {
                assertEquals("STORED\r\n", ask(client, "set a 0 0 1\r\nx\r\n", 8));
                awaitStreamsLeft(pid);
                client.getOutputStream().write("shutdown\r\n".getBytes(StandardCharsets.US_ASCII));
                server.get().onExit().get(60, TimeUnit.SECONDS);
            }
            assertFalse(Files.exists(pidFile));
        } finally {
            starter.destroyForcibly();
            server.ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    private static String session(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[3];
    }

    private static void awaitStreamsLeft(long pid) throws IOException {
        Path streams = Path.of("/proc", Long.toString(pid), "fd");
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        for (String stream : List.of("0", "1", "2")) {
            while (!Files.readSymbolicLink(streams.resolve(stream)).equals(Path.of("/dev/null"))) {
                assertTrue(System.nanoTime() < deadlineNs, "stream " + stream + " is still open");
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
        }
    }

    @Test
    void shouldSayWhyAServerInTheBackgroundDoesNotStart() throws Exception {
        Process starter = server("-d", "-Y", "/nonexist");
        try (BufferedReader lines = starter.inputReader()) {
            String line = lines.readLine();
            assertTrue(line.contains("-Y /nonexist: there is no such file"), line);
            assertEquals(ExitCode.USAGE, starter.waitFor());
        }
    }

    @Test
    void shouldBecomeAnotherUserIfItMay() throws Exception {
        boolean root = "root".equals(System.getProperty("user.name"));
        Process server = server("-u", "nobody");
        try (BufferedReader lines = server.inputReader()) {
            if (!root) {
                String line = lines.readLine();
                assertTrue(line.contains("only root can become another user"), line);
                assertEquals(ExitCode.USAGE, server.waitFor());
                return;
            }
            Assumptions.assumeTrue(port(lines) != 0);
            String status = Files.readString(Path.of("/proc", Long.toString(server.pid()), "status"));
            assertFalse(status.contains("\nUid:\t0"), status);
            assertFalse(status.contains("\nGid:\t0"), status);
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    void shouldNameAUserThatThereIsNot() throws Exception {
        Process server = server("-u", "no-such-user");
        try (BufferedReader lines = server.inputReader()) {
            String line = lines.readLine();
            assertTrue(line.contains("-u no-such-user: there is no such user."), line);
            assertEquals(ExitCode.USAGE, server.waitFor());
        }
    }

    /** Commands, as memcached's -vv, and not what users chose to keep secret. */
    @Test
    void shouldSayWhatItDoesOnSeveralPortsAndLeaveThePidFileOfAnother() throws Exception {
        Path pidFile = directory.resolve("pid");
        Process server = server("-l", "127.0.0.1:0,127.0.0.1:0", "-vv", "-P", pidFile.toString());
        try (BufferedReader lines = server.inputReader()) {
            String line = lineWith("memcached: ", lines);
            assertTrue(line.matches("memcached: (127\\.0\\.0\\.1:[0-9]+, ){2}127\\.0\\.0\\.1:[0-9]+"), line);
            assertTrue(lineWith("settings: {", lines).contains("num_threads=1"));
            for (String each : line.replaceFirst("memcached: ", "").split(", ", -1)) {
                try (Socket client = connect(Integer.parseInt(each.replaceFirst(".*:", "")))) {
                    assertEquals("MN\r\n", ask(client, "mn\r\n", 4));
                }
            }
            for (String said : List.of("<1 new client connection", "<1 mn", ">1 MN", "<1 connection closed")) {
                assertTrue(lineWith(said, lines).contains(said));
            }
            assertEquals(Long.toString(server.pid()), Files.readString(pidFile).strip());
            Files.writeString(pidFile, "1\n"); // another server's
            signal(server.pid(), ignores(INTERRUPT) ? "TERM" : "INT");
            assertTrue(lineWith("has come", lines).contains("SIG"));
            assertTrue(server.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ExitCode.OK, server.exitValue(), "as memcached");
            assertEquals("1\n", Files.readString(pidFile));
        } finally {
            server.destroyForcibly();
        }
    }

    private static String lineWith(String part, BufferedReader lines) throws IOException {
        String line = lines.readLine();
        while (line != null && !line.contains(part)) {
            line = lines.readLine();
        }
        assertTrue(line != null, part);
        return line;
    }

    /** How test suites of memcached's clients start a server. */
    @Test
    void shouldWriteItsPortsWhereMemcachedDoes() throws Exception {
        Path file = directory.resolve("ports");
        ProcessBuilder builder = builder("-l", "127.0.0.1:0");
        builder.environment().put(PortFile.VARIABLE, file.toString());
        Process server = builder.start();
        try (BufferedReader lines = server.inputReader()) {
            port(lines);
            List<String> ports = Files.readAllLines(file);
            assertEquals(2, ports.size());
            for (String each : ports) {
                assertTrue(each.startsWith("TCP INET: "), each);
                try (Socket client = connect(Integer.parseInt(each.replaceFirst(".*: ", "")))) {
                    assertEquals("MN\r\n", ask(client, "mn\r\n", 4));
                }
            }
        } finally {
            server.destroyForcibly();
        }
    }
}
