package org.softrdma.junit.guide;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.stream.LongStream;
import org.softrdma.fabric.FabricNode;
import org.softrdma.junit.FabricTest;
import org.softrdma.junit.NodeName;
import org.softrdma.junit.RdmaTest;
import org.softrdma.verbs.device.VerbsDevice;

/** The messages of docs/guide/messages.md, over TCP, and on a fabric that does whatever verbs allow. */
class SquareClientTest {
    private static final int PORT = 7471;
    private static final long[] NUMBERS = LongStream.range(0, 50).toArray();
    private static final long[] SQUARES =
            LongStream.of(NUMBERS).map(number -> number * number).toArray();

    @RdmaTest
    void shouldSquareOverTcp(VerbsDevice server, VerbsDevice client) throws Exception {
        try (SquareServer squares =
                new SquareServer(server, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            Thread serving = Thread.ofPlatform().start(squares::serve);
            try (SquareClient asking = new SquareClient(client, squares.address())) {
                assertArrayEquals(SQUARES, asking.squares(NUMBERS));
                assertArrayEquals(new long[] {9}, asking.squares(-3));
            }
            serving.join();
        }
    }

    // docs: adversary
    @FabricTest(adversary = true)
    void shouldSquareOnWhateverDevice(
            @NodeName("server") FabricNode server,
            @NodeName("server") VerbsDevice deviceOfServer,
            @NodeName("client") VerbsDevice deviceOfClient)
            throws Exception {
        SquareServer squares = new SquareServer(deviceOfServer, new InetSocketAddress(server.address(), PORT));
        server.start("squares", () -> {
            try (squares) {
                squares.serve();
            }
        });
        try (SquareClient client = new SquareClient(deviceOfClient, squares.address())) {
            assertArrayEquals(SQUARES, client.squares(NUMBERS));
        }
    }
    // docs: end
}
