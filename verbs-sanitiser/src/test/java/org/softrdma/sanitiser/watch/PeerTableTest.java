package org.softrdma.sanitiser.watch;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.QueuePairState;

class PeerTableTest {
    /** Of no machine: RFC 5737. */
    private static final byte[] ELSEWHERE = {(byte) 192, 0, 2, 1};

    private final PeerTable table = new PeerTable();
    private final QueuePairRecord one = queuePair(1);
    private final QueuePairRecord other = queuePair(2);
    private final InetSocketAddress listening = loopback(18515);
    private final InetSocketAddress connecting = loopback(40000);

    private static QueuePairRecord queuePair(int number) {
        return new QueuePairRecord("device", number, () -> QueuePairState.READY_TO_SEND);
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Test
    void shouldMatchTheTwoEndsInEitherOrder() {
        table.connected(one, connecting, listening);
        table.accepting(other, listening, connecting);
        assertSame(other, one.peer());
        assertSame(one, other.peer());
        QueuePairRecord third = queuePair(3);
        QueuePairRecord fourth = queuePair(4);
        table.accepting(third, listening, connecting);
        table.connected(fourth, connecting, listening);
        assertSame(fourth, third.peer());
        assertSame(third, fourth.peer());
    }

    @Test
    void shouldMatchAListenerOfAllAddressesWhenTheTargetIsOfThisMachine() throws UnknownHostException {
        InetSocketAddress wildcard = new InetSocketAddress(18515);
        table.accepting(one, wildcard, connecting);
        table.connected(other, connecting, listening);
        assertSame(other, one.peer());
        QueuePairRecord third = queuePair(3);
        QueuePairRecord fourth = queuePair(4);
        table.accepting(third, wildcard, connecting);
        table.connected(fourth, connecting, new InetSocketAddress(InetAddress.getByAddress(ELSEWHERE), 18515));
        assertNull(third.peer());
    }

    @Test
    void shouldNotMatchAnotherPortOrAnotherListener() throws UnknownHostException {
        table.accepting(one, listening, connecting);
        table.connected(other, loopback(40001), listening);
        table.connected(other, connecting, loopback(18516));
        table.connected(other, connecting, new InetSocketAddress(InetAddress.getByAddress(ELSEWHERE), 18515));
        table.connected(other, null, listening);
        assertNull(one.peer());
        assertNull(other.peer());
    }

    @Test
    void shouldNotMatchAQueuePairThatIsClosed() {
        table.accepting(one, listening, connecting);
        table.closed(one);
        table.connected(other, connecting, listening);
        assertNull(other.peer());
    }
}
