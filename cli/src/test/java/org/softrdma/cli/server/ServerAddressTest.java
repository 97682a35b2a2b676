package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

/** {@code softrdma server}: where it listens, and what it says about who may come in. */
class ServerAddressTest {
    @TempDir
    private Path directory = Path.of("");

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {"none, 127.0.0.1", "0.0.0.0, 0.0.0.0", "127.0.0.1, 127.0.0.1"})
    void shouldOpenTheRdmaPortOfAUnixSocketOnTheLoopbackAddressUnlessToldOtherwise(String listen, String expected)
            throws Exception {
        Path socket = directory.resolve("socket");
        StringWriter out = new StringWriter();
        String options = "server -s " + socket + " -a 0700 -A -t 1 --wipe" + (listen == null ? "" : " -l " + listen);
        CompletableFuture<Integer> ended = CompletableFuture.supplyAsync(() -> {
            CommandLine commandLine = Main.commandLine();
            commandLine.setOut(new PrintWriter(out, true));
            return commandLine.execute(options.split(" ", -1));
        });
        stop(socket, ended);
        assertEquals(ExitCode.OK, ended.get());
        assertTrue(out.toString().contains("rdma: " + expected + ":"), out::toString);
    }

    /** By the command, as soon as somebody takes it. */
    private static void stop(Path socket, CompletableFuture<Integer> ended) {
        boolean told = false;
        while (!told && !ended.isDone()) {
            try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                client.connect(UnixDomainSocketAddress.of(socket));
                client.write(ByteBuffer.wrap("shutdown\r\n".getBytes(StandardCharsets.US_ASCII)));
                told = client.read(ByteBuffer.allocate(64)) < 0;
            } catch (IOException e) {
                Thread.onSpinWait(); // it is not there yet
            }
        }
    }

    @Test
    void shouldSayInItsHelpWhoCanReadWhat() {
        StringWriter out = new StringWriter();
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        assertEquals(ExitCode.OK, commandLine.execute("server", "--help"));
        String help = out.toString().replaceAll("\\s+", " ");
        for (String part : new String[] {
            "docs/guide/security.md",
            "travel in the clear",
            "that the TCP port and the RDMA port listen on",
            "The RDMA port then listens on 127.0.0.1",
            "--wipe",
            "Needs a device with private data"
        }) {
            assertTrue(help.contains(part), () -> "'" + part + "' in " + help);
        }
    }
}
