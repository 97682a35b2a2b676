package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;

/** An Error that comes out of what a loop tells costs one socket; the loop goes on. */
class LoopFaultTest {
    private static final int DEADLINE_S = 20;

    private static Transport transport(String kind) throws IOException {
        SocketOptions options = new SocketOptions(0, 0, 0);
        return TransportKinds.open(kind, false, options);
    }

    private static <T> T call(EventLoop loop, Callable<T> work) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        loop.execute(() -> {
            try {
                result.complete(work.call());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        return result.get(DEADLINE_S, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EveryTransport
    void shouldCloseTheSocketAndSaySoWhenItsOwnerThrows(String kind) throws Exception {
        try (Transport transport = transport(kind);
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            EventLoop loop = transport.loops().getFirst();
            InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
            AtomicInteger events = new AtomicInteger();
            Semaphore told = new Semaphore(0);
            StreamSocket socket = call(
                    loop,
                    () -> loop.connect(address, writable -> {
                        told.release();
                        if (events.incrementAndGet() == 1) {
                            throw new OutOfMemoryError("injected");
                        }
                    }));
            try (Socket peer = server.accept()) {
                peer.setSoTimeout(DEADLINE_S * 1000);
                requireEnd(peer);
                assertTrue(told.tryAcquire(2, DEADLINE_S, TimeUnit.SECONDS), "told once, and once that it is closed");
                assertEquals("closed", call(loop, () -> {
                    try {
                        return "received " + socket.receive(1, 1);
                    } catch (IOException e) {
                        return "closed";
                    }
                }));
            }
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldCloseAConnectionThatCannotBeHandedOverAndAcceptTheNext(String kind) throws Exception {
        try (Transport transport = transport(kind)) {
            EventLoop loop = transport.loops().getFirst();
            AtomicInteger connections = new AtomicInteger();
            LinkedBlockingQueue<EventLoop.PendingSocket> accepted = new LinkedBlockingQueue<>();
            Acceptor acceptor = call(
                    loop,
                    () -> loop.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8, pending -> {
                        if (connections.incrementAndGet() == 1) {
                            throw new OutOfMemoryError("injected");
                        }
                        accepted.add(pending);
                    }));
            InetSocketAddress address = (InetSocketAddress) acceptor.localAddress();
            try (Socket first = new Socket(address.getAddress(), address.getPort())) {
                first.setSoTimeout(DEADLINE_S * 1000);
                requireEnd(first);
            }
            try (Socket second = new Socket(address.getAddress(), address.getPort())) {
                EventLoop.PendingSocket pending = accepted.poll(DEADLINE_S, TimeUnit.SECONDS);
                assertTrue(pending != null, "the second was not accepted");
                pending.discard();
                second.setSoTimeout(DEADLINE_S * 1000);
                requireEnd(second);
            }
            call(loop, () -> {
                acceptor.close();
                return true;
            });
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldCountASocketOnceThatIsGivenUpTwice(String kind) throws Exception {
        try (Transport transport = transport(kind)) {
            EventLoop loop = transport.loops().getFirst();
            Acceptor acceptor = call(
                    loop,
                    () -> loop.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8, pending -> {
                        pending.discard();
                        throw new OutOfMemoryError("injected");
                    }));
            InetSocketAddress address = (InetSocketAddress) acceptor.localAddress();
            try (Socket peer = new Socket(address.getAddress(), address.getPort())) {
                peer.setSoTimeout(DEADLINE_S * 1000);
                requireEnd(peer);
            }
            int listening = call(loop, () -> {
                int open = transport.openSockets();
                acceptor.close();
                return open;
            });
            assertEquals(1, listening, "the listening socket is open");
            assertEquals(0, transport.openSockets());
        }
    }

    private static void requireEnd(Socket peer) throws IOException {
        int found;
        try {
            found = peer.getInputStream().read();
        } catch (java.net.SocketTimeoutException e) {
            throw new AssertionError("the connection was not closed", e);
        } catch (IOException e) {
            found = -1; // a reset is an end too
        }
        assertEquals(-1, found);
    }
}
