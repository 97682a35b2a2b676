package org.softrdma.kv.races;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.ItemCheck;
import org.softrdma.kv.client.ReadOutcome;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.KeyedChunks;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.SlabAllocator;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreRule;
import org.softrdma.kv.store.StoreStatus;

/**
 * What clients rely on that take any living item of their key, by whatever stag it once was of the key: of all chunks there
 * are, at most one has a living item of a key, and that is the present one. Looked at through every stag that ever was, after
 * each step and, where there is a way to look, in the middle of one. Without a device or threads but where said.
 */
class ChunkNamesTest {
    private static final byte[][] KEYS = {bytes("key1"), bytes("key2"), bytes("key3")};
    private static final byte[] NO_KEY = new byte[0];
    private static final long NOW = 1_000_000;
    private static final int LARGEST = 1 << 20;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private byte[] changing = NO_KEY;
    private final KeyedChunks chunks = new KeyedChunks(this::noneLives);
    private final ItemStore store =
            new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, LARGEST), chunks, 6L << 20), 1, true);
    private final MemorySegment landed = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(LARGEST));
    private final ItemCheck check = new ItemCheck();

    @AfterEach
    void free() {
        chunks.close();
    }

    @Test
    void shouldKeepTheStagOfAKeyWhileItsClassStays() {
        Locator locator = set(KEYS[0], "first");
        for (int i = 0; i < 100; i++) {
            Locator next = set(KEYS[0], "value " + i);
            assertEquals(locator.first(), next.first());
            assertEquals(locator.length(), next.length());
            assertEquals("value " + i, read(chunks.chunk(locator.rkey()), KEYS[0]));
        }
        assertEquals(100, chunks.exchanges());
        Locator larger = set(KEYS[0], "x".repeat(2 * locator.length()));
        assertNotEquals(locator.rkey(), larger.rkey());
        assertTrue(larger.length() > locator.length());
        assertNull(read(chunks.chunk(locator.rkey()), KEYS[0]));
        assertEquals(100, chunks.exchanges());
    }

    @Test
    void shouldShowNoOlderItemByAnyStagThatEverWas() {
        long seed = Long.getLong("softrdma.seed", 815);
        Random random = new Random(seed);
        @Nullable String[] model = new String[KEYS.length];
        int hits = 0;
        for (int step = 0; step < 3000; step++) {
            int key = random.nextInt(KEYS.length);
            String value = value(random, step);
            changing = KEYS[key];
            switch (random.nextInt(8)) {
                case 0 -> {
                    store.delete(new KeySlice(KEYS[key]), 0, NOW);
                    model[key] = null;
                }
                case 1 -> {
                    StoreStatus status = store(KEYS[key], value, new StoreRule().reset(StoreMode.ADD));
                    model[key] = status == StoreStatus.STORED ? value : model[key];
                }
                case 2 -> {
                    StoreRule rule = new StoreRule().reset(StoreMode.CAS).compareCas(1 + random.nextInt(step + 1));
                    model[key] = store(KEYS[key], value, rule) == StoreStatus.STORED ? value : model[key];
                }
                case 3 -> {
                    StoreStatus status = store(KEYS[key], "+" + step, new StoreRule().reset(StoreMode.APPEND));
                    model[key] = status == StoreStatus.STORED ? model[key] + "+" + step : model[key];
                }
                default -> {
                    store(KEYS[key], value, new StoreRule());
                    model[key] = value;
                }
            }
            for (int i = 0; i < KEYS.length; i++) {
                String present = present(KEYS[i]);
                if (present == null) {
                    model[i] = null; // evicted by the others' large values
                }
                String shown = shown(KEYS[i]);
                assertEquals(model[i], shown, "key" + (i + 1) + " after step " + step + ", softrdma.seed=" + seed);
                hits += shown == null ? 0 : 1;
            }
        }
        assertTrue(hits > 1000 && chunks.exchanges() > 100, hits + " hits, " + chunks.exchanges() + " exchanges");
    }

    /** The new item is whole while its thread waits for the lock of the key, but it may be refused: nobody may have it. */
    @Test
    void shouldShowNoItemBeforeItIsStored() throws InterruptedException {
        for (StoreMode mode : new StoreMode[] {StoreMode.ADD, StoreMode.SET}) {
            set(KEYS[0], "old");
            AtomicReference<@Nullable StoreStatus> status = new AtomicReference<>();
            Thread other = new Thread(() -> status.set(store(KEYS[0], "new", new StoreRule().reset(mode))));
            store.get(new KeySlice(KEYS[0]), NOW, false, item -> {
                other.start();
                awaitWaiting(other);
                assertEquals("old", shown(KEYS[0]));
            });
            other.join();
            assertEquals(mode == StoreMode.SET ? StoreStatus.STORED : StoreStatus.NOT_STORED, status.get());
            assertEquals(mode == StoreMode.SET ? "new" : "old", shown(KEYS[0]));
        }
    }

    private static void awaitWaiting(Thread thread) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (thread.getState() != Thread.State.WAITING) {
            assertTrue(System.nanoTime() < deadlineNs, "the thread does not wait for the lock");
            Thread.onSpinWait();
        }
    }

    /** While stags change places the old item is dead, and the new one does not live. */
    private void noneLives() {
        if (changing != NO_KEY) {
            assertNull(shown(changing));
        }
    }

    /** What all stags together show of a key: the value of its one living item, or null. */
    private @Nullable String shown(byte[] key) {
        String found = null;
        for (MemorySegment chunk : chunks.chunks()) {
            String value = (ItemDescriptor.generation(chunk, 0) & 1) == 0 ? null : read(chunk, key);
            assertTrue(value == null || found == null, "two living items of one key");
            found = value == null ? found : value;
        }
        return found;
    }

    /** What a client makes of a READ of a whole chunk. */
    private @Nullable String read(MemorySegment chunk, byte[] key) {
        MemorySegment.copy(chunk, 0, landed, 0, chunk.byteSize());
        ReadOutcome outcome =
                check.checkLiving(landed, landed.asByteBuffer(), 0, (int) chunk.byteSize(), key, ItemCheck.NO_EXPIRY);
        if (outcome != ReadOutcome.HIT) {
            return null;
        }
        byte[] value = new byte[ItemDescriptor.valueLength(landed, 0)];
        MemorySegment.copy(
                landed, ValueLayout.JAVA_BYTE, ItemDescriptor.valueOffset(landed, 0), value, 0, value.length);
        return new String(value, StandardCharsets.ISO_8859_1);
    }

    private @Nullable String present(byte[] key) {
        String[] found = new String[1];
        store.get(new KeySlice(key), NOW, false, item -> {
            byte[] value = new byte[item.valueLength()];
            MemorySegment.copy(item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), value, 0, value.length);
            found[0] = new String(value, StandardCharsets.ISO_8859_1);
        });
        return found[0];
    }

    /** Values of two classes, of which the large one has but a few chunks. */
    private static String value(Random random, int step) {
        String value = "value " + step;
        return random.nextInt(10) == 0 ? value + "x".repeat(900_000 + random.nextInt(1000)) : value;
    }

    private Locator set(byte[] key, String value) {
        NewItem item = reserve(key, value);
        assertEquals(StoreStatus.STORED, store.store(item, new StoreRule(), NOW));
        return item.locator();
    }

    private StoreStatus store(byte[] key, String value, StoreRule rule) {
        return store.store(reserve(key, value), rule, NOW);
    }

    private NewItem reserve(byte[] key, String value) {
        NewItem item = store.reserve(new KeySlice(key), 0, 0, value.length(), NOW);
        assertEquals(NewItem.Status.READY, item.status());
        MemorySegment.copy(bytes(value), 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), value.length());
        return item;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
