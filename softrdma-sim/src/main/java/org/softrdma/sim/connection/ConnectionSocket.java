package org.softrdma.sim.connection;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.AddressText;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.carrier.StreamBuffers;

/** The socket of a connection, before it exists and after it is closed, too. Engine thread only. */
final class ConnectionSocket {
    private final StreamBuffers buffers;
    private @Nullable StreamSocket socket;

    ConnectionSocket(StreamBuffers buffers) {
        this.buffers = buffers;
    }

    void attach(StreamSocket newSocket) {
        socket = newSocket;
    }

    boolean isThere() {
        return socket != null;
    }

    StreamSocket require() {
        StreamSocket current = socket;
        if (current == null) {
            throw new IllegalStateException("no socket");
        }
        return current;
    }

    /** The peer's address, for messages. */
    String peer() {
        StreamSocket current = socket;
        return current == null ? "a disconnected peer" : AddressText.of(current.remoteAddress());
    }

    /** Sends a message of the handshake. */
    void send(byte[] message) throws IOException {
        long at = buffers.receiveAddress();
        NativeMemory.put(at, message);
        if (send(at, message.length) != message.length) {
            throw new IOException("the socket has no room for a handshake frame of " + message.length + " bytes");
        }
    }

    /** Sends as much of some memory as the socket takes. */
    long send(long address, int length) throws IOException {
        IoVectors vectors = buffers.batch().vectors();
        vectors.set(0, address, length);
        StreamSocket current = socket;
        return current == null ? 0 : current.gather(vectors, 0, 1);
    }

    /** Asks for another turn after the other connections had theirs: an event of the next poll of all sockets. */
    void continueLater() {
        StreamSocket current = socket;
        if (current != null) {
            current.rearm();
        }
    }

    /**
     * Receives and discards.
     *
     * @return true if the peer has ended its side
     */
    boolean discard() throws IOException {
        StreamSocket current = socket;
        if (current == null) {
            return false;
        }
        int room = buffers.receiveBytes();
        int received = current.receive(buffers.receiveAddress(), room);
        if (received > 0 && (received == room || current.hasMore())) {
            continueLater();
        }
        if (received < 0) {
            current.pause();
        }
        return received < 0;
    }

    void shutdownOutput() {
        StreamSocket current = socket;
        if (current != null) {
            current.shutdownOutput();
        }
    }

    boolean isHostSilent() {
        StreamSocket current = socket;
        return current != null && current.isHostSilent();
    }

    /** Closes it, if it exists. A reset tells the peer that nothing it still sends will be read. */
    void close(boolean reset) {
        StreamSocket current = socket;
        socket = null;
        if (current != null && reset) {
            current.abort();
        } else if (current != null) {
            current.close();
        }
    }
}
