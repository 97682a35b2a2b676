package org.softrdma.sim.capture;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.softrdma.net.transport.DatagramBatch;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.ForwardingDatagramSocket;

/**
 * A socket for datagrams whose traffic is captured: what it sends, as soon as it has gone, and what it receives from sockets
 * that are not captured themselves. So each datagram is in the file once, also if it is lost; one that is sent again, as often
 * as it is sent.
 *
 * <p>A datagram that was sent has the identification that the kernel gives it: its number in its train, from 0. That of one that
 * was received is not known; its number in the train is written, which is right if it was sent so.
 *
 * <p>Thread: its event loop.
 */
final class CapturingDatagramSocket extends ForwardingDatagramSocket {
    private final PcapngFile file;
    private final CapturedDatagramSockets captured;
    private final InetSocketAddress local;
    private boolean closed;

    /**
     * Captures a socket.
     *
     * @param file where packets go
     * @param captured all sockets that are captured
     * @param socket not used otherwise
     */
    CapturingDatagramSocket(PcapngFile file, CapturedDatagramSockets captured, DatagramSocket socket) {
        super(socket);
        this.file = file;
        this.captured = captured;
        local = socket.localAddress();
        captured.opened(local);
    }

    @Override
    public int send(DatagramBatch batch, int from, int count) throws IOException {
        int sent = super.send(batch, from, count);
        for (int i = from; i < from + sent; i++) {
            write(batch, i, local, batch.peer(i).toSocketAddress(), maxSegments() > 1);
        }
        return sent;
    }

    @Override
    public int receive(DatagramBatch batch) throws IOException {
        int received = super.receive(batch);
        for (int i = 0; i < received; i++) {
            InetSocketAddress peer = batch.peer(i).toSocketAddress();
            if (!captured.contains(peer)) {
                write(batch, i, peer, local, true);
            }
        }
        return received;
    }

    private void write(
            DatagramBatch batch, int index, InetSocketAddress from, InetSocketAddress to, boolean countIdentification) {
        int room = batch.room(index);
        int length = batch.length(index);
        for (int i = 0; i < batch.datagrams(index); i++) {
            int at = i * batch.segment(index);
            int here = Math.min(batch.segment(index), length - at);
            int there = Math.max(0, Math.min(here, room - at));
            UdpPacket.Headers headers =
                    new UdpPacket.Headers(from, to, batch.typeOfService(index), countIdentification ? i : 0);
            file.write(out -> UdpPacket.write(out, headers, batch.address(index) + at, here, there));
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            captured.closed(local);
        }
        super.close();
    }
}
