package org.softrdma.cluster;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A way to a server of ZooKeeper that can be cut, or lose what the server says. Threads of its own carry the bytes. */
final class CutProxy implements AutoCloseable {
    private static final int BUFFER = 1 << 14;
    /** Below those that Linux gives to connections: a port that is left comes back, and nobody connects to itself. */
    private static final int FIRST_PORT = 20_000;

    private static final int PORTS = 12_000;
    private static final int MOST_TRIES = 1000;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    /** In a request for a session: length, version, and number of the last change, of 4, 4 and 8 bytes. */
    private static final int TIMEOUT_OF_REQUEST = 16;
    /** In its answer: length and version. */
    private static final int TIMEOUT_OF_ANSWER = 8;

    private final InetSocketAddress target;
    private final int clientMs;
    private final int serverMs;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private volatile ServerSocket listener;
    private volatile boolean isDeaf;

    /** Leaves sessions as they are. */
    CutProxy(InetSocketAddress target) throws IOException {
        this(target, 0, 0);
    }

    /**
     * Tells both sides another length of their session, so that a client gives up long before the server does.
     *
     * @param target the server
     * @param clientMs what the client is told
     * @param serverMs what the server is told
     */
    CutProxy(InetSocketAddress target, int clientMs, int serverMs) throws IOException {
        this.target = target;
        this.clientMs = clientMs;
        this.serverMs = serverMs;
        listener = listen(0);
    }

    private ServerSocket listen(int wanted) throws IOException {
        ServerSocket bound = null;
        for (int i = 0; bound == null; i++) {
            int port = wanted == 0 ? FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS) : wanted;
            try {
                bound = new ServerSocket(port, 16, InetAddress.getLoopbackAddress());
            } catch (BindException e) {
                if (i == MOST_TRIES) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        ServerSocket current = bound;
        Thread.ofPlatform().daemon().name("proxy").start(() -> accept(current));
        return current;
    }

    /** Where clients connect to. */
    String servers() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** What the server says is lost from now on. */
    void loseAnswers() {
        isDeaf = true;
    }

    /** Ends all connections, and takes no new ones: it is as if nothing listened there. */
    void cut() throws IOException {
        listener.close();
        closeSockets();
    }

    /** Is a way again. */
    void mend() throws IOException {
        isDeaf = false;
        if (listener.isClosed()) {
            listener = listen(listener.getLocalPort());
        }
    }

    private void closeSockets() throws IOException {
        for (Socket socket = sockets.poll(); socket != null; socket = sockets.poll()) {
            socket.close();
        }
    }

    private void accept(ServerSocket from) {
        try {
            while (true) {
                connect(from.accept());
                if (from.isClosed()) {
                    closeSockets();
                }
            }
        } catch (IOException e) {
            // it is closed
        }
    }

    private void connect(Socket client) throws IOException {
        try {
            Socket server = new Socket(target.getAddress(), target.getPort());
            sockets.add(client);
            sockets.add(server);
            Thread.ofPlatform().daemon().start(() -> carry(client, server, false));
            Thread.ofPlatform().daemon().start(() -> carry(server, client, true));
        } catch (IOException e) {
            client.close(); // the server is not there
        }
    }

    private void carry(Socket from, Socket to, boolean answers) {
        byte[] bytes = new byte[BUFFER];
        try (from;
                to;
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            if (clientMs > 0) {
                out.write(
                        answers ? retimed(in, TIMEOUT_OF_ANSWER, clientMs) : retimed(in, TIMEOUT_OF_REQUEST, serverMs));
            }
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                if (!answers || !isDeaf) {
                    out.write(bytes, 0, count);
                }
            }
        } catch (IOException e) {
            // one of the two has ended
        }
    }

    /** The beginning of a message, with another length of the session; none if it says that there is none. */
    private static byte[] retimed(InputStream in, int at, int timeoutMs) throws IOException {
        byte[] bytes = in.readNBytes(at + Integer.BYTES);
        if (bytes.length < at + Integer.BYTES) {
            throw new EOFException("it has ended");
        }
        ByteBuffer message = ByteBuffer.wrap(bytes);
        if (message.getInt(at) > 0) {
            message.putInt(at, timeoutMs);
        }
        return bytes;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        closeSockets();
    }
}
