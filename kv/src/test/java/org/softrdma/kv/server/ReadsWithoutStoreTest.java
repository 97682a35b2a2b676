package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.concurrent.EventExecutor;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.netty.MemcachedPort;

class ReadsWithoutStoreTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);

    @ParameterizedTest
    @EnumSource
    void shouldGetByReadWhileEveryStoreThreadIsStuck(Registration registration) throws InterruptedException {
        try (RunningServer running = new RunningServer(
                        context -> context.io(PortSettings.Io.EPOLL).items(items -> items.registration(registration)));
                KvClient client = running.client()) {
            client.set(KEY, 0, 0, KEY);
            CountDownLatch release = new CountDownLatch(1);
            try {
                stick(running.server(), release);
                for (int i = 0; i < 100; i++) {
                    assertArrayEquals(KEY, client.get(KEY).orElseThrow().value());
                }
                assertEquals(100, client.counters().hits());
            } finally {
                release.countDown();
            }
            assertTrue(client.delete(KEY));
        }
    }

    private static void stick(KvServer server, CountDownLatch release) throws InterruptedException {
        int threads = 2;
        CountDownLatch stuck = new CountDownLatch(threads);
        for (EventExecutor loop : ((MemcachedPort) server.memcachedPort()).loops()) {
            loop.execute(() -> {
                stuck.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        assertTrue(stuck.await(10, TimeUnit.SECONDS));
    }
}
