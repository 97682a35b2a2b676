package org.softrdma.farm.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;
import org.softrdma.verbs.device.VerbsDevice;

/** Over TCP, with the server on a thread of its own. */
class FarmLiveTest {
    private static final int WORDS = 100;
    private static final int CLIENTS = 3;
    private static final int OPERATIONS = 3_000 / Integer.getInteger("softrdma.sample", 1);
    private static final int KEYS = 12;
    private static final int GETS = 2_000;
    private static final int ROUNDS = 60;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private VerbsDevice serverDevice;
    private VerbsDevice clientDevice;
    private InetSocketAddress address;
    private AgentRunner runner;
    private Thread serverThread;

    @BeforeEach
    void start() {
        serverDevice = new SoftRdmaProvider().open(Map.of());
        clientDevice = new SoftRdmaProvider().open(Map.of());
        StoreServer server = new FarmDesign()
                .serve(
                        serverDevice,
                        new StoreServerContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                                .maxKeyLength(16)
                                .maxValueLength(WORDS * Long.BYTES)
                                .options(Map.of("buckets", "4", "region", "1048576", "neighbourhood", "2"))
                                .conclude());
        address = server.address();
        runner = new AgentRunner(new BackoffIdleStrategy(), failure::set, null, server);
        serverThread = AgentRunner.startOnThread(runner);
    }

    @AfterEach
    void stop() {
        runner.close();
        clientDevice.close();
        serverDevice.close();
        assertEquals(null, failure.get());
    }

    private StoreClient client() {
        return new FarmDesign()
                .connect(
                        clientDevice,
                        new StoreClientContext(address)
                                .maxKeyLength(16)
                                .maxValueLength(WORDS * Long.BYTES)
                                .conclude());
    }

    private static byte[] key(int number) {
        return ("key" + number).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] value(long number) {
        ByteBuffer value = ByteBuffer.allocate(WORDS * Long.BYTES);
        while (value.hasRemaining()) {
            value.putLong(number);
        }
        return value.array();
    }

    private static long number(byte[] bytes) {
        ByteBuffer value = ByteBuffer.wrap(bytes);
        long number = value.getLong();
        while (value.hasRemaining()) {
            assertEquals(number, value.getLong(), "a torn value");
        }
        return number;
    }

    private void race(RandomGenerator random, AtomicLong values, ProcessRecorder<StoreCall, StoreAnswer> me) {
        try (BlockingStore store = new BlockingStore(client())) {
            for (int i = 0; i < OPERATIONS; i++) {
                int number = random.nextInt(KEYS);
                switch (random.nextInt(4)) {
                    case 0 -> {
                        long written = values.incrementAndGet();
                        int ticket = me.invoke("key" + number, StoreCall.set(written));
                        assertTrue(store.put(key(number), value(written)));
                        me.returned(ticket, StoreAnswer.DONE);
                    }
                    case 1 -> {
                        int ticket = me.invoke("key" + number, StoreCall.delete());
                        me.returned(ticket, store.remove(key(number)) ? StoreAnswer.DONE : StoreAnswer.MISSING);
                    }
                    default -> {
                        int ticket = me.invoke("key" + number, StoreCall.get());
                        Optional<byte[]> found = store.get(key(number));
                        me.returned(
                                ticket,
                                found.map(bytes -> StoreAnswer.value(number(bytes)))
                                        .orElse(StoreAnswer.MISSING));
                    }
                }
            }
        }
    }

    @Tag("sampled")
    @Test
    void shouldBeLinearizableForClientsOnThreadsOfTheirOwn() throws Exception {
        HistoryRecorder<StoreCall, StoreAnswer> history = new HistoryRecorder<>(System::nanoTime);
        AtomicLong values = new AtomicLong();
        try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<?>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                RandomGenerator random =
                        RandomGeneratorFactory.of("L64X128MixRandom").create(i);
                ProcessRecorder<StoreCall, StoreAnswer> me = history.process("client" + i);
                clients.add(threads.submit(() -> race(random, values, me)));
            }
            for (Future<?> client : clients) {
                client.get();
            }
        }
        new HistoryChecker<>(StoreModel.keeping()).check(history.operations()).requireLinearizable();
    }

    /** The client's thread and the server's, whatever the device's own threads do. */
    @Test
    void shouldAllocateNothingPerGet() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (StoreClient client = client()) {
            long[] found = new long[1];
            ResultHandler handler =
                    (tag, outcome, memory, offset, length) -> found[0] += outcome == Outcome.FOUND ? 1 : 0;
            byte[] key = key(1);
            assertTrue(client.startPut(key, MemorySegment.ofArray(value(1)), 0));
            assertEquals(1, client.await(Long.MAX_VALUE, handler));
            double perGet = Double.MAX_VALUE;
            double perGetAtServer = Double.MAX_VALUE;
            int rounds = 0;
            while ((perGet >= 1 || perGetAtServer >= 1) && rounds < ROUNDS) { // until the compiler is through with it
                long before = threads.getCurrentThreadAllocatedBytes();
                long serverBefore = threads.getThreadAllocatedBytes(serverThread.threadId());
                getAll(client, key, handler);
                perGet = (double) (threads.getCurrentThreadAllocatedBytes() - before) / GETS;
                perGetAtServer =
                        (double) (threads.getThreadAllocatedBytes(serverThread.threadId()) - serverBefore) / GETS;
                rounds++;
            }
            assertEquals((long) rounds * GETS, found[0]);
            assertTrue(perGet < 1, perGet + " bytes per GET at the client");
            assertTrue(perGetAtServer < 1, perGetAtServer + " bytes per GET at the server");
        }
    }

    private static void getAll(StoreClient client, byte[] key, ResultHandler handler) {
        int started = 0;
        while (started < GETS || client.outstanding() > 0) {
            while (started < GETS && client.startGet(key, started)) {
                started++;
            }
            int ignored = client.poll(handler);
        }
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        try (StoreClient client = client()) {
            assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[0], 0));
            assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[17], 0));
            for (int i = 0; i < client.window(); i++) {
                assertTrue(client.startGet(key(i), i));
            }
            assertTrue(!client.startGet(key(0), 0), "the window is full");
        }
        StoreClientContext unknown =
                new StoreClientContext(address).options(Map.of("x", "y")).conclude();
        assertThrows(IllegalArgumentException.class, () -> new FarmDesign().connect(clientDevice, unknown));
        StoreServerContext large = new StoreServerContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .maxValueLength(1 << 21)
                .conclude();
        assertThrows(IllegalArgumentException.class, () -> new FarmDesign().serve(serverDevice, large));
        StoreServerContext crowded = new StoreServerContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .options(Map.of("region", "4096", "buckets", "100"))
                .conclude();
        assertThrows(IllegalArgumentException.class, () -> new FarmDesign().serve(serverDevice, crowded));
    }
}
