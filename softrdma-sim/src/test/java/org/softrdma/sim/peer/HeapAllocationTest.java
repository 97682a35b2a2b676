package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * Requests allocate nothing on the heap, on either side, but for the bind of a window. Devices that post are driven by the test itself: a doorbell costs an
 * engine thread's queue a few bytes, whatever is posted.
 */
class HeapAllocationTest {
    private static final int IN_FLIGHT = 16;
    private static final int WARM_UP = 20_000;
    private static final int ROUNDS = 100;
    private static final int MEASURED = 10_000;
    private static final int BYTES = 64;
    /** The object by which work that has begun with a window learns that it was taken back. */
    private static final long BINDING_BYTES = 32;

    /** Sets of several classes, so that the compiler cannot do away with what any of them would allocate. */
    private static final List<Set<AccessFlag>> WRITE = List.of(
            Set.of(AccessFlag.REMOTE_WRITE),
            EnumSet.of(AccessFlag.REMOTE_WRITE),
            new HashSet<>(Set.of(AccessFlag.REMOTE_WRITE)),
            Collections.unmodifiableSet(EnumSet.of(AccessFlag.REMOTE_WRITE)));

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final WorkCompletion[] one = WorkCompletion.array(1);

    @Test
    void shouldAllocateNothingForAnAtomicOrAnImmediateOnEitherSide() throws Exception {
        try (TestDevice server = new TestDevice("transport", "epoll");
                TestDevice client = new TestDevice("transport", "epoll", "progress", "manual")) {
            MemoryRegion word = server.guarded(
                            Long.BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC, AccessFlag.REMOTE_WRITE)
                    .region();
            Link link = Link.between(client, server, IN_FLIGHT);
            QueuePair pair = link.client();
            MemoryRegion local =
                    client.guarded(Long.BYTES, AccessFlag.READ_SINK).region();
            MemoryRegion inbox =
                    server.guarded(Long.BYTES, AccessFlag.RECEIVE_SINK).region();
            requireAllocation(0, 3, () -> {
                pair.postFetchAndAdd(1, local, 0, word.address(), word.rkey(), 1, SendFlags.SIGNALLED);
                awaitOne(client, one);
                pair.postCompareAndSwap(2, local, 0, word.address(), word.rkey(), 0, 1, SendFlags.SIGNALLED);
                awaitOne(client, one);
                link.server().postReceive(3, inbox, 0, Long.BYTES);
                pair.postWriteImmediate(4, local, 0, Long.BYTES, word.address(), word.rkey(), 5, SendFlags.SIGNALLED);
                awaitOne(client, one);
                awaitOne(server, one);
            });
        }
    }

    @Test
    void shouldAllocateABindingForEachBindOfAWindowAndNothingForTheOtherRequests() throws Exception {
        try (TestDevice client = new TestDevice("transport", "epoll", "progress", "manual")) {
            MemoryRegion local = client.guarded(Long.BYTES).region();
            WindowServer server = new WindowServer();
            Thread thread = Thread.ofPlatform().start(server);
            try (Connector connector = client.device()
                    .resolve(
                            server.address.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS), TestDevice.DEADLINE_NS)) {
                QueuePair pair = client.own(connector.createQueuePair(
                        client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.of(4, 1))));
                connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS);
                requireAllocation(2 * BINDING_BYTES, 5, () -> {
                    long startNs = System.nanoTime();
                    while (server.key == 0) {
                        requireTime(startNs);
                        Thread.onSpinWait();
                    }
                    int key = server.key;
                    server.key = 0;
                    pair.postSendInvalidate(3, local, 0, Long.BYTES, key, SendFlags.SIGNALLED);
                    awaitOne(client, one);
                });
            } finally {
                server.stop = true;
                thread.join();
            }
            assertEquals("", server.failure);
        }
    }

    /** Binds a window, tells its key, and lets a SEND invalidate it; then it binds the window again, and invalidates it itself. */
    private static final class WindowServer implements Runnable {
        private final CompletableFuture<InetSocketAddress> address = new CompletableFuture<>();
        private final WorkCompletion[] one = WorkCompletion.array(1);
        private volatile int key;
        private volatile boolean stop;
        private volatile String failure = "";

        @Override
        public void run() {
            try (TestDevice device = new TestDevice("transport", "epoll", "progress", "manual")) {
                address.complete(device.address());
                SharedReceiveQueue shared = device.own(device.domain().createSharedReceiveQueue(4, 1));
                ConnectionRequest request = device.request();
                QueuePair pair = device.own(request.createQueuePair(
                        device.domain(),
                        QueuePairAttributes.of(device.queue(), QueuePairLimits.of(4, 1))
                                .withSharedReceives(shared)));
                request.accept(ConnectionParameters.DEFAULT);
                serve(device, pair, shared);
            } catch (RuntimeException | AssertionError e) {
                failure = e.toString();
                address.completeExceptionally(e);
            }
        }

        private void serve(TestDevice device, QueuePair pair, SharedReceiveQueue shared) {
            MemoryRegion memory = device.guarded(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS)
                    .region();
            MemoryRegion inbox =
                    device.guarded(Long.BYTES, AccessFlag.RECEIVE_SINK).region();
            MemoryWindow window = device.own(device.domain().allocateWindow());
            for (int i = 0; !stop; i++) {
                Set<AccessFlag> write = WRITE.get(i % WRITE.size());
                pair.postBindWindow(1, window, memory, 0, BYTES, write, SendFlags.SIGNALLED);
                awaitOne(device, one);
                shared.postReceive(2, inbox, 0, Long.BYTES);
                key = window.rkey();
                while (!stop && device.queue().poll(one, 1) == 0) {
                    Thread.onSpinWait();
                }
                if (!stop) {
                    pair.postBindWindow(4, window, memory, 0, BYTES, write, SendFlags.SIGNALLED);
                    awaitOne(device, one);
                    pair.postInvalidate(5, window.rkey(), SendFlags.SIGNALLED);
                    awaitOne(device, one);
                }
            }
        }
    }

    /**
     * In one round at least, an exchange allocates no more than so many bytes, and less than a byte for each of its requests:
     * others of this JVM may allocate too, and the compiler has to be through.
     */
    private void requireAllocation(long bytes, int requests, Runnable exchange) {
        for (int i = 0; i < WARM_UP; i++) {
            exchange.run();
        }
        long most = (bytes + requests) * MEASURED;
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS && least >= most; round++) {
            long before = threads.getTotalThreadAllocatedBytes();
            for (int i = 0; i < MEASURED; i++) {
                exchange.run();
            }
            least = Math.min(least, threads.getTotalThreadAllocatedBytes() - before);
        }
        assertTrue(least < most, least + " bytes for " + MEASURED + " exchanges of " + requests + " requests");
    }

    private static void awaitOne(TestDevice device, WorkCompletion[] one) {
        long startNs = System.nanoTime();
        while (device.queue().poll(one, 1) == 0) {
            requireTime(startNs);
            Thread.onSpinWait();
        }
        if (!one[0].isSuccess()) { // no lambda for a message: it may be an allocation
            throw new AssertionError(one[0].toString());
        }
    }

    private static void requireTime(long startNs) {
        if (System.nanoTime() - startNs > TestDevice.DEADLINE_NS) {
            throw new AssertionError("no completion");
        }
    }
}
