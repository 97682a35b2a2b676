package org.softrdma.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A way to a server that can be cut, or lose what the server says. Threads of its own carry the bytes. */
final class CutProxy implements AutoCloseable {
    private static final int BUFFER = 1 << 14;

    private final InetSocketAddress target;
    private final ServerSocket listener;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private volatile boolean isCut;
    private volatile boolean isDeaf;

    CutProxy(InetSocketAddress target) throws IOException {
        this.target = target;
        listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("proxy").start(this::accept);
    }

    /** Where clients connect to. */
    String servers() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** What the server says is lost from now on. */
    void loseAnswers() {
        isDeaf = true;
    }

    /** Ends all connections, and takes no new ones. */
    void cut() throws IOException {
        isCut = true;
        closeSockets();
    }

    /** Is a way again. */
    void mend() {
        isDeaf = false;
        isCut = false;
    }

    private void closeSockets() throws IOException {
        for (Socket socket = sockets.poll(); socket != null; socket = sockets.poll()) {
            socket.close();
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                sockets.add(client);
                if (isCut) {
                    client.close();
                    continue;
                }
                Socket server = new Socket(target.getAddress(), target.getPort());
                sockets.add(server);
                Thread.ofPlatform().daemon().start(() -> carry(client, server, false));
                Thread.ofPlatform().daemon().start(() -> carry(server, client, true));
            }
        } catch (IOException e) {
            // it is closed
        }
    }

    private void carry(Socket from, Socket to, boolean answers) {
        byte[] bytes = new byte[BUFFER];
        try (from;
                to;
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                if (!answers || !isDeaf) {
                    out.write(bytes, 0, count);
                }
            }
        } catch (IOException e) {
            // one of the two has ended
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        closeSockets();
    }
}
