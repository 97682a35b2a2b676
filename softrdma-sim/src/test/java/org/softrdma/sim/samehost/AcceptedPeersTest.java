package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.net.kernel.SealedMemory;

/** What a peer says that it has read, while its page is there and when it is not. */
class AcceptedPeersTest {
    private static final TcpEnds ENDS = new TcpEnds(0, 1, 2, 3, 4, 5);

    private final AcceptedPeers peers = new AcceptedPeers();
    private final String name = "softrdma-test/" + ProcessHandle.current().pid() + "/" + System.nanoTime();
    private final LocalSocket listening;
    private final LocalSocket client;
    private final LocalSocket server;

    AcceptedPeersTest() throws IOException {
        listening = LocalSocket.listen(name, 1);
        client = LocalSocket.connect(name, 1);
        server = listening.accept();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        listening.close();
    }

    /** Of a connection: its page as the responder has it, or a life that the requester has. */
    private static SealedMemory seen(int descriptor) throws IOException {
        return SealedMemory.open(Descriptors.reopened(descriptor), ReadCounts.BYTES);
    }

    @Test
    void shouldKeepWhatItKnowsWhenAPageOfCountsIsGone() throws IOException {
        AcceptedPeers.Accepted peer = peers.add(ENDS, 7);
        try (ReadCounts counts = new ReadCounts()) {
            SealedMemory page = seen(counts.descriptor());
            SealedMemory[] life = new SealedMemory[1];
            peer.admit(page, server, descriptor -> life[0] = seen(descriptor));
            counts.count(ReadingThread.POSTING, 100);
            assertArrayEquals(new long[] {1, 100}, peers.totals());
            counts.count(ReadingThread.ENGINE, 100);
            Descriptors.lose(page.address(), page.length());
            assertArrayEquals(new long[] {1, 100}, peers.totals(), "what was believed before");
            assertTrue(ConnectionLife.isAlive(life[0].address()));

            peer.close();

            assertFalse(ConnectionLife.isAlive(life[0].address()), "the connection has ended");
            assertNull(peers.find(ENDS));
            assertArrayEquals(new long[] {1, 100}, peers.totals(), "once the connection has ended");
            life[0].close();
        }
    }
}
