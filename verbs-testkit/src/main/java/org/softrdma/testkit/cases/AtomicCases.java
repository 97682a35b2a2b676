package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** Compare-and-swap and fetch-and-add: what they do to a word, what is refused, and what a refusal leaves alone. */
@ExtendWith(TwoNodesExtension.class)
public final class AtomicCases {
    private static final int WORD = Long.BYTES;
    private static final int WORDS = 4;
    private static final int BYTES = WORDS * WORD;
    private static final int BAD_KEY = 0xDEADBEEF;
    private static final long START = 0x0123_4567_89AB_CDEFL;

    private static final AccessFlag[] ATOMIC = {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC};

    /** Made by JUnit. */
    public AtomicCases() {}

    private static long word(MemoryRegion region, int index) {
        return region.memory().getAtIndex(ValueLayout.JAVA_LONG, index);
    }

    private static void setWord(MemoryRegion region, int index, long value) {
        region.memory().setAtIndex(ValueLayout.JAVA_LONG, index, value);
    }

    /** A region of words whose second one holds {@link #START}, the others POISON. */
    private static MemoryRegion target(TwoNodes nodes, AccessFlag... access) {
        MemoryRegion target = nodes.responder().region(BYTES, access);
        target.memory().fill(BytePattern.POISON);
        setWord(target, 1, START);
        return target;
    }

    private static void requireUnchanged(MemoryRegion target, String what) {
        assertEquals(START, word(target, 1), "the word: " + what);
        requireOthersUnchanged(target, what);
    }

    private static void requireOthersUnchanged(MemoryRegion target, String what) {
        BytePattern.requireAll(target.memory().asSlice(0, WORD), BytePattern.POISON, "before the word: " + what);
        BytePattern.requireAll(target.memory().asSlice(2 * WORD), BytePattern.POISON, "behind the word: " + what);
    }

    @Test
    @ConformanceCase(
            number = 8,
            title = "REMOTE_ATOMIC without LOCAL_WRITE is refused and nothing is registered",
            source = "rdma-unit-test MrTest.InvalidPermissions; ibv_reg_mr(3)")
    void shouldRefuseRegistrationWhenRemoteAtomicLacksLocalWrite(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        ProtectionDomain domain = nodes.responder().otherDomain();
        MemorySegment memory = nodes.responder().memory(BYTES);
        for (Set<AccessFlag> access :
                List.of(Set.of(AccessFlag.REMOTE_ATOMIC), Set.of(AccessFlag.REMOTE_ATOMIC, AccessFlag.REMOTE_READ))) {
            assertThrows(IllegalArgumentException.class, () -> domain.register(memory, access));
        }
        domain.close(); // Would be refused if a region had been registered.
        MemoryRegion region = nodes.responder().region(BYTES, ATOMIC);
        assertTrue(region.access().contains(AccessFlag.REMOTE_ATOMIC), "access: " + region.access());
    }

    @Test
    @ConformanceCase(
            number = 130,
            title = "fetch-and-add and compare-and-swap do their arithmetic and fetch the old value in host order",
            source = "rdma-unit-test RcQpTest.FetchAddSmall, FetchAddLarge, CompareSwapSuccess; RFC 7306 section 5.1")
    void shouldChangeTheWordAndFetchTheOldValue(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        MemoryRegion target = target(nodes, ATOMIC);
        MemoryRegion result = nodes.requester().region(3L * WORD, AccessFlag.READ_SINK);
        Endpoint requester = nodes.connect().requester();
        long address = target.address() + WORD;
        long before = START;
        long[] deltas = {1, 0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0x0102_0304_0506_0708L, -before};
        for (int i = 0; i < deltas.length; i++) {
            result.memory().fill(BytePattern.POISON);
            requester.fetchAndAdd(i, result, WORD, address, target.rkey(), deltas[i]);
            requester.sends().expect(i, CompletionOpcode.FETCH_AND_ADD, WORD);
            requireFetched(result, before, "fetch-and-add of " + deltas[i]);
            before += deltas[i];
            assertEquals(before, word(target, 1), "fetch-and-add of " + deltas[i]);
        }
        long[][] swaps = {{before, START}, {before + 1, -1}, {START + (1L << 32), -1}, {START, 0}, {0, -1}, {-1, -1}};
        for (int i = 0; i < swaps.length; i++) {
            long old = word(target, 1);
            result.memory().fill(BytePattern.POISON);
            requester.compareAndSwap(i, result, WORD, address, target.rkey(), swaps[i][0], swaps[i][1]);
            requester.sends().expect(i, CompletionOpcode.COMPARE_AND_SWAP, WORD);
            requireFetched(result, old, "compare-and-swap " + i);
            assertEquals(old == swaps[i][0] ? swaps[i][1] : old, word(target, 1), "compare-and-swap " + i);
        }
        assertEquals(-1, word(target, 1), "after the last compare-and-swap");
        requireOthersUnchanged(target, "atomics on it");
    }

    private static void requireFetched(MemoryRegion result, long expected, String what) {
        assertEquals(expected, word(result, 1), what + ": old value");
        BytePattern.requireAll(result.memory().asSlice(0, WORD), BytePattern.POISON, "before the result of a " + what);
        BytePattern.requireAll(result.memory().asSlice(2 * WORD), BytePattern.POISON, "behind the result of a " + what);
    }

    @Test
    @ConformanceCase(
            number = 131,
            title = "an atomic of other than 8 bytes is refused when posted, one on a misaligned word by the peer",
            source = "rdma-unit-test RcQpTest.FetchAddSplitSgl, FetchAddUnaligned; RFC 7306 section 8.2; QueuePair")
    void shouldRefuseAtomicsOfAWrongShape(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        MemoryRegion target = target(nodes, ATOMIC);
        MemoryRegion result = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        for (int length : new int[] {0, 4, 7, 9, 16}) {
            SendWorkRequest request = new SendWorkRequest()
                    .fetchAndAdd(1, target.address() + WORD, target.rkey(), 1, SendFlags.SIGNALLED)
                    .add(result, 0, length);
            assertThrows(
                    IllegalArgumentException.class,
                    () -> pair.requester().queuePair().post(request),
                    length + " bytes");
        }
        SendWorkRequest two = new SendWorkRequest()
                .compareAndSwap(1, target.address() + WORD, target.rkey(), START, 0, SendFlags.SIGNALLED)
                .add(result, 0, WORD / 2)
                .add(result, WORD, WORD / 2);
        assertThrows(
                IllegalArgumentException.class,
                () -> pair.requester().queuePair().post(two));
        SendWorkRequest none =
                new SendWorkRequest().fetchAndAdd(1, target.address() + WORD, target.rkey(), 1, SendFlags.SIGNALLED);
        assertThrows(
                IllegalArgumentException.class,
                () -> pair.requester().queuePair().post(none));
        pair.barrier();
        assertEquals(QueuePairState.READY_TO_SEND, pair.requester().queuePair().state());
        requireUnchanged(target, "atomics that could not be posted");
        for (int skip : new int[] {1, 4, 7}) {
            expectMisaligned(nodes, target, target.rkey(), result.lkey(), skip);
        }
        expectMisaligned(nodes, target, BAD_KEY, result.lkey(), 4);
        expectMisaligned(nodes, target, target.rkey(), BAD_KEY, 4);
    }

    /** Two bad things at once may be told by the status of either. */
    private static void expectMisaligned(TwoNodes nodes, MemoryRegion target, int rkey, int lkey, int skip) {
        MemoryRegion result = nodes.requester().region(WORD, AccessFlag.READ_SINK);
        result.memory().fill(BytePattern.POISON);
        Set<CompletionStatus> lawful = new HashSet<>(nodes.traits().features().misalignedAtomic());
        if (rkey == BAD_KEY) {
            lawful.addAll(nodes.traits().readRefused());
        }
        if (lkey == BAD_KEY) {
            lawful.addAll(nodes.traits().badReadSink());
        }
        LoopbackPair pair = nodes.connect();
        SendWorkRequest request = new SendWorkRequest()
                .fetchAndAdd(1, target.address() + WORD + skip, rkey, 1, SendFlags.SIGNALLED)
                .add(result.address(), WORD, lkey == BAD_KEY ? BAD_KEY : result.lkey());
        Endpoint.require(pair.requester().queuePair().post(request), "FETCH_AND_ADD");
        String what = "atomic " + skip + " bytes behind a word";
        pair.requester().sends().expect(1, lawful, what);
        pair.expectBothBroken();
        requireUnchanged(target, what);
        BytePattern.requireAll(result.memory(), BytePattern.POISON, "result of an " + what);
    }

    /** The word must be as before, the result too, and both ends in ERROR. */
    private static void expectRefused(
            TwoNodes nodes, LoopbackPair pair, MemoryRegion target, long address, int rkey, String what) {
        for (boolean swap : new boolean[] {true, false}) {
            LoopbackPair used = swap ? pair : nodes.connect();
            MemoryRegion result = nodes.requester().region(WORD, AccessFlag.READ_SINK);
            result.memory().fill(BytePattern.POISON);
            if (swap) {
                used.requester().compareAndSwap(1, result, 0, address, rkey, START, 0);
            } else {
                used.requester().fetchAndAdd(1, result, 0, address, rkey, 1);
            }
            used.requester().fetchAndAdd(2, result, 0, target.address() + WORD, target.rkey(), 1);
            used.requester().sends().expect(1, nodes.traits().readRefused(), what);
            used.requester().sends().expect(2, Set.of(CompletionStatus.FLUSHED), "the atomic behind it: " + what);
            used.expectBothBroken();
            requireUnchanged(target, what);
            BytePattern.requireAll(result.memory(), BytePattern.POISON, "result: " + what);
            used.responder().sends().expectNone("the responder posted nothing");
        }
    }

    @Test
    @ConformanceCase(
            number = 132,
            title = "an atomic with a bad key changes nothing; with a bad result buffer it fails at the requester",
            source = "rdma-unit-test RcQpTest.FetchAddInvalidRKey, FetchAddInvalidLKey; RFC 7306 section 5.1")
    void shouldRefuseAtomicsWhenKeysAreBad(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        MemoryRegion target = target(nodes, ATOMIC);
        long address = target.address() + WORD;
        expectRefused(nodes, nodes.connect(), target, address, BAD_KEY, "an atomic by a bad rkey");
        if (target.lkey() != target.rkey()) {
            expectRefused(nodes, nodes.connect(), target, address, target.lkey(), "an atomic by the peer's lkey");
        }
        MemoryRegion dead = target(nodes, ATOMIC);
        dead.close();
        expectRefused(nodes, nodes.connect(), target, dead.address() + WORD, dead.rkey(), "an atomic by a dead rkey");
        Set<CompletionStatus> either = new HashSet<>(nodes.traits().readRefused());
        either.addAll(nodes.traits().badReadSink());
        postToBadResult(nodes, address, BAD_KEY, either, "an atomic with two bad keys");
        requireUnchanged(target, "an atomic with two bad keys");
        postToBadResult(nodes, address, target.rkey(), nodes.traits().badReadSink(), "an atomic with a bad lkey");
        requireAddedAtMostOnce(target, "an atomic with a bad lkey");
    }

    private static void postToBadResult(
            TwoNodes nodes, long address, int rkey, Set<CompletionStatus> lawful, String what) {
        MemoryRegion result = nodes.requester().region(WORD, AccessFlag.READ_SINK);
        result.memory().fill(BytePattern.POISON);
        LoopbackPair pair = nodes.connect();
        SendWorkRequest request = new SendWorkRequest()
                .fetchAndAdd(1, address, rkey, 1, SendFlags.SIGNALLED)
                .add(result.address(), WORD, BAD_KEY);
        Endpoint.require(pair.requester().queuePair().post(request), "FETCH_AND_ADD");
        pair.requester().sends().expect(1, lawful, what);
        pair.expectBothBroken();
        BytePattern.requireAll(result.memory(), BytePattern.POISON, "result: " + what);
    }

    /** A device may look at its own buffer before it asks, or when the answer comes. */
    private static void requireAddedAtMostOnce(MemoryRegion target, String what) {
        long now = word(target, 1);
        assertTrue(
                now == START || now == START + 1,
                what + " left the word at " + now + ", not " + START + " or one more");
        requireOthersUnchanged(target, what);
    }

    @Test
    @ConformanceCase(
            number = 39,
            title = "an atomic needs REMOTE_ATOMIC at its word, and no other remote right",
            source = "rdma-unit-test AccessTest.AtomicMissingRemoteAtomic, MissingSrcRemoteWrite; ibv_reg_mr(3)")
    void shouldNeedRemoteAtomicAndNothingElse(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        MemoryRegion without = target(nodes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        expectRefused(
                nodes,
                nodes.connect(),
                without,
                without.address() + WORD,
                without.rkey(),
                "an atomic without REMOTE_ATOMIC");
        MemoryRegion alone = target(nodes, ATOMIC);
        MemoryRegion result = nodes.requester().region(WORD, AccessFlag.LOCAL_WRITE);
        LoopbackPair pair = nodes.connect();
        pair.requester().fetchAndAdd(1, result, 0, alone.address() + WORD, alone.rkey(), 5);
        pair.requester().sends().expect(1, CompletionOpcode.FETCH_AND_ADD, WORD);
        pair.requester().compareAndSwap(2, result, 0, alone.address() + WORD, alone.rkey(), START + 5, START);
        pair.requester().sends().expect(2, CompletionOpcode.COMPARE_AND_SWAP, WORD);
        assertEquals(START + 5, word(result, 0));
        requireUnchanged(alone, "two atomics that take each other back");
        Refusals.expectWriteRefused(
                nodes,
                pair,
                alone.address() + 2 * WORD,
                alone.rkey(),
                WORD,
                alone.memory().asSlice(2 * WORD),
                "WRITE to a region with REMOTE_ATOMIC only");
    }

    @Test
    @ConformanceCase(
            number = 40,
            title = "the old value is not put into a region without LOCAL_WRITE",
            source = "rdma-unit-test AccessTest.AtomicMissingSrcLocalWrite; ibv_reg_mr(3)")
    void shouldFailLocallyWhenTheResultMayNotBeWritten(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        MemoryRegion target = target(nodes, ATOMIC);
        MemoryRegion result = nodes.requester().region(WORD, AccessFlag.REMOTE_READ);
        result.memory().fill(BytePattern.POISON);
        LoopbackPair pair = nodes.connect();
        pair.requester().fetchAndAdd(1, result, 0, target.address() + WORD, target.rkey(), 1);
        pair.requester().sends().expect(1, nodes.traits().badReadSink(), "result without LOCAL_WRITE");
        pair.expectBothBroken();
        BytePattern.requireAll(result.memory(), BytePattern.POISON, "result without LOCAL_WRITE");
        requireAddedAtMostOnce(target, "an atomic whose result has no place");
    }

    @Test
    @ConformanceCase(
            number = 350,
            title = "the last word of a region is in reach of an atomic, a word beyond either end is not",
            source = "rdma-unit-test BufferTest, ReadExceedFront and ReadExceedRear; RFC 7306 section 5.1")
    void shouldReachExactlyTheWordsOfTheRegion(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        MemoryRegion wide = target(nodes);
        MemorySegment middle = wide.memory().asSlice(WORD, WORD);
        MemoryRegion narrow = nodes.responder().register(middle, ATOMIC);
        MemoryRegion result = nodes.requester().region(WORD, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        pair.requester().fetchAndAdd(1, result, 0, narrow.address(), narrow.rkey(), 0);
        pair.requester().sends().expect(1, CompletionOpcode.FETCH_AND_ADD, WORD);
        assertEquals(START, word(result, 0));
        for (long address : new long[] {narrow.address() - WORD, narrow.address() + WORD, -WORD}) {
            LoopbackPair refused = nodes.connect();
            refused.requester().fetchAndAdd(2, result, 0, address, narrow.rkey(), 1);
            refused.requester().sends().expect(2, nodes.traits().readRefused(), "an atomic outside of its region");
            refused.expectBothBroken();
            requireUnchanged(wide, "an atomic outside of its region");
        }
    }

    @Test
    @ConformanceCase(
            number = 351,
            title = "the key of another domain lets no atomic through",
            source = "rdma-unit-test PdRcLoopbackMrTest, FetchAddOtherPd; RFC 5040 section 8.1.1")
    void shouldRefuseAtomicsWhenTheDomainIsAnother(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        MemoryRegion mine = target(nodes, ATOMIC);
        MemorySegment memory = nodes.responder().memory(BYTES);
        memory.copyFrom(mine.memory());
        MemoryRegion other = nodes.responder().register(nodes.responder().otherDomain(), memory, ATOMIC);
        expectRefused(
                nodes,
                nodes.connect(),
                mine,
                other.address() + WORD,
                other.rkey(),
                "an atomic by a key of another domain");
        requireUnchanged(other, "an atomic by a key of another domain");
    }

    @Test
    @ConformanceCase(
            number = 352,
            title = "atomics of one queue pair take effect in posting order, behind its WRITEs and before its READs",
            source = "RFC 7306 section 5.1 and figure 3 (ordering); IBTA 9.5")
    void shouldTakeEffectInPostingOrder(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        int chain = 30;
        MemoryRegion target = nodes.responder()
                .region(
                        BYTES,
                        AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_ATOMIC,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_WRITE);
        MemoryRegion source = nodes.requester().region(WORD);
        MemoryRegion results = nodes.requester().region((chain + 1L) * WORD, AccessFlag.READ_SINK);
        Endpoint requester = nodes.connect().requester();
        for (int round = 0; round < nodes.times(100); round++) {
            long base = nodes.random().nextLong();
            setWord(source, 0, base);
            requester.write(0, source, target);
            for (int i = 0; i < chain; i++) {
                if (nodes.random().nextBoolean()) {
                    requester.fetchAndAdd(i + 1, results, (long) i * WORD, target.address(), target.rkey(), 1);
                } else {
                    requester.compareAndSwap(
                            i + 1, results, (long) i * WORD, target.address(), target.rkey(), base + i, base + i + 1);
                }
            }
            requester.read(chain + 1, results, (long) chain * WORD, WORD, target.address(), target.rkey());
            requester.sends().expect(0, CompletionOpcode.WRITE, WORD);
            for (int i = 0; i <= chain; i++) {
                CompletionStatus status = requester
                        .sends()
                        .next("atomics and the READ behind them")
                        .status();
                assertEquals(CompletionStatus.SUCCESS, status);
                assertEquals(base + i, word(results, i), "what request " + i + " of round " + round + " fetched");
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 353,
            title = "of the atomics on a connection that ends, those that succeeded were executed, and none twice",
            source = "RFC 7306 section 5.1; IBTA 9.4.5.1 (atomics are executed once)")
    void shouldExecuteAtMostOnceWhenTheConnectionEnds(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.ATOMICS);
        int count = 64;
        MemoryRegion result = nodes.requester().region((long) count * WORD, AccessFlag.READ_SINK);
        for (int round = 0; round < nodes.times(20); round++) {
            MemoryRegion target = nodes.responder().region(WORD, ATOMIC);
            LoopbackPair pair = nodes.connect();
            for (int i = 0; i < count; i++) {
                pair.requester().fetchAndAdd(i, result, (long) i * WORD, target.address(), target.rkey(), 1);
            }
            int first = nodes.random().nextInt(count);
            for (int i = 0; i < first; i++) {
                pair.requester().sends().expect(i, CompletionOpcode.FETCH_AND_ADD, WORD);
            }
            pair.responder().queuePair().disconnect();
            int succeeded = first;
            for (int i = first; i < count; i++) {
                if (pair.requester()
                        .sends()
                        .next("atomics of a connection that ends")
                        .isSuccess()) {
                    succeeded++;
                }
            }
            pair.expectBothBroken();
            for (int i = 0; i < succeeded; i++) {
                assertEquals(i, word(result, i), "old value of atomic " + i);
            }
            long executed = word(target, 0);
            assertTrue(
                    executed >= succeeded && executed <= count,
                    succeeded + " of " + count + " succeeded, the word says " + executed);
        }
    }
}
