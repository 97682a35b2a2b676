package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/** Atomics of several connections on one word, on engines of their own, beside a thread that changes it too. */
class AtomicsStressTest {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int PAIRS = 4;
    private static final int EACH = 100_000 / Integer.getInteger("softrdma.sample", 1);
    private static final int IN_FLIGHT = 16;
    private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(2);

    /** Which of the numbers from 0 on were found, each once at most. */
    private static final class Found {
        private final BitSet numbers = new BitSet();

        void add(long number) {
            assertTrue(number >= 0 && number < (PAIRS + 1L) * EACH, () -> number + " was never in the word");
            assertTrue(!numbers.get((int) number), () -> number + " was found twice");
            numbers.set((int) number);
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

    @Tag("sampled")
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
                pairs[i] = Link.between(client, server, IN_FLIGHT).client();
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
            assertEquals((long) PAIRS * EACH, server.counter("responderAtomics"));
        }
    }
}
