package org.softrdma.bench.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.LoadOutcome;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.PipelinedGetLoad;
import org.softrdma.bench.workload.TcpCommands;

class RedisTest {
    private static final long DURATION_NS = TimeUnit.MILLISECONDS.toNanos(30);
    private static final String GET = "*2\r\n$3\r\nGET\r\n$9\r\nwimpy:3:0\r\n";

    private static UnaryOperator<String> answering(String answer) {
        return request -> request.equals(GET) ? answer : null;
    }

    private static MixPairs onePair() {
        return MixPairs.keyedByLength(1, 3);
    }

    private static String value() {
        return new String(onePair().value(0), StandardCharsets.ISO_8859_1);
    }

    @Test
    void shouldGetValues() throws IOException {
        try (ScriptedServer server = new ScriptedServer(answering("$3\r\n" + value() + "\r\n"));
                PipelinedGetLoad load = new PipelinedGetLoad(server.address(), TcpCommands.RESP, 1, 4)) {
            LoadOutcome outcome = load.run(onePair(), 4, Arrivals.closed(DURATION_NS));
            assertTrue(outcome.gets() >= 4);
            assertEquals(0, outcome.errors());
        }
    }

    @Test
    void shouldCountWrongValues() throws IOException {
        // A value that looks like the end of an answer and the start of the next: only its length tells.
        try (ScriptedServer server = new ScriptedServer(answering("$3\r\n\r\n$\r\n"));
                PipelinedGetLoad load = new PipelinedGetLoad(server.address(), TcpCommands.RESP, 1, 4)) {
            LoadOutcome outcome = load.run(onePair(), 4, Arrivals.closed(DURATION_NS));
            assertEquals(0, outcome.gets());
            assertTrue(outcome.errors() >= 4);
        }
    }

    @Test
    void shouldCountNilAsError() throws IOException {
        try (ScriptedServer server = new ScriptedServer(answering("$-1\r\n"));
                PipelinedGetLoad load = new PipelinedGetLoad(server.address(), TcpCommands.RESP, 1, 4)) {
            LoadOutcome outcome = load.run(onePair(), 4, Arrivals.closed(DURATION_NS));
            assertEquals(0, outcome.gets());
            assertTrue(outcome.errors() >= 4);
        }
    }

    @Test
    void shouldRefuseWhatIsNoValue() throws IOException {
        for (String answer : new String[] {"-ERR not today\r\n", "$4\r\nfour\r\n"}) {
            try (ScriptedServer server = new ScriptedServer(answering(answer));
                    PipelinedGetLoad load = new PipelinedGetLoad(server.address(), TcpCommands.RESP, 1, 1)) {
                MeasurementException failure = assertThrows(
                        MeasurementException.class, () -> load.run(onePair(), 1, Arrivals.closed(DURATION_NS)));
                String line = answer.lines().findFirst().orElseThrow();
                assertTrue(String.valueOf(failure.getMessage()).contains(line), failure.getMessage());
            }
        }
    }

    @Test
    void shouldStorePairsAndReadStatistics() throws IOException {
        String info = "# CPU\r\nused_cpu_sys:1.500000\r\nused_cpu_user:0.250000\r\n";
        String server = "# Server\r\nredis_version:7.0.15\r\n";
        UnaryOperator<String> script = request -> {
            if (request.startsWith("*3")) {
                return request.length() == "*3\r\n$3\r\nSET\r\n$9\r\nwimpy:3:0\r\n$3\r\n123\r\n".length()
                        ? "+OK\r\n"
                        : null;
            }
            return switch (request) {
                case "INFO cpu\r\n" -> "$" + info.length() + "\r\n" + info + "\r\n";
                case "INFO server\r\n" -> "$" + server.length() + "\r\n" + server + "\r\n";
                default -> null;
            };
        };
        try (ScriptedServer scripted = new ScriptedServer(script);
                RedisAdmin admin = new RedisAdmin(scripted.address())) {
            admin.insert(onePair());
            assertEquals("7.0.15", admin.version());
            ServerAdmin.CpuTime time = admin.cpuTime().orElseThrow();
            assertEquals(new ServerAdmin.CpuTime(250_000_000L, 1_500_000_000L), time);
            assertTrue(
                    scripted.received().startsWith("*3\r\n$3\r\nSET\r\n$9\r\nwimpy:3:0\r\n$3\r\n"),
                    scripted.received());
        }
    }

    @Test
    void shouldSayWhenItStoresNothing() throws IOException {
        UnaryOperator<String> full =
                request -> request.length() > 40 && request.endsWith("\r\n") ? "-OOM full\r\n" : null;
        try (ScriptedServer scripted = new ScriptedServer(full);
                RedisAdmin admin = new RedisAdmin(scripted.address())) {
            MeasurementException failure =
                    assertThrows(MeasurementException.class, () -> admin.insert(MixPairs.keyedByLength(1, 30)));
            assertTrue(String.valueOf(failure.getMessage()).contains("-OOM full"), failure.getMessage());
        }
    }
}
