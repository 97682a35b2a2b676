package org.softrdma.cli.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.study.OwnStudy;

/** The study in a process of its own, which it binds to a core. Needs a C compiler and two cores. */
@Tag("slow")
class PerfVerbsProcessTest {
    @TempDir
    private Path directory;

    @Test
    void shouldMeasureEachWayOneAtATimeAndMany() throws IOException, InterruptedException {
        Path json = directory.resolve("verbs.json");
        String said = OwnStudy.run(
                List.of(
                        "perf",
                        "verbs",
                        "--sizes=4K",
                        "--connections=2",
                        "--window=4",
                        "--responders=2",
                        "--rounds=2",
                        "--millis=50",
                        "--warm-up-millis=100",
                        "--json=" + json),
                directory.resolve("output"));
        JsonNode cells = new ObjectMapper().readTree(json.toFile()).get("cells");
        Set<String> seen = new HashSet<>();
        for (JsonNode cell : cells) {
            seen.add(cell.get("way").asText() + " " + cell.get("sizeBytes") + " " + cell.get("connections") + "x"
                    + cell.get("window"));
            assertTrue(cell.get("requestsPerSecond").asDouble() > 0, cell::toString);
            assertTrue(cell.get("meanMicros").asDouble() > 0, cell::toString);
            assertEquals(2, cell.get("rounds").get("requestsPerSecond").size(), cell::toString);
        }
        assertEquals(8, cells.size());
        assertEquals(8, seen.size(), seen::toString);
        assertTrue(seen.contains("WRITE 4096 2x4"), seen::toString);
        assertTrue(said.contains("one request at a time"), said);
        assertTrue(said.contains("2 connections with 4 outstanding"), said);
    }
}
