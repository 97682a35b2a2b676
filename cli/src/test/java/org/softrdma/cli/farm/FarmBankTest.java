package org.softrdma.cli.farm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

/** Processes are killed while money is moved, and nothing that was told is lost. */
@Tag("slow")
class FarmBankTest {
    private static final Pattern SURVIVED = Pattern.compile("kills survived: ([0-9]+)");

    private static final Set<String> OF_ZOOKEEPER = Set.of("zookeeper", "majority");

    /** In the short form one of them, by the day. */
    static Stream<String> victims() {
        List<String> all = List.of("node", "zookeeper", "coordinator", "majority");
        int today = (int) (System.currentTimeMillis() / 86_400_000 / 2 % all.size());
        return Boolean.getBoolean("softrdma.slow.short") ? Stream.of(all.get(today)) : all.stream();
    }

    @ParameterizedTest
    @MethodSource("victims")
    @Timeout(300)
    void shouldLoseNothingThatWasToldWhenProcessesAreKilled(String victim) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out));
        commandLine.setErr(new PrintWriter(err));

        List<String> arguments = new ArrayList<>(
                List.of("farm", "bank", "--kill", victim, "--seconds", "5", "--lease", "6000", "--tellers", "1"));
        if (OF_ZOOKEEPER.contains(victim)) {
            arguments.addAll(List.of("--zookeepers", "3"));
        }
        int code = commandLine.execute(arguments.toArray(String[]::new));

        assertEquals(ExitCode.OK, code, () -> out + "\n" + err);
        Matcher survived = SURVIVED.matcher(out.toString());
        assertTrue(survived.find() && Integer.parseInt(survived.group(1)) >= 1, out::toString);
        assertTrue(out.toString().contains("nothing acknowledged is lost"), out::toString);
    }
}
