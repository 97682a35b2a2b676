package org.softrdma.kv.server.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.Mockito.mock;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.InputBudget;

class InputBuffersTest {
    private static final int BUFFER_BYTES = 64 * 1024;

    /** Waiting input may take a quarter: two buffers. */
    private final InputBudget budget = new InputBudget(8 * BUFFER_BYTES);

    /** The length of the next buffer of a connection that was given long ones until now. */
    private int nextBuffer() {
        var handle = new InputBuffers(budget).newHandle();
        for (int i = 0; i < 20; i++) {
            handle.attemptedBytesRead(handle.guess());
            handle.lastBytesRead(handle.guess());
        }
        ByteBuf buffer = handle.allocate(UnpooledByteBufAllocator.DEFAULT);
        int length = buffer.capacity();
        buffer.release();
        return length;
    }

    @Test
    void shouldGiveSmallBuffersWhileMuchInputWaits() {
        List<ClientChannel> connections = new ArrayList<>();
        EmbeddedChannel channel = new EmbeddedChannel(new NettyConnection(
                made -> {
                    connections.add(made);
                    return mock(ClientHandler.class); // it keeps what it is given
                },
                budget));
        int usual = nextBuffer();
        for (int i = 0; i < 3; i++) {
            channel.writeInbound(Unpooled.wrappedBuffer(new byte[BUFFER_BYTES]));
        }
        assertEquals(4096, nextBuffer());
        assertEquals(BUFFER_BYTES, usual);

        connections.getFirst().releaseInput();
        assertEquals(BUFFER_BYTES, nextBuffer());
        channel.finishAndReleaseAll();
    }
}
