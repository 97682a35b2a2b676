package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A server's three queue pairs share RECVs; one ends in the middle. The server waits for events in a thread of its own,
 * by the fabric's one place for waits.
 */
class SharedQueueRacesTest {
    private static final int SEEDS = Integer.getInteger("softrdma.test.seeds", 100);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int PORT = 7471;
    private static final int PAIRS = 3;
    private static final int MESSAGES = 4;
    private static final int RECEIVES = 16;
    private static final int LIMIT = 9; // of 16 at least 8 are consumed

    @Test
    void shouldDeliverEachMessageOnceAndTellOfLimitAndEnd() {
        for (long seed = 0; seed < SEEDS; seed++) {
            long here = seed;
            Fabric fabric = new Fabric(seed, FabricSettings.adversary());
            FabricNode server = fabric.node("server");
            FabricNode client = fabric.node("client");
            try {
                fabric.run(client, () -> {
                    try (Run run = new Run(fabric, server, client)) {
                        run.play();
                    }
                });
            } catch (Throwable e) {
                throw new AssertionError("seed " + here, e);
            }
        }
    }

    private static final class Run implements AutoCloseable {
        private final Fabric fabric;
        private final FabricNode server;
        private final Deque<AutoCloseable> owned = new ArrayDeque<>();
        private final VerbsDevice serverDevice;
        private final VerbsDevice clientDevice;
        private final ProtectionDomain serverDomain;
        private final ProtectionDomain clientDomain;
        private final CompletionQueue serverQueue;
        private final CompletionQueue clientQueue;
        private final SharedReceiveQueue shared;
        private final MemoryRegion buffers;
        private final MemoryRegion source;
        private final List<QueuePair> receivers = new ArrayList<>();
        private final List<QueuePair> senders = new ArrayList<>();
        private final List<AsyncEvent> events = new ArrayList<>();

        Run(Fabric fabric, FabricNode server, FabricNode client) {
            this.fabric = fabric;
            this.server = server;
            serverDevice = own(server.open(Map.of()));
            clientDevice = own(client.open(Map.of()));
            serverDomain = own(serverDevice.allocateProtectionDomain());
            clientDomain = own(clientDevice.allocateProtectionDomain());
            serverQueue = own(serverDevice.createCompletionQueue(64));
            clientQueue = own(clientDevice.createCompletionQueue(64));
            shared = own(serverDomain.createSharedReceiveQueue(RECEIVES, 1));
            buffers = own(serverDomain.register(
                    own(serverDevice.allocateMemory(RECEIVES * Long.BYTES)).segment(),
                    Set.of(AccessFlag.RECEIVE_SINK)));
            source = own(clientDomain.register(
                    own(clientDevice.allocateMemory(PAIRS * MESSAGES * Long.BYTES))
                            .segment(),
                    Set.of(AccessFlag.LOCAL_WRITE)));
            Listener listener = own(serverDevice.listen(new InetSocketAddress(server.address(), PORT), PAIRS));
            for (int i = 0; i < PAIRS; i++) {
                connect(listener);
            }
            for (int i = 0; i < RECEIVES; i++) {
                assertEquals(PostStatus.ACCEPTED, shared.postReceive(i, buffers, (long) i * Long.BYTES, Long.BYTES));
            }
            shared.arm(LIMIT);
        }

        private void connect(Listener listener) {
            SimulatedThread accepting = server.start("accept", () -> {
                ConnectionRequest request = own(listener.next(PATIENCE_NS).orElseThrow());
                receivers.add(own(request.createQueuePair(
                        serverDomain,
                        QueuePairAttributes.of(serverQueue, QueuePairLimits.of(1, 1))
                                .withSharedReceives(shared))));
                request.accept(ConnectionParameters.ofReads(1));
            });
            Connector connector = own(clientDevice.resolve(new InetSocketAddress(server.address(), PORT), PATIENCE_NS));
            senders.add(own(connector.createQueuePair(
                    clientDomain, QueuePairAttributes.of(clientQueue, QueuePairLimits.of(16, 1)))));
            connector.connect(ConnectionParameters.ofReads(1), PATIENCE_NS);
            assertTrue(fabric.scheduler().until(accepting::isEnded, PATIENCE_NS));
        }

        private <T extends AutoCloseable> T own(T resource) {
            owned.push(resource);
            return resource;
        }

        void play() {
            SimulatedThread watching = server.start("events", this::watch);
            for (int message = 0; message < MESSAGES; message++) {
                for (int pair = 0; pair < PAIRS; pair++) {
                    long word = (long) pair * MESSAGES + message;
                    source.memory().set(ValueLayout.JAVA_LONG, word * Long.BYTES, word);
                    assertEquals(
                            PostStatus.ACCEPTED,
                            senders.get(pair)
                                    .postSend(word, source, word * Long.BYTES, Long.BYTES, SendFlags.SIGNALLED));
                }
            }
            senders.getLast().disconnect(); // what it has not sent is flushed
            Set<Long> received = receive();
            assertTrue(fabric.scheduler().until(watching::isEnded, PATIENCE_NS), "no events");
            for (long word = 0; word < (PAIRS - 1) * MESSAGES; word++) {
                assertTrue(received.contains(word), "message " + word + " of " + received);
            }
            check();
        }

        /** What arrives until nothing is missing of the connections that live. */
        private Set<Long> receive() {
            Set<Long> received = new TreeSet<>();
            Set<Long> consumed = new TreeSet<>();
            WorkCompletion[] one = WorkCompletion.array(1);
            long endNs = fabric.clock().nanoTime() + PATIENCE_NS;
            while (received.stream()
                            .filter(word -> word < (PAIRS - 1) * MESSAGES)
                            .count()
                    < (PAIRS - 1) * MESSAGES) {
                assertTrue(fabric.clock().nanoTime() < endNs, () -> "only " + received);
                if (serverQueue.poll(one) == 1) {
                    assertTrue(consumed.add(one[0].wrId()), () -> one[0] + " twice");
                    if (one[0].isSuccess()) {
                        long word = buffers.memory().get(ValueLayout.JAVA_LONG, one[0].wrId() * Long.BYTES);
                        assertTrue(received.add(word), () -> "message " + word + " twice");
                        assertEquals(receivers.get((int) word / MESSAGES).number(), one[0].qpNumber());
                    }
                }
            }
            return received;
        }

        /** Fewer than the limit are left, since at least 8 are consumed; and one queue pair has taken its last. */
        private void watch() {
            while (events.size() < 2) {
                events.add(serverDevice.awaitEvent(PATIENCE_NS).orElseThrow());
            }
        }

        private void check() {
            int limit = events.getFirst() instanceof SharedReceiveQueueEvent ? 0 : 1;
            SharedReceiveQueueEvent reached = assertInstanceOf(SharedReceiveQueueEvent.class, events.get(limit));
            assertEquals(SharedReceiveQueueEvent.Kind.LIMIT_REACHED, reached.kind());
            QueuePairEvent last = assertInstanceOf(QueuePairEvent.class, events.get(1 - limit));
            assertEquals(new QueuePairEvent(receivers.getLast(), QueuePairEvent.Kind.LAST_REQUEST_REACHED), last);
            assertEquals(java.util.Optional.empty(), serverDevice.awaitEvent(0));
        }

        @Override
        public void close() {
            while (!owned.isEmpty()) {
                AutoCloseable resource = owned.pop();
                try {
                    resource.close();
                } catch (RuntimeException e) {
                    throw e;
                } catch (Exception e) {
                    throw new AssertionError("closing " + resource, e);
                }
            }
        }
    }
}
