package org.softrdma.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;

/** The study in a process of its own, which it binds to a core. Needs a C compiler and two cores. */
@Tag("slow")
class PerfFloorProcessTest {
    private static final long SECONDS = 120;

    @TempDir
    private Path directory;

    private String said = "";

    private JsonNode floor(String... further) throws IOException, InterruptedException {
        Path json = directory.resolve("floor.json");
        Path output = directory.resolve("output");
        List<String> command = new ArrayList<>(List.of(
                "perf",
                "floor",
                "--sizes=2K",
                "--windows=4",
                "--connections=1",
                "--memory=1M",
                "--responders=1",
                "--rounds=1",
                "--millis=100",
                "--warm-up-millis=3000",
                "--no-latency",
                "--json=" + json));
        command.addAll(List.of(further));
        Process process = new ProcessBuilder(OwnProgram.again(Main.class, command))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
            said = Files.readString(output);
            assertTrue(ended, said);
            assertEquals(ExitCode.OK, process.exitValue(), said);
        } finally {
            process.destroyForcibly();
        }
        return new ObjectMapper().readTree(json.toFile());
    }

    @Test
    void shouldMeasureReadsOfThisProcessBesideCopiesInC() throws IOException, InterruptedException {
        JsonNode row = floor().get("sameHost").get(0);
        assertEquals(2048, row.get("sizeBytes").asInt());
        assertTrue(row.get("copyNanos").asDouble() > 0, row::toString);
        assertTrue(row.get("readNanos").asDouble() > 0, row::toString);
        assertTrue(said.contains("READ on the same host"), said);
    }

    @Test
    @DisabledIfSystemProperty(named = "softrdma.slow.short", matches = "true", disabledReason = "takes half a minute")
    void shouldDoWithoutWhereThereAreNone() throws IOException, InterruptedException {
        JsonNode results = floor("--device", "same-host=off");
        assertTrue(results.has("sameHostSkipped"), results::toString);
        assertTrue(said.contains("skipped: READ on the same host: "), said);
        assertEquals(1, results.get("cells").size());
    }
}
