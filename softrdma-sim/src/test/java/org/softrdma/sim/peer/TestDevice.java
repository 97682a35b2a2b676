package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** A device with a domain, a completion queue and a listener, all closed in reverse order. One test thread. */
public final class TestDevice implements AutoCloseable {
    /** What canaries around registered memory are. */
    public static final byte CANARY = (byte) 0xC5;

    /** How long a test waits for anything. */
    public static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(10);

    /** From here on a port says nothing of where its owner hears. */
    private static final int FIRST_SPREADING_PORT = 0xC000;

    private static final int ENTRIES = 1024;
    private static final int GUARD_BYTES = 4096;
    private static final Set<String> TROUBLE = Set.of(
            "accessErrors",
            "protocolErrors",
            "crcErrors",
            "handshakeErrors",
            "engineFaults",
            "terminatesSent",
            "terminatesReceived",
            "connectionsClosed");

    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final Listener listener;
    private final Arena arena = Arena.ofShared();
    private final Deque<AutoCloseable> owned = new ArrayDeque<>();

    /** Opens a device with options: name, value, name, value. */
    public TestDevice(String... options) {
        this(new SoftRdmaProvider().open(map(options)));
    }

    private static Map<String, String> map(String... options) {
        Map<String, String> map = new HashMap<>();
        for (int i = 0; i < options.length; i += 2) {
            map.put(options[i], options[i + 1]);
        }
        return map;
    }

    /** A UDP port that nobody has at the moment, for the option {@code roce-port}. */
    public static int freeRocePort() {
        while (true) {
            try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
                if (socket.getLocalPort() < FIRST_SPREADING_PORT) {
                    return socket.getLocalPort();
                }
            } catch (SocketException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Options of two devices at 127.0.0.1 that connect to each other, either way.
     *
     * @param wire {@code iwarp} or {@code roce}
     * @param more options of both: name, value, name, value
     */
    public static List<String[]> pairOn(String wire, String... more) {
        if (!wire.equals("roce")) {
            return List.of(more, more);
        }
        int one = freeRocePort();
        int other = one;
        while (other == one) {
            other = freeRocePort();
        }
        return List.of(roce(one, other, more), roce(other, one, more));
    }

    private static String[] roce(int port, int peerPort, String... more) {
        List<String> all = new ArrayList<>(List.of(more));
        all.addAll(List.of("wire", "roce", "roce-address", "127.0.0.1"));
        all.addAll(List.of("roce-port", Integer.toString(port), "roce-peer-port", Integer.toString(peerPort)));
        return all.toArray(String[]::new);
    }

    /** Takes over a device. */
    public TestDevice(VerbsDevice device) {
        this.device = device;
        domain = own(device.allocateProtectionDomain());
        queue = own(device.createCompletionQueue(ENTRIES));
        listener = own(device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64));
    }

    /** Closes something with the device, before everything that was there before it. */
    public <T extends AutoCloseable> T own(T resource) {
        owned.push(resource);
        return resource;
    }

    public VerbsDevice device() {
        return device;
    }

    public ProtectionDomain domain() {
        return domain;
    }

    public CompletionQueue queue() {
        return queue;
    }

    public Listener listener() {
        return listener;
    }

    public InetSocketAddress address() {
        return listener.localAddress();
    }

    /** The next connection request. */
    public ConnectionRequest request() {
        return listener.next(DEADLINE_NS).orElseThrow(() -> new AssertionError("no connection request came"));
    }

    /** A queue pair for a request, closed with the device. */
    public QueuePair queuePair(ConnectionRequest request, QueuePairLimits limits) {
        return own(request.createQueuePair(domain, QueuePairAttributes.of(queue, limits)));
    }

    /** Memory filled with canaries, freed after the device. */
    public MemorySegment memory(long length) {
        return arena.allocate(length, 64).fill(CANARY);
    }

    /** Memory with canaries around it; registered in the device's domain. */
    public Guarded guarded(int length, AccessFlag... access) {
        return guarded(domain, length, access);
    }

    /** Memory with canaries around it; registered in a domain. */
    public Guarded guarded(ProtectionDomain in, int length, AccessFlag... access) {
        MemorySegment whole = memory(length + 2L * GUARD_BYTES);
        MemorySegment inner = whole.asSlice(GUARD_BYTES, length);
        return new Guarded(whole, inner, own(in.register(inner, Set.of(access))));
    }

    /**
     * Registered memory between canaries.
     *
     * @param whole with both canaries
     * @param inner what is registered
     * @param region its registration
     */
    public record Guarded(MemorySegment whole, MemorySegment inner, MemoryRegion region) {
        /** Fills it with a pattern. */
        public Guarded fill(int seed) {
            put(0, TestBytes.pattern(seed, (int) inner.byteSize()));
            return this;
        }

        public void put(long at, byte[] bytes) {
            MemorySegment.copy(bytes, 0, inner, ValueLayout.JAVA_BYTE, at, bytes.length);
        }

        public byte[] bytes(long from, long length) {
            return inner.asSlice(from, length).toArray(ValueLayout.JAVA_BYTE);
        }

        /** Fails if a byte around it has changed. */
        public void requireCanaries() {
            requireAll(whole.asSlice(0, GUARD_BYTES), "before the region");
            requireAll(whole.asSlice(GUARD_BYTES + inner.byteSize()), "behind the region");
        }

        private static void requireAll(MemorySegment memory, String where) {
            for (long i = 0; i < memory.byteSize(); i++) {
                if (memory.get(ValueLayout.JAVA_BYTE, i) != CANARY) {
                    throw new AssertionError("canary " + where + " changed at offset " + i);
                }
            }
        }
    }

    /** One counter of the device. */
    public long counter(String name) {
        Long value = device.counters().get(name);
        if (value == null) {
            throw new AssertionError("no counter " + name);
        }
        return value;
    }

    /** The counters that say that something went wrong. */
    public Map<String, Long> trouble() {
        Map<String, Long> trouble = new TreeMap<>(device.counters());
        trouble.keySet().retainAll(TROUBLE);
        return trouble;
    }

    /** Waits until the counters have gone up by exactly these, others not at all. */
    public void awaitTrouble(Map<String, Long> before, Map<String, Long> increments) {
        Map<String, Long> expected = new TreeMap<>(before);
        increments.forEach((name, by) -> expected.merge(name, by, Long::sum));
        await(
                () -> "counters " + expected + ", now " + trouble(),
                () -> trouble().equals(expected));
    }

    /** One completion, copied. */
    public record Completion(long wrId, CompletionStatus status, int vendorCode, long bytes) {}

    /** Waits for some completions. */
    public List<Completion> take(int count) {
        return take(queue, count);
    }

    /** Waits for some completions of a queue. */
    public static List<Completion> take(CompletionQueue queue, int count) {
        List<Completion> taken = new ArrayList<>();
        WorkCompletion[] one = WorkCompletion.array(1);
        await(() -> count + " completions, got " + taken, () -> {
            while (taken.size() < count && queue.poll(one, 1) == 1) {
                taken.add(new Completion(
                        one[0].wrId(),
                        one[0].status(),
                        one[0].vendorCode(),
                        one[0].isSuccess() ? one[0].byteLength() : 0));
            }
            return taken.size() == count;
        });
        return taken;
    }

    /** Fails if there is a completion now. */
    public void expectNoCompletion() {
        WorkCompletion[] one = WorkCompletion.array(1);
        assertEquals(0, queue.poll(one, 1), () -> "unexpected " + one[0]);
    }

    /** Waits for a condition, within the deadline. */
    public static void await(String what, BooleanSupplier condition) {
        await(() -> what, condition);
    }

    /** Waits for a condition, within the deadline. */
    public static void await(Supplier<String> what, BooleanSupplier condition) {
        long startNs = System.nanoTime();
        int spins = 0;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < DEADLINE_NS, () -> "waited in vain for " + what.get());
            if (++spins < 100) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(20_000);
            }
        }
    }

    /** Closes everything that is still open; a device that cannot close cleanly fails the test. */
    @Override
    public void close() {
        AssertionError failure = null;
        while (!owned.isEmpty()) {
            try {
                owned.pop().close();
            } catch (Exception e) {
                failure = failure == null ? new AssertionError("closing " + device, e) : failure;
            }
        }
        if (failure == null) {
            device.close();
            arena.close();
        } else {
            throw failure;
        }
    }
}
