package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Two devices that speak RoCEv2 over the loopback interface, one connection, and memory on both sides. One test thread. */
final class RoceEnds implements AutoCloseable {
    static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(10);
    static final int BYTES = 1 << 20;
    /** Of queue pairs of datagrams. */
    static final int QUEUE_KEY = 0x2222;
    /** For queue pairs without a connection manager. */
    static final Map<String, String> HERE = Map.of("roce-address", "127.0.0.1");

    private static final QueuePairLimits LIMITS = QueuePairLimits.of(64, 64);
    private static final ConnectionParameters PARAMETERS = ConnectionParameters.ofReads(16);

    final Side active;
    final Side passive;
    Listener listener;
    private final int port;

    /** One side. */
    static final class Side implements AutoCloseable {
        final VerbsDevice device;
        final ProtectionDomain domain;
        final CompletionQueue queue;
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(BYTES, Long.BYTES);
        final MemoryRegion region;
        private @Nullable QueuePair pair;

        Side(Map<String, String> options) {
            device = new SoftRdmaProvider().open(options);
            domain = device.allocateProtectionDomain();
            queue = device.createCompletionQueue(256);
            region = domain.register(
                    memory,
                    EnumSet.of(
                            AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_READ,
                            AccessFlag.REMOTE_WRITE,
                            AccessFlag.REMOTE_ATOMIC));
        }

        QueuePair pair() {
            return Objects.requireNonNull(pair);
        }

        RemoteRegion remote() {
            return region.remote();
        }

        QueuePairAttributes attributes() {
            return QueuePairAttributes.of(queue, LIMITS);
        }

        /** The next completion. */
        WorkCompletion next() {
            WorkCompletion[] polled = WorkCompletion.array(1);
            long endNs = System.nanoTime() + DEADLINE_NS;
            while (queue.poll(polled) == 0) {
                if (System.nanoTime() - endNs > 0) {
                    throw new AssertionError("no completion came; " + device.counters());
                }
                Thread.onSpinWait();
            }
            return polled[0];
        }

        long counter(String name) {
            return device.counters().getOrDefault(name, 0L);
        }

        @Override
        public void close() {
            if (pair != null) {
                pair.close();
            }
            region.close();
            queue.close();
            domain.close();
            device.close();
            arena.close();
        }
    }

    RoceEnds(String transport, Map<String, String> more) {
        this(transport, more, Map.of());
    }

    /** With further options of the active side alone. */
    RoceEnds(String transport, Map<String, String> more, Map<String, String> ofActive) {
        Map<String, String> options = new HashMap<>(more);
        options.put("wire", "roce");
        options.put("transport", transport);
        port = freePort();
        options.put("roce-port", Integer.toString(port));
        passive = new Side(options);
        options.putAll(ofActive);
        active = new Side(options);
        listener = passive.device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
    }

    /** A queue pair without a connection manager. */
    static UnconnectedQueuePair unconnected(Side side, QueuePairType type) {
        return side.domain.createQueuePair(
                side.attributes().withDatagrams(QUEUE_KEY).withType(type));
    }

    /** Connects two of those. */
    static void connect(UnconnectedQueuePair one, UnconnectedQueuePair other) {
        other.connect(one.address(), 4, 4);
        one.connect(other.address(), 4, 4);
    }

    static void accept(PostStatus status) {
        assertEquals(PostStatus.ACCEPTED, status);
    }

    /** The next completion is that of a request, and it has succeeded. */
    static void expect(long wrId, Side side) {
        expectFailed(wrId, CompletionStatus.SUCCESS, side);
    }

    /** The next completion is that of a request, with this status. */
    static void expectFailed(long wrId, CompletionStatus status, Side side) {
        WorkCompletion next = side.next();
        assertEquals(status, next.status());
        assertEquals(wrId, next.wrId());
    }

    /** Waits. */
    static void until(BooleanSupplier condition, String what) {
        long endNs = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - endNs < 0, what);
            Thread.onSpinWait();
        }
    }

    /** UDP port of the passive side. */
    int port() {
        return port;
    }

    /** A UDP port that nobody has at the moment. */
    static int freePort() {
        return TestDevice.freeRocePort();
    }

    /** Listens at another address instead. */
    RoceEnds listenAt(InetAddress address) {
        listener.close();
        listener = passive.device.listen(new InetSocketAddress(address, 0), 8);
        return this;
    }

    RoceEnds connect() {
        InetAddress at = listener.localAddress().getAddress();
        return connect(at.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : at);
    }

    /** Connects at one of the addresses of the passive side. */
    RoceEnds connect(InetAddress host) {
        CompletableFuture<QueuePair> accepted = CompletableFuture.supplyAsync(() -> {
            ConnectionRequest request = listener.next(DEADLINE_NS).orElseThrow();
            QueuePair made = request.createQueuePair(passive.domain, passive.attributes());
            request.accept(PARAMETERS);
            return made;
        });
        InetSocketAddress at =
                new InetSocketAddress(host, listener.localAddress().getPort());
        Connector connector = active.device.resolve(at, DEADLINE_NS);
        active.pair = connector.createQueuePair(active.domain, active.attributes());
        byte[] ignored = connector.connect(PARAMETERS, DEADLINE_NS);
        passive.pair = accepted.join();
        return this;
    }

    @Override
    public void close() {
        active.close();
        listener.close();
        passive.close();
    }
}
