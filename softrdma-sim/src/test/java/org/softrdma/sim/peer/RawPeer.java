package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Optional;
import org.softrdma.net.peer.TestBytes;

/** A peer on a blocking socket; every read has a deadline, and what it sends is up to the test. */
public final class RawPeer implements AutoCloseable {
    private static final int DEADLINE_MS = 10_000;

    private final Socket socket;
    private final InputStream in;
    private boolean crc;

    private RawPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(DEADLINE_MS);
        in = socket.getInputStream();
    }

    /** Connects, and sends nothing yet. */
    public static RawPeer connect(InetSocketAddress remote) throws IOException {
        return connect(remote, 0);
    }

    /** Connects with a receive buffer of some bytes, 0 for the default. */
    public static RawPeer connect(InetSocketAddress remote, int receiveBuffer) throws IOException {
        Socket socket = new Socket();
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.connect(remote, DEADLINE_MS);
        return new RawPeer(socket);
    }

    /** A place where devices can connect. */
    public static ServerSocket listen() throws IOException {
        ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        server.setSoTimeout(DEADLINE_MS);
        return server;
    }

    /** Accepts one connection. */
    public static RawPeer accept(ServerSocket server) throws IOException {
        return new RawPeer(server.accept());
    }

    /** From now on FPDUs have a CRC, or not. */
    public RawPeer crc(boolean on) {
        crc = on;
        return this;
    }

    /** Sends bytes as they are. */
    public RawPeer sendBytes(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        return this;
    }

    /** Sends segments, each in its FPDU, by one call. */
    public RawPeer send(byte[]... segments) throws IOException {
        byte[][] fpdus = new byte[segments.length][];
        for (int i = 0; i < segments.length; i++) {
            fpdus[i] = Frames.fpdu(segments[i], crc);
        }
        return sendBytes(TestBytes.concat(fpdus));
    }

    /** Receives exactly some bytes. */
    public byte[] receive(int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        assertEquals(length, bytes.length, () -> "the stream ended early, after " + TestBytes.hex(bytes));
        return bytes;
    }

    /** Receives an MPA frame. */
    public byte[] receiveMpa() throws IOException {
        byte[] header = receive(20);
        return TestBytes.concat(header, receive((header[18] & 0xFF) << 8 | (header[19] & 0xFF)));
    }

    /** Receives the next segment, or empty at the end of the stream; checks pad and CRC field. */
    public Optional<byte[]> next() throws IOException {
        byte[] length = in.readNBytes(2);
        if (length.length == 0) {
            return Optional.empty();
        }
        assertEquals(2, length.length, "the stream ended in the middle of an FPDU");
        byte[] segment = receive((length[0] & 0xFF) << 8 | (length[1] & 0xFF));
        byte[] expected = Frames.fpdu(segment, crc);
        byte[] trailer = receive(expected.length - 2 - segment.length);
        assertArrayEquals(
                TestBytes.slice(expected, 2 + segment.length, expected.length),
                trailer,
                "pad and CRC behind the segment");
        return Optional.of(segment);
    }

    /** Receives the next segment; fails if there is none or it is another. */
    public void expect(byte[] segment, String what) throws IOException {
        byte[] found = next().orElseThrow(() -> new AssertionError("end of stream, expected " + what));
        assertEquals(TestBytes.hex(segment), TestBytes.hex(found), what);
    }

    /** Fails unless the peer has ended its stream here, without a reset. */
    public void expectEnd() throws IOException {
        byte[] rest = in.readAllBytes();
        assertEquals("", TestBytes.hex(rest), "bytes before the end of the stream");
    }

    /**
     * Fails unless the connection is reset behind the end of the peer's stream, which only a write notices then. NIO closes a
     * socket that it has told its selector about when that selects next, so writes may still go through for a moment.
     */
    public void expectReset() {
        TestDevice.await("the reset of a connection that was to be reset", this::isReset);
    }

    private boolean isReset() {
        try {
            sendBytes(new byte[1]);
            return false;
        } catch (SocketException e) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for the end of the stream by whatever means; how many bytes came before it. */
    public long awaitEnd() {
        byte[] scrap = new byte[1 << 16];
        long total = 0;
        try {
            for (int here = in.read(scrap); here >= 0; here = in.read(scrap)) {
                total += here;
            }
        } catch (java.net.SocketTimeoutException e) {
            throw new AssertionError("the device did not end the connection within " + DEADLINE_MS + " ms", e);
        } catch (IOException e) {
            // A reset is an end too.
        }
        return total;
    }

    /** Ends the stream of this side. */
    public void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    /** Closes so that the device sees a reset. */
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
