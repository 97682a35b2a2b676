package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** Atomics of several connections on one word, on engines of their own, beside a thread that changes it too. */
class AtomicsStressTest {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int PAIRS = 4;
    private static final int EACH = 100_000;
    private static final int IN_FLIGHT = 16;
    private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(2);
    private static final int WARM_UP = 20_000;
    private static final int ROUNDS = 100;
    private static final int MEASURED = 10_000;

    /** Which of the numbers from 0 on were found, each once at most. */
    private static final class Found {
        private final BitSet numbers = new BitSet();

        void add(long number) {
            assertTrue(number >= 0 && number < (PAIRS + 1L) * EACH, () -> number + " was never in the word");
            assertTrue(!numbers.get((int) number), () -> number + " was found twice");
            numbers.set((int) number);
        }
    }

    /**
     * Two ends of a connection.
     *
     * @param client posts the atomics
     * @param server posts RECVs
     */
    private record Link(QueuePair client, QueuePair server) {
        static Link between(TestDevice client, TestDevice server) throws Exception {
            CompletableFuture<QueuePair> accepting = CompletableFuture.supplyAsync(() -> {
                ConnectionRequest request = server.request();
                QueuePair pair = server.queuePair(request, QueuePairLimits.of(4, 4));
                request.accept(ConnectionParameters.ofReads(IN_FLIGHT));
                return pair;
            });
            try (Connector connector = client.device().resolve(server.address(), TestDevice.DEADLINE_NS)) {
                QueuePair pair = client.own(connector.createQueuePair(
                        client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.of(IN_FLIGHT, 4))));
                connector.connect(ConnectionParameters.ofReads(IN_FLIGHT), TestDevice.DEADLINE_NS);
                return new Link(pair, accepting.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS));
            }
        }
    }

    /** Posts fetch-and-adds, and collects what they find. */
    private static final class Adder {
        private final QueuePair[] pairs;
        private final MemoryRegion sink;
        private final MemoryRegion word;
        private final int[] posted = new int[PAIRS];
        private final WorkCompletion[] completions = WorkCompletion.array(PAIRS * IN_FLIGHT);

        Adder(QueuePair[] pairs, MemoryRegion sink, MemoryRegion word) {
            this.pairs = pairs;
            this.sink = sink;
            this.word = word;
        }

        void post(int slot) {
            int pair = slot / IN_FLIGHT;
            if (posted[pair]++ < EACH) {
                assertEquals(
                        PostStatus.ACCEPTED,
                        pairs[pair].postFetchAndAdd(
                                slot,
                                sink,
                                (long) slot * Long.BYTES,
                                word.address(),
                                word.rkey(),
                                1,
                                SendFlags.SIGNALLED));
            }
        }

        /** Takes what is complete; returns how much. */
        int take(TestDevice client, Found found) {
            int count = client.queue().poll(completions);
            for (int i = 0; i < count; i++) {
                assertTrue(completions[i].isSuccess(), completions[i]::toString);
                assertEquals(CompletionOpcode.FETCH_AND_ADD, completions[i].opcode());
                int slot = (int) completions[i].wrId();
                found.add(sink.memory().getAtIndex(ValueLayout.JAVA_LONG, slot));
                post(slot);
            }
            return count;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void shouldLoseNoAdditionOfAnyConnectionNorOfAThread(String transport) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport, "threads", "2");
                TestDevice client = new TestDevice("transport", transport)) {
            MemoryRegion word = server.guarded(Long.BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC)
                    .region();
            MemorySegment memory = word.memory();
            WORD.setVolatile(memory, 0L, 0L);
            QueuePair[] pairs = new QueuePair[PAIRS];
            for (int i = 0; i < PAIRS; i++) {
                pairs[i] = Link.between(client, server).client();
            }
            MemoryRegion sink = client.guarded(PAIRS * IN_FLIGHT * Long.BYTES, AccessFlag.READ_SINK)
                    .region();
            BitSet own = new BitSet();
            Thread thread = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < EACH; i++) {
                    own.set((int) (long) WORD.getAndAdd(memory, 0L, 1L));
                }
            });
            Found found = new Found();
            Adder adder = new Adder(pairs, sink, word);
            for (int slot = 0; slot < PAIRS * IN_FLIGHT; slot++) {
                adder.post(slot);
            }
            long startNs = System.nanoTime();
            for (int taken = 0; taken < PAIRS * EACH; ) {
                int now = adder.take(client, found);
                taken += now;
                int sofar = taken;
                assertTrue(
                        now > 0 || System.nanoTime() - startNs < PATIENCE_NS, () -> "only " + sofar + " are complete");
            }
            thread.join();
            assertEquals((PAIRS + 1L) * EACH, (long) WORD.getVolatile(memory, 0L), "the sum");
            assertEquals(EACH, own.cardinality());
            assertTrue(!own.intersects(found.numbers), "a number was found by two");
            assertEquals(PAIRS * EACH, found.numbers.cardinality());
            assertEquals(PAIRS * EACH, server.counter("responderAtomics"));
        }
    }

    /** The client drives its device itself: a doorbell costs an engine thread's queue a few bytes, whatever is posted. */
    @Test
    void shouldAllocateNothingForAnAtomicOrAnImmediateOnEitherSide() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (TestDevice server = new TestDevice("transport", "epoll");
                TestDevice client = new TestDevice("transport", "epoll", "progress", "manual")) {
            MemoryRegion word = server.guarded(
                            Long.BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC, AccessFlag.REMOTE_WRITE)
                    .region();
            Link link = Link.between(client, server);
            MemoryRegion local =
                    client.guarded(Long.BYTES, AccessFlag.READ_SINK).region();
            MemoryRegion inbox =
                    server.guarded(Long.BYTES, AccessFlag.RECEIVE_SINK).region();
            WorkCompletion[] one = WorkCompletion.array(1);
            for (int i = 0; i < WARM_UP; i++) {
                exchange(link, local, word, inbox, client, server, one);
            }
            long bytes = Long.MAX_VALUE;
            // until the compiler is through with it
            for (int round = 0; round < ROUNDS && bytes / 3.0 / MEASURED >= 1; round++) {
                long before =
                        threads.getTotalThreadAllocatedBytes(); // of all threads: others of this JVM may allocate too
                for (int i = 0; i < MEASURED; i++) {
                    exchange(link, local, word, inbox, client, server, one);
                }
                bytes = Math.min(bytes, threads.getTotalThreadAllocatedBytes() - before);
            }
            assertTrue(bytes / 3.0 / MEASURED < 1, bytes + " bytes for " + 3 * MEASURED + " requests");
        }
    }

    /** A fetch-and-add, a compare-and-swap and a WRITE with immediate, one after the other. */
    private static void exchange(
            Link link,
            MemoryRegion local,
            MemoryRegion word,
            MemoryRegion inbox,
            TestDevice client,
            TestDevice server,
            WorkCompletion[] one) {
        QueuePair pair = link.client();
        pair.postFetchAndAdd(1, local, 0, word.address(), word.rkey(), 1, SendFlags.SIGNALLED);
        awaitOne(client, one);
        pair.postCompareAndSwap(2, local, 0, word.address(), word.rkey(), 0, 1, SendFlags.SIGNALLED);
        awaitOne(client, one);
        link.server().postReceive(3, inbox, 0, Long.BYTES);
        pair.postWriteImmediate(4, local, 0, Long.BYTES, word.address(), word.rkey(), 5, SendFlags.SIGNALLED);
        awaitOne(client, one);
        awaitOne(server, one);
    }

    private static void awaitOne(TestDevice device, WorkCompletion[] one) {
        long startNs = System.nanoTime();
        while (device.queue().poll(one, 1) == 0) {
            if (System.nanoTime() - startNs > TestDevice.DEADLINE_NS) {
                throw new AssertionError("no completion");
            }
            Thread.onSpinWait();
        }
        if (!one[0].isSuccess()) { // no lambda for a message: it may be an allocation
            throw new AssertionError(one[0].toString());
        }
    }
}
