package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.CompletionReader;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.cm.ConnectionParameters;

/** Atomics that race each other, READs, WRITEs and threads of the responder: no change is lost, no value half seen. */
@ExtendWith(TwoNodesExtension.class)
public final class AtomicRaceCases {
    private static final int WORD = Long.BYTES;
    private static final int PAIRS = 4;
    private static final int IN_FLIGHT = 16;
    /** Additions of a thread without a pause, so that they meet those of queue pairs. */
    private static final int AT_ONCE = 256;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private static final AccessFlag[] EVERY_RIGHT = {
        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE
    };

    /** Made by JUnit. */
    public AtomicRaceCases() {}

    private static long word(MemoryRegion region, long index) {
        return region.memory().getAtIndex(ValueLayout.JAVA_LONG, index);
    }

    /** Connections whose requesters keep fetch-and-adds of 1 in flight on one word. The thread of the case drives it. */
    private static final class Adders {
        private final CompletionReader sends;
        private final MemoryRegion target;
        private final MemoryRegion results;
        private final List<LoopbackPair> pairs = new ArrayList<>();
        private final BitSet fetched = new BitSet();

        Adders(TwoNodes nodes, MemoryRegion target) {
            this.target = target;
            sends = nodes.requester().completions(PAIRS * IN_FLIGHT + 2);
            results = nodes.requester().region((long) PAIRS * IN_FLIGHT * WORD, AccessFlag.READ_SINK);
            for (int i = 0; i < PAIRS; i++) {
                pairs.add(nodes.connect(new ConnectionSpec().requesterSends(sends)));
            }
        }

        /** Adds so often by each pair. */
        void add(int times) {
            int[] posted = new int[PAIRS];
            for (int slot = 0; slot < PAIRS * IN_FLIGHT; slot++) {
                post(slot, posted, times);
            }
            for (long taken = 0; taken < (long) PAIRS * times; taken++) {
                Completion completion = sends.next("a fetch-and-add");
                assertEquals(CompletionStatus.SUCCESS, completion.status(), completion::toString);
                int slot = (int) completion.wrId();
                long old = word(results, slot);
                assertFalse(fetched.get(Math.toIntExact(old)), old + " was fetched twice");
                fetched.set((int) old);
                post(slot, posted, times);
            }
        }

        private void post(int slot, int[] posted, int times) {
            int pair = slot % PAIRS;
            if (posted[pair]++ < times) {
                pairs.get(pair)
                        .requester()
                        .fetchAndAdd(slot, results, (long) slot * WORD, target.address(), target.rkey(), 1);
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 133,
            title = "four queue pairs add to one word: the sum is exact, and no old value is fetched twice",
            source = "IBTA 9.4.5 (atomics); RFC 7306 section 5.1; ibv_query_device(3) IBV_ATOMIC_HCA")
    void shouldLoseNoAdditionWhenQueuePairsRace(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        int times = nodes.times(100_000);
        MemoryRegion target = nodes.responder().region(WORD, EVERY_RIGHT);
        Adders adders = new Adders(nodes, target);
        adders.add(times);
        assertEquals((long) PAIRS * times, word(target, 0), "sum");
        assertEquals(PAIRS * times, adders.fetched.cardinality(), "old values");
        assertEquals(PAIRS * times, adders.fetched.length(), "one more than the largest old value");
    }

    @Test
    @ConformanceCase(
            number = 354,
            title = "queue pairs and a thread of the responder add to one word: nothing is lost",
            source = "Feature.GLOBAL_ATOMICS; ibv_query_device(3) IBV_ATOMIC_GLOB")
    void shouldLoseNoAdditionWhenAThreadAddsToo(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        nodes.require(Feature.GLOBAL_ATOMICS);
        int times = nodes.times(20_000);
        MemoryRegion target = nodes.responder().region(WORD, EVERY_RIGHT);
        assertEquals(WORD, target.coherentUnit(), "the unit of a region with REMOTE_ATOMIC");
        Adders adders = new Adders(nodes, target);
        AtomicBoolean stop = new AtomicBoolean();
        BitSet seenByThread = new BitSet();
        Task<Integer> thread = nodes.start("adder", () -> {
            int added = 0;
            while (!stop.get()) {
                for (int i = 0; i < AT_ONCE; i++) {
                    seenByThread.set(Math.toIntExact((long) LONG.getAndAdd(target.memory(), 0L, 1L)));
                }
                added += AT_ONCE;
                nodes.spin(200);
            }
            return added;
        });
        try {
            nodes.await("the thread to begin", () -> (long) LONG.getOpaque(target.memory(), 0L) > 0);
            adders.add(times);
        } finally {
            stop.set(true);
        }
        int added = thread.get();
        assertEquals((long) PAIRS * times + added, word(target, 0), "sum");
        assertFalse(adders.fetched.intersects(seenByThread), "one old value was fetched by both");
        assertEquals(PAIRS * times + added, adders.fetched.cardinality() + seenByThread.cardinality(), "old values");
    }

    /** A value whose halves belong together. */
    private static long marked(long number) {
        return number << Integer.SIZE | (~number & 0xFFFF_FFFFL);
    }

    private static long numberOf(long marked, String what) {
        long number = marked >>> Integer.SIZE;
        assertEquals(marked(number), marked, what + " never was in the word");
        return number;
    }

    @Test
    @ConformanceCase(
            number = 355,
            title = "READs of a word that compare-and-swaps change see values that were there, and never an older one",
            source = "Feature.GLOBAL_ATOMICS; MemoryRegion.coherentUnit")
    void shouldReadWholeValuesWhenTheyAreSwapped(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        nodes.require(Feature.GLOBAL_ATOMICS);
        MemoryRegion target = nodes.responder().region(WORD, EVERY_RIGHT);
        MemoryRegion result = nodes.requester().region(2L * WORD, AccessFlag.READ_SINK);
        target.memory().set(ValueLayout.JAVA_LONG, 0, marked(0));
        Endpoint swapper = nodes.connect().requester();
        Endpoint reader = nodes.connect().requester();
        long newest = 0;
        for (long i = 0; i < nodes.times(5000); i++) {
            swapper.compareAndSwap(i, result, 0, target.address(), target.rkey(), marked(i), marked(i + 1));
            reader.read(i, result, WORD, WORD, target.address(), target.rkey());
            reader.sends().expect(i, CompletionOpcode.READ, WORD);
            long read = numberOf(word(result, 1), "what READ " + i + " found");
            assertTrue(read >= newest && read <= i + 1, "READ " + i + " found " + read + " after " + newest);
            newest = read;
            swapper.sends().expect(i, CompletionOpcode.COMPARE_AND_SWAP, WORD);
            assertEquals(i, numberOf(word(result, 0), "the old value of swap " + i), "old value of swap " + i);
        }
    }

    @Test
    @ConformanceCase(
            number = 356,
            title = "a WRITE of a word that others add to is never undone by an addition, nor half overwritten",
            source = "Feature.GLOBAL_ATOMICS; RFC 7306 section 5.1 (atomicity)")
    void shouldKeepTheWriteWhenOthersAdd(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        nodes.require(Feature.GLOBAL_ATOMICS);
        int burst = 8;
        MemoryRegion target = nodes.responder().region(WORD, EVERY_RIGHT);
        MemoryRegion source = nodes.requester().region(WORD);
        MemoryRegion results = nodes.requester().region((burst + 1L) * WORD, AccessFlag.READ_SINK);
        LoopbackPair writing = nodes.connect();
        Endpoint adder = nodes.connect().requester();
        long last = 0;
        for (long era = 1; era <= nodes.times(2000); era++) {
            source.memory().set(ValueLayout.JAVA_LONG, 0, era << Integer.SIZE);
            int before = nodes.random().nextInt(burst);
            for (int i = 0; i < burst; i++) {
                if (i == before) {
                    writing.requester().write(era, source, target);
                }
                adder.fetchAndAdd(i, results, (long) i * WORD, target.address(), target.rkey(), 1);
            }
            writing.requester().sends().expect(era, CompletionOpcode.WRITE, WORD);
            writing.barrier();
            for (int i = 0; i < burst; i++) {
                adder.sends().expect(i, CompletionOpcode.FETCH_AND_ADD, WORD);
                last = requireNext(last, word(results, i), era);
            }
            adder.fetchAndAdd(burst, results, (long) burst * WORD, target.address(), target.rkey(), 1);
            adder.sends().expect(burst, CompletionOpcode.FETCH_AND_ADD, WORD);
            last = requireNext(last, word(results, burst), era);
            assertEquals(era, last >>> Integer.SIZE, "the WRITE that is placed, found by an addition posted later");
        }
    }

    /**
     * The value that the next addition finds: the one before plus 1, or that of the WRITE of this round.
     *
     * @param last the value that the last addition left
     */
    private static long requireNext(long last, long old, long era) {
        boolean written = old == era << Integer.SIZE && last >>> Integer.SIZE == era - 1;
        assertTrue(
                old == last || written,
                "an addition in round " + era + " found 0x" + Long.toHexString(old) + " where 0x"
                        + Long.toHexString(last) + " or the WRITE was");
        return old + 1;
    }

    @Test
    @ConformanceCase(
            number = 357,
            title = "atomics and READs share the depth of the connection: with one in flight all succeed, in order",
            source = "RFC 7306 section 5.1 (IRD and ORD); ibv_modify_qp(3) max_rd_atomic")
    void shouldStayInOrderWhenOnlyOneMayBeInFlight(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        int count = 64;
        ConnectionParameters one = ConnectionParameters.ofReads(1);
        Endpoint requester =
                nodes.connect(new ConnectionSpec().parameters(one, one)).requester();
        MemoryRegion target = nodes.responder().region(WORD, EVERY_RIGHT);
        MemoryRegion results = nodes.requester().region((long) count * WORD, AccessFlag.READ_SINK);
        for (int round = 0; round < nodes.times(10); round++) {
            target.memory().set(ValueLayout.JAVA_LONG, 0, 0);
            for (int i = 0; i < count; i++) {
                if (i % 2 == 0) {
                    requester.fetchAndAdd(i, results, (long) i * WORD, target.address(), target.rkey(), 1);
                } else {
                    requester.read(i, results, (long) i * WORD, WORD, target.address(), target.rkey());
                }
            }
            for (int i = 0; i < count; i++) {
                boolean atomic = i % 2 == 0;
                requester.sends().expect(i, atomic ? CompletionOpcode.FETCH_AND_ADD : CompletionOpcode.READ, WORD);
                assertEquals((i + 1) / 2, word(results, i), "what request " + i + " found");
            }
        }
    }
}
