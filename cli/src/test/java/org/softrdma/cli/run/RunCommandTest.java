package org.softrdma.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** The command line alone: a run needs a process of its own. */
class RunCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int execute(String... arguments) {
        CommandLine command = Main.commandLine();
        command.setOut(new PrintWriter(out));
        command.setErr(new PrintWriter(err));
        return command.execute(arguments);
    }

    private static List<String> program(String... arguments) {
        ParseResult parsed = Main.commandLine().parseArgs(arguments).subcommand();
        return parsed.matchedPositional(0).getValue();
    }

    @Test
    void shouldLeaveTheProgramsArgumentsAlone() {
        List<String> expected = List.of("ib_read_lat", "-R", "--help", "-v", "--", "@file", "\"a b\"");
        assertEquals(expected, program("run", "--", "ib_read_lat", "-R", "--help", "-v", "--", "@file", "\"a b\""));
        assertEquals(expected, program("run", "ib_read_lat", "-R", "--help", "-v", "--", "@file", "\"a b\""));
    }

    @Test
    void shouldAskForAProgram() {
        assertEquals(ExitCode.USAGE, execute("run"));
        assertTrue(err.toString().contains("Missing the program to run, or --check."), err::toString);
    }

    @Test
    void shouldSayOfEachThingWhetherThisMachineHasIt() {
        int code = execute("run", "--check");
        List<String> lines = out.toString().lines().toList();
        assertTrue(lines.getFirst().startsWith("processor: "), out::toString);
        assertTrue(lines.getLast().startsWith("driver: "), out::toString);
        boolean good = lines.stream().allMatch(line -> line.contains(": good: "));
        assertEquals(good ? ExitCode.OK : ExitCode.FAILED, code, out::toString);
        assertFalse(lines.stream().anyMatch(line -> line.contains("errno -")), out::toString);
    }
}
