package org.softrdma.cli.farm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.cli.Main;
import org.softrdma.cli.command.ExitCode;
import picocli.CommandLine;

/** Transfers and lookups on machines that are processes: what they take is counted to the message. */
@Tag("slow")
class FarmBenchTest {
    /** A position of a ring is told now and then, by a WRITE more. */
    private static final double HEADS = 0.1;

    @TempDir
    private Path directory;

    @Test
    @Timeout(300)
    void shouldCountWhatTransfersAndLookupsTake() throws IOException {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine commandLine = Main.commandLine();
        commandLine.setOut(new PrintWriter(out));
        commandLine.setErr(new PrintWriter(err));
        Path file = directory.resolve("bench.json");
        List<String> arguments = List.of(
                "farm",
                "bench",
                "--replicas=2",
                "--window=2",
                "--accounts=40",
                "--pairs=300",
                "--rounds=1",
                "--millis=300",
                "--warm-up-millis=300",
                "--lease=6000",
                "--json=" + file);
        int code = commandLine.execute(arguments.toArray(String[]::new));

        assertEquals(ExitCode.OK, code, () -> out + "\n" + err);
        assertTrue(out.toString().contains("farm: strictly serializable; 2 machines have each object"), out::toString);
        assertTrue(out.toString().contains("a transfer, 2 under way: "), out::toString);
        JsonNode rows = new ObjectMapper().readTree(file.toFile()).path("rows");
        JsonNode read = row(rows, "READ");
        assertEquals(1, read.path("readsPerOperation").asDouble(), out::toString);
        assertEquals(0, read.path("writesPerOperation").asDouble(), out::toString);
        JsonNode message = row(rows, "message");
        assertEquals(0, message.path("readsPerOperation").asDouble(), out::toString);
        assertEquals(2, message.path("writesPerOperation").asDouble(), HEADS, out::toString);
        JsonNode lookup = row(rows, "lookup");
        assertEquals(1.02, lookup.path("readsPerOperation").asDouble(), 0.1, out::toString);
        assertEquals(0, lookup.path("writesPerOperation").asDouble(), out::toString);
        JsonNode transfer = row(rows, "transfer");
        assertTrue(transfer.path("readsPerOperation").asDouble() >= 2, out::toString);
        assertTrue(transfer.path("writesPerOperation").asDouble() >= 4, out::toString);
        for (JsonNode row : List.of(transfer, lookup, message, read)) {
            JsonNode explained = row.path("explained");
            double all = explained.path("verbsShare").asDouble()
                    + explained.path("exchangeShare").asDouble()
                    + explained.path("restShare").asDouble();
            assertEquals(1, all, 1e-9, row::toString);
            assertTrue(row.path("cpuMicros").asDouble() > 0, row::toString);
        }
    }

    private static JsonNode row(JsonNode rows, String operation) {
        for (JsonNode row : rows) {
            if (row.path("operation").asText().equals(operation)
                    && row.path("system").asText().equals("farm")) {
                return row;
            }
        }
        throw new AssertionError("no row of " + operation + ": " + rows);
    }
}
