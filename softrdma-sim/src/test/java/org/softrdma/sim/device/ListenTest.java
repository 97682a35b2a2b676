package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.sim.transport.EveryTransport;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

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
                    "cannot listen on 192.0.2.1:0: no interface of this machine has that address",
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
                            + ": Connection refused; is the server running there, and does it listen on this address and port?",
                    refusal.getMessage());
        }
    }
}
