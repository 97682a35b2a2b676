package org.softrdma.run.faults;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.fault.What;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.DatagramBatch;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.ForwardingDatagramSocket;
import org.softrdma.net.transport.SocketEvents;

/**
 * A socket whose datagrams have faults: those that it sends, and those that it receives from hosts and processes whose network is not this
 * one, so that each datagram has one occasion. Thread: its event loop.
 */
final class FaultyDatagramSocket extends ForwardingDatagramSocket {
    private final SocketEvents events;
    private final EventLoop loop;
    private final CardFaults faults;
    private final Set<InetSocketAddress> own;
    private final InetSocketAddress local;
    private final DatagramBatch late = new DatagramBatch(1);
    private final ArrayDeque<Kept> arriving = new ArrayDeque<>();
    /** The next datagram to send may go, as was found out when there was no room for it. */
    private boolean mayGo;

    private boolean closed;

    /** A copy of a datagram: bytes, and the other end. */
    private record Kept(MemorySegment bytes, InetSocketAddress peer) {
        static Kept of(long address, int length, InetSocketAddress peer) {
            MemorySegment bytes = Arena.ofAuto().allocate(length);
            NativeMemory.copy(address, bytes.address(), length);
            return new Kept(bytes, peer);
        }

        int length() {
            return (int) bytes.byteSize();
        }

        void copyTo(long address, int room) {
            try {
                NativeMemory.copy(bytes.address(), address, Math.min(length(), room));
            } finally {
                Reference.reachabilityFence(bytes);
            }
        }
    }

    /**
     * A socket with faults.
     *
     * @param events told of what arrives late
     * @param own addresses of all sockets of this network
     */
    FaultyDatagramSocket(
            DatagramSocket socket, SocketEvents events, EventLoop loop, CardFaults faults, Set<InetSocketAddress> own) {
        super(socket);
        this.events = events;
        this.loop = loop;
        this.faults = faults;
        this.own = own;
        local = socket.localAddress();
        own.add(local);
    }

    private static String host(InetSocketAddress address) {
        return address.getAddress().getHostAddress();
    }

    /** Each datagram is sent by itself. */
    @Override
    public int maxSegments() {
        return 1;
    }

    @Override
    public int send(DatagramBatch batch, int from, int count) throws IOException {
        for (int i = from; i < from + count; i++) {
            InetSocketAddress peer = batch.peer(i).toSocketAddress();
            What.OnDatagram fate =
                    mayGo ? null : faults.onDatagram(host(local), host(peer), batch.address(i), batch.length(i));
            mayGo = false;
            switch (fate) {
                case null -> {
                    if (super.send(batch, i, 1) == 0) {
                        mayGo = true;
                        return i - from;
                    }
                }
                case What.Lose() -> {}
                case What.Repeat() -> {
                    int ignored = super.send(batch, i, 1) + super.send(batch, i, 1); // without room it is lost
                }
                case What.Delay(long ns) -> {
                    Kept kept = Kept.of(batch.address(i), batch.length(i), peer);
                    var _ = loop.schedule(() -> sendLate(kept), ns, TimeUnit.NANOSECONDS);
                }
            }
        }
        return count;
    }

    private void sendLate(Kept kept) {
        if (closed) {
            return;
        }
        late.clear();
        late.add(kept.bytes.address(), kept.length(), kept.peer);
        try {
            int ignored = super.send(late, 0, 1);
        } catch (IOException e) {
            return; // it is lost, as datagrams are; whoever uses the socket finds it broken
        } finally {
            Reference.reachabilityFence(kept.bytes);
        }
    }

    @Override
    public int receive(DatagramBatch batch) throws IOException {
        int received = super.receive(batch);
        for (int i = 0; i < received; i++) {
            InetSocketAddress peer = batch.peer(i).toSocketAddress();
            if (!own.contains(peer)) {
                filter(batch, i, peer);
            }
        }
        while (received < batch.size() && !arriving.isEmpty()) {
            Kept kept = arriving.remove();
            kept.copyTo(batch.address(received), batch.room(received));
            batch.received(received, kept.length(), kept.length(), 0).set(kept.peer);
            received++;
        }
        return received;
    }

    /** Leaves of a datagram, or of a train, what arrives now; if nothing does, one without bytes, which is no packet. */
    private void filter(DatagramBatch batch, int index, InetSocketAddress peer) {
        int segment = batch.segment(index);
        int end = Math.min(batch.length(index), batch.room(index));
        int kept = 0;
        for (int at = 0; at < end; at += segment) {
            long address = batch.address(index) + at;
            int length = Math.min(segment, end - at);
            if (arrives(faults.onDatagram(host(peer), host(local), address, length), address, length, peer)) {
                NativeMemory.copy(address, batch.address(index) + kept, length);
                kept += length;
            }
        }
        if (kept < end) {
            var _ = batch.received(index, kept, Math.min(segment, kept), batch.typeOfService(index));
        }
    }

    private boolean arrives(What.@Nullable OnDatagram fate, long address, int length, InetSocketAddress peer) {
        return switch (fate) {
            case null -> true;
            case What.Lose() -> false;
            case What.Repeat() -> {
                arriveLater(Kept.of(address, length, peer), 0);
                yield true;
            }
            case What.Delay(long ns) -> {
                arriveLater(Kept.of(address, length, peer), ns);
                yield false;
            }
        };
    }

    private void arriveLater(Kept kept, long ns) {
        var _ = loop.schedule(
                () -> {
                    if (!closed) {
                        arriving.add(kept);
                        events.ready(false);
                    }
                },
                ns,
                TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        closed = true;
        own.remove(local);
        super.close();
    }
}
