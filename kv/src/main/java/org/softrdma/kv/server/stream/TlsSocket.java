package org.softrdma.kv.server.stream;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.tls.TlsPort;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.ForwardingStreamSocket;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;
import tlschannel.NeedsReadException;
import tlschannel.NeedsWriteException;
import tlschannel.ServerTlsChannel;
import tlschannel.TlsChannel;

/**
 * TLS between a connection and its socket: the connection sees plain bytes, by the same methods. Bytes count as sent only when
 * the socket has taken the records that they are in. The thread of its loop.
 */
final class TlsSocket extends ForwardingStreamSocket implements SocketEvents {
    private static final Logger LOG = LoggerFactory.getLogger(TlsSocket.class);

    /** A client that says nothing costs a connection; memcached lets it. */
    private static final int HANDSHAKE_TIMEOUT_SECONDS = 10;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final RecordBuffers records;
    private final TlsPort port;
    private final StreamChannel channel;
    private final StreamSocket socket;
    private final TlsChannel tls;
    private final EventLoop.Cancellable deadline;
    private final IoVectors vector = new IoVectors(new BufferOperations(), 1);

    private boolean established;
    private boolean closed;

    /** The last receive has found something. */
    private boolean more;

    /** The socket has given all that had come: an event tells of more. */
    private boolean drained;

    /** Sending waits for input: the client's part of a handshake comes first. */
    private boolean inputFirst;

    /** Bytes that are in records of which the socket has not taken all. */
    private long unsent;

    /**
     * Takes an accepted connection.
     *
     * @param loop whose thread runs it
     * @param pending from its transport
     * @param records buffers of the loop
     * @param port has the certificates
     * @param channel told of events
     */
    TlsSocket(
            EventLoop loop, EventLoop.PendingSocket pending, RecordBuffers records, TlsPort port, StreamChannel channel)
            throws IOException {
        this.records = records;
        this.port = port;
        this.channel = channel;
        socket = loop.adopt(pending, this);
        tls = ServerTlsChannel.newBuilder(new Encrypted(), port.context())
                .withEngineFactory(port::engine)
                .withEncryptedBufferAllocator(records)
                .withSessionInitCallback(_ -> handshakeDone())
                .build();
        deadline = loop.schedule(this::handshakeLate, HANDSHAKE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    protected StreamSocket socket() {
        return socket;
    }

    private void handshakeDone() {
        established = true;
        deadline.cancel();
    }

    private void handshakeLate() {
        if (!closed) {
            channel.fail(new SSLHandshakeException(
                    "no TLS handshake within " + HANDSHAKE_TIMEOUT_SECONDS + " s of the connection"));
        }
    }

    // ---- events

    @Override
    public void ready(boolean writable) {
        boolean sendAgain = inputFirst;
        inputFirst = false;
        drained = false;
        channel.ready(writable || sendAgain);
    }

    // ---- input

    @Override
    public int receive(long address, int length) throws IOException {
        more = false;
        try {
            int received = tls.read(bytes(address, length));
            more = received > 0;
            return received;
        } catch (NeedsReadException | NeedsWriteException e) {
            return 0; // an event tells when it goes on
        } catch (SSLException e) {
            alert();
            throw e;
        } catch (ClosedChannelException e) {
            throw established ? e : new SSLHandshakeException("the client has left before the TLS handshake was over");
        }
    }

    @Override
    public int scatter(IoVectors vectors, int count) throws IOException {
        return receive(vectors.base(0), (int) vectors.length(0));
    }

    /** There may be decrypted bytes of which no event tells. */
    @Override
    public boolean hasMore() {
        return more;
    }

    /** Tells the client what is wrong with its handshake or its records, if the JDK has a word for it. */
    private void alert() {
        SSLEngine engine = tls.getSslEngine();
        if (engine == null) {
            return;
        }
        ByteBuffer out = records.allocate(engine.getSession().getPacketBufferSize());
        try {
            while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP
                    && engine.wrap(NOTHING, out.clear()).bytesProduced() > 0) {
                int ignored = write(out.flip());
            }
        } catch (IOException e) {
            LOG.debug("an alert was not sent", e);
        } finally {
            records.free(out);
        }
    }

    // ---- output

    @Override
    public long gather(IoVectors vectors, int from, int count) throws IOException {
        if (unsent > 0 && !write(new ByteBuffer[] {NOTHING}, 1)) {
            return 0;
        }
        long sent = unsent; // these are the first of the bytes that are given again
        unsent = 0;
        ByteBuffer[] rest = new ByteBuffer[count];
        int used = 0;
        long left = 0;
        long skip = sent;
        for (int i = from; i < from + count; i++) {
            long length = vectors.length(i);
            long skipped = Math.min(skip, length);
            skip -= skipped;
            if (skipped < length) {
                rest[used++] = bytes(vectors.base(i) + skipped, length - skipped);
                left += length - skipped;
            }
        }
        if (used == 0 || write(rest, used)) {
            return sent + left;
        }
        for (int i = 0; i < used; i++) {
            left -= rest[i].remaining();
        }
        unsent = left;
        return sent;
    }

    /** Encrypts and sends; false if not all is sent, an event tells when it goes on. */
    private boolean write(ByteBuffer[] source, int count) throws IOException {
        try {
            tls.write(source, 0, count);
        } catch (NeedsReadException e) {
            inputFirst = true;
            return false;
        } catch (NeedsWriteException e) {
            return false;
        }
        if (source[count - 1].hasRemaining()) {
            throw new ClosedChannelException(); // before TLS 1.3, the end of input is the end of output, too
        }
        return true;
    }

    @Override
    public void awaitRoom() {
        if (!inputFirst) {
            socket.awaitRoom();
        }
    }

    // ---- encrypted bytes

    /** The socket, as tls-channel sees it. */
    private final class Encrypted implements ByteChannel {
        @Override
        public int read(ByteBuffer target) throws IOException {
            if (drained) {
                return 0;
            }
            int received = socket.receive(address(target), target.remaining());
            target.position(target.position() + Math.max(0, received));
            drained = received >= 0 && target.hasRemaining() && !socket.hasMore();
            return received;
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            return TlsSocket.this.write(source);
        }

        @Override
        public boolean isOpen() {
            return !closed;
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    private int write(ByteBuffer source) throws IOException {
        vector.set(0, address(source), source.remaining());
        int sent = (int) socket.gather(vector, 0, 1);
        source.position(source.position() + sent);
        if (source.hasRemaining()) {
            socket.awaitRoom();
        }
        return sent;
    }

    private static long address(ByteBuffer direct) {
        return MemorySegment.ofBuffer(direct).address();
    }

    private static ByteBuffer bytes(long address, long length) {
        return NativeMemory.segment(address, length).asByteBuffer();
    }

    // ---- the rest

    @Override
    public void receiveAhead(boolean wanted) {
        socket.receiveAhead(wanted);
    }

    /** Says goodbye, if there is room for it. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        deadline.cancel();
        if (!established) {
            port.handshakeFailed();
        }
        try {
            tls.close();
        } catch (IOException e) {
            LOG.debug("TLS did not end as it should", e);
        } finally {
            socket.close();
        }
    }

    @Override
    public void abort() {
        socket.abort();
        close();
    }
}
