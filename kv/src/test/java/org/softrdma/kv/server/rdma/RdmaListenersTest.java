package org.softrdma.kv.server.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.CloseStack;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

class RdmaListenersTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final String FIRST = "127.0.0.1";
    private static final String SECOND = "127.0.0.2";

    /** Nobody's (RFC 5737). */
    private static final String MISSING = "192.0.2.1";

    private final CloseStack owned = new CloseStack();
    private final VerbsDevice device = owned.add(new SoftRdmaProvider().open(Map.of()));

    private List<Listener> open(int port, String... addresses) {
        List<InetAddress> all = Stream.of(addresses).map(InetAddress::ofLiteral).toList();
        List<Listener> listeners = RdmaListeners.open(
                device, new RdmaSettings(all, port, false, 1, TIMEOUT_NS, TIMEOUT_NS, new Random(1)));
        listeners.forEach(owned::add);
        return listeners;
    }

    @AfterEach
    void close() {
        owned.close();
    }

    @Test
    void shouldListenAtAllAddressesWithOnePort() {
        List<Listener> listeners = open(0, FIRST, SECOND);
        int port = listeners.getFirst().localAddress().getPort();
        for (String each : List.of(FIRST, SECOND)) {
            device.resolve(new InetSocketAddress(InetAddress.ofLiteral(each), port), TIMEOUT_NS)
                    .close();
        }
        assertEquals(
                List.of(
                        new InetSocketAddress(InetAddress.ofLiteral(FIRST), port),
                        new InetSocketAddress(InetAddress.ofLiteral(SECOND), port)),
                listeners.stream().map(Listener::localAddress).toList());
    }

    @Test
    void shouldLeaveOutAddressesThatTheDeviceDoesNotHave() {
        List<Listener> listeners = open(0, MISSING, FIRST);
        assertEquals(
                List.of(FIRST),
                listeners.stream()
                        .map(each -> each.localAddress().getAddress().getHostAddress())
                        .toList());
        VerbsException failure = assertThrows(VerbsException.class, () -> open(0, MISSING));
        assertEquals(VerbsErrorCode.ADDRESS_NOT_AVAILABLE, failure.code());
    }

    @Test
    void shouldKeepNoListenerWhenThePortIsInUseAtAnother() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.ofLiteral(SECOND))) {
            VerbsException failure =
                    assertThrows(VerbsException.class, () -> open(other.getLocalPort(), FIRST, SECOND));
            assertEquals(VerbsErrorCode.ADDRESS_IN_USE, failure.code());
            assertEquals(1, open(other.getLocalPort(), FIRST).size());
        }
    }
}
