package org.softrdma.bench.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers in real servers, if they are installed. */
class TransferStoreTest {
    private static final int ACCOUNTS = 10;
    private static final long BALANCE = 1000;
    private static final long RUN_NS = TimeUnit.MILLISECONDS.toNanos(100);

    @TempDir
    private Path directory;

    private static Path program(String name) {
        Optional<Path> found = ServerProcess.find(name);
        Assumptions.assumeTrue(found.isPresent(), name + " is not installed");
        return found.get();
    }

    private static void moveMoney(TransferStore store, String promise) {
        for (int window : new int[] {1, 4, 1}) {
            assertTrue(store.run(window, RUN_NS).latencies().getTotalCount() >= window);
        }
        assertEquals(ACCOUNTS * BALANCE, store.sum());
        assertTrue(store.promise().contains(promise), store.promise());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldMoveMoneyInRedisAndKeepTheSum(int replicas) {
        try (RedisTransfers store = RedisTransfers.start(program("redis-server"), replicas, ACCOUNTS, BALANCE, 1)) {
            assertEquals(replicas + 1, store.processes().size());
            moveMoney(store, replicas == 0 ? "one machine" : "2 machines");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldMoveMoneyInEtcdAndKeepTheSum(int servers) {
        try (EtcdTransfers store = EtcdTransfers.start(program("etcd"), directory, servers, ACCOUNTS, BALANCE, 1)) {
            assertEquals(servers, store.processes().size());
            moveMoney(store, servers == 1 ? "one server" : "a majority of 3");
        }
    }
}
