package org.softrdma.kv.server;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.softrdma.kv.binary.FrameDescriptor;

/** A client of the binary protocol that says exactly what it is told. Every read has a deadline. */
public final class BinaryClient implements AutoCloseable {
    static final int GET = 0x00;
    static final int SET = 0x01;
    static final int ADD = 0x02;
    static final int REPLACE = 0x03;
    static final int DELETE = 0x04;
    static final int INCREMENT = 0x05;
    static final int DECREMENT = 0x06;
    static final int QUIT = 0x07;
    static final int FLUSH = 0x08;
    static final int GETQ = 0x09;
    static final int NOOP = 0x0a;
    static final int VERSION = 0x0b;
    static final int GETK = 0x0c;
    static final int GETKQ = 0x0d;
    static final int APPEND = 0x0e;
    static final int STAT = 0x10;
    static final int SETQ = 0x11;
    static final int QUITQ = 0x17;
    static final int FLUSHQ = 0x18;
    static final int VERBOSITY = 0x1b;
    static final int TOUCH = 0x1c;
    static final int GAT = 0x1d;
    static final int SASL_LIST = 0x20;
    static final int SASL_AUTH = 0x21;
    static final int SASL_STEP = 0x22;
    static final int GATK = 0x23;

    static final byte[] NO_EXTRAS = {};

    private static final int TIMEOUT_MS = 10_000;
    private static final int MARK = 0x5eed_0a0a;

    private final Socket socket;
    private final DataInputStream input;
    private long lastCas;

    /** An answer; the extras in hexadecimal digits. */
    public record Answer(int opcode, int status, int opaque, long cas, String extras, String key, String value) {
        /** Everything but which cas number it is. */
        @Override
        public String toString() {
            return "%02x %04x #%x %s (%s) %s: %s"
                    .formatted(opcode, status, opaque, cas == 0 ? "-" : "cas", extras, key, value);
        }
    }

    /** Connects. */
    public BinaryClient(InetSocketAddress address) throws IOException {
        this(connect(address));
    }

    /** Over a socket that is connected, and now its own. */
    BinaryClient(Socket connected) throws IOException {
        socket = connected;
        socket.setSoTimeout(TIMEOUT_MS);
        input = new DataInputStream(socket.getInputStream());
    }

    private static Socket connect(InetSocketAddress address) throws IOException {
        Socket made = new Socket();
        made.connect(address, TIMEOUT_MS);
        made.setTcpNoDelay(true);
        return made;
    }

    /** The last cas number that came and was not 0. */
    long lastCas() {
        return lastCas;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Extras of set, add, replace. */
    public static byte[] store(int flags, int exptime) {
        return ByteBuffer.allocate(8).putInt(flags).putInt(exptime).array();
    }

    /** Extras of increment and decrement. */
    public static byte[] count(long delta, long initial, int exptime) {
        return ByteBuffer.allocate(20)
                .putLong(delta)
                .putLong(initial)
                .putInt(exptime)
                .array();
    }

    /** Extras of touch, gat, flush, verbosity. */
    static byte[] word(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    /** A request. */
    public static byte[] frame(int opcode, byte[] extras, String key, String value, int opaque, long cas) {
        byte[] keyBytes = bytes(key);
        byte[] valueBytes = bytes(value);
        byte[] header = new byte[FrameDescriptor.LENGTH];
        FrameDescriptor.write(
                header,
                FrameDescriptor.REQUEST_MAGIC,
                (byte) opcode,
                0,
                extras.length,
                keyBytes.length,
                extras.length + keyBytes.length + valueBytes.length,
                opaque,
                cas);
        return ByteBuffer.allocate(header.length + extras.length + keyBytes.length + valueBytes.length)
                .put(header)
                .put(extras)
                .put(keyBytes)
                .put(valueBytes)
                .array();
    }

    /** Sends bytes. */
    public void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    /** Sends a request. */
    void send(int opcode, byte[] extras, String key, String value) throws IOException {
        send(frame(opcode, extras, key, value, 0, 0));
    }

    /** The next answer. */
    public Answer read() throws IOException {
        byte[] header = new byte[FrameDescriptor.LENGTH];
        input.readFully(header);
        if (FrameDescriptor.magic(header) != FrameDescriptor.ANSWER_MAGIC) {
            throw new IOException("no answer begins with " + HexFormat.of().formatHex(header));
        }
        byte[] body = new byte[(int) FrameDescriptor.bodyLength(header)];
        input.readFully(body);
        int key = FrameDescriptor.extrasLength(header);
        int value = key + FrameDescriptor.keyLength(header);
        long cas = FrameDescriptor.cas(header);
        lastCas = cas == 0 ? lastCas : cas;
        return new Answer(
                Byte.toUnsignedInt(FrameDescriptor.opcode(header)),
                FrameDescriptor.status(header),
                FrameDescriptor.opaque(header),
                cas,
                HexFormat.of().formatHex(body, 0, key),
                new String(body, key, value - key, StandardCharsets.ISO_8859_1),
                new String(body, value, body.length - value, StandardCharsets.ISO_8859_1));
    }

    /** Sends a request, and reads one answer. */
    Answer ask(int opcode, byte[] extras, String key, String value) throws IOException {
        send(opcode, extras, key, value);
        return read();
    }

    /** Sends bytes, and reads all answers to them: until that to a noop behind them, or until the end. */
    public List<String> askAll(byte[] bytes) throws IOException {
        byte[] noop = frame(NOOP, NO_EXTRAS, "", "", MARK, 0);
        List<String> answers = new ArrayList<>();
        try {
            send(ByteBuffer.allocate(bytes.length + noop.length)
                    .put(bytes)
                    .put(noop)
                    .array());
            for (Answer answer = read(); answer.opaque() != MARK; answer = read()) {
                answers.add(answer.toString());
            }
        } catch (EOFException | SocketException e) {
            answers.add("closed");
        }
        return answers;
    }

    /** True once the server has closed the connection and nothing more is to be read. */
    boolean isClosedByServer() {
        try {
            return input.read() < 0;
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
