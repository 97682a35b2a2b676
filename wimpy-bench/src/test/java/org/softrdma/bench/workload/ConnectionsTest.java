package org.softrdma.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.server.ScriptedServer;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.StoreCounter;
import org.softrdma.verbs.device.VerbsDevice;

/** Connections to a server of memcached's protocol, by that and by READ, and to a scripted one that speaks RESP. */
class ConnectionsTest {
    private static final int PAIRS = 64;
    private static final int OPERATIONS = 2000;
    private static final int COUNT = 2;

    private final VerbsDevice serverDevice = new SoftRdmaProvider().open(Map.of());
    private final KvServer server = KvServer.start(
            serverDevice,
            new KvServerContext()
                    .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .threads(1)
                    .version("test")
                    .conclude());

    @AfterEach
    void stop() {
        server.close();
        serverDevice.close();
    }

    private TextConnections texts(TcpCommands commands, int window, int valueLength) {
        return new TextConnections(server.memcachedAddress(), commands, COUNT, window, valueLength);
    }

    @ParameterizedTest
    @CsvSource({"META, 1, 32, A", "META, 16, 70000, F", "CLASSIC, 16, 1000, A", "MULTI_KEY, 16, 1000, C"})
    void shouldStoreAndGetOverTcp(TcpCommands commands, int window, int valueLength, Mix mix) {
        MixPairs pairs = new MixPairs(PAIRS, valueLength);
        try (TextConnections connections = texts(commands, window, valueLength)) {
            MixLoad load = new MixLoad(connections, pairs, window);
            load.insertAll();
            load.getAll(false);
            long before = connections.counters().get(StoreCounter.SENDS);
            MixOutcome outcome = load.run(mix, new KeyChoice(PAIRS, 0.5, 3), window, MixLoad.End.after(OPERATIONS));
            assertEquals(Map.of(), outcome.errors());
            long requests = connections.counters().get(StoreCounter.SENDS) - before;
            if (commands == TcpCommands.MULTI_KEY) {
                assertTrue(requests * 4 < outcome.operations(), requests + " requests for many keys each");
            } else {
                assertEquals(outcome.operations(), requests);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"META", "CLASSIC", "MULTI_KEY"})
    void shouldMissWhatIsNotThere(TcpCommands commands) {
        try (TextConnections connections = texts(commands, 4, 100)) {
            MixLoad load = new MixLoad(connections, new MixPairs(PAIRS, 100), 4);
            MixOutcome outcome = load.run(Mix.C, new KeyChoice(PAIRS, 0, 3), 4, MixLoad.End.after(100));
            assertEquals(Map.of(MixOutcome.Fault.MISSING, 100L), outcome.errors());
        }
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void shouldStoreAndGetByRead(boolean withWriters) {
        int window = 4;
        MixPairs pairs = new MixPairs(PAIRS, 100);
        VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
        CompletionLoop loop = new CompletionLoop(device, COUNT, window);
        List<KvClient> clients = List.of(client(loop, window), client(loop, window));
        try (KvReadConnections connections = new KvReadConnections(
                device,
                true,
                loop,
                clients,
                withWriters ? texts(TcpCommands.META, window, 100) : null,
                COUNT * window)) {
            MixLoad load = new MixLoad(connections, pairs, window);
            load.insertAll();
            load.getAll(false);
            long before = connections.counters().get(StoreCounter.READS);
            MixOutcome gets = load.run(Mix.C, new KeyChoice(PAIRS, 0, 3), window, MixLoad.End.after(OPERATIONS));
            assertEquals(Map.of(), gets.errors());
            assertEquals(OPERATIONS, connections.counters().get(StoreCounter.READS) - before);
            MixOutcome mixed = load.run(Mix.A, new KeyChoice(PAIRS, 0.9, 3), window, MixLoad.End.after(OPERATIONS));
            assertEquals(Map.of(), mixed.errors());
            assertTrue(mixed.puts() > OPERATIONS / 3);
            assertTrue(!connections.otherRetries().isEmpty(), "items move");
        }
    }

    private KvClient client(CompletionLoop loop, int window) {
        return new KvClient(
                loop,
                new KvClientContext(server.memcachedAddress())
                        .protocol(KvProtocol.RDMA)
                        .window(window)
                        .conclude());
    }

    /** Answers a SET, and a GET with what the last SET stored. */
    private static UnaryOperator<String> redis(int length) {
        StringBuilder stored = new StringBuilder();
        String set = "*3\r\n$3\r\nSET\r\n$16\r\n0123456789abcdef\r\n$" + length + "\r\n";
        String get = "*2\r\n$3\r\nGET\r\n$16\r\n0123456789abcdef\r\n";
        return request -> {
            if (request.startsWith("*3")) {
                if (request.length() < set.length() + length + 2) {
                    return null;
                }
                stored.setLength(0);
                stored.append(request, set.length(), set.length() + length);
                return "+OK\r\n";
            }
            if (request.length() < get.length()) {
                return null;
            }
            return stored.isEmpty() ? "$-1\r\n" : "$" + length + "\r\n" + stored + "\r\n";
        };
    }

    @Test
    void shouldAskForManyKeysOnceTheLastOnesAreAnswered() throws IOException {
        byte[] key = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        try (ScriptedServer silent = new ScriptedServer(request -> null);
                TextConnections connections = new TextConnections(silent.address(), TcpCommands.MULTI_KEY, 1, 4, 100)) {
            assertTrue(connections.startGet(0, key, 0));
            assertTrue(connections.startGet(0, key, 1));
            assertEquals(1, connections.counters().get(StoreCounter.SENDS));
            int ignored = connections.poll((tag, outcome, memory, offset, size) -> {});
            assertTrue(!connections.startGet(0, key, 2), "two are on their way");
        }
    }

    @Test
    void shouldSpeakRedis() throws IOException {
        int length = 40;
        MixPairs pairs = new MixPairs(2, length);
        try (ScriptedServer scripted = new ScriptedServer(redis(length));
                TextConnections connections = new TextConnections(scripted.address(), TcpCommands.RESP, 1, 1, length)) {
            int[] stored = new int[1];
            MixLoad load = new MixLoad(connections, pairs, 1);
            MixOutcome missed = load.run(Mix.C, new KeyChoice(2, 0, 1), 1, MixLoad.End.after(1));
            assertEquals(Map.of(MixOutcome.Fault.MISSING, 1L), missed.errors());
            assertTrue(connections.startPut(0, pairs.key(1), pairs.next(1), 7));
            while (stored[0] == 0) {
                int ignored = connections.poll((tag, outcome, memory, offset, size) -> stored[0]++);
            }
            assertTrue(connections.startGet(0, pairs.key(1), 8));
            boolean[] right = new boolean[1];
            while (!right[0]) {
                int ignored = connections.poll((tag, outcome, memory, offset, size) -> {
                    assertEquals(8, tag);
                    right[0] = pairs.isValue(1, memory, offset, size);
                    assertTrue(right[0], "the value that was stored");
                });
            }
        }
    }

    @Test
    void shouldRefuseWhatIsNoAnswer() throws IOException {
        for (String answer : List.of("-ERR not today\r\n", "$nan\r\n", "$999999999\r\n")) {
            try (ScriptedServer scripted = new ScriptedServer(request -> request.endsWith("r0\r\n") ? answer : null);
                    TextConnections connections =
                            new TextConnections(scripted.address(), TcpCommands.RESP, 1, 1, 100)) {
                assertTrue(connections.startGet(0, "0123456789abcdr0".getBytes(StandardCharsets.US_ASCII), 0));
                MeasurementException refused = assertThrows(MeasurementException.class, () -> {
                    while (true) {
                        int ignored = connections.poll((tag, outcome, memory, offset, size) -> {});
                    }
                });
                assertTrue(String.valueOf(refused.getMessage()).contains(answer.strip()), refused::toString);
            }
        }
    }
}
