package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class KvClientContextTest {
    private static final InetSocketAddress SERVER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 11211);

    @Test
    void shouldRefuseAWindowOfItemsBeyondTwoGibibytes() {
        KvClientContext context = new KvClientContext(SERVER).window(4096).maxItemLength(1 << 20);

        IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, context::conclude);

        String message = String.valueOf(refusal.getMessage());
        assertTrue(message.startsWith("window=4096 and maxItemLength=1048576: 4097 buffers take 4296015872"), message);
        assertEquals(
                2000,
                new KvClientContext(SERVER)
                        .window(2000)
                        .maxItemLength(1 << 20)
                        .conclude()
                        .window());
    }
}
