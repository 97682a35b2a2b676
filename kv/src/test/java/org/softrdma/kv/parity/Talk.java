package org.softrdma.kv.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/**
 * A conversation with one server: each request is followed by a marker, whose answer ends its own. A connection that the
 * server closes is opened again.
 */
final class Talk implements AutoCloseable {
    static final String CLOSED = "<closed>";
    static final String SILENT = "<silent>";

    private static final int TIMEOUT_MS = 20_000;
    private static final int BUFFER_LENGTH = 1 << 16;
    private static final int FIRST_CAS = 200;

    private final Dialect dialect;
    private final InetSocketAddress address;
    private final byte[] buffer = new byte[BUFFER_LENGTH];
    private Socket socket;
    private long cas = 1;
    private int number;

    Talk(Dialect dialect, InetSocketAddress address) throws IOException {
        this.dialect = dialect;
        this.address = address;
        leaveItemsAlone();
        this.socket = connect();
        // Small numbers that are drawn, and Unit.OLDER_CAS, are to be cas numbers of the past.
        for (int i = 0; i < FIRST_CAS; i++) {
            send(dialect.store());
            receive();
        }
    }

    /** memcached moves items in the background, unless its LRU is flat: an incr would find them in use, and make new ones. */
    private void leaveItemsAlone() throws IOException {
        try (Socket text = connect()) {
            text.getOutputStream().write("lru mode flat\r\n".getBytes(StandardCharsets.US_ASCII));
            assertEquals('O', text.getInputStream().read(), "lru mode flat");
        }
    }

    private Socket connect() throws IOException {
        Socket opened = new Socket();
        opened.connect(address, TIMEOUT_MS);
        opened.setSoTimeout(TIMEOUT_MS);
        opened.setTcpNoDelay(true);
        return opened;
    }

    /** Nothing was said yet. */
    void reset() throws IOException {
        send(dialect.reset());
        receive();
        cas = 1;
    }

    void send(Unit unit) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(unit.bytes(cas));
        bytes.writeBytes(dialect.marker(++number));
        try {
            socket.getOutputStream().write(bytes.toByteArray());
        } catch (IOException e) {
            // it was closed: reading tells
        }
    }

    /** The answer to what was sent, without the one to the marker. */
    String receive() throws IOException {
        byte[] end = dialect.markerAnswer(number);
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        try {
            InputStream in = socket.getInputStream();
            while (!endsWith(answer, end)) {
                int length = in.read(buffer);
                if (length < 0) {
                    return again(answer, CLOSED);
                }
                answer.write(buffer, 0, length);
            }
        } catch (SocketTimeoutException e) {
            return again(answer, SILENT);
        } catch (IOException e) {
            return again(answer, CLOSED);
        }
        String text = text(answer).substring(0, answer.size() - end.length);
        dialect.cas(text).ifPresent(last -> cas = last);
        return text;
    }

    private String again(ByteArrayOutputStream answer, String how) throws IOException {
        socket.close();
        socket = connect();
        return text(answer) + how;
    }

    private static String text(ByteArrayOutputStream bytes) {
        return bytes.toString(StandardCharsets.ISO_8859_1);
    }

    private static boolean endsWith(ByteArrayOutputStream answer, byte[] end) {
        return answer.size() >= end.length && text(answer).endsWith(new String(end, StandardCharsets.ISO_8859_1));
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
