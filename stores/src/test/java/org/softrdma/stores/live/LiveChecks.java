package org.softrdma.stores.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClient;

/** Checks that a client of every design passes. Each closes the client. Stateless. */
public final class LiveChecks {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = new byte[1000];
    private static final int GETS = 2000;
    private static final int ROUNDS = 60;

    private LiveChecks() {}

    /** Pairs come, change and go. */
    public static void storesGetsAndRemoves(StoreClient client) {
        try (BlockingStore store = new BlockingStore(client)) {
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

    /**
     * The client's thread and the server's allocate nothing per GET, whatever the devices' own threads do.
     *
     * @param serverBytes what the server's thread has allocated
     */
    public static void allocatesNothingPerGet(StoreClient client, LongSupplier serverBytes) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (client) {
            long[] found = new long[1];
            ResultHandler handler =
                    (tag, outcome, memory, offset, length) -> found[0] += outcome == Outcome.FOUND ? 1 : 0;
            assertTrue(client.startPut(KEY, MemorySegment.ofArray(VALUE), 0));
            assertEquals(1, client.await(Long.MAX_VALUE, handler));
            double perGet = Double.MAX_VALUE;
            double perGetAtServer = Double.MAX_VALUE;
            int rounds = 0;
            while ((perGet >= 1 || perGetAtServer >= 1) && rounds < ROUNDS) { // until the compiler is through with it
                long serverBefore = serverBytes.getAsLong();
                long before = threads.getCurrentThreadAllocatedBytes();
                getAll(client, handler);
                perGet = (double) (threads.getCurrentThreadAllocatedBytes() - before) / GETS;
                perGetAtServer = (double) (serverBytes.getAsLong() - serverBefore) / GETS;
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

    /** Keys and values that are longer than usual are refused, and so is what the window has no room for. */
    public static void refusesWhatIsTooMuch(StoreClient client) {
        try (client) {
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
