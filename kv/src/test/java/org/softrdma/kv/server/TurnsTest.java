package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.session.MemcachedConnection;
import org.softrdma.kv.server.stream.ScriptedConnection;

/** A client that sends more requests than a turn has: none is lost, and what waits for the next turn is bounded. */
class TurnsTest {
    private static final int BUFFERS = 20;
    private static final int REQUESTS_PER_BUFFER = 50;
    private static final int MOST_TURNS = 1000;

    @Test
    void shouldReadNoMoreWhileMuchInputWaitsForTheNextTurn() throws IOException {
        try (RunningServer running = new RunningServer(context -> context.requestsPerTurn(20));
                ScriptedConnection connection = new ScriptedConnection(
                        UnpooledByteBufAllocator.DEFAULT,
                        channel -> new MemcachedConnection(running.server().parts(), channel))) {
            for (int i = 0; i < BUFFERS; i++) {
                connection.comes("mn\r\n".repeat(REQUESTS_PER_BUFFER));
            }
            String first = connection.turn();
            assertTrue(first.contains("pause"), "a turn reads on although much waits: " + first);
            int expected = BUFFERS * REQUESTS_PER_BUFFER * "MN\r\n".length();
            assertTrue(connection.output().length() < expected, "all was answered in one turn");
            for (int turns = 0; connection.output().length() < expected; turns++) {
                assertTrue(
                        turns < MOST_TURNS,
                        () -> "answered " + connection.output().length() + " of " + expected);
                String ignored = connection.turn();
            }
            assertEquals("MN\r\n".repeat(BUFFERS * REQUESTS_PER_BUFFER), connection.output());
        }
    }
}
