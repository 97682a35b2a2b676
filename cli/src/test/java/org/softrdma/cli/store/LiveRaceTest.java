package org.softrdma.cli.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;
import org.softrdma.testkit.history.HistoryChecker;
import org.softrdma.testkit.history.HistoryRecorder;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;
import org.softrdma.testkit.history.StoreModel;

/**
 * Every design by real sockets: eight clients on threads of their own change and get the same few keys. What they saw must
 * be a history of a store that keeps its pairs, for a minute, or by {@code softrdma.slow.short} for one part of it. Each part
 * has keys and a history of its own, so a long race needs no more memory than a short one.
 */
class LiveRaceTest {
    private static final int CLIENTS = 8;
    private static final int KEYS = 20;
    private static final int WORDS = 64;
    /** Of one client. */
    private static final int OPERATIONS_OF_PART = Boolean.getBoolean("softrdma.slow.short") ? 750 : 3_000;

    private static final long TIME_NS = Boolean.getBoolean("softrdma.slow.short") ? 0 : TimeUnit.SECONDS.toNanos(60);
    private static final int KEY_SHIFT = 48;

    private final AtomicLong values = new AtomicLong();

    static Stream<String> designs() {
        return StoreDesigns.all().stream().map(StoreDesign::name).sorted();
    }

    @ParameterizedTest
    @Tag("slow")
    @MethodSource("designs")
    void shouldBeLinearizableForClientsOnThreadsOfTheirOwn(String name) throws Exception {
        long begun = System.nanoTime();
        long operations = 0;
        try (LiveDesign live = new LiveDesign(StoreDesigns.named(name), WORDS * Long.BYTES);
                ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            List<BlockingStore> stores = new ArrayList<>();
            try {
                for (int i = 0; i < CLIENTS; i++) {
                    stores.add(new BlockingStore(live.client()));
                }
                for (int part = 0; part == 0 || System.nanoTime() - begun < TIME_NS; part++) {
                    operations += race(part, stores, threads);
                }
            } finally {
                stores.forEach(BlockingStore::close);
            }
        }
        System.out.println(name + ": " + operations + " operations");
    }

    private int race(int part, List<BlockingStore> stores, ExecutorService threads)
            throws InterruptedException, ExecutionException {
        HistoryRecorder<StoreCall, StoreAnswer> history = new HistoryRecorder<>(System::nanoTime);
        List<Future<?>> clients = new ArrayList<>();
        for (int i = 0; i < stores.size(); i++) {
            RandomGenerator random =
                    RandomGeneratorFactory.of("L64X128MixRandom").create((long) part * CLIENTS + i);
            ProcessRecorder<StoreCall, StoreAnswer> me = history.process("client" + i);
            BlockingStore store = stores.get(i);
            clients.add(threads.submit(() -> race(part, store, random, me)));
        }
        for (Future<?> client : clients) {
            client.get();
        }
        var operations = history.operations();
        new HistoryChecker<>(StoreModel.keeping()).check(operations).requireLinearizable();
        for (int key = 0; key < KEYS; key++) {
            boolean ignored = stores.getFirst().remove(name(part, key)); // room for the next part
        }
        return operations.size();
    }

    private void race(
            int part, BlockingStore store, RandomGenerator random, ProcessRecorder<StoreCall, StoreAnswer> me) {
        for (int i = 0; i < OPERATIONS_OF_PART; i++) {
            int key = random.nextInt(KEYS);
            byte[] bytes = name(part, key);
            String name = "key" + key;
            switch (random.nextInt(4)) {
                case 0 -> {
                    long number = values.incrementAndGet();
                    int ticket = me.invoke(name, StoreCall.set(number));
                    assertTrue(store.put(bytes, value(key, number, 1 + random.nextInt(WORDS))), "no memory");
                    me.returned(ticket, StoreAnswer.DONE);
                }
                case 1 -> {
                    int ticket = me.invoke(name, StoreCall.delete());
                    me.returned(ticket, store.remove(bytes) ? StoreAnswer.DONE : StoreAnswer.MISSING);
                }
                default -> {
                    int ticket = me.invoke(name, StoreCall.get());
                    Optional<byte[]> found = store.get(bytes);
                    me.returned(ticket, found.map(value -> number(key, value)).orElse(StoreAnswer.MISSING));
                }
            }
        }
    }

    private static byte[] name(int part, int key) {
        return (part + "-" + key).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] value(int key, long number, int words) {
        ByteBuffer value = ByteBuffer.allocate(words * Long.BYTES);
        while (value.hasRemaining()) {
            value.putLong((long) key << KEY_SHIFT | number);
        }
        return value.array();
    }

    private static StoreAnswer number(int key, byte[] bytes) {
        ByteBuffer value = ByteBuffer.wrap(bytes);
        long word = value.getLong();
        while (value.hasRemaining()) {
            assertEquals(word, value.getLong(), () -> "key " + key + ": torn at " + value.position());
        }
        assertEquals(key, word >>> KEY_SHIFT, () -> "a foreign value for key " + key);
        return StoreAnswer.value(word & (1L << KEY_SHIFT) - 1);
    }
}
