package org.softrdma.kv.server.stream;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.softrdma.kv.server.RunningServer;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.net.transport.NettyTransport;

/** A server, and clients that ask it for many keys at once as long as a test wants. */
final class LoadedServer implements AutoCloseable {
    /** An answer that takes longer than this does not come. */
    static final int PATIENCE_MS = (int) TimeUnit.SECONDS.toMillis(30);

    private static final int LONGEST_ITEM = 5 << 20;
    private static final int KEYS = 100;
    private static final int VALUE_BYTES = 100;

    private final RunningServer running;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile boolean stopped;

    /**
     * Starts both, or skips the test if the transport does not work here.
     *
     * @param io of the server
     * @param serverThreads of the port
     * @param clients that ask for many keys
     */
    LoadedServer(PortSettings.Io io, int serverThreads, int clients) throws IOException {
        if (io == PortSettings.Io.URING) {
            NettyTransport.uringObstacle().ifPresent(reason -> Assumptions.abort("no io_uring here: " + reason));
        }
        running = new RunningServer(context -> context.io(io)
                .threads(serverThreads)
                .items(items -> items.maxItemLength(LONGEST_ITEM).memoryLimit(8L * LONGEST_ITEM)));
        try (Client client = new Client(address())) {
            for (int i = 0; i < KEYS; i++) {
                client.send("set load" + i + " 0 0 " + VALUE_BYTES + "\r\n" + "x".repeat(VALUE_BYTES) + "\r\n");
                client.expect("STORED\r\n");
            }
        }
        for (int i = 0; i < clients; i++) {
            threads.add(Thread.ofPlatform().name("load-" + i).start(this::ask));
        }
    }

    InetSocketAddress address() {
        return running.address();
    }

    private void ask() {
        StringBuilder request = new StringBuilder("get");
        StringBuilder answer = new StringBuilder();
        for (int i = 0; i < KEYS; i++) {
            request.append(" load").append(i);
            answer.append("VALUE load")
                    .append(i)
                    .append(" 0 ")
                    .append(VALUE_BYTES)
                    .append("\r\n");
            answer.append("x".repeat(VALUE_BYTES)).append("\r\n");
        }
        byte[] question = request.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII);
        byte[] expected = answer.append("END\r\n").toString().getBytes(StandardCharsets.US_ASCII);
        try (Client client = new Client(address())) {
            while (!stopped) {
                client.send(question);
                client.expect(expected);
            }
        } catch (IOException | AssertionError e) {
            failure.compareAndSet(null, e);
        }
    }

    @Override
    public void close() {
        stopped = true;
        try {
            for (Thread thread : threads) {
                thread.join(PATIENCE_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            running.close();
        }
        Throwable failed = failure.get();
        if (failed != null) {
            throw new AssertionError("a client that asks for many keys: " + failed.getMessage(), failed);
        }
    }

    /** A client that says exactly what it is told, and compares all that it gets. */
    static final class Client implements AutoCloseable {
        private final Socket socket = new Socket();
        private final OutputStream out;
        private final DataInputStream in;

        Client(InetSocketAddress server) throws IOException {
            socket.connect(server, PATIENCE_MS);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(PATIENCE_MS);
            out = socket.getOutputStream();
            in = new DataInputStream(socket.getInputStream());
        }

        void send(String request) throws IOException {
            send(request.getBytes(StandardCharsets.US_ASCII));
        }

        void send(byte[] request) throws IOException {
            out.write(request);
        }

        void expect(String answer) throws IOException {
            expect(answer.getBytes(StandardCharsets.US_ASCII));
        }

        void expect(byte[] answer) throws IOException {
            byte[] got = new byte[answer.length];
            int have = 0;
            try {
                while (have < got.length) {
                    int count = in.read(got, have, got.length - have);
                    if (count < 0) {
                        throw new AssertionError("the server closed after " + have + " of " + got.length + " bytes");
                    }
                    have += count;
                }
            } catch (java.net.SocketTimeoutException e) {
                throw new AssertionError("no more than " + have + " of " + got.length + " bytes came", e);
            }
            int wrong = java.util.Arrays.mismatch(answer, got);
            if (wrong >= 0) {
                int end = Math.min(got.length, wrong + 100);
                throw new AssertionError("byte " + wrong + ": expected "
                        + new String(answer, wrong, end - wrong, StandardCharsets.ISO_8859_1) + ", got "
                        + new String(got, wrong, end - wrong, StandardCharsets.ISO_8859_1));
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
