package org.softrdma.kv.races;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.kv.server.RawMemcached;
import org.softrdma.kv.server.RunningServer;

/** A hit wakes no thread of the store: the operating system counts how often each thread was switched to. */
class WakeUpsTest {
    private static final Path TASKS = Path.of("/proc/self/task");
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final int HITS = 10_000;

    /** Far less than one per hit, for what else a thread may wake up for. */
    private static final long FEW = HITS / 100;

    /** Reports of hits, one for many, and the timer of the RDMA port are no hits. */
    private static final long REPORTS = HITS / 4;

    @ParameterizedTest
    @EnumSource
    void shouldWakeNoThreadOfTheStoreForHits(Registration registration) throws IOException {
        assumeTrue(Files.isDirectory(TASKS), "needs /proc/self/task, where Linux counts context switches");
        try (RunningServer running =
                        new RunningServer(context -> context.items(items -> items.registration(registration)));
                KvClient client = running.client()) {
            client.set(KEY, 0, 0, KEY);
            long memcachedBefore = switches("kv-memcached");
            long rdmaBefore = switches("kv-rdma");
            for (int i = 0; i < HITS; i++) {
                assertArrayEquals(KEY, client.get(KEY).orElseThrow().value());
            }
            long memcached = switches("kv-memcached") - memcachedBefore;
            long rdma = switches("kv-rdma") - rdmaBefore;
            assertEquals(HITS, client.counters().hits());
            assertTrue(memcached < FEW, () -> memcached + " wake-ups of the memcached port in " + HITS + " hits");
            assertTrue(rdma < REPORTS, () -> rdma + " wake-ups of the RDMA port in " + HITS + " hits");
        }
    }

    /** The count above counts: each GET over TCP wakes a thread. */
    @Test
    void shouldWakeAThreadForEachGetOverTcp() throws IOException {
        assumeTrue(Files.isDirectory(TASKS), "needs /proc/self/task, where Linux counts context switches");
        try (RunningServer running = new RunningServer();
                RawMemcached client = new RawMemcached(running.address())) {
            long before = switches("kv-memcached");
            for (int i = 0; i < FEW * 2; i++) {
                client.send("get none\r\n");
                assertEquals("END", client.readLine());
            }
            assertTrue(switches("kv-memcached") - before >= FEW, "wake-ups of the memcached port");
        }
    }

    /** Context switches of all threads of this process whose name begins so; at least one such thread must be there. */
    private static long switches(String name) throws IOException {
        List<Path> tasks;
        try (Stream<Path> all = Files.list(TASKS)) {
            tasks = all.toList();
        }
        long sum = 0;
        int threads = 0;
        for (Path task : tasks) {
            try {
                if (Files.readString(task.resolve("comm")).startsWith(name)) {
                    threads++;
                    sum += Files.readAllLines(task.resolve("status")).stream()
                            .filter(line -> line.contains("ctxt_switches:"))
                            .mapToLong(line -> Long.parseLong(line.split("\\s+", -1)[1]))
                            .sum();
                }
            } catch (NoSuchFileException e) {
                // the thread has ended
            }
        }
        assertTrue(threads > 0, () -> "no thread is called " + name);
        return sum;
    }
}
