package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.server.KvServer;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.host.PortInUseException;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/** Where a server listens that {@code -l} names wildcards to: as memcached does, each means its family alone. */
class ListeningTest {
    private static final int TIMEOUT_MS = 20_000;
    private static final String IPV4 = "127.0.0.1";
    private static final String IPV6 = "::1";
    private static final int MOST_TRIES = 20;

    @BeforeAll
    static void requireIpv6() {
        try (ServerSocket _ = new ServerSocket(0, 1, InetAddress.ofLiteral(IPV6))) {
            return;
        } catch (IOException e) {
            Assumptions.abort("no IPv6 here: " + e.getMessage());
        }
    }

    private static KvServer start(VerbsDevice device, PortSettings.Io io, String list, int port) throws IOException {
        KvServerContext context = new KvServerContext()
                .memcachedAddresses(ListenAddresses.of(List.of(list), port).addresses())
                .threads(1)
                .io(io)
                .conclude();
        return KvServer.start(device, context);
    }

    /** True if a memcached answers; false if nobody does, or the connection is closed at once. */
    private static boolean answers(String host, int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.ofLiteral(host), port), TIMEOUT_MS);
            socket.setSoTimeout(TIMEOUT_MS);
            socket.getOutputStream().write("version\r\n".getBytes(StandardCharsets.US_ASCII));
            return socket.getInputStream().read() == 'V';
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isOpen(String host, int port) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.ofLiteral(host), port), TIMEOUT_MS);
            return true;
        } catch (ConnectException e) {
            return false;
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = PortSettings.Io.class,
            names = {"URING", "EPOLL", "NIO"})
    void shouldListenOnTheFamilyOfAWildcardAlone(PortSettings.Io io) throws IOException {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of())) {
            try (KvServer server = start(device, io, "0.0.0.0", 0)) {
                int port = server.memcachedAddress().getPort();
                assertTrue(answers(IPV4, port));
                assertFalse(answers(IPV6, port));
                assertTrue(isOpen(IPV4, server.rdmaAddress().getPort()));
                assertFalse(isOpen(IPV6, server.rdmaAddress().getPort()));
            }
            try (KvServer server = start(device, io, "::", 0)) {
                int port = server.memcachedAddress().getPort();
                assertTrue(answers(IPV6, port));
                assertFalse(answers(IPV4, port));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = PortSettings.Io.class,
            names = {"URING", "EPOLL", "NIO"})
    void shouldServeBothFamiliesByRead(PortSettings.Io io) throws IOException {
        for (String list : List.of("0.0.0.0,::", "*", "127.0.0.1,::1")) {
            try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                    KvServer server = startAtFreePort(device, io, list)) {
                for (String host : List.of(IPV4, IPV6)) {
                    InetSocketAddress address = new InetSocketAddress(
                            InetAddress.ofLiteral(host),
                            server.memcachedAddress().getPort());
                    try (VerbsDevice own = new SoftRdmaProvider().open(Map.of());
                            KvClient client = KvClient.connect(own, new KvClientContext(address).conclude())) {
                        client.set(new byte[] {'a'}, 0, 0, new byte[] {1});
                        client.get(new byte[] {'a'});
                        client.get(new byte[] {'a'});
                        assertEquals(KvProtocol.RDMA, client.protocol(), list + " from " + host);
                        assertTrue(client.counters().hits() > 0, list + " from " + host);
                    }
                }
            }
        }
    }

    /** A port that is free now may be another's a moment later. */
    private static KvServer startAtFreePort(VerbsDevice device, PortSettings.Io io, String list) throws IOException {
        for (int i = 1; ; i++) {
            int port;
            try (ServerSocket free = new ServerSocket(0)) {
                port = free.getLocalPort();
            }
            try {
                return start(device, io, list, port);
            } catch (PortInUseException e) {
                if (i == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }
}
