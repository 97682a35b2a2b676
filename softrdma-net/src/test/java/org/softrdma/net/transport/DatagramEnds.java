package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Sockets for datagrams on a loop that the test's thread runs. */
final class DatagramEnds implements AutoCloseable {
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(1);

    final Transport transport;
    final Arena arena = Arena.ofShared();
    private final DatagramLoop loop;

    DatagramEnds(String kind) throws IOException {
        this(kind, new SocketOptions(0, 0, 0));
    }

    DatagramEnds(String kind, SocketOptions options) throws IOException {
        transport = TransportKinds.open(kind, true, options);
        loop = (DatagramLoop) transport.loops().getFirst();
    }

    /** A socket, what it was told, and what it has received. */
    final class End {
        final DatagramSocket socket;
        final List<Arrived> arrived = new ArrayList<>();
        int events;
        int rooms;
        /** What the next event fails with. */
        @Nullable
        Error failure;

        private final DatagramBatch batch;

        End(InetSocketAddress local, int entries, int room) throws IOException {
            batch = new DatagramBatch(entries);
            MemorySegment memory = arena.allocate((long) entries * room);
            for (int i = 0; i < entries; i++) {
                batch.addBuffer(memory.address() + (long) i * room, room);
            }
            socket = loop.bind(local, writable -> {
                events++;
                rooms += writable ? 1 : 0;
                Error next = failure;
                failure = null;
                if (next != null) {
                    throw next;
                }
            });
        }

        InetSocketAddress address() {
            return socket.localAddress();
        }

        PeerAddress peer() {
            return PeerAddress.of(address());
        }

        /** Takes what is there; returns how many entries were filled. */
        int take() throws IOException {
            int all = 0;
            int got;
            do {
                got = socket.receive(batch);
                for (int i = 0; i < got; i++) {
                    arrived.add(Arrived.of(batch, i));
                }
                all += got;
            } while (got == batch.size());
            return all;
        }

        int datagrams() {
            return arrived.stream().mapToInt(Arrived::datagrams).sum();
        }

        void awaitDatagrams(int count) {
            awaitThat(count + " datagrams", () -> {
                try {
                    take();
                    return datagrams() >= count;
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
        }
    }

    End end(String host) throws IOException {
        return end(host, 8, DatagramSocket.MAX_TRAIN_BYTES);
    }

    End end(String host, int entries, int room) throws IOException {
        return new End(new InetSocketAddress(InetAddress.getByName(host), 0), entries, room);
    }

    /** Memory with a pattern. */
    MemorySegment bytes(byte[] content) {
        MemorySegment memory = arena.allocate(Math.max(1, content.length));
        MemorySegment.copy(content, 0, memory, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, content.length);
        return memory;
    }

    void awaitThat(String what, BooleanSupplier condition) {
        long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < DEADLINE_NS, what);
            int ignored = loop.run(TURN_NS);
        }
    }

    /** Turns of the loop in which whatever is to be told is told. */
    void settle() {
        for (int i = 0; i < 20; i++) {
            int ignored = loop.run(0);
        }
    }

    @Override
    public void close() {
        transport.close();
        arena.close();
    }

    /**
     * What has arrived in an entry.
     *
     * @param bytes as many as there was room for
     * @param length that came
     * @param segment of a train
     * @param typeOfService of its header
     * @param from its sender
     */
    @SuppressWarnings("ArrayRecordComponent") // looked into, never compared
    record Arrived(byte[] bytes, int length, int segment, int typeOfService, InetSocketAddress from) {
        static Arrived of(DatagramBatch batch, int index) {
            int here = Math.min(batch.length(index), batch.room(index));
            return new Arrived(
                    org.softrdma.net.memory.NativeMemory.bytes(batch.address(index), here),
                    batch.length(index),
                    batch.segment(index),
                    batch.typeOfService(index),
                    batch.peer(index).toSocketAddress());
        }

        int datagrams() {
            return segment < length ? Math.ceilDiv(length, segment) : 1;
        }
    }
}
