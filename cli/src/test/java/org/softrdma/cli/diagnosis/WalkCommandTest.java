package org.softrdma.cli.diagnosis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

class WalkCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int walk(String... args) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        String[] all = new String[args.length + 1];
        all[0] = "walk";
        System.arraycopy(args, 0, all, 1, args.length);
        return commandLine.execute(all);
    }

    private void assertAgrees(int walks, String... args) {
        assertEquals(ExitCode.OK, walk(args), () -> out + "\n" + err);
        assertTrue(out.toString().contains(walks + " walks agree with the model, 0 do not"), out::toString);
    }

    private void assertRefused(String reason, String... args) {
        assertEquals(ExitCode.USAGE, walk(args), err::toString);
        assertEquals(
                "softrdma walk: " + reason, err.toString().lines().findFirst().orElse(""));
    }

    @Test
    void shouldWalkOnTheFabricWithFaults() {
        assertAgrees(5, "--transport", "fabric", "--faults", "--seed", "1", "--seeds", "5");
    }

    @Test
    void shouldWalkWithAPlanOfFaults(@TempDir Path directory) throws IOException {
        Path plan = directory.resolve("plan.json");
        Files.writeString(plan, """
            {"faults": [
              {"when": {"type": "onMessage", "kind": "READ_REQUEST", "number": 2}, "what": {"type": "cut"}, "times": 3},
              {"when": {"type": "afterBytes", "from": "node0", "bytes": 700}, "what": {"type": "stall", "ns": "forever"}},
              {"when": {"type": "atTime", "ns": 1000000}, "what": {"type": "slowNode", "node": "node1", "bytes": 9, "perNs": 5}}
            ]}
            """);
        String[] faults = {"--transport", "fabric", "--faults", "--fault-plan", plan.toString()};
        assertAgrees(5, with(faults, "--seed", "1", "--seeds", "5"));

        Files.writeString(
                plan,
                "{\"faults\": [{\"when\": {\"type\": \"atTime\", \"ns\": 0}, \"what\": {\"type\": \"kill\","
                        + " \"node\": \"node0\"}}]}");
        assertRefused(
                plan
                        + ": line 1: faults[0]: Kill[node=node0]: expected faults that a walk can have at any time:"
                        + " reset, cut, delay, stall, slow, slowNode, partition, pause",
                faults);
        assertRefused("--fault-plan: only with --faults", "--fault-plan", plan.toString());
    }

    private static String[] with(String[] args, String... more) {
        return Stream.concat(Arrays.stream(args), Arrays.stream(more)).toArray(String[]::new);
    }

    @Test
    void shouldWalkOverTcp() {
        assertAgrees(2, "--seed", "1", "--seeds", "2");
        assertAgrees(2, "--features", "--seed", "1", "--seeds", "2");
    }

    @Test
    void shouldFindNothingWithTheSanitiserInALawfulWalk() {
        String[] sanitised = {"--lawful", "--provider", "sanitised:sim", "--device", "sanitiser=throw", "--seed", "1"};
        assertAgrees(1, sanitised);
        assertAgrees(10, with(sanitised, "--transport", "fabric", "--seeds", "10"));
    }

    @Test
    void shouldFindNothingWithTheSanitiserInALawfulWalkWithFeatures() {
        String[] sanitised = {
            "--lawful", "--features", "--provider", "sanitised:sim", "--device", "sanitiser=throw", "--seed", "1"
        };
        assertAgrees(1, sanitised);
        assertAgrees(10, with(sanitised, "--transport", "fabric", "--seeds", "10"));
    }

    @Test
    void shouldSayHowToRepeatAWalkThatFails() {
        // A lawless walk breaks the rules that the sanitiser watches.
        assertEquals(
                ExitCode.FAILED,
                walk(
                        "--transport",
                        "fabric",
                        "--features",
                        "--seed",
                        "1",
                        "--provider",
                        "sanitised:sim",
                        "--device",
                        "sanitiser=throw"));
        assertTrue(out.toString().contains("last operations:"), out::toString);
        assertTrue(
                out.toString()
                        .contains("again: softrdma walk --transport fabric --seed 1 --operations 200 --nodes 3"
                                + " --features --provider sanitised:sim --device sanitiser=throw"),
                out::toString);
    }

    @Test
    void shouldRefuseWhatDoesNotGoTogether() {
        assertRefused("--faults: only with --transport fabric", "--faults");
        assertRefused(
                "--faults and --lawful: expected only one of them", "--transport", "fabric", "--faults", "--lawful");
        assertRefused("--nodes 1: expected 2 to 8", "--nodes", "1");
        assertRefused("--seeds 0: expected at least 1", "--seeds", "0");
        assertRefused("--operations 0: expected at least 1", "--operations", "0");
        assertRefused(
                "--device: progress=manual: a device of a fabric has the fabric's network, clock and threads; leave the"
                        + " option out",
                "--transport",
                "fabric",
                "--device",
                "progress=manual");
    }
}
