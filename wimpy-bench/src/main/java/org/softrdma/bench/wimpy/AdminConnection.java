package org.softrdma.bench.wimpy;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** A plain memcached connection for what is not measured: filling a server, its version and statistics. */
final class AdminConnection implements AutoCloseable {
    private static final int TIMEOUT_MS = 30_000;

    private final Socket socket = new Socket();
    private final InputStream input;
    private final OutputStream output;

    AdminConnection(InetSocketAddress server) {
        try {
            socket.connect(server, TIMEOUT_MS);
            socket.setSoTimeout(TIMEOUT_MS);
            socket.setTcpNoDelay(true);
            input = new BufferedInputStream(socket.getInputStream());
            output = new BufferedOutputStream(socket.getOutputStream(), 1 << 17);
        } catch (IOException e) {
            throw new WimpyException("cannot connect to " + server + ": " + e.getMessage(), e);
        }
    }

    /** What the server says its version is. */
    String version() {
        return ask("version").replaceFirst("^VERSION ", "");
    }

    /** Stores all pairs. */
    void insert(KeySpace pairs) {
        try {
            for (int i = 0; i < pairs.size(); i++) {
                output.write(ascii("set "));
                output.write(pairs.key(i));
                output.write(ascii(" 0 0 " + pairs.valueLength() + "\r\n"));
                output.write(pairs.value(i));
                String answer = ask("");
                if (!answer.equals("STORED")) {
                    throw new WimpyException("storing " + pairs.valueLength() + " bytes was answered: " + answer);
                }
            }
        } catch (IOException e) {
            throw new WimpyException("storing pairs: " + e.getMessage(), e);
        }
    }

    /** The statistics of one kind, by name. */
    Map<String, String> stats(String kind) {
        Map<String, String> all = new HashMap<>();
        for (String line = ask("stats " + kind); line.startsWith("STAT "); line = readLine()) {
            String[] words = line.split(" ", 3);
            all.put(words[1], words.length > 2 ? words[2] : "");
        }
        return all;
    }

    private String ask(String line) {
        try {
            output.write(ascii(line + "\r\n"));
            output.flush();
        } catch (IOException e) {
            throw new WimpyException("asking " + line + ": " + e.getMessage(), e);
        }
        return readLine();
    }

    private String readLine() {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try {
            for (int next = input.read(); next != '\n'; next = input.read()) {
                if (next < 0) {
                    throw new WimpyException("the server closed the connection");
                }
                line.write(next);
            }
        } catch (IOException e) {
            throw new WimpyException("waiting for an answer: " + e.getMessage(), e);
        }
        return line.toString(StandardCharsets.US_ASCII).strip();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new WimpyException("closing a connection: " + e.getMessage(), e);
        }
    }
}
