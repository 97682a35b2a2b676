package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/**
 * An initiator that says again that it is ready, to a peer that is silent: Linux's siw does not look at what comes between its
 * reply and the installation of its callbacks (siw_accept), until more comes.
 */
class ReadyRepeatTest {
    private static final byte[] READY = Frames.tagged(Frames.WRITE, true, 0, 0);
    private static final byte[] REPLY = Frames.mpa(
            Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(Frames.PEER_TO_PEER | Frames.RTR_WRITE, 16, 16));

    @Test
    void shouldRepeatThatItIsReadyUntilThePeerHasSentSomething() throws Exception {
        try (TestDevice device = new TestDevice("ready-repeat", "20");
                ServerSocket server = RawPeer.listen();
                ExecutorService executor = Executors.newSingleThreadExecutor();
                Connector connector = device.device()
                        .resolve(
                                new InetSocketAddress(server.getInetAddress(), server.getLocalPort()),
                                TestDevice.DEADLINE_NS)) {
            QueuePair pair = device.own(connector.createQueuePair(
                    device.domain(), QueuePairAttributes.of(device.queue(), QueuePairLimits.DEFAULT)));
            TestDevice.Guarded buffer =
                    device.guarded(8, AccessFlag.RECEIVE_SINK).fill(1);
            assertEquals(PostStatus.ACCEPTED, pair.postReceive(1, buffer.region(), 0, 8));
            Future<byte[]> connected =
                    executor.submit(() -> connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS));
            try (RawPeer peer = RawPeer.accept(server)) {
                peer.receiveMpa();
                peer.sendBytes(REPLY);
                peer.expect(READY, "ready-to-receive");
                connected.get();
                peer.expect(READY, "ready-to-receive for the second time");
                peer.send(Frames.send(1));
                device.take(1);

                // Once the peer has spoken there are no more; those of before may still come.
                assertEquals(PostStatus.ACCEPTED, pair.postSend(2, buffer.region(), 0, 0, SendFlags.SIGNALLED));
                Optional<byte[]> next = peer.next();
                while (next.isPresent() && TestBytes.hex(next.get()).equals(TestBytes.hex(READY))) {
                    next = peer.next();
                }
                assertEquals(
                        Optional.of(TestBytes.hex(Frames.send(1))),
                        next.map(TestBytes::hex),
                        "the SEND, behind its repeats");
                device.take(1);
                pair.disconnect();
                peer.expectEnd();
            }
        }
    }
}
