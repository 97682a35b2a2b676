package org.softrdma.net.transport;

import java.io.IOException;
import java.net.InetSocketAddress;

/** A socket for datagrams that does what another one does, for those that do some of it in another way. Thread: its event loop. */
public abstract class ForwardingDatagramSocket implements DatagramSocket {
    private final DatagramSocket socket;

    /**
     * Does what another one does.
     *
     * @param socket not used otherwise
     */
    protected ForwardingDatagramSocket(DatagramSocket socket) {
        this.socket = socket;
    }

    @Override
    public int send(DatagramBatch batch, int from, int count) throws IOException {
        return socket.send(batch, from, count);
    }

    @Override
    public int receive(DatagramBatch batch) throws IOException {
        return socket.receive(batch);
    }

    @Override
    public int maxBytes() {
        return socket.maxBytes();
    }

    @Override
    public int maxSegments() {
        return socket.maxSegments();
    }

    @Override
    public InetSocketAddress localAddress() {
        return socket.localAddress();
    }

    @Override
    public int receiveBuffer() {
        return socket.receiveBuffer();
    }

    @Override
    public long dropped() {
        return socket.dropped();
    }

    @Override
    public long refused() {
        return socket.refused();
    }

    @Override
    public long trainsCut() {
        return socket.trainsCut();
    }

    @Override
    public void awaitRoom() {
        socket.awaitRoom();
    }

    @Override
    public void rearm() {
        socket.rearm();
    }

    @Override
    public void close() {
        socket.close();
    }
}
