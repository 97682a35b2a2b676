package org.softrdma.bench.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.measurement.Latencies;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.TransferChoice;

/**
 * Accounts in etcd: a transfer reads both in one transaction, and writes them in another one if neither has changed, else it
 * begins again. Over HTTP and JSON, etcd's gateway, at the server that leads; a thread for each transfer under way. The thread
 * that started it.
 */
public final class EtcdTransfers implements TransferStore {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** etcd takes 128 operations in a transaction. */
    private static final int PUTS = 100;

    private static final String PREFIX = "account:";
    /** The first key behind all of them. */
    private static final String END = "account;";

    private static final int OK = 200;

    private final List<ServerProcess> servers;
    private final HttpClient client;
    private final ServerProcess leader;
    private final String version;
    private final int accounts;
    private final long seed;
    private long runs;

    private EtcdTransfers(Path program, Path directory, int count, int accounts, long balance, long seed) {
        this.accounts = accounts;
        this.seed = seed;
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(PATIENCE)
                .build();
        servers = ServerProcess.etcd(program, directory, count);
        try {
            leader = leader();
            version = ask(leader, "/v3/maintenance/status", MAPPER.createObjectNode())
                    .path("version")
                    .asText();
            for (int from = 0; from < accounts; from += PUTS) {
                ObjectNode transaction = MAPPER.createObjectNode();
                ArrayNode puts = transaction.putArray("success");
                for (int i = from; i < Math.min(accounts, from + PUTS); i++) {
                    put(puts, i, balance);
                }
                JsonNode ignored = ask(leader, "/v3/kv/txn", transaction);
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Starts it.
     *
     * @param program path of etcd
     * @param directory where the servers keep their logs
     * @param servers how many
     * @param accounts how many
     * @param balance of each
     * @param seed decides the transfers
     */
    public static EtcdTransfers start(
            Path program, Path directory, int servers, int accounts, long balance, long seed) {
        return new EtcdTransfers(program, directory, servers, accounts, balance, seed);
    }

    private ServerProcess leader() {
        long beganNs = System.nanoTime();
        while (true) {
            for (ServerProcess server : servers) {
                JsonNode status = ask(server, "/v3/maintenance/status", MAPPER.createObjectNode());
                String leads = status.path("leader").asText("0");
                if (!leads.equals("0")
                        && leads.equals(status.path("header").path("member_id").asText())) {
                    return server;
                }
            }
            if (System.nanoTime() - beganNs > PATIENCE.toNanos()) {
                throw new MeasurementException("none of etcd's servers leads after " + PATIENCE.toSeconds() + " s");
            }
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    private static String encode(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static long number(JsonNode pair) {
        byte[] text = Base64.getDecoder().decode(pair.path("value").asText());
        return Long.parseLong(new String(text, StandardCharsets.US_ASCII));
    }

    private static void put(ArrayNode operations, int account, long value) {
        operations
                .addObject()
                .putObject("request_put")
                .put("key", encode(PREFIX + account))
                .put("value", encode("" + value));
    }

    private static void compare(ArrayNode compared, int account, String revision) {
        compared.addObject()
                .put("key", encode(PREFIX + account))
                .put("target", "MOD")
                .put("result", "EQUAL")
                .put("mod_revision", revision);
    }

    private JsonNode ask(ServerProcess server, String path, JsonNode body) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://"
                            + server.address().getHostString() + ":"
                            + server.address().getPort() + path))
                    .timeout(PATIENCE)
                    .POST(HttpRequest.BodyPublishers.ofString(MAPPER.writeValueAsString(body)))
                    .build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != OK) {
                throw new MeasurementException("etcd answered " + path + " with " + answer.statusCode() + ": "
                        + answer.body().strip());
            }
            return MAPPER.readTree(answer.body());
        } catch (JsonProcessingException e) {
            throw new MeasurementException("etcd answered " + path + " with no JSON: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new MeasurementException("etcd: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasurementException("interrupted while waiting for etcd", e);
        }
    }

    @Override
    public String name() {
        return "etcd " + version;
    }

    @Override
    public String promise() {
        return "strictly serializable; "
                + (servers.size() == 1
                        ? "one server has it on disk: what was acknowledged outlives a crash, and not the loss of the disk"
                        : "a majority of " + servers.size()
                                + " servers has it on disk: what was acknowledged outlives a crash of"
                                + " all, and the others take over from a minority that is lost");
    }

    @Override
    public List<Long> processes() {
        return servers.stream().map(ServerProcess::pid).toList();
    }

    @Override
    public StoreRun run(int window, long ns) {
        Histogram latencies = Latencies.histogram();
        long beganNs = System.nanoTime();
        try (ExecutorService executor = Executors.newFixedThreadPool(window)) {
            List<Future<Histogram>> threads = new ArrayList<>();
            for (int i = 0; i < window; i++) {
                TransferChoice choice = new TransferChoice(accounts, seed + ++runs);
                threads.add(executor.submit(() -> transfer(choice, beganNs + ns)));
            }
            for (Future<Histogram> thread : threads) {
                latencies.add(thread.get());
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException failure
                    ? failure
                    : new MeasurementException("etcd: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasurementException("interrupted while transfers were made", e);
        }
        return new StoreRun(System.nanoTime() - beganNs, latencies);
    }

    private Histogram transfer(TransferChoice choice, long untilNs) {
        Histogram latencies = Latencies.histogram();
        for (long nowNs = System.nanoTime(); nowNs - untilNs < 0; nowNs = System.nanoTime()) {
            choice.next();
            while (!move(choice)) {
                if (System.nanoTime() - untilNs > PATIENCE.toNanos()) {
                    throw new MeasurementException("a transfer was aborted for " + PATIENCE.toSeconds() + " s");
                }
            }
            latencies.recordValue(Math.min(System.nanoTime() - nowNs, Latencies.HIGHEST_NS));
        }
        return latencies;
    }

    /** False if somebody else has changed an account meanwhile. */
    private boolean move(TransferChoice choice) {
        ObjectNode look = MAPPER.createObjectNode();
        ArrayNode reads = look.putArray("success");
        for (int account : new int[] {choice.from(), choice.to()}) {
            reads.addObject().putObject("request_range").put("key", encode(PREFIX + account));
        }
        JsonNode read = ask(leader, "/v3/kv/txn", look).path("responses");
        JsonNode from = read.path(0).path("response_range").path("kvs").path(0);
        JsonNode to = read.path(1).path("response_range").path("kvs").path(0);
        ObjectNode change = MAPPER.createObjectNode();
        ArrayNode compared = change.putArray("compare");
        compare(compared, choice.from(), from.path("mod_revision").asText());
        compare(compared, choice.to(), to.path("mod_revision").asText());
        ArrayNode puts = change.putArray("success");
        put(puts, choice.from(), number(from) - choice.amount());
        put(puts, choice.to(), number(to) + choice.amount());
        return ask(leader, "/v3/kv/txn", change).path("succeeded").asBoolean();
    }

    @Override
    public long sum() {
        ObjectNode range = MAPPER.createObjectNode();
        range.put("key", encode(PREFIX)).put("range_end", encode(END));
        long sum = 0;
        for (JsonNode pair : ask(leader, "/v3/kv/range", range).path("kvs")) {
            sum += number(pair);
        }
        return sum;
    }

    @Override
    public void close() {
        client.close();
        servers.reversed().forEach(ServerProcess::close);
    }
}
