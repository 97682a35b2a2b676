package org.softrdma.farm.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.hash.SeededHash;
import org.softrdma.verbs.device.VerbsDevice;

/** What must not be believed although everything else fits: the hash of another key, and a READ that took too long. */
class FarmLookupTest {
    private static final int VALUE = 32;
    private static final int KEYS = 5;
    private static final long LATE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
    private static final Map<String, String> OPTIONS =
            Map.of("buckets", "64", "region", Integer.toString(1 << 18), "block", "8192", "values", "outline");

    private interface Body {
        void run(FarmFabric farm, BlockingStore store) throws Exception;
    }

    private static void run(Protocol protocol, FabricSettings settings, Body body) {
        new FarmFabric(5, settings, protocol, OPTIONS, VALUE).run(farm -> {
            try (VerbsDevice device = farm.testNode().open(Map.of());
                    BlockingStore store = new BlockingStore(farm.connect(device, context -> {}))) {
                body.run(farm, store);
            }
        });
    }

    private static byte[] value(int number) {
        return ByteBuffer.allocate(VALUE).putInt(number).array();
    }

    /** Keys of two words. The hash takes one after the other, so a second word can make up for another first one. */
    private static byte[] keyOfSameHash(long seed, int number) {
        long first = afterWord(seed, 0);
        return key(number, first ^ afterWord(seed, number));
    }

    private static byte[] key(long first, long second) {
        return ByteBuffer.allocate(FarmFabric.KEY)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(first)
                .putLong(second)
                .array();
    }

    /** SeededHash's state behind its first word: the fold of {@code again} by another factor. */
    private static long afterWord(long seed, long word) {
        long sum = seed ^ 0xa076_1d64_78bd_642fL ^ word;
        long mixed = sum ^ sum >>> Integer.SIZE;
        long factor = 0xe703_7ed1_a0b4_28dbL;
        return mixed * factor ^ Math.unsignedMultiplyHigh(mixed, factor) ^ factor;
    }

    /** A slot tells the key's hash alone: which pair is the key's, only the pair itself tells. */
    @ParameterizedTest
    @CsvSource({"SAFE", "PAPER"})
    void shouldTellKeysOfTheSameHashApart(Protocol protocol) {
        run(protocol, FabricSettings.DEFAULT, (farm, store) -> {
            byte[][] keys = new byte[KEYS + 1][];
            long hash = SeededHash.of(MemorySegment.ofArray(key(0, 0)), 0, FarmFabric.KEY, farm.tableSeed());
            for (int i = 0; i <= KEYS; i++) {
                keys[i] = keyOfSameHash(farm.tableSeed(), i);
                assertEquals(hash, SeededHash.of(MemorySegment.ofArray(keys[i]), 0, FarmFabric.KEY, farm.tableSeed()));
            }
            for (int i = 0; i < KEYS; i++) {
                assertTrue(store.put(keys[i], value(i)));
            }
            long before = farm.responderReads();
            for (int i = 0; i < KEYS; i++) {
                assertArrayEquals(value(i), store.get(keys[i]).orElseThrow(), "key " + i);
            }
            assertEquals(
                    KEYS + KEYS * (KEYS + 1) / 2, farm.responderReads() - before, "buckets, and pairs until the key's");
            assertTrue(store.get(keys[KEYS]).isEmpty());
            assertFalse(store.remove(keys[KEYS]));
            assertTrue(store.remove(keys[1]));
            assertTrue(store.get(keys[1]).isEmpty());
            assertTrue(store.put(keys[2], value(100)));
            for (int i : new int[] {0, 2, 3, 4}) {
                assertArrayEquals(value(i == 2 ? 100 : i), store.get(keys[i]).orElseThrow(), "key " + i);
            }
        });
    }

    /** A batch executes the last of several changes of one key; these are of different ones. */
    @Test
    void shouldNotCombineChangesOfKeysOfTheSameHash() {
        run(Protocol.SAFE, FabricSettings.DEFAULT, (farm, store) -> {
            StoreClient client = store.client();
            farm.server().pauseProcesses(LATE_NS);
            int[] asked = {0, 1, 2, 0};
            for (int number : asked) {
                byte[] key = keyOfSameHash(farm.tableSeed(), number);
                assertTrue(client.startPut(key, MemorySegment.ofArray(value(number)), number));
            }
            while (client.outstanding() > 0) {
                int ignored = client.await(
                        HOUR_NS, (tag, outcome, memory, at, length) -> assertEquals(Outcome.STORED, outcome));
            }
            assertEquals(1, farm.serving().combined(), "the two of one key came in one batch");
            for (int number : asked) {
                byte[] key = keyOfSameHash(farm.tableSeed(), number);
                assertArrayEquals(value(number), store.get(key).orElseThrow(), "key " + number);
            }
        });
    }

    /**
     * As published, a READ that takes so long that all line versions might have come round proves nothing (section 3.4 of
     * the paper). A checksum is not misled by that.
     */
    @ParameterizedTest
    @CsvSource({"PAPER, 8, true", "PAPER, 64, true", "SAFE, 8, false"})
    void shouldNotBelieveAReadThatTookTooLongAsPublished(Protocol protocol, int grain, boolean again) {
        Grains grains = grain == 64 ? Grains.LINES : Grains.WORDS;
        run(protocol, FabricSettings.DEFAULT.with(grains), (farm, store) -> {
            byte[] key = key(1, 2);
            assertTrue(store.put(key, value(1)));
            StoreClient client = store.client();
            long reads = farm.responderReads();
            long retries = client.counters().get(StoreCounter.LINE_RETRIES);
            farm.fabric().partition(farm.testNode(), farm.server(), LATE_NS);
            assertTrue(client.startGet(key, 0));
            Outcome[] ended = new Outcome[1];
            int ignored = client.await(HOUR_NS, (tag, outcome, memory, at, length) -> ended[0] = outcome);
            assertEquals(Outcome.FOUND, ended[0]);
            assertEquals(again ? 3 : 2, farm.responderReads() - reads, "buckets, once more if late, and the pair");
            assertEquals(again ? 1 : 0, client.counters().get(StoreCounter.LINE_RETRIES) - retries);
        });
    }

    /** 16384 writes of 100 ns each: an ordinary READ is far below that. */
    @Test
    void shouldBelieveAnOrdinaryReadAsPublished() {
        run(Protocol.PAPER, FabricSettings.DEFAULT, (farm, store) -> {
            byte[] key = key(1, 2);
            assertTrue(store.put(key, value(1)));
            long reads = farm.responderReads();
            assertArrayEquals(value(1), store.get(key).orElseThrow());
            assertEquals(2, farm.responderReads() - reads, "the buckets and the pair");
        });
    }
}
