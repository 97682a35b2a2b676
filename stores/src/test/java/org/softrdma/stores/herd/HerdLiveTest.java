package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.NumberedValue;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
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
class HerdLiveTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = new byte[1000];
    private static final int CLIENTS = 3;
    private static final int OPERATIONS = 3_000;
    private static final int KEYS = 12;
    private static final int WORDS = 100;
    private static final int GETS = 2000;
    private static final int ROUNDS = 60;

    private final StoreDesign design = StoreDesigns.named("herd-rc");
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicLong serverBytes = new AtomicLong();
    private VerbsDevice serverDevice;
    private VerbsDevice clientDevice;
    private InetSocketAddress address;
    private AgentRunner runner;

    @BeforeEach
    void start() {
        serverDevice = new SoftRdmaProvider().open(Map.of());
        clientDevice = new SoftRdmaProvider().open(Map.of());
        StoreServer server = design.serve(
                serverDevice,
                new StoreServerContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .options(Map.of("buckets", "6", "log", "18"))
                        .conclude());
        address = server.address();
        runner = new AgentRunner(new BackoffIdleStrategy(), failure::set, null, new CountedAgent(server, serverBytes));
        AgentRunner.startOnThread(runner);
    }

    @AfterEach
    void stop() {
        runner.close();
        clientDevice.close();
        serverDevice.close();
        assertEquals(null, failure.get());
    }

    /** Notes how many bytes its thread has allocated. */
    private record CountedAgent(StoreServer server, AtomicLong bytes) implements Agent {
        private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        @Override
        public int doWork() {
            int work = server.doWork();
            bytes.setRelease(THREADS.getCurrentThreadAllocatedBytes());
            return work;
        }

        @Override
        public String roleName() {
            return server.roleName();
        }

        @Override
        public void onClose() {
            server.close();
        }
    }

    private StoreClient client() {
        return design.connect(clientDevice, new StoreClientContext(address).conclude());
    }

    @Test
    void shouldStoreGetAndRemove() {
        try (BlockingStore store = new BlockingStore(client())) {
            assertTrue(store.get(KEY).isEmpty());
            assertTrue(store.put(KEY, VALUE));
            assertEquals(VALUE.length, store.get(KEY).orElseThrow().length);
            assertTrue(store.put(KEY, new byte[0]));
            assertEquals(0, store.get(KEY).orElseThrow().length);
            assertTrue(store.remove(KEY));
            assertTrue(store.get(KEY).isEmpty());
            assertTrue(!store.remove(KEY));
        }
    }

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

    /** 12 keys in two logs of 256 KiB: a key that is not written for long may be evicted, so each is written often. */
    private void race(RandomGenerator random, AtomicLong values, ProcessRecorder<StoreCall, StoreAnswer> me) {
        try (BlockingStore store = new BlockingStore(client())) {
            for (int i = 0; i < OPERATIONS; i++) {
                int key = random.nextInt(KEYS);
                byte[] name = ("key" + key).getBytes(StandardCharsets.US_ASCII);
                switch (random.nextInt(4)) {
                    case 0 -> {
                        long number = values.incrementAndGet();
                        int ticket = me.invoke("key" + key, StoreCall.set(number));
                        byte[] value = (byte[])
                                NumberedValue.of(key, number, WORDS).heapBase().orElseThrow();
                        assertTrue(store.put(name, value));
                        me.returned(ticket, StoreAnswer.DONE);
                    }
                    case 1 -> {
                        int ticket = me.invoke("key" + key, StoreCall.delete());
                        me.returned(ticket, store.remove(name) ? StoreAnswer.DONE : StoreAnswer.MISSING);
                    }
                    default -> {
                        int ticket = me.invoke("key" + key, StoreCall.get());
                        Optional<byte[]> found = store.get(name);
                        me.returned(
                                ticket, found.map(value -> number(key, value)).orElse(StoreAnswer.MISSING));
                    }
                }
            }
        }
    }

    private static StoreAnswer number(int key, byte[] value) {
        return StoreAnswer.value(NumberedValue.number(key, MemorySegment.ofArray(value), 0, value.length));
    }

    /** The client's thread and the server's, whatever the device's own threads do. */
    @Test
    void shouldAllocateNothingPerGet() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (StoreClient client = client()) {
            long[] found = new long[1];
            ResultHandler handler =
                    (tag, outcome, memory, offset, length) -> found[0] += outcome == Outcome.FOUND ? 1 : 0;
            assertTrue(client.startPut(KEY, MemorySegment.ofArray(VALUE), 0));
            assertEquals(1, client.await(Long.MAX_VALUE, handler));
            double perGet = Double.MAX_VALUE;
            double perGetAtServer = Double.MAX_VALUE;
            int rounds = 0;
            while ((perGet >= 1 || perGetAtServer >= 1) && rounds < ROUNDS) { // until the compiler is through with it
                long serverBefore = serverBytes.getAcquire();
                long before = threads.getCurrentThreadAllocatedBytes();
                getAll(client, handler);
                perGet = (double) (threads.getCurrentThreadAllocatedBytes() - before) / GETS;
                perGetAtServer = (double) (serverBytes.getAcquire() - serverBefore) / GETS;
                rounds++;
            }
            assertEquals((long) rounds * GETS, found[0]);
            assertTrue(perGet < 1, perGet + " bytes per GET at the client");
            assertTrue(perGetAtServer < 1, perGetAtServer + " bytes per GET at the server");
        }
    }

    private static void getAll(StoreClient client, ResultHandler handler) {
        int started = 0;
        while (started < GETS || client.outstanding() > 0) {
            while (started < GETS && client.startGet(KEY, started)) {
                started++;
            }
            int ignored = client.poll(handler);
        }
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThrows(
                IllegalArgumentException.class,
                () -> design.connect(
                        clientDevice,
                        new StoreClientContext(address)
                                .options(Map.of("x", "y"))
                                .conclude()));
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        assertThrows(
                StoreException.class, () -> design.connect(clientDevice, new StoreClientContext(nobody).conclude()));
        try (StoreClient client = client()) {
            assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[0], 0));
            assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[251], 0));
            MemorySegment tooLong = MemorySegment.ofArray(new byte[4097]);
            assertThrows(IllegalArgumentException.class, () -> client.startPut(KEY, tooLong, 0));
            for (int i = 0; i < client.window(); i++) {
                assertTrue(client.startGet(KEY, i));
            }
            assertTrue(!client.startGet(KEY, 0), "the window is full");
        }
    }
}
