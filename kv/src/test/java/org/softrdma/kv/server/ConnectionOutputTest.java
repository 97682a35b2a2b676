package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.server.session.MemcachedConnection;
import org.softrdma.kv.server.stream.ScriptedConnection;

/** Answers for which there is no memory. */
class ConnectionOutputTest {
    private static final int ANSWERS = 100;
    /** Input, and output twice. */
    private static final long FEW_BUFFERS = 200_000;

    private static final String LONG = "x".repeat(100_000);

    /** Gives so many buffers. */
    private static final class Scarce extends AbstractByteBufAllocator {
        private int left;

        Scarce(int left) {
            this.left = left;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
            if (left == 0) {
                throw new OutOfMemoryError("injected");
            }
            left--;
            return UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldKeepNoItemForAnAnswerThatFindsNoMemory(int buffers) throws Exception {
        try (RunningServer running = new RunningServer();
                RawMemcached client = new RawMemcached(running.address())) {
            String stored = "STORED\r\n";
            assertEquals(stored, client.ask("set v 0 0 " + LONG.length() + "\r\n" + LONG + "\r\n", stored));
            try (ScriptedConnection connection = new ScriptedConnection(
                    new Scarce(buffers),
                    channel -> new MemcachedConnection(running.server().parts(), channel))) {
                connection.comes("get v v\r\n");
                String ignored = connection.turn();
            }
            String deleted = "DELETED\r\n";
            assertEquals(deleted, client.ask("delete v\r\n", deleted));
            KvServer server = running.server();
            long used = server.store().classStatistics(server.nowSeconds()).stream()
                    .mapToLong(each -> each.slab().usedChunks())
                    .sum();
            assertEquals(0, used, "chunks that nobody needs any more are free");
        }
    }

    @Test
    void shouldTakeNoBufferForEachShortAnswerThatTheSocketDoesNotTake() throws Exception {
        UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(true);
        try (RunningServer running = new RunningServer();
                ScriptedConnection connection = new ScriptedConnection(
                        memory,
                        channel -> new MemcachedConnection(running.server().parts(), channel))) {
            connection.room(0);
            for (int i = 0; i < ANSWERS; i++) {
                connection.comes("mn\r\n");
                String ignored = connection.turn();
            }
            assertTrue(memory.metric().usedDirectMemory() < FEW_BUFFERS, memory.metric()::toString);
            connection.room(Long.MAX_VALUE);
            String ignored = connection.turn();
            assertEquals("MN\r\n".repeat(ANSWERS), connection.output());
        }
    }
}
