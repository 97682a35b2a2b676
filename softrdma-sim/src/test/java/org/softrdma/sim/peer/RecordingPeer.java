package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/**
 * A peer that takes what is there, when the test wants it, and keeps every byte: for streams that may end in the middle of a
 * segment. One thread at a time.
 */
final class RecordingPeer implements AutoCloseable {
    private static final int DEADLINE_MS = 10_000;
    private static final int READS = 16;
    private static final int TRAILER_BYTES = 4;

    private final Socket socket = new Socket();
    private final QueuePair pair;
    private final ByteArrayOutputStream record = new ByteArrayOutputStream();
    private final byte[] scrap = new byte[1 << 16];

    /**
     * Connects to a device that accepts, without CRC; its first segment lets the device speak.
     *
     * @param server the device
     * @param receiveBuffer bytes of the socket's, 0 for the default
     * @param limits of the device's queue pair
     */
    RecordingPeer(TestDevice server, int receiveBuffer, QueuePairLimits limits) throws IOException {
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.connect(server.address(), DEADLINE_MS);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(DEADLINE_MS);
        socket.getOutputStream()
                .write(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, READS, READS)));
        ConnectionRequest request = server.request();
        pair = server.queuePair(request, limits);
        request.accept(ConnectionParameters.ofReads(READS));
        byte[] reply = Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, READS, READS));
        assertArrayEquals(reply, socket.getInputStream().readNBytes(reply.length), "MPA reply");
        send(Frames.tagged(Frames.WRITE, true, 0, 0));
    }

    /** The device's end. */
    QueuePair pair() {
        return pair;
    }

    /** Sends segments, each in its FPDU, by one call. */
    void send(byte[]... segments) throws IOException {
        byte[][] fpdus = new byte[segments.length][];
        for (int i = 0; i < segments.length; i++) {
            fpdus[i] = Frames.fpdu(segments[i], false);
        }
        sendBytes(TestBytes.concat(fpdus));
    }

    void sendBytes(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Takes some of what is there, waiting for it; false at the end of the stream, by whatever means. */
    boolean take() {
        try {
            int taken = socket.getInputStream().read(scrap);
            if (taken > 0) {
                record.write(scrap, 0, taken);
            }
            return taken >= 0;
        } catch (SocketTimeoutException e) {
            throw new AssertionError("nothing came, and no end, within " + DEADLINE_MS + " ms", e);
        } catch (IOException e) {
            // A reset is an end too.
            return false;
        }
    }

    /** Bytes taken so far. */
    int taken() {
        return record.size();
    }

    /** Takes everything up to the end. */
    void takeAll() {
        boolean more = true;
        while (more) {
            more = take();
        }
    }

    /** Everything taken so far, cut into segments; the last may be there in part. */
    Recording recording() {
        byte[] bytes = record.toByteArray();
        List<byte[]> segments = new ArrayList<>();
        int at = 0;
        while (at + 2 <= bytes.length) {
            int length = (bytes[at] & 0xFF) << 8 | (bytes[at + 1] & 0xFF);
            int end = at + (2 + length + 3 & ~3) + TRAILER_BYTES;
            if (end > bytes.length) {
                break;
            }
            byte[] segment = TestBytes.slice(bytes, at + 2, at + 2 + length);
            byte[] fpdu = Frames.fpdu(segment, false);
            assertEquals(
                    TestBytes.hex(TestBytes.slice(fpdu, 2 + length, fpdu.length)),
                    TestBytes.hex(TestBytes.slice(bytes, at + 2 + length, end)),
                    "pad and CRC field behind segment " + segments.size() + " of " + length + " bytes");
            segments.add(segment);
            at = end;
        }
        return new Recording(segments, TestBytes.slice(bytes, at, bytes.length));
    }

    /**
     * A stream.
     *
     * @param segments those that came whole
     * @param rest what came of the last FPDU, with its length, perhaps empty
     */
    @SuppressWarnings("ArrayRecordComponent") // looked into, never compared
    record Recording(List<byte[]> segments, byte[] rest) {
        /** Opcodes of the whole segments. */
        List<Integer> opcodes() {
            return segments.stream().map(segment -> segment[1] & 0xF).toList();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
