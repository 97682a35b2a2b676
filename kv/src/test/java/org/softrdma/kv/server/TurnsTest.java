package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.netty.NettyConnection;
import org.softrdma.kv.server.session.MemcachedConnection;

/** A client that sends more requests than a turn has: none is lost, and what waits for the next turn is bounded. */
class TurnsTest {
    private static final int BUFFERS = 20;
    private static final int REQUESTS_PER_BUFFER = 50;

    @Test
    void shouldReadNoMoreWhileMuchInputWaitsForTheNextTurn() {
        try (RunningServer running = new RunningServer(context -> context.requestsPerTurn(20))) {
            EmbeddedChannel channel = new EmbeddedChannel(new NettyConnection(
                    connection -> new MemcachedConnection(running.server().parts(), connection),
                    new InputBudget(Long.MAX_VALUE)));
            byte[] requests = "mn\r\n".repeat(REQUESTS_PER_BUFFER).getBytes(StandardCharsets.US_ASCII);
            int[] given = {0};
            channel.eventLoop()
                    .execute(
                            () -> { // one task: no further turn comes in between
                                while (given[0] < BUFFERS && channel.config().isAutoRead()) {
                                    channel.pipeline().fireChannelRead(Unpooled.wrappedBuffer(requests));
                                    given[0]++;
                                }
                                assertFalse(channel.config().isAutoRead());
                            });
            channel.runPendingTasks();
            channel.flush();
            channel.checkException();
            assertTrue(given[0] > 1 && given[0] < BUFFERS, given[0] + " buffers were taken in one turn");
            assertTrue(channel.config().isAutoRead(), "all is done, and nothing is read");
            int answered = 0;
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                answered += out.readableBytes();
                out.release();
            }
            assertEquals(given[0] * REQUESTS_PER_BUFFER * "MN\r\n".length(), answered);
            channel.finishAndReleaseAll();
        }
    }
}
