package org.softrdma.fabric.network;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.zip.CRC32C;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.net.transport.DatagramBatch;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.LoopGuard;
import org.softrdma.net.transport.SocketEvents;

/** A socket for datagrams of the network. Strictly edge triggered, as {@link FabricSocket}. */
final class FabricDatagramSocket implements DatagramSocket {
    private final Datagrams carrier;
    private final Scheduler scheduler;
    private final Copier copier;
    private final NetworkSettings settings;
    private final Place place;
    private final OpenCount open;
    private final SocketEvents events;
    private final ArrayDeque<Datagram> arrived = new ArrayDeque<>();
    private final UnderWay underWay = new UnderWay();
    private long arrivedBytes;
    private long dropped;
    private boolean readEdge;
    private boolean awaitingRoom;
    private boolean closed;

    /**
     * Where it is.
     *
     * @param key host and port
     * @param local its address as it was asked for, with the port
     */
    record Place(InetSocketAddress key, InetSocketAddress local) {}

    /** Bytes of a socket that are under way. */
    static final class UnderWay {
        private long bytes;

        void departed(int length) {
            bytes += length;
        }

        void arrived(int length) {
            bytes -= length;
        }
    }

    FabricDatagramSocket(Datagrams carrier, Medium medium, Place place, OpenCount open, SocketEvents events) {
        this.carrier = carrier;
        this.place = place;
        this.open = open;
        this.events = events;
        scheduler = medium.scheduler();
        copier = medium.copier();
        settings = medium.settings();
        open.opened();
    }

    InetSocketAddress key() {
        return place.key();
    }

    // ---- the network

    /** A datagram is there; false if there is no room for it. */
    boolean arrived(Datagram datagram) {
        if (arrivedBytes + datagram.length() > settings.datagrams().bufferBytes()) {
            dropped++;
            return false;
        }
        arrivedBytes += datagram.length();
        arrived.addLast(datagram);
        readEdge = true;
        return true;
    }

    // ---- the loop

    boolean hasEvent() {
        return !closed && (readEdge || (awaitingRoom && hasRoom()));
    }

    void raise() {
        boolean writable = hasRoom();
        readEdge = false;
        awaitingRoom &= !writable;
        try {
            events.ready(writable);
        } catch (RuntimeException | Error e) {
            LoopGuard.failed(this::close, events, e);
        }
    }

    boolean isClosed() {
        return closed;
    }

    /** For a datagram of any length. */
    private boolean hasRoom() {
        return underWay.bytes + maxBytes() <= settings.datagrams().bufferBytes();
    }

    // ---- the owner

    @Override
    public int maxBytes() {
        return settings.datagrams().maxBytes();
    }

    @Override
    public int maxSegments() {
        return MAX_SEGMENTS;
    }

    @Override
    public int receiveBuffer() {
        return settings.datagrams().bufferBytes();
    }

    @Override
    public long dropped() {
        return dropped;
    }

    @Override
    public long refused() {
        return 0; // what finds no way is lost on it
    }

    @Override
    public long trainsCut() {
        return 0; // that is the network's part
    }

    @Override
    public InetSocketAddress localAddress() {
        return place.local();
    }

    @Override
    public int send(DatagramBatch batch, int from, int count) throws IOException {
        requireOpen();
        batch.check(from, count, maxBytes(), true);
        int sent = 0;
        while (sent < count && hasRoom() && !(sent > 0 && scheduler.choices().chance(settings.cuts()))) {
            send(batch, from + sent);
            sent++;
        }
        scheduler.note("sends datagrams", sent);
        return sent;
    }

    /** Each datagram of a train has its own fate. */
    private void send(DatagramBatch batch, int index) {
        InetSocketAddress peer = batch.peer(index).toSocketAddress();
        int segment = batch.segment(index);
        int at = 0;
        do {
            int here = Math.min(segment, batch.length(index) - at);
            send(batch.address(index) + at, here, peer);
            at += Math.max(1, here);
        } while (at < batch.length(index));
    }

    private void send(long address, int length, InetSocketAddress peer) {
        MemorySegment bytes = copier.allocate(Math.max(1, length));
        copier.copy(address, bytes.address(), length);
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.asSlice(0, length).asByteBuffer());
        scheduler.trace().mix(checksum.getValue());
        InetAddress host = peer.getAddress().isLoopbackAddress() ? key().getAddress() : peer.getAddress();
        carrier.send(new Datagram(key(), new InetSocketAddress(host, peer.getPort()), bytes, length), underWay);
    }

    @Override
    public int receive(DatagramBatch batch) throws IOException {
        requireOpen();
        int count = 0;
        while (count < batch.size() && !arrived.isEmpty()) {
            Datagram next = arrived.removeFirst();
            arrivedBytes -= next.length();
            int taken = Math.min(next.length(), batch.room(count));
            copier.copy(next.bytes().address(), batch.address(count), taken);
            batch.received(count, next.length(), next.length(), 0).set(next.from());
            count++;
        }
        return count;
    }

    private void requireOpen() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public void awaitRoom() {
        awaitingRoom = true;
    }

    @Override
    public void rearm() {
        readEdge |= !arrived.isEmpty();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            arrived.clear();
            open.closed();
            carrier.closed(key());
        }
    }
}
