package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** Peers that ask for CRC, and do not finish an FPDU, hold a bounded amount of memory. */
class UnfinishedFpdusTest {
    private static final byte[] REQUEST =
            Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED | Frames.CRC, 2, Frames.depths(0, 1, 1));
    private static final int PAYLOAD = 64_000;
    private static final int PART = 60_000;
    private static final int LIMIT = 16 << 20;
    /** As many may be at it for as long as they like. */
    private static final int ALLOWED = LIMIT / (PART + 1);

    private static final int PEERS = ALLOWED + 2;

    private static RawPeer connect(TestDevice server) throws IOException {
        RawPeer peer = server.own(RawPeer.connect(server.address()));
        peer.sendBytes(REQUEST);
        ConnectionRequest request = server.request();
        server.queuePair(request, new QueuePairLimits(1, 1, 1, 1, 0));
        request.accept(new ConnectionParameters(1, 1, new byte[0]));
        peer.receiveMpa();
        return peer.crc(true);
    }

    @Test
    void shouldEndThoseThatHaveBeenAtItForLongest() throws IOException {
        try (TestDevice server = new TestDevice("threads", "1", "handshake-timeout", "2000")) {
            TestDevice.Guarded memory = server.guarded(PAYLOAD, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            byte[] write = Frames.fpdu(
                    Frames.tagged(
                            Frames.WRITE,
                            true,
                            memory.region().rkey(),
                            memory.region().address(),
                            TestBytes.pattern(1, PAYLOAD)),
                    true);
            List<RawPeer> peers = new ArrayList<>();
            for (int i = 0; i < ALLOWED; i++) {
                RawPeer peer = connect(server);
                peer.sendBytes(TestBytes.slice(write, 0, PART));
                peers.add(peer);
            }
            // Who was the first to begin is the last to go on, so both cannot be taken for the same, however long this
            // takes.
            int sent = PART + 1;
            for (RawPeer peer : peers.reversed()) {
                peer.sendBytes(TestBytes.slice(write, PART, sent));
            }
            while (peers.size() < PEERS) {
                RawPeer peer = connect(server);
                peer.sendBytes(TestBytes.slice(write, 0, sent));
                peers.add(peer);
            }
            while (server.counter("unfinishedEnded") == 0 && sent < write.length - 1) {
                sent++;
                for (RawPeer peer : peers) {
                    peer.sendBytes(TestBytes.slice(write, sent - 1, sent));
                }
            }
            for (RawPeer peer : peers) {
                peer.sendBytes(TestBytes.slice(write, sent, write.length));
            }
            TestDevice.await(
                    () -> "the others, now " + server.counter("responderWrites") + " WRITEs",
                    () -> server.counter("responderWrites") + server.counter("unfinishedEnded") == PEERS);
            int ended = (int) server.counter("unfinishedEnded");
            assertTrue(ended > 0 && ended < PEERS / 2, () -> ended + " ended");
            for (RawPeer slow : peers.subList(0, ended)) {
                assertTrue(slow.next().isPresent(), "a Terminate");
                slow.expectEnd();
            }
        }
    }
}
