package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.device.VerbsDevice;

class PilafConnectionTest {
    private static final int MEBIBYTE = 1 << 20;
    /** One request and two replies, each of a little more than a mebibyte, 683 times: more than 2^31 bytes. */
    private static final int TOO_MANY = 683;

    private static StoreServerContext context(int window) {
        return new StoreServerContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .window(window)
                .maxValueLength(MEBIBYTE);
    }

    @Test
    void shouldAddUpTheMemoryOfAConnection() {
        StoreServerContext two = context(2).conclude();
        int request = PilafConnection.requestLength(two.maxKeyLength(), MEBIBYTE);
        assertEquals(2 * request + 4 * PilafConnection.replyLength(MEBIBYTE), PilafConnection.memoryLength(two));
    }

    @Test
    void shouldRefuseAServerWhoseConnectionsWouldNeedTooMuch() {
        Fabric fabric = Fabric.ofSeed(1);
        FabricNode server = fabric.node("server");
        fabric.run(server, () -> {
            try (VerbsDevice device = server.open(Map.of())) {
                IllegalArgumentException refused = assertThrows(
                        IllegalArgumentException.class,
                        () -> new PilafServer(device, context(TOO_MANY).conclude()));
                assertTrue(
                        String.valueOf(refused.getMessage())
                                .startsWith("window=683 and maxValueLength=1048576 need 21"),
                        refused::toString);
            }
        });
    }
}
