package org.softrdma.cli.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

class PapersCommandTest {
    @TempDir
    private Path directory;

    private final StringWriter said = new StringWriter();

    private int execute(String... arguments) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(said, true));
        commandLine.setOut(new PrintWriter(said, true));
        return commandLine.execute(arguments);
    }

    @Test
    void shouldNameEveryRow() throws IOException {
        assertEquals(
                ExitCode.OK,
                execute("papers", "--json", directory.resolve("ledger.json").toString()),
                said::toString);
        for (String id : new String[] {"W-Fig8a", "P-Fig10a, P-Fig10b", "H-Tab1", "N-Fig2", "F-Fig4, F-Fig5"}) {
            assertTrue(said.toString().contains(id + ": "), said::toString);
        }
        assertTrue(
                said.toString().contains("verdict: not run, because: there is no results.json of compare"),
                said::toString);
        assertTrue(said.toString().contains("--nodes 3,10 --out compare-counts"), said::toString);
        assertTrue(said.toString().contains("2 not in our text of the paper"), said::toString);
        JsonNode rows =
                new ObjectMapper().readTree(directory.resolve("ledger.json").toFile());
        assertEquals("W-Fig1", rows.get(0).get("id").asText());
    }

    @Test
    void shouldRefuseAFileThatIsNamedAndMissing() {
        String file = directory.resolve("none").toString();
        for (String option : List.of("--compare", "--counts", "--wimpy", "--perf", "--verbs", "--farm")) {
            assertEquals(ExitCode.USAGE, execute("papers", option, file), option);
            assertTrue(
                    said.toString().contains("softrdma papers: " + option + ": there is no file " + file),
                    said::toString);
        }
    }

    @Test
    void shouldRefuseWhatIsNoResult() throws IOException {
        Path file = Files.writeString(directory.resolve("other.json"), "{}");
        assertEquals(ExitCode.USAGE, execute("papers", "--compare", file.toString()));
        assertTrue(said.toString().startsWith("softrdma papers: " + file + ": study="), said::toString);
        assertEquals(1, said.toString().lines().count(), said::toString);
    }
}
