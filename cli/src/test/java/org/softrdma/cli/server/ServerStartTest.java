package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

/** {@code softrdma server}: what keeps it from starting, and what it says before it starts. */
class ServerStartTest {
    private static final long MIB = 1 << 20;
    /** Options take ports below it. */
    private static final int FIRST_SPREADING_PORT = 0xC000;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path directory = Path.of("");

    private int server(String... options) {
        List<String> arguments = new ArrayList<>(List.of("server", "-l", "127.0.0.1", "-p", "0", "-t", "1"));
        arguments.addAll(List.of(options));
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(arguments.toArray(String[]::new));
    }

    @Test
    void shouldNameTheOptionOfAPortThatIsInUse() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            for (String option : List.of("-p", "--rdma-port", "--metrics-port")) {
                String port = Integer.toString(taken.getLocalPort());
                assertEquals(ExitCode.USAGE, server(option, port), option);
                assertTrue(err.toString().contains(option), err::toString);
                assertEquals("", out.toString(), "nothing as if it ran");
                err.getBuffer().setLength(0);
            }
        }
    }

    /** Not --rdma-port, which was not given. */
    @Test
    void shouldNameTheDeviceOptionOfAUdpPortThatIsInUse() throws IOException {
        try (DatagramSocket taken = takenBelow(FIRST_SPREADING_PORT)) {
            String port = "roce-port=" + taken.getLocalPort();
            assertEquals(ExitCode.USAGE, server("--device", "wire=roce", "--device", port));
            assertTrue(err.toString().startsWith("softrdma server: cannot listen at 127.0.0.1:"), err::toString);
            assertTrue(err.toString().contains("choose another by roce-port"), err::toString);
        }
    }

    private static DatagramSocket takenBelow(int port) throws SocketException {
        DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        while (socket.getLocalPort() >= port) {
            socket.close();
            socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        }
        return socket;
    }

    @Test
    void shouldNameTheDirectoryThatIsMissingForASocket() {
        Path missing = directory.resolve("missing");
        assertEquals(ExitCode.USAGE, server("-s", missing.resolve("socket").toString()));
        assertTrue(err.toString().contains("there is no directory " + missing), err::toString);
    }

    @Test
    void shouldSayThatTheItemsDoNotFitIntoTheMachine() {
        MemoryOptions options = CommandLine.populateCommand(new MemoryOptions(), "-m", "2000");
        assertTrue(options.warning(2000 * MIB).isEmpty());
        assertTrue(options.warning(2000 * MIB - 1)
                .orElseThrow()
                .startsWith("-m 2000: this machine or container has 1999 MB"));
        MemoryOptions inFile = CommandLine.populateCommand(new MemoryOptions(), "-m", "2000", "--memory-file", "f");
        assertTrue(inFile.warning(MIB).isEmpty(), "unused items leave memory");
    }

    @Test
    void shouldSayThatTheConnectionsNeedMoreDescriptors() {
        assertTrue(OpenFiles.makeRoom(1, 1).isEmpty());
        String warning = OpenFiles.warning(1024, OpenFiles.needed(1024, 4), 64);
        assertTrue(warning.contains("-c 1024") && warning.contains("the limit is 64"), warning);
    }

    @Test
    void shouldRemoveItsPidFileButNotThatOfAnother() throws IOException {
        Path file = directory.resolve("pid");
        List<String> warnings = new ArrayList<>();
        PidFile own = PidFile.write(file, warnings::add);
        assertEquals(ProcessHandle.current().pid() + "\n", Files.readString(file));
        own.close();
        assertFalse(Files.exists(file));
        own.close();
        Files.writeString(file, "1\n");
        PidFile.write(file, warnings::add);
        assertEquals(1, warnings.size(), "process 1 runs");
        Files.writeString(file, "1\n");
        own.close();
        assertEquals("1\n", Files.readString(file));
    }

    @Test
    void shouldLeaveTimeToCloseWithinTheGraceOfAContainer() {
        assertTrue(StoppableServer.DRAIN_TIMEOUT_NS <= 5_000_000_000L);
    }
}
