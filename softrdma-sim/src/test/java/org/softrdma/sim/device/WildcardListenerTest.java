package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Listening on a wildcard means the families that it means to rdma_cm. */
class WildcardListenerTest {
    private static final InetAddress IPV4_LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress IPV6_LOOPBACK = InetAddress.ofLiteral("::1");
    private static final int TIMEOUT_MS = 20_000;

    private static VerbsDevice open(String transport) {
        try {
            return new SoftRdmaProvider().open(Map.of("transport", transport));
        } catch (VerbsException e) {
            Assumptions.abort(transport + ": " + e.getMessage());
            throw e;
        }
    }

    private static void connect(InetAddress host, Listener listener) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, listener.localAddress().getPort()), TIMEOUT_MS);
        }
    }

    private static void requireIpv6() {
        try (ServerSocket _ = new ServerSocket(0, 1, IPV6_LOOPBACK)) {
            return;
        } catch (IOException e) {
            Assumptions.abort("no IPv6 here: " + e.getMessage());
        }
    }

    private static Listener listen(VerbsDevice device, String address) {
        return device.listen(new InetSocketAddress(InetAddress.ofLiteral(address), 0), 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"uring", "epoll", "nio"})
    void shouldTakeIpv4AloneAtItsWildcard(String transport) throws IOException {
        requireIpv6();
        try (VerbsDevice device = open(transport);
                Listener listener = listen(device, "0.0.0.0")) {
            assertEquals(
                    InetAddress.ofLiteral("0.0.0.0"), listener.localAddress().getAddress());
            connect(IPV4_LOOPBACK, listener);
            assertThrows(ConnectException.class, () -> connect(IPV6_LOOPBACK, listener));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"uring", "epoll", "nio"})
    void shouldTakeBothFamiliesAtTheWildcardOfIpv6(String transport) throws IOException {
        requireIpv6();
        try (VerbsDevice device = open(transport);
                Listener listener = listen(device, "::")) {
            assertEquals(InetAddress.ofLiteral("::"), listener.localAddress().getAddress());
            connect(IPV4_LOOPBACK, listener);
            connect(IPV6_LOOPBACK, listener);
        }
    }
}
