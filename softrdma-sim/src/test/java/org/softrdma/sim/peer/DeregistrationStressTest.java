package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * Regions are closed under the READs and WRITEs of eight connections, and one more whose peer has stopped in the middle of a
 * large response. Memory is poisoned as soon as close has returned: no READ may show poison, and no WRITE may change it.
 *
 * <p>Live bytes have no high bit and poison has it. A closed region ends the connections that still use it; they connect
 * again.
 */
class DeregistrationStressTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 20_261_121L);
    private static final int THREADS = 8;
    private static final int SLOTS = 16;
    private static final int LARGEST = 1 << 20;
    private static final int[] LENGTHS = {512, 3000, 16_384, 200_000, LARGEST};
    private static final int ROUNDS_IN_GRAVE = 8;
    private static final int OUTSTANDING = 4;
    private static final int LEAST_ROUNDS = 40;
    private static final byte LIVE = 0x11;
    private static final byte WRITTEN = 0x22;
    private static final byte POISON = (byte) 0xDB;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    /** Registered memory that peers may use, until it is closed. */
    private record Plot(MemorySegment memory, MemoryRegion region) {}

    @ParameterizedTest
    @EveryTransport
    void shouldNeverTouchMemoryAfterClose(String transport) throws Exception {
        run(transport, TimeUnit.SECONDS.toNanos(Integer.getInteger("softrdma.test.stress.seconds", 1)));
    }

    @Tag("slow")
    @ParameterizedTest
    @EveryTransport
    void shouldNeverTouchMemoryAfterCloseForLong(String transport) throws Exception {
        run(transport, TimeUnit.SECONDS.toNanos(Boolean.getBoolean("softrdma.slow.short") ? 5 : 30));
    }

    private static void run(String transport, long durationNs) throws Exception {
        try (Field field = new Field(transport)) {
            field.run(durationNs);
        } catch (AssertionError | Exception e) {
            throw new AssertionError("seed " + SEED + " (-Dsoftrdma.test.seed): " + e.getMessage(), e);
        }
    }

    /** Everything of one run. */
    private static final class Field implements AutoCloseable {
        private final TestDevice server;
        private final TestDevice client;
        private final AtomicReferenceArray<Plot> plots = new AtomicReferenceArray<>(SLOTS);
        private final Deque<MemorySegment> graves = new ArrayDeque<>();
        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        private final AtomicLong operations = new AtomicLong();
        private final AtomicLong refused = new AtomicLong();
        private final ConcurrentLinkedQueue<QueuePair> accepted = new ConcurrentLinkedQueue<>();
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean stopping;
        private volatile boolean trafficOver;

        Field(String transport) {
            server = new TestDevice("transport", transport, "threads", "2");
            client = new TestDevice("transport", transport, "linger-timeout", "100");
            for (int i = 0; i < SLOTS; i++) {
                plots.set(i, plant(server.memory(LENGTHS[i % LENGTHS.length])));
            }
        }

        private Plot plant(MemorySegment memory) {
            memory.fill(LIVE);
            return new Plot(
                    memory,
                    server.domain()
                            .register(
                                    memory,
                                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)));
        }

        void run(long durationNs) throws Exception {
            Thread acceptor = start("acceptor", this::acceptAll);
            for (int i = 0; i < THREADS; i++) {
                Random random = new Random(SEED + i);
                boolean reader = i % 2 == 0;
                start(reader ? "reader" : "writer", () -> traffic(reader, random));
            }
            Random random = new Random(SEED - 1);
            long startNs = System.nanoTime();
            int rounds = 0;
            while (failure.get() == null
                    && (System.nanoTime() - startNs < durationNs || rounds < LEAST_ROUNDS || refused.get() == 0)) {
                assertTrue(
                        System.nanoTime() - startNs < durationNs + TestDevice.DEADLINE_NS * 3,
                        "no progress after round " + rounds + ", " + refused.get() + " connections refused");
                stopOneInAResponse(rounds);
                long seen = operations.get();
                TestDevice.await("traffic to go on", () -> operations.get() > seen + 2 || failure.get() != null);
                harvest(random.nextInt(SLOTS));
                rounds++;
            }
            stopping = true;
            for (Thread thread : threads.reversed()) {
                // The acceptor goes last, so that nobody connects in vain.
                trafficOver = thread == acceptor;
                thread.join(TimeUnit.NANOSECONDS.toMillis(TestDevice.DEADLINE_NS));
                assertTrue(!thread.isAlive(), () -> thread.getName() + " does not end");
            }
            graves.forEach(grave -> DeregistrationTest.requireAll(grave, POISON, "closed memory at the end"));
            Throwable first = failure.get();
            if (first != null) {
                throw new AssertionError(first.getMessage(), first);
            }
        }

        private Thread start(String name, Work work) {
            Thread thread = Thread.ofPlatform().name(name).start(() -> {
                try {
                    work.run();
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            });
            threads.add(thread);
            return thread;
        }

        /** Closes the region of a slot, poisons, and plants memory that has been poisoned for some rounds. */
        private void harvest(int slot) throws Exception {
            Plot old = plots.get(slot);
            DeregistrationTest.closeAndPoison(old.region(), old.memory());
            graves.addLast(old.memory());
            MemorySegment next = server.memory(old.memory().byteSize());
            if (graves.size() > ROUNDS_IN_GRAVE) {
                MemorySegment oldest = graves.removeFirst();
                DeregistrationTest.requireAll(oldest, POISON, "memory closed " + ROUNDS_IN_GRAVE + " rounds ago");
                next = oldest;
            }
            DeregistrationTest.requireAll(old.memory(), POISON, "memory just closed");
            plots.set(slot, plant(next));
        }

        /** A raw peer that asks for a large region and does not read: its region is closed at once. */
        private void stopOneInAResponse(int round) throws Exception {
            if (round % 16 != 0) {
                return;
            }
            MemorySegment memory = server.memory(16L << 20).fill(LIVE);
            try (RawPeer peer = RawPeer.connect(server.address(), 4096);
                    MemoryRegion region = server.domain().register(memory, Set.of(AccessFlag.REMOTE_READ))) {
                peer.sendBytes(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 1, 1)));
                peer.receiveMpa();
                peer.send(Frames.readRequest(1, 1, 0, memory.byteSize(), region.rkey(), region.address()));
                // Until a part has come; the rest cannot go, because nobody reads it.
                peer.receive(1000);
                DeregistrationTest.closeAndPoison(region, memory);
            }
            graves.addFirst(memory);
            DeregistrationTest.requireAll(graves.removeFirst(), POISON, "large memory just closed");
        }

        @SuppressWarnings("ModifiedButNotUsed") // removeIf is the use
        private void acceptAll() {
            List<QueuePair> live = new ArrayList<>();
            while (!trafficOver) {
                Optional<ConnectionRequest> request = server.listener().next(TimeUnit.MILLISECONDS.toNanos(5));
                if (request.isPresent()) {
                    QueuePair pair = request.get()
                            .createQueuePair(
                                    server.domain(), QueuePairAttributes.of(server.queue(), QueuePairLimits.of(1, 1)));
                    accepted.add(pair);
                    live.add(pair);
                    try {
                        request.get().accept(ConnectionParameters.DEFAULT);
                    } catch (VerbsException e) {
                        // The client may have gone.
                    }
                }
                live.removeIf(pair -> {
                    boolean over = pair.state() == QueuePairState.ERROR;
                    if (over) {
                        accepted.remove(pair);
                        pair.close();
                    }
                    return over;
                });
            }
        }

        private void traffic(boolean reader, Random random) {
            MemorySegment memory = client.memory(LARGEST).fill(WRITTEN);
            try (CompletionQueue queue = client.device().createCompletionQueue(64);
                    MemoryRegion local = client.domain().register(memory, Set.of(AccessFlag.READ_SINK))) {
                while (!stopping && failure.get() == null) {
                    Connector connector = client.device().resolve(server.address(), TestDevice.DEADLINE_NS);
                    try (QueuePair pair = connector.createQueuePair(
                            client.domain(), QueuePairAttributes.of(queue, QueuePairLimits.of(16, 1)))) {
                        connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS);
                        use(pair, queue, local, memory, reader, random);
                    } catch (VerbsException e) {
                        if (!stopping) {
                            throw e;
                        }
                    }
                }
            }
        }

        private void use(
                QueuePair pair,
                CompletionQueue queue,
                MemoryRegion local,
                MemorySegment memory,
                boolean reader,
                Random random) {
            WorkCompletion[] completions = WorkCompletion.array(OUTSTANDING);
            while (!stopping && failure.get() == null) {
                Plot plot = plots.get(random.nextInt(SLOTS));
                long length = plot.memory().byteSize();
                for (int i = 0; i < OUTSTANDING; i++) {
                    PostStatus status = reader
                            ? pair.postRead(
                                    i,
                                    local,
                                    0,
                                    length,
                                    plot.region().address(),
                                    plot.region().rkey(),
                                    SendFlags.SIGNALLED)
                            : pair.postWrite(
                                    i,
                                    local,
                                    0,
                                    length,
                                    plot.region().address(),
                                    plot.region().rkey(),
                                    SendFlags.SIGNALLED);
                    assertTrue(status == PostStatus.ACCEPTED, "queue full");
                }
                boolean[] good = {true};
                int[] have = {0};
                TestDevice.await("completions of " + Thread.currentThread().getName(), () -> {
                    int polled = queue.poll(completions, OUTSTANDING - have[0]);
                    for (int i = 0; i < polled; i++) {
                        good[0] &= completions[i].isSuccess();
                    }
                    have[0] += polled;
                    return have[0] == OUTSTANDING;
                });
                operations.addAndGet(OUTSTANDING);
                if (reader) {
                    requireNoPoison(memory);
                }
                if (!good[0]) {
                    refused.incrementAndGet();
                    return;
                }
            }
        }

        private static void requireNoPoison(MemorySegment memory) {
            for (long i = 0; i < memory.byteSize(); i += Long.BYTES) {
                long word = memory.get(ValueLayout.JAVA_LONG, i);
                if ((word & HIGH_BITS) != 0) {
                    throw new AssertionError(
                            "a READ shows memory after it was closed: 0x" + Long.toHexString(word) + " at offset " + i);
                }
            }
        }

        @Override
        public void close() {
            stopping = true;
            trafficOver = true;
            accepted.forEach(QueuePair::close);
            for (int i = 0; i < SLOTS; i++) {
                plots.get(i).region().close();
            }
            client.close();
            server.close();
        }
    }

    /** What a thread does. */
    @FunctionalInterface
    private interface Work {
        void run() throws Exception;
    }
}
