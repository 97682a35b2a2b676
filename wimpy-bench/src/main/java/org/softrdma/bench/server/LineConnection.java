package org.softrdma.bench.server;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.softrdma.bench.measurement.MeasurementException;

/** A connection that asks and is answered in lines, one at a time, for what is not measured. */
final class LineConnection implements AutoCloseable {
    private static final int TIMEOUT_MS = 30_000;
    private static final int CONNECT_MS = 5_000;
    private static final int MAX_LINE_LENGTH = 1 << 16;

    private final Socket socket;
    private final InputStream input;
    private final OutputStream output;

    /**
     * Connects.
     *
     * @param server its address
     * @throws MeasurementException if there is no such server
     */
    LineConnection(InetSocketAddress server) {
        this(server, new Socket());
    }

    /**
     * Connects a socket of some kind, which belongs to this connection from now on.
     *
     * @param server where to
     * @param socket not connected yet
     * @throws MeasurementException if there is no such server
     */
    LineConnection(InetSocketAddress server, Socket socket) {
        this.socket = socket;
        try {
            socket.connect(server, CONNECT_MS);
            socket.setSoTimeout(TIMEOUT_MS);
            socket.setTcpNoDelay(true);
            input = new BufferedInputStream(socket.getInputStream());
            output = new BufferedOutputStream(socket.getOutputStream(), 1 << 17);
        } catch (IOException e) {
            close();
            throw new MeasurementException(
                    "cannot connect to " + server.getHostString() + ":" + server.getPort() + ": " + e.getMessage(), e);
        }
    }

    /** Sends these parts; the first line of the answer. */
    String ask(byte[]... parts) {
        try {
            for (byte[] part : parts) {
                output.write(part);
            }
            output.flush();
        } catch (IOException e) {
            throw new MeasurementException("cannot send to the server: " + e.getMessage(), e);
        }
        return readLine();
    }

    /** Sends a line; the first line of the answer. */
    String ask(String line) {
        return ask(ascii(line + "\r\n"));
    }

    /** The next line of an answer, without its end. */
    String readLine() {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try {
            for (int next = input.read(); next != '\n'; next = input.read()) {
                if (next < 0) {
                    throw new MeasurementException("the server closed the connection");
                }
                if (line.size() == MAX_LINE_LENGTH) {
                    throw new MeasurementException(
                            "the server answered a line of more than " + MAX_LINE_LENGTH + " bytes");
                }
                line.write(next);
            }
        } catch (IOException e) {
            throw new MeasurementException("no answer from the server: " + e.getMessage(), e);
        }
        return line.toString(StandardCharsets.US_ASCII).strip();
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new MeasurementException("closing a connection: " + e.getMessage(), e);
        }
    }
}
