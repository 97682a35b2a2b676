package org.softrdma.junit.guide;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.softrdma.junit.RdmaTest;
import org.softrdma.verbs.device.VerbsDevice;

/** The first test of docs/guide/testing.md: over TCP, with threads. */
class FirstTest {
    // docs: first
    @RdmaTest
    void shouldGetARow(VerbsDevice server, VerbsDevice client) throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (RowServer rows = new RowServer(server, address, 10, 20, 30)) {
            Thread serving = Thread.ofVirtual().start(rows::serve);
            try (RowClient reader = new RowClient(client, rows.address(), System::nanoTime)) {
                assertEquals(20, reader.get(1));
            }
            serving.join();
        }
    }
    // docs: end
}
