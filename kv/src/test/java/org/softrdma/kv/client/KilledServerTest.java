package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.server.KvServerProcess;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.testkit.KeptPorts;
import org.softrdma.verbs.device.VerbsDevice;

/** kill -9 of the server under load: clients come back by themselves and never tell anything of the life that is over. */
@Tag("slow")
class KilledServerTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final int READERS = 4;
    private static final int LIVES = 5;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(30);

    /** READs, by reader, that found a value of the current life. */
    private final AtomicIntegerArray found = new AtomicIntegerArray(READERS);

    private volatile int life;
    private volatile boolean stop;

    @ParameterizedTest(name = "on the same host: {0}")
    @ValueSource(booleans = {false, true})
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldComeBackToEachNewLife(boolean sameHost) throws Exception {
        int port = KeptPorts.next();
        KvClientContext context = new KvClientContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .protocol(KvProtocol.RDMA)
                .conclude();
        ExecutorService threads = Executors.newFixedThreadPool(READERS);
        List<Future<?>> readers = new ArrayList<>();
        KvServerProcess server = new KvServerProcess(port, sameHost);
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                SharedKvClient shared = SharedKvClient.connect(device, context)) {
            for (int reader = 0; reader < READERS; reader++) {
                int number = reader;
                readers.add(threads.submit(() -> read(number, number % 2 == 0 ? shared : null, context)));
            }
            for (int next = 1; next <= LIVES; next++) {
                life = next;
                long backNs = System.nanoTime();
                awaitStored(shared);
                System.out.printf(
                        "life %d: %d ms from the port being back to the first set%n",
                        next, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - backNs));
                awaitReads(readers);
                if (next < LIVES) {
                    server.close();
                    server = new KvServerProcess(port, sameHost);
                }
            }
            stop = true;
            for (Future<?> reader : readers) {
                reader.get();
            }
        } finally {
            stop = true;
            threads.shutdown();
            assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
            server.close();
        }
    }

    private Void read(int number, @Nullable SharedKvClient shared, KvClientContext context) {
        if (shared != null) {
            readUntilStopped(number, shared);
            return null;
        }
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", "manual"));
                KvClient own = KvClient.connect(device, context)) {
            readUntilStopped(number, own);
        }
        return null;
    }

    private void readUntilStopped(int number, KvCommands client) {
        while (!stop) {
            int before = life;
            try {
                Optional<KvItem> item = client.get(KEY);
                if (item.isPresent()) {
                    int itsLife = item.get().flags();
                    assertTrue(itsLife >= before && itsLife <= life, "a value of life " + itsLife + " in " + before);
                    assertArrayEquals(KEY, item.get().value());
                    found.incrementAndGet(number);
                }
            } catch (KvException e) {
                LockSupport.parkNanos(PAUSE_NS); // there is no server now; leave the cores to its next life
            }
        }
    }

    private void awaitStored(SharedKvClient client) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (true) {
            try {
                assertEquals(SetStatus.STORED, client.set(KEY, life, 0, KEY));
                return;
            } catch (KvException e) {
                if (System.nanoTime() > deadlineNs) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    /** Waits until every reader has found the value of this life. */
    private void awaitReads(List<Future<?>> readers) throws Exception {
        int[] before = new int[READERS];
        for (int reader = 0; reader < READERS; reader++) {
            before[reader] = found.get(reader);
        }
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        for (int reader = 0; reader < READERS; reader++) {
            while (found.get(reader) < before[reader] + 100) {
                if (readers.get(reader).isDone()) {
                    readers.get(reader).get();
                }
                assertTrue(System.nanoTime() < deadlineNs, "reader " + reader + " does not come back in life " + life);
                Thread.onSpinWait();
            }
        }
    }
}
