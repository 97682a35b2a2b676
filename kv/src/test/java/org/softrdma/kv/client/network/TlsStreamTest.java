package org.softrdma.kv.client.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.kv.server.TestCertificate;

/** What TLS holds back, in both directions, is no reason to wait. */
class TlsStreamTest {
    private static final int RECORD = 8000;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    @TempDir
    private Path directory;

    /** What a server does with its connection. */
    private interface Service {
        void serve(Socket client) throws IOException, InterruptedException;
    }

    /** What a client does meanwhile. */
    private interface Use {
        void use(ClientStream stream) throws Exception;
    }

    private void talk(Service service, Use use) throws Exception {
        TestCertificate ours = new TestCertificate(directory, "server");
        SSLContext context = ours.clientOf(ours);
        try (ServerSocket port =
                        context.getServerSocketFactory().createServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"));
                SocketNetwork network = new SocketNetwork(new ClientTls(context, null))) {
            CompletableFuture<Void> server = CompletableFuture.runAsync(() -> {
                try (SSLSocket client = (SSLSocket) port.accept()) {
                    client.startHandshake();
                    service.serve(client);
                } catch (IOException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            try (ClientStream stream = network.open((InetSocketAddress) port.getLocalSocketAddress())) {
                while (!stream.finishConnect()) {
                    assertTrue(stream.await(PATIENCE_NS, false), "no handshake");
                }
                use.use(stream);
            }
            server.get(PATIENCE_NS, TimeUnit.NANOSECONDS);
        }
    }

    @Test
    void shouldNotWaitForBytesThatHaveCome() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        talk(
                client -> {
                    client.getOutputStream().write(new byte[RECORD]);
                    assertTrue(done.await(PATIENCE_NS, TimeUnit.NANOSECONDS));
                },
                stream -> {
                    ByteBuffer part = ByteBuffer.allocateDirect(1000);
                    int all = 0;
                    while (all < RECORD) {
                        assertTrue(stream.await(PATIENCE_NS, false), "after " + all + " of " + RECORD + " bytes");
                        all += stream.read(part.clear());
                    }
                    assertEquals(RECORD, all);
                    done.countDown();
                });
    }

    @Test
    void shouldSendWhatHadNoRoomThoughNothingFollows() throws Exception {
        CompletableFuture<Integer> given = new CompletableFuture<>();
        CountDownLatch done = new CountDownLatch(1);
        CountDownLatch seen = new CountDownLatch(1);
        talk(
                client -> {
                    int expected = given.join();
                    assertEquals(expected, client.getInputStream().readNBytes(expected).length);
                    done.countDown();
                    assertTrue(seen.await(PATIENCE_NS, TimeUnit.NANOSECONDS)); // its end would be read as one
                },
                stream -> {
                    ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 16);
                    int all = 0;
                    do {
                        stream.write(bytes.clear());
                        all += bytes.position();
                    } while (!bytes.hasRemaining());
                    given.complete(all);
                    for (int i = 0; i < 2000 && done.getCount() > 0; i++) {
                        boolean _ = stream.await(TimeUnit.MILLISECONDS.toNanos(10), false);
                        assertEquals(
                                0, stream.read(bytes.clear()), "TLS has messages of its own, an application's none");
                    }
                    assertEquals(0, done.getCount(), "the last bytes have not come");
                    seen.countDown();
                });
    }
}
