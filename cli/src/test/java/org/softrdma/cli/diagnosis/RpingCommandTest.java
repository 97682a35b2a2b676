package org.softrdma.cli.diagnosis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.bench.machine.Child;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import picocli.CommandLine;

class RpingCommandTest {
    private static final long SECONDS = 50;
    private static final long PAUSE_NS = 1_000_000;

    @TempDir
    private Path files = Path.of("");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int rping(String... args) {
        err.getBuffer().setLength(0);
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        String[] all = new String[args.length + 1];
        all[0] = "rping";
        System.arraycopy(args, 0, all, 1, args.length);
        return commandLine.execute(all);
    }

    private void assertRefused(String reason, String... args) {
        assertEquals(ExitCode.USAGE, rping(args), err::toString);
        assertEquals(
                "softrdma rping: " + reason, err.toString().lines().findFirst().orElse(""));
    }

    @Test
    void shouldRefuseWrongOptions() {
        assertRefused("expected either -s (server) or -c (client)");
        assertRefused("expected either -s (server) or -c (client)", "-s", "-c");
        assertRefused("-a: a client needs the server's address", "-c");
        assertRefused("-P: only for servers", "-c", "-P", "-a", "127.0.0.1");
        assertRefused("-p 70000: expected a port from 0 to 65535", "-s", "-p", "70000");
        assertRefused("-p 0: expected a port from 1 to 65535", "-c", "-a", "127.0.0.1", "-p", "0");
        assertRefused("-S 25: expected 26 to 65535 bytes", "-s", "-S", "25");
        assertRefused("-S x: expected a whole number", "-s", "-S", "x");
        assertRefused("-C -1: expected at least 1, or 0 for no end", "-c", "-a", "127.0.0.1", "-C", "-1");
        assertRefused("Unknown option: '-q'", "-s", "-q");
    }

    @Test
    void shouldFailWhenNobodyListens() throws IOException {
        try (Socket bound = new Socket()) { // its port is nobody else's, and nobody listens there
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            String port = String.valueOf(bound.getLocalPort());
            assertEquals(ExitCode.FAILED, rping("-c", "-a", "127.0.0.1", "-p", port, "-C", "1"));
        }
        assertTrue(err.toString().contains("is the server running there"), err::toString);
    }

    /** A server process is killed between two pings of a client without end. */
    @Test
    void shouldPingUntilThePeerIsKilled() throws Exception {
        List<String> command = OwnProgram.again(Main.class, List.of("rping", "-s", "-P", "-a", "127.0.0.1", "-p", "0"));
        try (Child server = Child.start("rping server", command)) {
            String where = server.await("listening", SECONDS);
            String port = where.replaceFirst("^on 127\\.0\\.0\\.1:(\\d+),.*", "$1");
            assertEquals(ExitCode.OK, rping("-c", "-a", "127.0.0.1", "-p", port, "-C", "2", "-vV"), err::toString);
            List<String> lines = out.toString().lines().toList();
            assertEquals(2, lines.size());
            assertTrue(lines.get(1).startsWith("ping data: rdma-ping-1: BCD"), out::toString);

            Path capture = Files.writeString(files.resolve("capture.pcapng"), "of an earlier run");
            assertEquals(
                    ExitCode.OK,
                    rping("-c", "-a", "127.0.0.1", "-p", port, "-C", "1", "--pcap", capture.toString()),
                    err::toString);
            byte[] captured = Files.readAllBytes(capture);
            assertArrayEquals(new byte[] {0x0A, 0x0D, 0x0D, 0x0A}, Arrays.copyOf(captured, 4), "a pcapng file");
            assertTrue(captured.length > 500, "more than its head: " + captured.length);
            out.getBuffer().setLength(0);

            ProcessHandle process = ProcessHandle.of(server.pid()).orElseThrow();
            Thread killer = Thread.ofPlatform().daemon().unstarted(() -> {
                // Not before the endless client has pinged a while; without a core of its own.
                while (out.getBuffer().length() < 10_000) {
                    LockSupport.parkNanos(PAUSE_NS);
                }
                process.destroyForcibly();
            });
            killer.start();
            assertEquals(ExitCode.FAILED, rping("-c", "-a", "127.0.0.1", "-p", port, "-v"));
            assertTrue(err.toString().contains("the server went away when it should"), err::toString);
        }
    }
}
