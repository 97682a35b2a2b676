package org.softrdma.sim.connection;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.carrier.StreamBuffers;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.transport.AddressText;
import org.softrdma.sim.transport.IoVectors;
import org.softrdma.sim.transport.StreamSocket;

/** The socket of a connection, which may not be there yet, or not any more. Engine thread only. */
final class ConnectionSocket {
    private final RnicEngine engine;
    private final StreamBuffers buffers;
    private @Nullable StreamSocket socket;

    ConnectionSocket(RnicEngine engine, StreamBuffers buffers) {
        this.engine = engine;
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

    /** For people. */
    String peer() {
        StreamSocket current = socket;
        return current == null ? "a peer that is gone" : AddressText.of(current.remoteAddress());
    }

    /** Sends a message of the handshake. */
    void send(byte[] message) throws IOException {
        long at = buffers.receiveAddress();
        NativeMemory.put(at, message);
        if (send(at, message.length) != message.length) {
            throw new IOException("the socket has no room for a handshake frame of " + message.length + " bytes");
        }
    }

    /** Sends what the socket takes of some memory. */
    long send(long address, int length) throws IOException {
        IoVectors vectors = buffers.batch().vectors();
        vectors.set(0, address, length);
        StreamSocket current = socket;
        return current == null ? 0 : current.gather(vectors, 0, 1);
    }

    /** Comes back after the other connections had their turn: as an event of the next look at all sockets. */
    void continueLater() {
        StreamSocket current = socket;
        if (current != null) {
            current.rearm();
        }
    }

    /**
     * Receives and throws away.
     *
     * @return true if the peer has ended its side
     */
    boolean discard() throws IOException {
        StreamSocket current = socket;
        if (current == null) {
            return false;
        }
        int room = engine.limits().receiveBuffer();
        int received = current.receive(buffers.receiveAddress(), room);
        if (received > 0 && (received == room || current.isHungUp())) {
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

    /** Closes it, if it is there; with a reset the peer sees that nobody waits for what it still has to say. */
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
