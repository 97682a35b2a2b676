package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.SoftRdmaContext;
import org.softrdma.sim.device.DeviceEnvironment;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.memory.GuardedMemory;
import org.softrdma.sim.peer.Frames;
import org.softrdma.sim.pinning.CountedPageLocks;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** A device in manual progress over a {@link FakeTransport}. The test's thread drives it. */
final class FakeDevice implements AutoCloseable {
    private static final int MOST_STEPS = 1_000_000;
    private static final int REPLY_BYTES = 24;

    private final boolean ring;
    private final FakeTransport transport = new FakeTransport();
    private final GuardedMemory nativeMemory = new GuardedMemory();
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final Listener listener;
    private final Arena arena = Arena.ofConfined();
    private final Deque<AutoCloseable> owned = new ArrayDeque<>();
    private final WorkCompletion[] completions = WorkCompletion.array(64);

    /** Options of the device, and {@code ring=on}: its sockets behave like those of io_uring. */
    FakeDevice(String... options) {
        Map<String, String> map = new HashMap<>(Map.of("progress", "manual"));
        for (int i = 0; i < options.length; i += 2) {
            map.put(options[i], options[i + 1]);
        }
        ring = "on".equals(map.remove("ring"));
        device = new SoftRdmaDevice(
                new SoftRdmaContext().set(map).conclude().deviceSettings(),
                transport,
                DeviceEnvironment.with(CountedPageLocks.ofThisProcess(), nativeMemory));
        domain = own(device.allocateProtectionDomain());
        queue = own(device.createCompletionQueue(4096));
        listener = own(device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16));
    }

    <T extends AutoCloseable> T own(T resource) {
        owned.push(resource);
        return resource;
    }

    /** The device's own buffers: guarded, and made to fail by the test. */
    GuardedMemory nativeMemory() {
        return nativeMemory;
    }

    /** From now on each call of the transport and of a socket is one of {@link #nativeMemory}, and fails as they do. */
    void countTransportCalls(FakeSocket socket) {
        transport.beforeEachCall(nativeMemory::called);
        socket.beforeEachCall(nativeMemory::called);
    }

    VerbsDevice device() {
        return device;
    }

    CompletionQueue queue() {
        return queue;
    }

    ProtectionDomain domain() {
        return domain;
    }

    MemorySegment memory(long length) {
        return arena.allocate(length, 64);
    }

    /** Registered memory with a pattern. */
    MemoryRegion region(int seed, int length, AccessFlag... access) {
        MemorySegment memory = memory(length);
        MemorySegment.copy(TestBytes.pattern(seed, length), 0, memory, ValueLayout.JAVA_BYTE, 0, length);
        return own(domain.register(memory, Set.of(access)));
    }

    /** From now on this happens to each connection before the engine has it. */
    void beforeAdopt(Runnable action) {
        transport.beforeAdopt(action);
    }

    /** From now on this happens in each round between its events and what they have left to be sent later. */
    void beforeFlush(Runnable action) {
        transport.beforeFlush(action);
    }

    /** A peer's socket on which nothing was said yet. */
    FakeSocket socket() {
        FakeSocket socket = new FakeSocket();
        comes(socket);
        return socket;
    }

    /** A peer connects. */
    void comes(FakeSocket socket) {
        transport.connect(ring ? socket.likeIoUring() : socket);
    }

    /** A connector to a peer, which has said nothing yet. */
    Connector connector(FakeSocket peer) {
        transport.answer(ring ? peer.likeIoUring() : peer);
        return device.resolve(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), 0);
    }

    /** The request that came by now, if one has. */
    Optional<ConnectionRequest> request() {
        return listener.next(0);
    }

    /** A queue pair for a connector, not connected yet. */
    QueuePair queuePair(Connector connector, QueuePairLimits limits) {
        return connector.createQueuePair(domain, QueuePairAttributes.of(queue, limits));
    }

    /** A queue pair for a request, not accepted yet. */
    QueuePair queuePair(ConnectionRequest request, QueuePairLimits limits) {
        return request.createQueuePair(domain, QueuePairAttributes.of(queue, limits));
    }

    /**
     * A queue pair whose peer has a client-server connection and has not spoken yet; its reply is taken off what was sent.
     *
     * @param socket of the peer, new
     */
    QueuePair connect(FakeSocket socket, QueuePairLimits limits, int reads) {
        return connect(socket, QueuePairAttributes.of(queue, limits), reads);
    }

    /** The same with any attributes. */
    QueuePair connect(FakeSocket socket, QueuePairAttributes attributes, int reads) {
        socket.give(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, reads, reads)));
        run();
        ConnectionRequest request = request().orElseThrow(() -> new AssertionError("no connection request"));
        QueuePair pair = request.createQueuePair(domain, attributes);
        request.accept(ConnectionParameters.ofReads(reads));
        assertEquals(REPLY_BYTES, socket.sent().length, "MPA reply");
        return pair;
    }

    /** What was sent behind the MPA reply. */
    static byte[] stream(FakeSocket socket) {
        byte[] all = socket.sent();
        return TestBytes.slice(all, REPLY_BYTES, all.length);
    }

    /** Drives the device until it has nothing to do. */
    void run() {
        int idle = 0;
        for (int i = 0; idle < 3; i++) {
            assertTrue(i < MOST_STEPS, "the device never comes to rest");
            idle = device.progress(0) == 0 ? idle + 1 : 0;
        }
    }

    /** The loop cannot go on, and says so. */
    void breakLoop() {
        transport.breakLoop();
    }

    /** Time passes, and timers that are due fire. */
    void advance(long milliseconds) {
        transport.advance(milliseconds, TimeUnit.MILLISECONDS);
    }

    /** The time, which passes only by {@link #advance} and while the device waits. */
    long nowNs() {
        return transport.nowNs();
    }

    /** What became of a request. */
    record Ended(long wrId, int queuePair, CompletionStatus status) {}

    /** Drives the device and polls: everything that ended. */
    List<Ended> ended() {
        List<Ended> ended = new ArrayList<>();
        run();
        for (int got = queue.poll(completions); got > 0; got = queue.poll(completions)) {
            for (int i = 0; i < got; i++) {
                ended.add(new Ended(completions[i].wrId(), completions[i].qpNumber(), completions[i].status()));
            }
            run();
        }
        return ended;
    }

    /**
     * Drives the device and polls: what every completion says, as {@code wrId OPCODE bytes}, with the immediate if it
     * has one, or {@code wrId STATUS vendorCode}.
     */
    List<String> told() {
        List<String> told = new ArrayList<>();
        run();
        for (int got = queue.poll(completions); got > 0; got = queue.poll(completions)) {
            for (int i = 0; i < got; i++) {
                told.add(describe(completions[i]));
            }
            run();
        }
        return told;
    }

    private static String describe(WorkCompletion completion) {
        if (!completion.isSuccess()) {
            return completion.wrId() + " " + completion.status() + " " + Integer.toHexString(completion.vendorCode());
        }
        boolean immediate = completion.opcode().isReceive() && completion.hasImmediate();
        return completion.wrId() + " " + completion.opcode() + " " + completion.byteLength()
                + (immediate ? " immediate " + completion.immediate() : "");
    }

    /** Drives the device and polls: statuses of everything that ended. */
    List<CompletionStatus> drain() {
        return ended().stream().map(Ended::status).toList();
    }

    long counter(String name) {
        Long value = device.counters().get(name);
        if (value == null) {
            throw new AssertionError("no counter " + name);
        }
        return value;
    }

    @Override
    public void close() {
        while (!owned.isEmpty()) {
            try {
                owned.pop().close();
            } catch (Exception e) {
                throw new AssertionError("closing the device", e);
            }
        }
        device.close();
        arena.close();
        nativeMemory.requireGuards();
    }
}
