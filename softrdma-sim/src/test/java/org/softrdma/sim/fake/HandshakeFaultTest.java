package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * An Error at every call of a socket or of the event loop, one after the other, while a connection is made: whoever waits for it is
 * told, its socket is closed, the fault is counted, and the next connection is made.
 */
class HandshakeFaultTest {
    private static final QueuePairLimits LIMITS = new QueuePairLimits(4, 4, 1, 1, 0);
    private static final ConnectionParameters PARAMETERS = ConnectionParameters.ofReads(1);
    private static final long LONG_NS = Long.MAX_VALUE / 4;

    /** An Error whose log is one line. */
    private static final class Injected extends Error {
        private static final long serialVersionUID = 1;

        Injected() {
            super("injected", null, false, false);
        }
    }

    @Test
    void shouldCostTheConnectionThatIsAccepted() {
        int call = 1;
        while (accept(call)) {
            call++;
        }
        assertTrue(call > 3, "calls that failed: " + (call - 1));
    }

    @Test
    void shouldCostTheConnectionThatConnects() {
        int call = 1;
        while (connect(call)) {
            call++;
        }
        assertTrue(call > 3, "calls that failed: " + (call - 1));
    }

    /** True if the call came and failed. */
    private static boolean accept(int call) {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            FakeSocket socket = new FakeSocket();
            device.countTransportCalls(socket);
            device.nativeMemory().failAt(call, Injected::new);
            device.comes(socket);
            socket.give(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 1, 1)));
            device.run();
            Optional<ConnectionRequest> request = device.request();
            boolean accepted = false;
            QueuePair pair = null;
            if (request.isPresent()) {
                device.nativeMemory().pause(true);
                pair = device.queuePair(request.get(), LIMITS);
                device.nativeMemory().pause(false);
                try {
                    request.get().accept(PARAMETERS);
                    accepted = true;
                } catch (VerbsException e) {
                    assertEquals(QueuePairState.ERROR, pair.state());
                }
            }
            device.run();
            return end(device, socket, pair, accepted, "call " + call);
        }
    }

    /** True if the call came and failed. */
    private static boolean connect(int call) {
        try (FakeDevice device = new FakeDevice("crc", "off")) {
            FakeSocket socket = new FakeSocket();
            boolean connected = false;
            try (Connector connector = device.connector(socket)) {
                QueuePair pair = device.queuePair(connector, LIMITS);
                device.countTransportCalls(socket);
                device.nativeMemory().failAt(call, Injected::new);
                socket.give(Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, 1, 1)));
                try {
                    connector.connect(PARAMETERS, LONG_NS);
                    connected = true;
                } catch (VerbsException e) {
                    assertEquals(QueuePairState.ERROR, pair.state());
                }
                device.run();
                return end(device, socket, pair, connected, "call " + call);
            }
        }
    }

    private static boolean end(
            FakeDevice device, FakeSocket socket, @Nullable QueuePair pair, boolean made, String what) {
        boolean failed = device.nativeMemory().hasFailed();
        device.nativeMemory().failNever();
        assertEquals(failed, device.counter("engineFaults") > 0, what);
        if (failed) {
            assertTrue(pair == null || pair.state() == QueuePairState.ERROR, what);
            assertTrue(socket.isClosed() || !socket.isAttached(), () -> what + ": the socket is not closed");
        } else {
            assertTrue(made, what);
            socket.giveReset();
            device.drain();
        }
        if (pair != null) {
            pair.close();
        }
        FakeSocket next = device.socket();
        device.connect(next, LIMITS, 1).close();
        next.giveReset();
        device.drain();
        return failed;
    }
}
