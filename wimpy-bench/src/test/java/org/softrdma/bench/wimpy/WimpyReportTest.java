package org.softrdma.bench.wimpy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.Mockito;
import org.softrdma.bench.cpu.MachineDescription;

class WimpyReportTest {
    private static final WimpyPlan PLAN =
            new WimpyPlan("wimpy --quick", List.of(1024), List.of(16), 8, 10, 3, 1, 0, 1, 0);

    @TempDir
    private Path directory;

    private static WimpyRow row(String name, String protocol, boolean oneSided, double... serverCpu) {
        MeasuredSystem system = new MeasuredSystem(
                name,
                oneSided ? "sim" : null,
                protocol,
                Mockito.mock(ServerProcess.class),
                Mockito.mock(GetLoad.class),
                oneSided ? () -> 0L : null);
        WimpyRow row = new WimpyRow(system, 1024, 16);
        for (double value : serverCpu) {
            row.rounds.add(WimpyRow.GETS_PER_SECOND, 1000 * value);
            row.rounds.add(WimpyRow.SERVER_CPU, value);
            row.rounds.add(WimpyRow.ONE_SIDED, oneSided ? 1 : Double.NaN);
        }
        return row;
    }

    private final WimpyReport report = new WimpyReport(
            PLAN,
            MachineDescription.here(null),
            List.of(row("softrdma", "READ", true, 3, 1, 2), row("memcached 1", "mg", false, 8, 4, 4)),
            Map.of("redis", "not installed"),
            "none");

    @Test
    void shouldWriteSchema1() throws IOException {
        JsonNode results = new ObjectMapper().readTree(report.write(directory).toFile());
        assertEquals(1, results.get("schema").asInt());
        assertEquals("wimpy --quick", results.get("scenario").asText());
        assertTrue(results.get("machine").get("cpus").asInt() > 0);
        assertEquals("redis", results.get("skipped").get(0).get("system").asText());
        JsonNode read = results.get("results").get(0);
        for (String name : List.of(
                "system",
                "provider",
                "protocol",
                "valueBytes",
                "clients",
                "window",
                "serverCores",
                "throttle",
                "network",
                "getsPerSecond",
                "serverCpuMicrosPerGet",
                "serverCoreMicrosPerGet",
                "clientCpuMicrosPerGet",
                "p50Micros",
                "p99Micros",
                "p999Micros",
                "oneSidedFraction",
                "errors",
                "rounds")) {
            assertTrue(read.has(name), name);
        }
        assertEquals(2, read.get("serverCpuMicrosPerGet").asDouble());
        assertEquals(1, read.get("oneSidedFraction").asDouble());
        assertEquals(3, read.get("rounds").size());
        assertEquals(3, read.get("rounds").get(0).get("serverCpuMicrosPerGet").asDouble());
        JsonNode mg = results.get("results").get(1);
        assertTrue(mg.get("provider").isNull());
        assertTrue(mg.get("oneSidedFraction").isNull());
        assertTrue(mg.get("rounds").get(0).get("oneSidedFraction").isNull());
    }

    @Test
    void shouldPrintRatioToMemcachedOfTheSameRow() {
        StringWriter text = new StringWriter();
        report.print(new PrintWriter(text));
        assertTrue(
                text.toString().lines().anyMatch(line -> line.matches("softrdma READ +2000 +2\\.00 +- +0\\.50 .*")),
                text.toString());
        assertTrue(text.toString().contains("skipped: redis: not installed"));
    }
}
