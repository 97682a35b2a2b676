package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

/** {@code softrdma server}: options of pinning that cannot hold keep it from starting, with a reason. */
class ServerPinningTest {
    private final StringWriter err = new StringWriter();

    private int server(String... options) {
        String[] arguments = new String[options.length + 5];
        System.arraycopy(new String[] {"server", "-l", "127.0.0.1", "-p", "0"}, 0, arguments, 0, 5);
        System.arraycopy(options, 0, arguments, 5, options.length);
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(arguments);
    }

    @Test
    void shouldRefuseWordsThatMeanNothing() {
        assertEquals(ExitCode.USAGE, server("--pinning", "sometimes"));
        assertTrue(
                err.toString().contains("--pinning sometimes: expected one of auto, lazy, eager, off"), err::toString);
        assertEquals(ExitCode.USAGE, server("--pin-budget", "much"));
        assertTrue(err.toString().contains("pin-budget=much: expected bytes"), err::toString);
    }

    @Test
    void shouldRefuseOptionsThatContradictEachOther() {
        assertEquals(ExitCode.USAGE, server("-k", "--pinning", "lazy"));
        assertEquals(ExitCode.USAGE, server("-L", "--memory-file", "items"));
        assertEquals(ExitCode.USAGE, server("--pinning", "off", "--pin-budget", "64m"));
        assertEquals(ExitCode.USAGE, server("-k", "--pin-budget", "64m"));
        assertTrue(err.toString().contains("--pin-budget 64m: expected --pinning lazy or auto"), err::toString);
    }

    @Test
    void shouldFailWhenLazyIsAskedForByNameAndCannotWork() {
        assertEquals(ExitCode.FAILED, server("--pinning", "lazy", "--pin-budget", "100k"));
        assertTrue(err.toString().contains("pinning=lazy: a granule has 262144 bytes"), err::toString);
    }
}
