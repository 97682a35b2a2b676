package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
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
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.NumberedValue;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.live.LiveChecks;
import org.softrdma.stores.live.LiveStores;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;

/**
 * Over TCP, and as published over RoCEv2, with the server on a thread of its own, on which its workers take turns or beside
 * which they have threads of their own.
 */
@ParameterizedClass
@CsvSource({"herd-rc, false", "herd, false", "herd-rc, true", "herd, true"})
class HerdLiveTest {
    private static final int CLIENTS = 3;
    private static final int OPERATIONS = 3_000 / Integer.getInteger("softrdma.sample", 1);
    private static final int KEYS = 12;
    private static final int WORDS = 100;
    private static final int VALUE = 1024; // which fits into a datagram

    private final StoreDesign design;
    private final boolean threads;
    private LiveStores live;

    HerdLiveTest(String name, boolean threads) {
        design = StoreDesigns.named(name);
        this.threads = threads;
    }

    @BeforeEach
    void start() {
        live = new LiveStores(
                1,
                design.needs(Protocol.SAFE).isEmpty() ? Map.of() : LiveStores.roce(),
                threads,
                (node, device, context) -> design.serve(
                        device,
                        context.maxValueLength(VALUE)
                                .options(Map.of("buckets", "6", "log", "18"))
                                .conclude()));
    }

    @AfterEach
    void stop() {
        assertEquals(threads ? 2 : 0, live.workers());
        live.close();
    }

    private StoreClient client() {
        return design.connect(
                live.clientDevice(),
                new StoreClientContext(live.address()).maxValueLength(VALUE).conclude());
    }

    @Test
    void shouldStoreGetAndRemove() {
        LiveChecks.storesGetsAndRemoves(client());
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
        LiveChecks.allocatesNothingPerGet(client(), live::allocatedBytes);
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThrows(
                IllegalArgumentException.class,
                () -> design.connect(
                        live.clientDevice(),
                        new StoreClientContext(live.address())
                                .options(Map.of("x", "y"))
                                .conclude()));
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        assertThrows(
                StoreException.class,
                () -> design.connect(live.clientDevice(), new StoreClientContext(nobody).conclude()));
        LiveChecks.refusesWhatIsTooMuch(client());
    }
}
