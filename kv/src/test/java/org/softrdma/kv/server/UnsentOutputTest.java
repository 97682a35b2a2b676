package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.session.KvService;
import org.softrdma.kv.server.session.MemcachedConnection;
import org.softrdma.kv.server.session.OutputBudgets;

/** A network that sends at the end of its turn, and cannot send all. */
class UnsentOutputTest {
    private static final int BUFFER_BYTES = 1 << 16;

    @Test
    void shouldWaitForWhatATurnDidNotTake() {
        try (RunningServer running = new RunningServer()) {
            ClientChannel channel = mock(ClientChannel.class);
            when(channel.isWritable()).thenReturn(true);
            when(channel.isSent()).thenReturn(true);
            when(channel.buffer(anyInt())).thenReturn(ByteBuffer.allocate(BUFFER_BYTES));
            when(channel.pendingBytes()).thenReturn(1L);
            KvService service = running.server().parts().service();
            MemcachedConnection connection =
                    new MemcachedConnection(running.server().parts(), channel);
            connection.opened();
            connection.received(ByteBuffer.wrap("version\r\n".getBytes(StandardCharsets.US_ASCII)));
            connection.receivedAll();
            verify(channel, never()).whenSent(any());
            assertEquals(0, OutputBudgets.used(service));

            when(channel.isSent()).thenReturn(false);
            connection.unsent();
            verify(channel).whenSent(any());
            assertEquals(BUFFER_BYTES + 1, OutputBudgets.used(service), "all of the buffer, though one byte is left");
            connection.ended();
        }
    }
}
