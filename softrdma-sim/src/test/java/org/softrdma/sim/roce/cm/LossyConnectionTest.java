package org.softrdma.sim.roce.cm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.sim.roce.cm.CmHosts.MS;
import static org.softrdma.sim.roce.cm.CmHosts.SERVER;
import static org.softrdma.sim.roce.cm.CmHosts.SERVICE;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectRequest;

/**
 * Connections on a network that loses, doubles and reorders, by seed: each request reaches the application once, both sides
 * agree on its outcome, and nothing is left. The property {@code softrdma.roce.seeds} says how many seeds, of which {@code
 * softrdma.roce.seed} is the first.
 */
class LossyConnectionTest {
    private static final long FIRST_SEED = Long.getLong("softrdma.roce.seed", 1);
    private static final long SEEDS = Long.getLong("softrdma.roce.seeds", 200);
    private static final int CONNECTIONS = 12;
    private static final long LATENCY_NS = 250 * MS; // more than the first repetition
    private static final long LATEST_NS = 3_000 * MS;
    /** After so long a queue pair knows that its peer does not answer, if every DREQ was lost. */
    private static final long SILENT_NS = 60_000 * MS;

    /** One connection, and what its two owners were told. */
    private static final class Pair {
        private final int number;
        private final CmHosts.Told client = new CmHosts.Told();
        private final CmHosts.Told server = new CmHosts.Told();
        private boolean refused;
        private int requests;

        Pair(int number) {
            this.number = number;
        }
    }

    private final Map<Integer, Pair> pairs = new HashMap<>();

    private void run(long seed, int losses) {
        pairs.clear();
        Random random = new Random(seed * 31 + losses);
        CmHosts hosts = new CmHosts(seed, new CmHosts.Weather(losses, 50, LATENCY_NS), CmSettings.DEFAULT);
        hosts.server.listen(SERVICE, ConnectRequest.RELIABLE, request -> requested(hosts, random, request));
        for (int i = 0; i < CONNECTIONS; i++) {
            Pair pair = new Pair(i);
            pairs.put(i, pair);
            hosts.plan(random.nextLong(LATEST_NS), () -> connect(hosts, random, pair));
        }
        hosts.runOut();
        pairs.values().forEach(pair -> check(pair, losses));
        assertEquals(0, hosts.client.size() + hosts.server.size(), "connections that are not forgotten");
    }

    private void connect(CmHosts hosts, Random random, Pair pair) {
        CmConnection connection = hosts.client.connect(
                SERVER, CmHosts.request(pair.number, SERVICE, "" + pair.number), pair.client, hosts.now);
        pair.client.onReply = () -> {
            if (random.nextBoolean()) {
                connection.ready();
                hosts.plan(random.nextLong(LATEST_NS), () -> connection.disconnect(hosts.now));
            } else {
                hosts.plan(random.nextLong(LATEST_NS), () -> {
                    if (connection.state() == CmState.REPLY_RECEIVED) {
                        connection.ready();
                        hosts.plan(random.nextLong(LATEST_NS), () -> connection.disconnect(hosts.now));
                    }
                });
            }
        };
    }

    private CmEvents requested(CmHosts hosts, Random random, CmConnection connection) {
        Pair pair = pairs.get(connection.request().endpoint().queuePair());
        if (pair == null) {
            throw new AssertionError("a request of nobody: " + connection.request());
        }
        pair.requests++;
        boolean refuse = random.nextInt(5) == 0;
        hosts.plan(random.nextInt(3) == 0 ? 0 : random.nextLong(LATEST_NS), () -> {
            if (connection.state() != CmState.REQUEST_RECEIVED) {
                return; // the peer has given it up
            }
            if (refuse) {
                pair.refused = true;
                connection.reject(ConnectReject.BY_CONSUMER, CmHosts.data("no " + pair.number), hosts.now);
            } else {
                connection.accept(
                        CmHosts.endpoint(1000 + pair.number), 15, CmHosts.data("yes " + pair.number), hosts.now);
            }
        });
        long lives = random.nextInt(3) == 0 ? random.nextLong(LATEST_NS) : SILENT_NS;
        pair.server.onEstablished = () -> hosts.plan(lives, () -> connection.disconnect(hosts.now));
        return pair.server;
    }

    private static void check(Pair pair, int losses) {
        List<String> client = new ArrayList<>(pair.client.events);
        List<String> server = new ArrayList<>(pair.server.events);
        String all = "connection " + pair.number + ": " + client + ", " + server;
        assertTrue(
                pair.requests <= 1 || losses > 200,
                () -> all + ": the application was asked " + pair.requests + " times");
        assertEquals("released", client.removeLast(), all);
        if (pair.requests > 1) {
            return; // so many messages were lost that the server gave it up, and the client did not hear of that
        }
        if (pair.requests == 1) {
            assertEquals("released", server.removeLast(), all);
        }
        List<List<String>> clientMay = List.of(
                List.of("replied", "disconnected"),
                List.of("replied", "failed 4 "),
                List.of("failed 4 "),
                List.of("failed 28 no " + pair.number));
        List<List<String>> serverMay =
                List.of(List.of(), List.of("established", "disconnected"), List.of("failed 4 "), List.of("failed 6 "));
        assertTrue(clientMay.contains(client) && serverMay.contains(server), all);
        pair.client.reply.ifPresent(
                reply -> assertEquals("yes " + pair.number, CmHosts.text(reply.privateData()), all));
        if (losses <= 50) { // neither are fifteen repetitions in a row lost, nor a DREQ four times
            List<String> outcome =
                    pair.refused ? List.of("failed 28 no " + pair.number) : List.of("replied", "disconnected");
            assertEquals(outcome, client, all);
            assertEquals(pair.refused ? List.of() : List.of("established", "disconnected"), server, all);
        }
    }

    /** Times of a thousand that a message is lost. */
    @ParameterizedTest
    @ValueSource(ints = {0, 10, 50, 200, 600})
    void shouldMakeAndEndEachConnectionOnce(int losses) {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            try {
                run(seed, losses);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ", losses " + losses + ": " + e.getMessage(), e);
            }
        }
    }
}
