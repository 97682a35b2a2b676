package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.NettyTransport;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.SoftRdmaContext;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Whoever waits for an event loop learns that it failed, also by an Error, and does not wait for ever. What must not be lost
 * waits until the loop has memory for it.
 */
class WaitingForTheLoopTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int TIMES = 3;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(1, 1);
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** A transport whose loop fails to listen and to connect, or to take tasks. */
    private record Failing(Transport transport, Runnable fault, Runnable taskFault) implements Transport {
        @Override
        public String name() {
            return "failing";
        }

        @Override
        public List<EventLoop> loops() {
            return List.of(new FailingLoop(transport.loops().getFirst(), fault, taskFault));
        }

        @Override
        public int openSockets() {
            return transport.openSockets();
        }

        @Override
        public void close() {
            transport.close();
        }
    }

    private record FailingLoop(EventLoop loop, Runnable fault, Runnable taskFault) implements EventLoop {
        @Override
        public void execute(Runnable task) {
            taskFault.run();
            loop.execute(task);
        }

        @Override
        public NanoClock clock() {
            return loop.clock();
        }

        @Override
        public boolean inLoop() {
            return loop.inLoop();
        }

        @Override
        public Cancellable schedule(Runnable task, long delay, TimeUnit unit) {
            return loop.schedule(task, delay, unit);
        }

        @Override
        public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
            fault.run();
            return loop.connect(remote, events);
        }

        @Override
        public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted)
                throws IOException {
            fault.run();
            return loop.listen(local, backlog, accepted);
        }

        @Override
        public StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
            return loop.adopt(pending, events);
        }

        @Override
        public int run(long timeoutNs) {
            return loop.run(timeoutNs);
        }
    }

    private static VerbsDevice device(String kind) {
        return device(
                () -> {
                    if (kind.equals("OutOfMemoryError")) {
                        throw new OutOfMemoryError("a test's");
                    }
                    throw new IllegalStateException("a test's");
                },
                () -> {});
    }

    private static VerbsDevice device(Runnable fault, Runnable taskFault) {
        Transport transport = NettyTransport.nio(1, false, new SocketOptions(0, 0, 0));
        return new SoftRdmaDevice(
                new SoftRdmaContext().conclude().deviceSettings(), new Failing(transport, fault, taskFault));
    }

    /** How often the loop has no memory for a task. */
    private final AtomicInteger withoutMemory = new AtomicInteger();

    private void fail() {
        if (withoutMemory.getAndDecrement() > 0) {
            throw new OutOfMemoryError("a test's");
        }
    }

    private void requireThatItWaits(Executable call) {
        withoutMemory.set(TIMES);
        assertTimeoutPreemptively(PATIENCE, call);
        assertTrue(withoutMemory.get() <= 0, "the loop was not asked");
    }

    @Test
    void shouldCloseAQueuePairOnceTheLoopHasMemory() {
        try (VerbsDevice device = device(() -> {}, this::fail);
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(8);
                Connector connector = device.resolve(new InetSocketAddress(ANY.getAddress(), 1), 0)) {
            QueuePair pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS));

            requireThatItWaits(pair::close);
            assertEquals(QueuePairState.CLOSED, pair.state());
        }
    }

    @Test
    void shouldRejectOnceTheLoopHasMemory() throws Exception {
        try (VerbsDevice device = device(() -> {}, this::fail);
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(8);
                Listener listener = device.listen(ANY, 1);
                Connector connector = device.resolve(listener.localAddress(), 0);
                QueuePair pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS))) {
            var connecting = CompletableFuture.runAsync(
                    () -> connector.connect(ConnectionParameters.DEFAULT, PATIENCE.toNanos()));
            ConnectionRequest request = listener.next(PATIENCE.toNanos()).orElseThrow();

            requireThatItWaits(request::close);
            ExecutionException failure = assertThrows(ExecutionException.class, connecting::get);
            assertInstanceOf(ConnectionRejectedException.class, failure.getCause());
            assertEquals(QueuePairState.ERROR, pair.state());
        }
    }

    @Test
    void shouldRejectWhatItHadNoMemoryToAccept() throws Exception {
        try (VerbsDevice device = device(() -> {}, this::fail);
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(8);
                Listener listener = device.listen(ANY, 1);
                Connector connector = device.resolve(listener.localAddress(), 0);
                QueuePair pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS))) {
            var connecting = CompletableFuture.runAsync(
                    () -> connector.connect(ConnectionParameters.DEFAULT, PATIENCE.toNanos()));
            ConnectionRequest request = listener.next(PATIENCE.toNanos()).orElseThrow();
            try (QueuePair made = request.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS))) {
                withoutMemory.set(1);
                assertThrows(OutOfMemoryError.class, () -> request.accept(ConnectionParameters.DEFAULT));
                request.close();
                assertEquals(QueuePairState.ERROR, made.state());
            }
            ExecutionException failure = assertThrows(ExecutionException.class, connecting::get);
            assertInstanceOf(ConnectionRejectedException.class, failure.getCause());
            assertEquals(QueuePairState.ERROR, pair.state());
        }
    }

    @Test
    void shouldDoWhatWasPostedOnceTheLoopHasMemory() throws Exception {
        try (Arena arena = Arena.ofShared();
                VerbsDevice device = device(() -> {}, this::fail);
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(8);
                MemoryRegion memory =
                        domain.register(arena.allocate(16), Set.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE));
                Listener listener = device.listen(ANY, 1);
                Connector connector = device.resolve(listener.localAddress(), 0);
                QueuePair pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS))) {
            var connecting = CompletableFuture.runAsync(
                    () -> connector.connect(ConnectionParameters.ofReads(1), PATIENCE.toNanos()));
            ConnectionRequest request = listener.next(PATIENCE.toNanos()).orElseThrow();
            try (QueuePair passive = request.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS))) {
                request.accept(ConnectionParameters.ofReads(1));
                connecting.get();
                assertEquals(QueuePairState.READY_TO_SEND, passive.state());
                RemoteRegion remote = memory.remote();

                requireThatItWaits(
                        () -> pair.postRead(7, memory, 0, 8, remote.address() + 8, remote.rkey(), SendFlags.SIGNALLED));
                WorkCompletion[] one = WorkCompletion.array(1);
                assertTimeoutPreemptively(PATIENCE, () -> {
                    while (queue.poll(one, 1) == 0) {
                        Thread.onSpinWait();
                    }
                });
                assertEquals(7, one[0].wrId());
                assertTrue(one[0].isSuccess());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"OutOfMemoryError", "IllegalStateException"})
    void shouldTellWhoListensWhenTheLoopFails(String kind) {
        try (VerbsDevice device = device(kind)) {
            VerbsException failure = assertTimeoutPreemptively(
                    PATIENCE, () -> assertThrows(VerbsException.class, () -> device.listen(ANY, 1)));
            assertEquals("a test's", failure.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"OutOfMemoryError", "IllegalStateException"})
    void shouldTellWhoConnectsAtOnceWhenTheLoopFails(String kind) {
        try (VerbsDevice device = device(kind);
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(8);
                Connector connector = device.resolve(new InetSocketAddress(ANY.getAddress(), 1), 0);
                QueuePair pair =
                        connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(1, 1)))) {
            VerbsException failure = assertTimeoutPreemptively(
                    PATIENCE,
                    () -> assertThrows(
                            VerbsException.class,
                            () -> connector.connect(ConnectionParameters.DEFAULT, TimeUnit.HOURS.toNanos(1))));
            assertEquals(
                    "cannot connect to 127.0.0.1:1: engine fault: java.lang." + kind + ": a test's",
                    failure.getMessage());
            assertEquals(QueuePairState.ERROR, pair.state());
            assertEquals(1L, device.counters().get("engineFaults"));
        }
    }
}
