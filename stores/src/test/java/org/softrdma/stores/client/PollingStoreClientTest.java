package org.softrdma.stores.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClientContext;

/** A design whose operations do nothing until they are lost. */
class PollingStoreClientTest {
    private static final long TIMEOUT_NS = 100;
    private static final byte[] KEY = {1};
    private static final ResultHandler IGNORING = (tag, outcome, memory, offset, length) -> {};

    /** The clock overflows soon. */
    private long nowNs = Long.MAX_VALUE - 10;

    private final Idle client = new Idle(new StoreClientContext(new InetSocketAddress(1))
            .window(2)
            .maxKeyLength(8)
            .maxValueLength(16)
            .timeoutNs(TIMEOUT_NS)
            .time(() -> nowNs, new NoOpIdleStrategy())
            .conclude());

    private static final class Plain extends ClientOperation {
        Plain(int index) {
            super(index);
        }
    }

    private static final class Plains extends ClientOperations<Plain> {
        Plains(Plain... all) {
            super(all);
        }
    }

    private static final class Idle extends PollingStoreClient {
        private final Plains operations = new Plains(new Plain(0), new Plain(1), new Plain(2));
        private int released;

        Idle(StoreClientContext context) {
            super(context);
        }

        @Override
        protected boolean start(OperationKind kind, byte[] key, MemorySegment value, long tag) {
            if (!mayStart(key, value.byteSize())) {
                return false;
            }
            started(operations
                    .start(tag, clock().nanoTime() + context().timeoutNs())
                    .deadlineNs());
            return true;
        }

        @Override
        public int poll(ResultHandler handler) {
            pollBegins();
            if (isDue()) {
                nothingDue();
                for (int i = 0; i < operations.count(); i++) {
                    Plain operation = operations.get(i);
                    if (operation.isStarted() && clock().nanoTime() - operation.deadlineNs() >= 0) {
                        operations.delivering(operation);
                        try {
                            deliver(handler, operation.tag(), Outcome.LOST, MemorySegment.NULL, 0, 0);
                        } finally {
                            operations.delivered(operation);
                        }
                    } else if (operation.isStarted()) {
                        due(operation.deadlineNs());
                    }
                }
            }
            return delivered();
        }

        @Override
        protected void release() {
            released++;
        }
    }

    @Test
    void shouldStartAsManyAsItsWindowAllows() {
        assertTrue(client.startGet(KEY, 1));
        assertTrue(client.startRemove(KEY, 2));
        assertEquals(2, client.outstanding());
        assertFalse(client.startGet(KEY, 3));
        assertEquals(2, client.window());
        assertEquals(2, client.outstanding());
    }

    @Test
    void shouldRefuseWhatIsTooLongAndStartNothing() {
        assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[0], 0));
        assertThrows(IllegalArgumentException.class, () -> client.startGet(new byte[9], 0));
        MemorySegment tooLong = MemorySegment.ofArray(new byte[17]);
        assertThrows(IllegalArgumentException.class, () -> client.startPut(KEY, tooLong, 0));
        assertEquals(0, client.outstanding());
        assertTrue(client.startPut(new byte[8], MemorySegment.ofArray(new byte[16]), 0));
    }

    @Test
    void shouldDoWhatIsDueWhenItIsEachByItsTime() {
        List<Long> ended = new ArrayList<>();
        assertTrue(client.startGet(KEY, 1));
        nowNs += TIMEOUT_NS / 2;
        assertTrue(client.startGet(KEY, 2));
        nowNs += TIMEOUT_NS / 2 - 1;
        ResultHandler handler = (tag, outcome, memory, offset, length) -> ended.add(tag);
        assertEquals(0, client.poll(handler));
        nowNs++;
        assertEquals(1, client.poll(handler));
        assertEquals(0, client.poll(handler));
        nowNs += TIMEOUT_NS / 2;
        assertEquals(1, client.poll(handler));
        assertEquals(Arrays.asList(1L, 2L), ended);
        assertEquals(0, client.outstanding());
    }

    @Test
    void shouldWaitForAResultButNoLongerThanItMay() {
        assertEquals(0, client.await(Long.MAX_VALUE, IGNORING), "nothing is outstanding");
        assertTrue(client.startGet(KEY, 1));
        assertEquals(0, client.await(0, IGNORING));
        nowNs += TIMEOUT_NS;
        assertEquals(1, client.await(0, IGNORING));
    }

    /** The operation in its handler is not outstanding, and its memory is not used again. */
    @Test
    void shouldLetAHandlerStartOperations() {
        assertTrue(client.startGet(KEY, 1));
        assertTrue(client.startGet(KEY, 2));
        nowNs += TIMEOUT_NS;
        int[] restarted = new int[1];
        assertEquals(2, client.poll((tag, outcome, memory, offset, length) -> {
            assertTrue(client.startGet(KEY, 10 + tag));
            restarted[0]++;
        }));
        assertEquals(2, restarted[0]);
        assertEquals(2, client.outstanding());
    }

    @Test
    void shouldGoOnAfterAHandlerHasThrown() {
        assertTrue(client.startGet(KEY, 1));
        nowNs += TIMEOUT_NS;
        assertThrows(
                IllegalStateException.class,
                () -> client.poll((tag, outcome, memory, offset, length) -> {
                    throw new IllegalStateException();
                }));
        assertEquals(0, client.outstanding());
        assertEquals(0, client.poll(IGNORING));
    }

    @Test
    void shouldReleaseOnce() {
        client.close();
        client.close();
        assertEquals(1, client.released);
    }

    @Test
    void shouldStartOperationsInOrderAndEachOfThemOnce() {
        Plain first = client.operations.start(7, 70);
        Plain second = client.operations.start(8, 80);
        assertTrue(first.isStarted());
        assertTrue(first.order() < second.order());
        assertEquals(7, first.tag());
        assertEquals(80, second.deadlineNs());
        client.operations.delivering(first);
        assertFalse(first.isStarted());
        assertEquals(2, client.operations.start(9, 90).index(), "the first one is in its handler");
        assertThrows(IllegalStateException.class, () -> client.operations.start(10, 100));
        client.operations.delivered(first);
        assertSame(first, client.operations.start(11, 110));
        assertTrue(first.order() > second.order());
    }
}
