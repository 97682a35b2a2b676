package org.softrdma.kv.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Semaphore;

/** Passes one connection on to a server, and holds back what the client sends from a chosen byte on. */
final class HoldingProxy implements AutoCloseable {
    private static final int UNLIMITED = Integer.MAX_VALUE / 2;

    private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

    /** A permit for each byte of the client. */
    private final Semaphore passed = new Semaphore(UNLIMITED);

    HoldingProxy(InetSocketAddress server) throws IOException {
        Thread.ofPlatform().daemon().start(() -> {
            try (Socket client = listening.accept();
                    Socket behind = new Socket(server.getAddress(), server.getPort())) {
                client.setTcpNoDelay(true);
                behind.setTcpNoDelay(true);
                Thread.ofPlatform().daemon().start(() -> answer(behind, client));
                int next;
                while ((next = client.getInputStream().read()) >= 0) {
                    passed.acquireUninterruptibly();
                    behind.getOutputStream().write(next);
                }
            } catch (IOException e) {
                // one of them has left: the test sees that at its end of the connection
            }
        });
    }

    private static void answer(Socket server, Socket client) {
        try {
            server.getInputStream().transferTo(client.getOutputStream());
        } catch (IOException e) {
            // as above
        }
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listening.getLocalSocketAddress();
    }

    /** Of what the client sends from now on passes so many bytes; all it sent before has been passed on. */
    void holdAfter(int bytes) {
        passed.drainPermits();
        passed.release(bytes);
    }

    /** Passes everything on. */
    void release() {
        passed.release(UNLIMITED);
    }

    @Override
    public void close() throws IOException {
        release();
        listening.close();
    }
}
