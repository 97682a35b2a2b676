package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** What an application is told when it cannot listen or connect: a code, the address, and what to do. */
class ListenTest {
    /** Of the block for documentation (RFC 5737): no machine has it. */
    private static final byte[] NOWHERE = {(byte) 192, 0, 2, 1};

    @ParameterizedTest
    @EveryTransport
    void shouldSayThatThePortIsInUse(String transport) {
        try (TestDevice device = new TestDevice("transport", transport)) {
            InetSocketAddress taken = device.address();

            VerbsException refusal =
                    assertThrows(VerbsException.class, () -> device.device().listen(taken, 1));

            assertEquals(VerbsErrorCode.ADDRESS_IN_USE, refusal.code());
            assertEquals(
                    "cannot listen on 127.0.0.1:" + taken.getPort()
                            + ": the port is in use; choose another (0 takes any free one)",
                    refusal.getMessage());
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldSayThatTheAddressIsOfAnotherMachine(String transport) throws Exception {
        InetAddress nowhere = InetAddress.getByAddress(NOWHERE);
        try (TestDevice device = new TestDevice("transport", transport)) {
            VerbsException refusal = assertThrows(
                    VerbsException.class, () -> device.device().listen(new InetSocketAddress(nowhere, 0), 1));

            assertEquals(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, refusal.code());
            assertEquals(
                    "cannot listen on any port of 192.0.2.1: no interface of this machine has that address",
                    refusal.getMessage());
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldSayWhatToDoWhenNobodyListens(String transport) throws Exception {
        try (Socket bound = new Socket(); // its port is nobody else's, and nobody listens there
                TestDevice device = new TestDevice("transport", transport)) {
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            InetSocketAddress silent = (InetSocketAddress) bound.getLocalSocketAddress();
            Connector connector = device.device().resolve(silent, TestDevice.DEADLINE_NS);
            device.own(connector.createQueuePair(
                    device.domain(), QueuePairAttributes.of(device.queue(), QueuePairLimits.of(1, 1))));

            VerbsException refusal = assertThrows(
                    VerbsException.class,
                    () -> connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS));

            assertEquals(VerbsErrorCode.UNREACHABLE, refusal.code());
            assertEquals(
                    "cannot connect to 127.0.0.1:" + silent.getPort()
                            + ": Connection refused; is the server running there, and does it listen on this address"
                            + " and port?",
                    refusal.getMessage());
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldSayThatAHostIsUnknown(String transport) {
        InetSocketAddress unknown = InetSocketAddress.createUnresolved("nosuch.invalid", 1);
        try (TestDevice device = new TestDevice("transport", transport)) {
            VerbsDevice opened = device.device();
            VerbsException listening = assertThrows(VerbsException.class, () -> opened.listen(unknown, 1));
            VerbsException resolving =
                    assertThrows(VerbsException.class, () -> opened.resolve(unknown, TestDevice.DEADLINE_NS));

            assertEquals(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, listening.code());
            assertEquals("unknown host nosuch.invalid", listening.getMessage());
            assertEquals(VerbsErrorCode.UNREACHABLE, resolving.code());
            assertEquals("unknown host nosuch.invalid", resolving.getMessage());
        }
    }

    @Test
    void shouldRefuseToListenOrToConnectOnceItIsClosed() {
        TestDevice device = new TestDevice();
        InetSocketAddress address = device.address();
        VerbsDevice closed = device.device();
        device.close();
        assertThrows(IllegalStateException.class, () -> closed.listen(address, 1));
        assertThrows(IllegalStateException.class, () -> closed.resolve(address, TestDevice.DEADLINE_NS));
    }

    /** A peer that accepts TCP connections and says nothing. */
    @ParameterizedTest
    @EveryTransport
    void shouldAbandonAConnectUnderWayWhenItsConnectorIsClosed(String transport) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TestDevice device = new TestDevice("transport", transport)) {
            InetSocketAddress address = (InetSocketAddress) silent.getLocalSocketAddress();
            Connector connector = device.device().resolve(address, TestDevice.DEADLINE_NS);
            QueuePair pair = device.own(connector.createQueuePair(
                    device.domain(), QueuePairAttributes.of(device.queue(), QueuePairLimits.of(1, 1))));
            FutureTask<VerbsException> connecting = new FutureTask<>(() -> assertThrows(
                    VerbsException.class, () -> connector.connect(ConnectionParameters.DEFAULT, Long.MAX_VALUE)));
            Thread.ofPlatform().daemon().start(connecting);
            try (Socket accepted = silent.accept()) {
                connector.close();
                VerbsException abandoned = connecting.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
                assertEquals(VerbsErrorCode.CONNECTION_LOST, abandoned.code());
                assertEquals("the connector was closed before it connected", abandoned.getMessage());
                assertEquals(QueuePairState.ERROR, pair.state());
                assertTrue(accepted.isConnected());
            }
            connector.close();
        }
    }

    @Test
    void shouldLeaveTheQueuePairAsItIsWhenTheConnectorOfAConnectionIsClosed() throws Exception {
        try (TestDevice server = new TestDevice();
                TestDevice client = new TestDevice()) {
            Connector connector = client.device().resolve(server.address(), TestDevice.DEADLINE_NS);
            QueuePair pair = client.own(connector.createQueuePair(
                    client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.of(1, 1))));
            Thread accepting = Thread.ofPlatform().start(() -> {
                ConnectionRequest request = server.request();
                QueuePair accepted = server.queuePair(request, QueuePairLimits.of(1, 1));
                request.accept(ConnectionParameters.DEFAULT);
                assertEquals(QueuePairState.READY_TO_SEND, accepted.state());
            });
            byte[] ignored = connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS);
            accepting.join();
            connector.close();
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
        }
    }
}
