package org.softrdma.sim.roce;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Mad;
import org.softrdma.sim.roce.wire.Reth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;

/** What peers hear of a device that is closed. */
@Timeout(60)
class ClosedDeviceTest {
    private static InetSocketAddress here(int port) {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
    }

    /** The DREQ of its queue pair is lost, and the device is closed at once. */
    @Test
    void shouldTellAPeerOfTheEndAgainBeforeItIsClosed() throws Exception {
        int port = RoceEnds.freePort();
        try (RawRocePeer peer = new RawRocePeer(here(RoceEnds.freePort()), here(port), 1, 1)) {
            RoceEnds.Side side = new RoceEnds.Side(Map.of("wire", "roce", "roce-port", Integer.toString(port)));
            Listener listener = side.device.listen(here(0), 1);
            peer.connect(listener.localAddress().getPort());
            ConnectionRequest request = listener.next(RoceEnds.DEADLINE_NS).orElseThrow();
            QueuePair pair = request.createQueuePair(side.domain, side.attributes());
            request.accept(ConnectionParameters.ofReads(4));
            peer.await("replied");
            awaitAcknowledgement(peer);
            listener.close();
            pair.close();
            CompletableFuture<Void> closed = CompletableFuture.runAsync(side::close);
            peer.lose(Mad.DISCONNECT_REQUEST);
            peer.await("disconnected");
            closed.join();
        }
    }

    /** So the device knows that the connection stands. */
    private static void awaitAcknowledgement(RawRocePeer peer) {
        int opcode = RoceOpcode.RC | RoceOpcode.WRITE_ONLY;
        Bth.put(peer.packet(), opcode, 0, 0, peer.deviceQueuePair(), peer.firstPsn());
        Bth.requestAcknowledgement(peer.packet());
        Reth.put(peer.packet(), 0, 0, 0);
        peer.send(RocePacket.length(opcode, 0));
        var _ = peer.next();
    }
}
