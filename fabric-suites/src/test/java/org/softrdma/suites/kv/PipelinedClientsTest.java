package org.softrdma.suites.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;

/**
 * The channel of the memcached port, against clients who send many requests at once and read slowly: every byte of every answer, in
 * order, and then the end. A failure names its seed; {@code -Dsoftrdma.seed=N} runs that one again.
 */
class PipelinedClientsTest {
    private static final int SEEDS = 1000 / Integer.getInteger("softrdma.sample", 1);
    private static final int CLIENTS = 4;
    private static final int BUFFER = 4096;
    private static final int ITEM = 1 << 16;
    private static final int MOST_LOOKS = 1000;
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    @Test
    @Tag("sampled")
    void shouldAnswerEveryClientInOrderAndEndItsConnection() {
        Long one = Long.getLong("softrdma.seed");
        for (long seed = one == null ? 0 : one; seed < (one == null ? SEEDS : one + 1); seed++) {
            try {
                run(seed);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("softrdma.seed=" + seed + " fails: " + e.getMessage(), e);
            }
        }
    }

    private static void run(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(~seed);
        Fabric fabric = new Fabric(seed, FabricSettings.DEFAULT.with(NetworkSettings.DEFAULT.withBufferBytes(BUFFER)));
        FabricNode server = fabric.node("server");
        FabricNode clients = fabric.node("clients");
        fabric.run(server, () -> {
            try (FabricStore store = FabricStore.open(
                    fabric,
                    server,
                    context -> context.requestsPerTurn(random.nextInt(4))
                            .items(items -> items.maxItemLength(ITEM)
                                    .pageLength(ITEM)
                                    .memoryLimit(256 * ITEM)
                                    .evicting(false)))) {
                List<SimulatedThread> processes = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    PipelinedClient client = new PipelinedClient(fabric.scheduler(), clients, "c" + i + "k", random);
                    boolean leaves = random.nextInt(4) == 0;
                    int patience = leaves ? random.nextInt(1, client.expected().length + 2) : Integer.MAX_VALUE;
                    processes.add(clients.start("client", () -> {
                        client.run(store.address(), patience);
                        if (!leaves) {
                            assertArrayEquals(client.expected(), client.answers());
                        }
                    }));
                }
                assertTrue(
                        fabric.scheduler()
                                .until(() -> processes.stream().allMatch(SimulatedThread::isEnded), PATIENCE_NS),
                        "a client has not been answered");
                for (int i = 0; connections(store) > 0; i++) {
                    assertTrue(i < MOST_LOOKS, "a connection has not ended");
                    fabric.scheduler().sleep(TimeUnit.MILLISECONDS.toNanos(1));
                }
            }
        });
    }

    private static int connections(FabricStore store) {
        return Integer.parseInt(store.server().statistics("").get("curr_connections"));
    }
}
