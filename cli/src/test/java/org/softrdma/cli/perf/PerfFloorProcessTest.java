package org.softrdma.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.study.OwnStudy;

/** The study in a process of its own, which it binds to a core. Needs a C compiler and two cores. */
@Tag("slow")
class PerfFloorProcessTest {
    @TempDir
    private Path directory;

    private String said = "";

    private JsonNode floor(String... further) throws IOException, InterruptedException {
        Path json = directory.resolve("floor.json");
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
        said = OwnStudy.run(command, directory.resolve("output"));
        return new ObjectMapper().readTree(json.toFile());
    }

    /** In both directions: both ends of the C program, of an engine and of manual progress, with one READ outstanding and with 16. */
    @Test
    void shouldMeasureReadsOfThisProcessAndInBothDirectionsBesideC() throws IOException, InterruptedException {
        JsonNode results = floor();
        JsonNode row = results.get("sameHost").get(0);
        assertEquals(2048, row.get("sizeBytes").asInt());
        assertTrue(row.get("copyNanos").asDouble() > 0, row::toString);
        assertTrue(row.get("readNanos").asDouble() > 0, row::toString);
        assertTrue(said.contains("READ on the same host"), said);
        JsonNode bothWays = results.get("bothWays");
        assertEquals(2, bothWays.size());
        for (JsonNode exchange : bothWays) {
            for (String end : List.of("C", "Engine", "Manual")) {
                assertTrue(exchange.get("readsPerSecondOf" + end).asDouble() > 0, exchange::toString);
            }
        }
        assertTrue(said.contains("in both directions of one connection"), said);
    }

    @Test
    void shouldDoWithoutWhereThereAreNone() throws IOException, InterruptedException {
        JsonNode results = floor("--device", "same-host=off", "--no-both-ways");
        assertTrue(results.has("sameHostSkipped"), results::toString);
        assertTrue(said.contains("skipped: READ on the same host: "), said);
        assertEquals(1, results.get("cells").size());
    }
}
