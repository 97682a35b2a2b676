package org.softrdma.sim.capture;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.ForwardingStreamSocket;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.StreamSocket;

/**
 * A socket whose traffic is captured. Sent bytes are copied after the kernel has taken them. If memory is written
 * meanwhile, which verbs allows for memory that a peer READs, the file may show a slightly later state.
 *
 * <p>Thread: its event loop.
 */
final class CapturingSocket extends ForwardingStreamSocket {
    private final CapturedConnections connections;
    private final StreamSocket socket;
    /** Null before the connection is established, after it is closed, and if its other end is captured instead. */
    private @Nullable CapturedStream stream;

    /**
     * Captures a socket.
     *
     * @param connections provide its stream
     * @param socket not used otherwise
     */
    CapturingSocket(CapturedConnections connections, StreamSocket socket) {
        this.connections = connections;
        this.socket = socket;
    }

    @Override
    protected StreamSocket socket() {
        return socket;
    }

    /** The connection is established. */
    void connected(boolean active) {
        stream = connections.open(
                (InetSocketAddress) socket.localAddress(), (InetSocketAddress) socket.remoteAddress(), active);
    }

    @Override
    public int receive(long address, int length) throws IOException {
        try {
            int received = socket.receive(address, length);
            captureReceived(received, received > 0 ? List.of(NativeMemory.segment(address, received)) : List.of());
            return received;
        } catch (IOException e) {
            throw broken(e);
        }
    }

    @Override
    public int scatter(IoVectors vectors, int count) throws IOException {
        try {
            int received = socket.scatter(vectors, count);
            captureReceived(received, pieces(vectors, 0, received));
            return received;
        } catch (IOException e) {
            throw broken(e);
        }
    }

    private void captureReceived(int received, List<MemorySegment> pieces) {
        if (stream != null && received == END_OF_STREAM) {
            stream.receivedEnd();
        } else if (stream != null) {
            stream.received(pieces);
        }
    }

    @Override
    public long gather(IoVectors vectors, int from, int count) throws IOException {
        try {
            long sent = socket.gather(vectors, from, count);
            if (stream != null) {
                stream.sent(pieces(vectors, from, sent));
            }
            return sent;
        } catch (IOException e) {
            throw broken(e);
        }
    }

    /** The first bytes of the entries, starting at one of them. */
    private static List<MemorySegment> pieces(IoVectors vectors, int from, long length) {
        List<MemorySegment> pieces = new ArrayList<>();
        long left = length;
        for (int i = from; left > 0; i++) {
            long here = Math.min(left, vectors.length(i));
            pieces.add(NativeMemory.segment(vectors.base(i), here));
            left -= here;
        }
        return pieces;
    }

    private IOException broken(IOException cause) {
        if (stream != null) {
            stream.receivedReset();
        }
        return cause;
    }

    @Override
    public boolean finishConnect() throws IOException {
        boolean finished = socket.finishConnect();
        if (finished) {
            connected(true);
        }
        return finished;
    }

    @Override
    public void shutdownOutput() {
        socket.shutdownOutput();
        if (stream != null) {
            stream.sentEnd();
        }
    }

    @Override
    public void close() {
        CapturedStream current = stream;
        if (current != null) {
            current.sentEnd();
            closed(current);
        }
        socket.close();
    }

    @Override
    public void abort() {
        CapturedStream current = stream;
        if (current != null) {
            current.sentReset();
            closed(current);
        }
        socket.abort();
    }

    private void closed(CapturedStream ended) {
        stream = null;
        connections.closed(ended);
    }
}
