package org.softrdma.kv.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A memcached client that says exactly what it is told. Every read has a deadline. */
public final class RawMemcached implements AutoCloseable {
    private static final int TIMEOUT_MS = 10_000;

    private final Socket socket = new Socket();

    /** Connects. */
    public RawMemcached(InetSocketAddress address) throws IOException {
        socket.connect(address, TIMEOUT_MS);
        socket.setSoTimeout(TIMEOUT_MS);
        socket.setTcpNoDelay(true);
    }

    public void send(String text) throws IOException {
        send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    /** Reads exactly this many bytes, as text. */
    public String read(int length) throws IOException {
        byte[] bytes = socket.getInputStream().readNBytes(length);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    public String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int next;
        while ((next = socket.getInputStream().read()) >= 0 && next != '\n') {
            line.write(next);
        }
        return line.toString(StandardCharsets.ISO_8859_1).strip();
    }

    /** Sends no more; as {@code nc -N} does at the end of its input. */
    public void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    /** Everything that comes until the server closes. */
    public byte[] readAll() throws IOException {
        return socket.getInputStream().readAllBytes();
    }

    /** Ends the connection by a reset, whatever the server does. */
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    /** True if something can be read without waiting. */
    public boolean hasInput() throws IOException {
        return socket.getInputStream().available() > 0;
    }

    /** Sends a request and reads an answer of just the expected length. */
    public String ask(String request, String expected) throws IOException {
        send(request);
        return read(expected.length());
    }

    /** True once the server has closed the connection and nothing more is to be read. */
    public boolean isClosedByServer() {
        try {
            return socket.getInputStream().read() < 0;
        } catch (java.net.SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true; // reset
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
