package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.network.SocketNetwork;

class MemcachedLinkTest {
    private static final int MOST_ATTEMPTS = 100_000;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    /** Linux goes through the ephemeral ports in order, so that sooner or later it chooses the one that is asked for. */
    @Test
    void shouldNeverConnectToItself() throws Exception {
        InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), freeEvenPort());
        try (SocketNetwork network = new SocketNetwork()) {
            for (int i = 0; i < MOST_ATTEMPTS; i++) {
                KvException refused = assertThrows(
                        KvException.class,
                        () -> new MemcachedLink(nobody, network, SystemNanoClock.INSTANCE, TIMEOUT_NS).close());
                if (String.valueOf(refused.getMessage()).endsWith("nobody listens there")) {
                    return;
                }
            }
        }
        abort("this system never chose port " + nobody.getPort() + " in " + MOST_ATTEMPTS + " attempts");
    }

    /** Of those that connect(2) prefers; bind(2) prefers the odd ones. */
    private static int freeEvenPort() throws IOException {
        while (true) {
            try (ServerSocket any = new ServerSocket(0);
                    ServerSocket even = new ServerSocket(any.getLocalPort() & ~1)) {
                return even.getLocalPort();
            } catch (IOException e) {
                // Taken, or the same one: another try.
            }
        }
    }
}
