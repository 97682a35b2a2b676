package org.softrdma.net.transport;

import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import org.softrdma.net.kernel.MessageVector;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.kernel.UdpSocket;

/**
 * Datagrams by sendmmsg(2) and recvmmsg(2), trains by UDP_SEGMENT and UDP_GRO. The calls of all sockets of a loop use the same
 * messages, one call after the other. Thread: its loop.
 */
abstract class LinuxDatagramSocket extends RegisteredDatagramSocket {
    private static final int EINTR = 4;
    private static final int EBADF = 9;
    private static final int EAGAIN = 11;
    private static final int EFAULT = 14;
    private static final int ENOTSOCK = 88;
    /** Errors of peers that are passed over in one call; each costs the kernel one of its records. */
    private static final int MOST_ERRORS = 64;

    final Socket socket;
    private final LinuxEventLoop loop;
    private final UdpSocket udp;
    private final DatagramMessages messages;
    private final InetSocketAddress local;
    private boolean trains;
    private long dropped;
    private long refused;
    private long trainsCut;

    LinuxDatagramSocket(LinuxEventLoop loop, Socket socket, UdpSocket udp, SocketEvents events) {
        super(events);
        this.loop = loop;
        this.socket = socket;
        this.udp = udp;
        messages = loop.messages();
        trains = udp.hasTrains();
        PeerAddress own = new PeerAddress();
        own.set(udp.high(), udp.low(), udp.port(), udp.scope());
        local = own.toSocketAddress();
    }

    @Override
    public final int maxBytes() {
        return MAX_TRAIN_BYTES;
    }

    @Override
    public final int maxSegments() {
        return trains ? MAX_SEGMENTS : 1;
    }

    @Override
    public final InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public final int receiveBuffer() {
        return isClosed() ? 0 : udp.receiveBuffer();
    }

    @Override
    public final long dropped() {
        dropped = isClosed() ? dropped : udp.drops();
        return dropped;
    }

    @Override
    public final long refused() {
        return refused;
    }

    @Override
    public final long trainsCut() {
        return trainsCut;
    }

    private void checkOpen() throws IOException {
        if (isClosed()) {
            throw new ClosedChannelException();
        }
    }

    // ---- sending

    @Override
    public final int send(DatagramBatch batch, int from, int count) throws IOException {
        checkOpen();
        batch.check(from, count, maxBytes(), udp.isIpv6());
        MessageVector entries = messages.entries();
        int sent = 0;
        while (sent < count) {
            int first = from + sent;
            int here = 0;
            while (here < entries.capacity() && sent + here < count && !isCut(batch, first + here)) {
                put(batch, first + here, here);
                here++;
            }
            int done = here > 0 ? sendEntries(batch, first, here) : cut(batch, first) ? 1 : 0;
            sent += done;
            if (done == 0 || done < here) {
                return sent;
            }
        }
        return sent;
    }

    private boolean isCut(DatagramBatch batch, int index) {
        return !trains && batch.isTrain(index);
    }

    private void put(DatagramBatch batch, int index, int entry) {
        int segment = batch.isTrain(index) ? batch.segment(index) : 0;
        messages.entries().setDatagram(entry, batch.address(index), batch.length(index), segment);
        address(messages.entries(), entry, batch.peer(index));
    }

    private void address(MessageVector message, int entry, PeerAddress peer) {
        message.setPeer(entry, udp.isIpv6(), peer.high(), peer.low(), peer.port(), peer.scope());
    }

    /** Sends the first entries; those that the kernel refuses count as sent. */
    private int sendEntries(DatagramBatch batch, int first, int count) throws IOException {
        int done = 0;
        boolean again = false;
        while (done < count) {
            int result = messages.entries().send(socket.intValue(), done, count - done);
            if (result > 0) {
                done += result;
                again = false;
            } else if (isFull("sendmmsg", result)) {
                return done;
            } else if (!again) {
                again = true; // the error may have been that of another datagram, and this one was not tried
            } else {
                again = false;
                if (batch.isTrain(first + done)) {
                    if (!cut(batch, first + done)) {
                        return done;
                    }
                } else {
                    refused++;
                }
                done++;
            }
        }
        return done;
    }

    /**
     * Sends a train as single datagrams. Its rest is lost if there is no room for it.
     *
     * @return false if nothing was sent, because there is no room
     */
    private boolean cut(DatagramBatch batch, int index) throws IOException {
        int count = batch.datagrams(index);
        int segment = batch.segment(index);
        for (int i = 0; i < count; i++) {
            int at = i * segment;
            messages.pieces().setDatagram(i, batch.address(index) + at, Math.min(segment, batch.length(index) - at), 0);
            address(messages.pieces(), i, batch.peer(index));
        }
        int done = 0;
        boolean firstTaken = false;
        while (done < count) {
            int result = messages.pieces().send(socket.intValue(), done, count - done);
            if (result > 0) {
                firstTaken |= done == 0;
                done += result;
            } else if (isFull("sendmmsg", result)) {
                if (done == 0) {
                    return false;
                }
                refused += count - done;
                done = count;
            } else {
                refused++;
                done++;
            }
        }
        trainsCut++;
        trains &= !firstTaken; // else it was not the train that was refused, but where it goes, or its length
        return true;
    }

    /** True if there is nothing to be had now; false if the error is that of one datagram. */
    private static boolean isFull(String call, int result) throws IOException {
        return switch (-result) {
            case 0, EAGAIN, EINTR -> true;
            case EBADF, EFAULT, ENOTSOCK -> throw new SystemCallException(call, -result);
            default -> false;
        };
    }

    // ---- receiving

    @Override
    public final int receive(DatagramBatch batch) throws IOException {
        checkOpen();
        MessageVector entries = messages.entries();
        int received = 0;
        int errors = 0;
        while (received < batch.size() && errors < MOST_ERRORS) {
            int asked = Math.min(batch.size() - received, entries.capacity());
            for (int i = 0; i < asked; i++) {
                entries.setBuffer(i, batch.address(received + i), batch.room(received + i));
            }
            int got = entries.receive(socket.intValue(), asked);
            if (got > 0) {
                for (int i = 0; i < got; i++) {
                    take(batch, received + i, i);
                }
                received += got;
                if (got < asked) {
                    return received; // there is no more, and the next one raises an event
                }
            } else if (isFull("recvmmsg", got)) {
                return received;
            } else {
                errors++; // what has become of a datagram that was sent
            }
        }
        return received;
    }

    private void take(DatagramBatch batch, int index, int entry) {
        MessageVector entries = messages.entries();
        int length = entries.length(entry);
        int segment = entries.segment(entry);
        batch.received(index, length, segment == 0 ? length : segment, entries.typeOfService(entry))
                .set(entries.high(entry), entries.low(entry), entries.port(entry), entries.scope(entry));
    }

    @Override
    final void closeDescriptor() {
        try {
            dropped = udp.drops();
        } finally {
            loop.closeQuietly(socket);
        }
    }
}
