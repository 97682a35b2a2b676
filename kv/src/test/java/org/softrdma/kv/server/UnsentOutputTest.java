package org.softrdma.kv.server;

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
import org.softrdma.kv.server.session.MemcachedConnection;

/** A network that sends at the end of its turn, and cannot send all. */
class UnsentOutputTest {
    @Test
    void shouldWaitForWhatATurnDidNotTake() {
        try (RunningServer running = new RunningServer()) {
            ClientChannel channel = mock(ClientChannel.class);
            when(channel.isWritable()).thenReturn(true);
            when(channel.isSent()).thenReturn(true);
            when(channel.buffer(anyInt())).thenReturn(ByteBuffer.allocate(1 << 16));
            MemcachedConnection connection =
                    new MemcachedConnection(running.server().parts(), channel);
            connection.opened();
            connection.received(ByteBuffer.wrap("version\r\n".getBytes(StandardCharsets.US_ASCII)));
            connection.receivedAll();
            verify(channel, never()).whenSent(any());

            when(channel.isSent()).thenReturn(false);
            connection.unsent();
            verify(channel).whenSent(any());
            connection.ended();
        }
    }
}
