package org.softrdma.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.UserErrorException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class MainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldShowCommandsWhenAskedForHelp() {
        assertEquals(ExitCode.OK, execute("--help"));
        assertTrue(out.toString().contains("Commands:"), out::toString);
    }

    @Test
    void shouldNameTheVersionAndTheJavaWhenAskedForVersion() {
        assertEquals(ExitCode.OK, execute("--version"));
        assertTrue(out.toString().startsWith("softrdma "), out::toString);
        assertTrue(out.toString().contains("Java " + Runtime.version().feature()), out::toString);
    }

    @Test
    void shouldExplainItselfWhenTheCommandIsUnknown() {
        assertEquals(ExitCode.USAGE, execute("nonsense"));
        assertTrue(err.toString().startsWith("softrdma: 'nonsense' is not a command."), err::toString);
        assertTrue(err.toString().contains("softrdma --help"), err::toString);
        assertFalse(err.toString().contains("\tat "), err::toString);
    }

    @Test
    void shouldSuggestWhenTheCommandIsMisspelt() {
        assertEquals(ExitCode.USAGE, execute("halp"));
        assertTrue(err.toString().contains("softrdma help"), err::toString);
    }

    @Test
    void shouldFailWhenThereIsNoCommand() {
        assertEquals(ExitCode.USAGE, execute());
        assertTrue(err.toString().contains("Missing command."), err::toString);
    }

    @Test
    void shouldExplainItselfWhenAnOptionIsUnknown() {
        assertEquals(ExitCode.USAGE, execute("--no-such-option"));
        assertTrue(err.toString().contains("'--no-such-option'"), err::toString);
    }

    @Test
    void shouldPrintOneSentenceWhenTheUserIsWrong() {
        assertEquals(ExitCode.USAGE, execute("refuse"));
        assertEquals(
                "softrdma refuse: port=70000 is not between 1 and 65535." + System.lineSeparator(), err.toString());
    }

    @Test
    void shouldRefuseAFileOfResultsWhenTheServerNeverEnds() {
        assertEquals(ExitCode.USAGE, execute("perf", "read-bw", "--run-infinitely", "--json", "results.json"));
        assertTrue(err.toString().contains("omit --run-infinitely"), err::toString);
    }

    @Test
    void shouldShowTheStackTraceWhenAskedForIt() {
        assertEquals(ExitCode.USAGE, execute("refuse", "--stacktrace"));
        assertTrue(err.toString().contains("\tat "), err::toString);
    }

    @Test
    void shouldShowNoStackTraceOfAUsersErrorWhenVerbose() {
        assertEquals(ExitCode.USAGE, execute("-v", "refuse"));
        assertFalse(err.toString().contains("\tat "), err::toString);
        assertEquals(ExitCode.USAGE, execute("-v", "refuse", "--nonsense"));
        assertFalse(err.toString().contains("\tat "), err::toString);
    }

    @Test
    void shouldFailWithoutAStackTraceWhenTheProgramIsWrong() {
        assertEquals(ExitCode.FAILED, execute("break"));
        assertTrue(err.toString().startsWith("softrdma break: unexpected failure: "), err::toString);
        assertTrue(err.toString().contains("--stacktrace"), err::toString);
        assertFalse(err.toString().contains("\tat "), err::toString);
    }

    @Test
    void shouldPassOnTheExitCodeOfTheCommand() {
        assertEquals(17, execute("seventeen"));
    }

    @Test
    void shouldRefuseWhenHelpIsAskedForAnUnknownCommand() {
        assertEquals(ExitCode.USAGE, execute("help", "nonsense"));
        assertTrue(err.toString().contains("'nonsense' is not a command"), err::toString);
    }

    @Test
    void shouldSayInOneSentenceWhatAValueShouldBe() {
        assertRefused("softrdma perf read-lat: -p x: expected a whole number", "perf", "read-lat", "-p", "x");
        assertRefused("softrdma perf floor: --limit x: expected a number", "perf", "floor", "--limit", "x");
        assertRefused(
                "softrdma perf floor: --beside no.jar: expected the jar of another build, which is"
                        + " cli/target/softrdma.jar in its clone",
                "perf",
                "floor",
                "--beside",
                "no.jar");
        assertRefused(
                "softrdma perf verbs: --sizes [12, 16]: expected multiples of 8 from 16 to 1048576, because WRITEs end"
                        + " with a word that is polled",
                "perf",
                "verbs",
                "--sizes",
                "12,16");
        assertRefused("softrdma perf scale: --stags x: expected a whole number", "perf", "scale", "--stags", "x,2");
        assertRefused(
                "softrdma perf read-lat: --progress x: expected engine or manual",
                "perf",
                "read-lat",
                "--progress",
                "x");
        assertRefused("softrdma perf read-lat: -s 0: expected at least 1", "perf", "read-lat", "-s", "0", "host");
        assertRefused(
                "softrdma perf read-lat: -a and -s: expected only one of them", "perf", "read-lat", "-a", "-s", "1");
        assertRefused(
                "softrdma perf read-lat: --cpu 99999: this machine has no such core",
                "perf",
                "read-lat",
                "--cpu",
                "99999");
        assertRefused(
                "softrdma tck: no case has the number 9999; softrdma tck --list shows them", "tck", "--case", "9999");
    }

    @Test
    void shouldListTheCommandsButNoHiddenOneWhenTheCommandIsUnknown() {
        assertEquals(ExitCode.USAGE, execute("perf", "foo"));
        assertTrue(err.toString().startsWith("softrdma perf: 'foo' is not a command."), err::toString);
        assertTrue(err.toString().contains("Commands: read-lat, read-bw,"), err::toString);
        assertFalse(err.toString().contains("responder"), err::toString);
    }

    private void assertRefused(final String firstLine, final String... args) {
        err.getBuffer().setLength(0);
        assertEquals(ExitCode.USAGE, execute(args), err::toString);
        assertEquals(firstLine, err.toString().lines().findFirst().orElse(""));
    }

    private int execute(final String... args) {
        final CommandLine commandLine = Main.commandLine();
        commandLine.addSubcommand(new Refuse());
        commandLine.addSubcommand(new Break());
        commandLine.addSubcommand(new Seventeen());
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        Main.configure(commandLine);
        return commandLine.execute(args);
    }

    @Command(name = "refuse")
    private static final class Refuse implements Callable<Integer> {
        @Override
        public Integer call() {
            throw new UserErrorException("port=70000 is not between 1 and 65535.");
        }
    }

    @Command(name = "break")
    private static final class Break implements Callable<Integer> {
        @Override
        public Integer call() {
            throw new IllegalStateException("a fault of ours");
        }
    }

    @Command(name = "seventeen")
    private static final class Seventeen implements Callable<Integer> {
        @Override
        public Integer call() {
            return 17;
        }
    }
}
