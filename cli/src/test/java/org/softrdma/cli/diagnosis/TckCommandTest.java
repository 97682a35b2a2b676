package org.softrdma.cli.diagnosis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

class TckCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int tck(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        String[] all = new String[args.length + 1];
        all[0] = "tck";
        System.arraycopy(args, 0, all, 1, args.length);
        return commandLine.execute(all);
    }

    private void assertRefused(String reason, String... args) {
        assertEquals(ExitCode.USAGE, tck(args), err::toString);
        assertEquals(
                "softrdma tck: " + reason, err.toString().lines().findFirst().orElse(""));
    }

    @Test
    void shouldRunCasesOnTheFabricBySeeds() {
        assertEquals(ExitCode.OK, tck("--transport", "fabric", "--case", "36,45", "--seed", "7", "--seeds", "2"));
        List<String> lines = out.toString().lines().toList();
        assertTrue(lines.getFirst().startsWith("fabric, "), out::toString);
        assertTrue(lines.get(1).startsWith("seed 7 (") && lines.get(1).endsWith("): 2 passed, 0 failed, 0 skipped"));
        assertTrue(lines.get(2).startsWith("seed 8 ("), out::toString);
        assertEquals("no case failed", lines.getLast());
    }

    @Test
    void shouldRunCasesOnBoth() {
        assertEquals(ExitCode.OK, tck("--transport", "both", "--case", "36"));
        assertTrue(out.toString().contains("no case failed"), out::toString);
        assertTrue(out.toString().contains("1 passed, 0 failed, 0 skipped"), out::toString);
    }

    @Test
    void shouldRefuseWhatDoesNotGoWithTheTransport() {
        assertRefused("--seeds: only with --transport fabric or both", "--seeds", "2");
        assertRefused("--seeds 0: expected at least 1", "--transport", "fabric", "--seeds", "0");
        assertRefused(
                "--transport fabric: the fabric has devices of the provider sim, not of sanitised:sim",
                "--transport",
                "fabric",
                "--provider",
                "sanitised:sim");
        assertRefused("--json: only with --transport tcp or both", "--transport", "fabric", "--json", "results.json");
        assertRefused(
                "--device: transport=nio: a device of a fabric has the fabric's network, clock and threads; leave the"
                        + " option out",
                "--transport",
                "fabric",
                "--device",
                "transport=nio");
        assertRefused(
                "no case has the number 9999; softrdma tck --list shows them",
                "--transport",
                "fabric",
                "--case",
                "9999");
    }
}
