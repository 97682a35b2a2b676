package org.softrdma.bench.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.UnaryOperator;

/**
 * Accepts one connection and answers each complete request as a script says, in pieces of a few bytes. A request is what the
 * script understands: it gives an answer, or null until more has come. One daemon thread.
 */
public final class ScriptedServer implements AutoCloseable {
    private static final int PIECE = 7;

    private final ServerSocket listener;
    private final StringBuilder received = new StringBuilder();

    /** Listens from now on. */
    public ScriptedServer(UnaryOperator<String> script) throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("scripted server").start(() -> serve(script));
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort());
    }

    /** All that was asked. */
    public String received() {
        synchronized (received) {
            return received.toString();
        }
    }

    private void serve(UnaryOperator<String> script) {
        try (Socket peer = listener.accept()) {
            peer.setTcpNoDelay(true);
            InputStream input = peer.getInputStream();
            StringBuilder pending = new StringBuilder();
            for (int next = input.read(); next >= 0; next = input.read()) {
                pending.append((char) next);
                String answer = script.apply(pending.toString());
                if (answer != null) {
                    synchronized (received) {
                        received.append(pending);
                    }
                    pending.setLength(0);
                    send(peer, answer);
                }
            }
        } catch (IOException e) {
            synchronized (received) {
                received.append("(broke off: ").append(e.getMessage()).append(')');
            }
        }
    }

    private static void send(Socket peer, String answer) throws IOException {
        byte[] bytes = answer.getBytes(ISO_8859_1);
        for (int at = 0; at < bytes.length; at += PIECE) {
            peer.getOutputStream().write(bytes, at, Math.min(PIECE, bytes.length - at));
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
