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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

class PapersCommandTest {
    @TempDir
    private Path directory;

    private final StringWriter said = new StringWriter();

    private int execute(Path compare, Path counts) {
        CommandLine commandLine = Main.commandLine();
        commandLine.setErr(new PrintWriter(said, true));
        commandLine.setOut(new PrintWriter(said, true));
        return commandLine.execute(
                "papers",
                "--compare",
                compare.toString(),
                "--counts",
                counts.toString(),
                "--wimpy",
                directory.resolve("none").toString(),
                "--perf",
                directory.resolve("none").toString(),
                "--json",
                directory.resolve("ledger.json").toString());
    }

    @Test
    void shouldNameEveryRow() throws IOException {
        Path none = directory.resolve("none");
        assertEquals(ExitCode.OK, execute(none, none), said::toString);
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
    void shouldRefuseWhatIsNoResult() throws IOException {
        Path file = Files.writeString(directory.resolve("other.json"), "{}");
        assertEquals(ExitCode.USAGE, execute(file, directory.resolve("none")));
        assertTrue(said.toString().startsWith("softrdma papers: " + file + ": study="), said::toString);
        assertEquals(1, said.toString().lines().count(), said::toString);
    }
}
