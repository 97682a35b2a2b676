package org.softrdma.bench.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisTransfersTest {
    private static final int ACCOUNTS = 10;
    private static final long BALANCE = 1000;
    private static final long RUN_NS = TimeUnit.MILLISECONDS.toNanos(100);

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldMoveMoneyAndKeepTheSum(int replicas) {
        Optional<Path> program = ServerProcess.find("redis-server", System.getenv().getOrDefault("PATH", ""));
        Assumptions.assumeTrue(program.isPresent(), "redis-server is not installed");
        try (RedisTransfers store = RedisTransfers.start(program.get(), replicas, ACCOUNTS, BALANCE, 1)) {
            assertEquals(replicas + 1, store.processes().size());
            for (int window : new int[] {1, 4, 1}) {
                assertTrue(store.run(window, RUN_NS).latencies().getTotalCount() >= window);
            }
            assertEquals(ACCOUNTS * BALANCE, store.sum());
            assertTrue(store.promise().contains(replicas == 0 ? "one machine" : "2 machines"), store.promise());
        }
    }
}
