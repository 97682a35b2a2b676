package org.softrdma.sim.peer;

import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/** A closed connection never touches its descriptor again, because the number may be another connection's by then. */
class ClosedSocketTest {
    private static final int BYSTANDERS = 4;
    private static final int ROUND_TRIPS = 8;

    @ParameterizedTest
    @EveryTransport
    void shouldNotTouchABystanderWhenARequestIsClosedAfterItsQueuePair(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport)) {
            // Descriptors are the lowest that are free: the bystanders' own ends take these, the device the one in
            // question.
            List<DatagramSocket> placeholders = new ArrayList<>();
            for (int i = 0; i < BYSTANDERS; i++) {
                placeholders.add(server.own(new DatagramSocket(new InetSocketAddress(0))));
            }
            RawPeer first = server.own(RawPeer.connect(server.address()));
            first.sendBytes(Frames.mpa(Frames.REQUEST_KEY, 0, 1, new byte[0]));
            ConnectionRequest request = server.request();
            QueuePair pair = server.queuePair(request, QueuePairLimits.DEFAULT);
            pair.close();
            placeholders.forEach(DatagramSocket::close);
            List<RawPeer> bystanders = new ArrayList<>();
            for (int i = 0; i < BYSTANDERS; i++) {
                bystanders.add(server.own(establish(server)));
            }

            request.close();

            for (int msn = 1; msn <= ROUND_TRIPS; msn++) {
                for (RawPeer bystander : bystanders) {
                    bystander.send(Frames.readRequest(msn, 0, 0, 0, 0, 0));
                    bystander.expect(Frames.tagged(Frames.READ_RESPONSE, true, 0, 0), "answer to a READ of no bytes");
                }
            }
            for (RawPeer bystander : bystanders) {
                bystander.shutdownOutput();
                bystander.expectEnd();
            }
        }
    }

    private static RawPeer establish(TestDevice server) throws Exception {
        RawPeer peer = RawPeer.connect(server.address());
        peer.sendBytes(Frames.mpa(Frames.REQUEST_KEY, 0, 1, new byte[0]));
        ConnectionRequest request = server.request();
        server.queuePair(request, QueuePairLimits.DEFAULT);
        request.accept(ConnectionParameters.DEFAULT);
        peer.receiveMpa();
        return peer;
    }
}
