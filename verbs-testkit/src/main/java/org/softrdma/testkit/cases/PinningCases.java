package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Pinning: at registration, where the message must explain a limit, or lazily, which only the counters may show. */
@ExtendWith(TwoNodesExtension.class)
public final class PinningCases {
    private static final int BYTES = 4096;
    private static final long GIBIBYTE = 1L << 30;
    /** More than a granule of any provider. */
    private static final int APART = 4 << 20;

    private static final int PLACES = 4;
    private static final int CAP_IPC_LOCK = 14;
    private static final int HEX = 16;
    private static final int UNKNOWN_KEY = 0x5EED_0BAD;

    private static final AccessFlag[] ALL = {
        AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.RECEIVE_SINK
    };

    /** Made by JUnit. */
    public PinningCases() {}

    private static MemoryRegion register(
            TwoNodes nodes, Node node, MemorySegment memory, PinningPolicy pinning, AccessFlag... access) {
        return nodes.own(node.domain().register(memory, Set.of(access), pinning));
    }

    private static MemoryRegion lazy(TwoNodes nodes, Node node, long length) {
        return register(nodes, node, node.memory(length), PinningPolicy.LAZY, ALL);
    }

    @Test
    @ConformanceCase(
            number = 21,
            title =
                    "EAGER registration over the limit of locked memory fails, names limit and need, and changes nothing",
            source = "siw_mem.c siw_umem_get; ibv_reg_mr(3); getrlimit(2), RLIMIT_MEMLOCK")
    void shouldFailReadablyWhenEagerExceedsTheLimit(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        long limit = lockedMemoryLimit();
        nodes.require(limit > 0 && limit < GIBIBYTE, "this process has no limit of locked memory");
        Node node = nodes.responder();
        MemorySegment memory = node.memory(2 * limit);
        long before = node.device().pinningCounters().pinnedBytes();
        ProtectionDomain domain = node.otherDomain();
        VerbsException refused =
                assertThrows(VerbsException.class, () -> domain.register(memory, Set.of(ALL), PinningPolicy.EAGER));
        assertEquals(VerbsErrorCode.NO_RESOURCES, refused.code());
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains("" + 2 * limit) && message.contains("" + limit), message);
        assertTrue(message.contains("ulimit -l"), message);
        assertTrue(node.device().pinningCounters().pinnedBytes() <= before, "something stayed pinned");
        domain.close(); // Would be refused if a region had been registered.
    }

    /** Soft limit in bytes; {@link Long#MAX_VALUE} if there is none, 0 if it is unknown. */
    private static long lockedMemoryLimit() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("CapEff:")
                        && ((Long.parseUnsignedLong(line.substring(7).trim(), HEX) >>> CAP_IPC_LOCK) & 1) != 0) {
                    return Long.MAX_VALUE;
                }
            }
            for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
                if (line.startsWith("Max locked memory")) {
                    String soft =
                            line.substring("Max locked memory".length()).trim().split("\\s+", 2)[0];
                    return soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
                }
            }
        } catch (IOException e) {
            // Not Linux.
        }
        return 0;
    }

    @Test
    @ConformanceCase(
            number = 23,
            title = "lazy registration of a gibibyte pins nothing",
            source = "pyverbs test_odp; ibv_reg_mr(3), IBV_ACCESS_ON_DEMAND")
    void shouldPinNothingWhenRegisteredLazily(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        Node node = nodes.responder();
        long pinsBefore = node.device().pinningCounters().pins();
        MemoryRegion region = lazy(nodes, node, GIBIBYTE);
        assertEquals(PinningPolicy.LAZY, region.pinning());
        assertEquals(0, region.pinningCounters().pinnedBytes());
        assertEquals(GIBIBYTE, region.pinningCounters().registeredBytes());
        assertEquals(pinsBefore, node.device().pinningCounters().pins());
        region.close();
    }

    @Test
    @ConformanceCase(
            number = 24,
            title =
                    "READ, WRITE and SEND move the right bytes through untouched lazy regions, one first touch per place",
            source = "pyverbs test_odp; ibv_query_device_ex(3), odp_caps")
    void shouldPinWhatIsTouchedWhenLazy(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        MemoryRegion local = lazy(nodes, nodes.requester(), (long) PLACES * APART);
        MemoryRegion remote = lazy(nodes, nodes.responder(), (long) PLACES * APART);
        LoopbackPair pair = nodes.connect();
        for (int round = 0; round < 2; round++) {
            exchange(nodes, pair, local, remote);
            assertEquals(3, local.pinningCounters().firstTouches(), "requester, round " + round);
            assertEquals(3, remote.pinningCounters().firstTouches(), "responder, round " + round);
        }
    }

    /**
     * READ to place 0, WRITE from place 1 and SEND from place 2 of the requester, at the same places of the responder.
     */
    private static void exchange(TwoNodes nodes, LoopbackPair pair, MemoryRegion local, MemoryRegion remote) {
        Endpoint requester = pair.requester();
        BytePattern read = nodes.pattern();
        read.fill(remote.memory().asSlice(0, BYTES));
        requester.read(1, local, 0, BYTES, remote.address(), remote.rkey());
        requester.sends().expect(1, CompletionOpcode.READ, BYTES);
        read.require(local.memory().asSlice(0, BYTES), "READ");
        BytePattern written = nodes.pattern();
        written.fill(local.memory().asSlice(APART, BYTES));
        requester.write(2, local, APART, BYTES, remote.address() + APART, remote.rkey());
        requester.sends().expect(2, CompletionOpcode.WRITE, BYTES);
        pair.barrier();
        written.require(remote.memory().asSlice(APART, BYTES), "WRITE");
        BytePattern sent = nodes.pattern();
        sent.fill(local.memory().asSlice(2L * APART, BYTES));
        pair.responder().receive(3, remote, 2L * APART, BYTES);
        requester.send(4, local, 2L * APART, BYTES);
        requester.sends().expect(4, CompletionOpcode.SEND, BYTES);
        pair.responder().receives().expect(3, CompletionOpcode.RECEIVE, BYTES);
        sent.require(remote.memory().asSlice(2L * APART, BYTES), "SEND");
    }

    @Test
    @ConformanceCase(
            number = 25,
            title = "a READ of what a finished prefetch pinned counts no first touch",
            source = "pyverbs test_odp, prefetch; ibv_advise_mr(3), IBV_ADVISE_MR_FLAG_FLUSH")
    void shouldNotTouchFirstWhenPrefetched(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        MemoryRegion remote = lazy(nodes, nodes.responder(), 2L * APART);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        for (Advice advice : new Advice[] {Advice.PREFETCH, Advice.PREFETCH_WRITE}) {
            remote.unpin();
            nodes.responder().domain().advise(advice, true, remote.address() + APART, BYTES, remote.lkey());
            assertNotEquals(0, remote.pinningCounters().pinnedBytes(), advice + " pinned nothing");
            readPlace(nodes, remote, sink, APART);
            assertEquals(0, remote.pinningCounters().firstTouches(), advice.name());
        }
    }

    private static void readPlace(TwoNodes nodes, MemoryRegion remote, MemoryRegion sink, long offset) {
        BytePattern pattern = nodes.pattern();
        pattern.fill(remote.memory().asSlice(offset, BYTES));
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, 0, BYTES, remote.address() + offset, remote.rkey());
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pattern.require(sink.memory(), "READ");
    }

    @Test
    @ConformanceCase(
            number = 26,
            title = "a prefetch that nobody waits for is accepted, and a READ succeeds whether it is done or not",
            source = "pyverbs test_odp, async prefetch; ibv_advise_mr(3)")
    void shouldReadRightWhenPrefetchIsUnderWay(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        MemoryRegion remote = lazy(nodes, nodes.responder(), 2L * APART);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        for (Advice advice : Advice.values()) {
            nodes.responder().domain().advise(advice, false, remote.address(), remote.length(), remote.lkey());
            readPlace(nodes, remote, sink, APART);
        }
    }

    @Test
    @ConformanceCase(
            number = 27,
            title = "advice is refused: range outside, region not lazy, another domain, missing right, unknown key",
            source = "ibv_advise_mr(3), errors EFAULT, EINVAL, EPERM, ENOENT")
    void shouldRefuseAdviceWhenItIsWrong(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        Node node = nodes.requester();
        MemoryRegion lazy = lazy(nodes, node, BYTES);
        MemoryRegion off = register(nodes, node, node.memory(BYTES), PinningPolicy.OFF, ALL);
        MemoryRegion readOnly = register(nodes, node, node.memory(BYTES), PinningPolicy.LAZY, AccessFlag.REMOTE_READ);
        ProtectionDomain domain = node.domain();
        refuse(VerbsErrorCode.BAD_RANGE, domain, Advice.PREFETCH, lazy.address() + 1, BYTES, lazy.lkey());
        refuse(VerbsErrorCode.BAD_RANGE, domain, Advice.PREFETCH, lazy.address() - 1, 1, lazy.lkey());
        refuse(VerbsErrorCode.BAD_RANGE, domain, Advice.PREFETCH, -1, 2, lazy.lkey());
        refuse(VerbsErrorCode.BAD_RANGE, domain, Advice.PREFETCH, lazy.address(), 0, lazy.lkey());
        refuse(VerbsErrorCode.INVALID, domain, Advice.PREFETCH, off.address(), BYTES, off.lkey());
        refuse(VerbsErrorCode.NOT_PERMITTED, node.otherDomain(), Advice.PREFETCH, lazy.address(), BYTES, lazy.lkey());
        refuse(VerbsErrorCode.NOT_PERMITTED, domain, Advice.PREFETCH_WRITE, readOnly.address(), BYTES, readOnly.lkey());
        refuse(VerbsErrorCode.NOT_FOUND, domain, Advice.PREFETCH, 0, 1, UNKNOWN_KEY);
        domain.advise(Advice.PREFETCH, true, readOnly.address(), BYTES, readOnly.lkey());
        long address = lazy.address();
        int lkey = lazy.lkey();
        lazy.close();
        refuse(VerbsErrorCode.NOT_FOUND, domain, Advice.PREFETCH, address, BYTES, lkey);
    }

    private static void refuse(
            VerbsErrorCode expected, ProtectionDomain domain, Advice advice, long address, long length, int lkey) {
        for (boolean wait : new boolean[] {true, false}) {
            VerbsException refused =
                    assertThrows(VerbsException.class, () -> domain.advise(advice, wait, address, length, lkey));
            assertEquals(expected, refused.code(), refused.getMessage());
        }
    }

    @Test
    @ConformanceCase(
            number = 28,
            title = "one SEND gathers from a lazy region, an EAGER one and one that is not pinned",
            source = "pyverbs test_odp, mixed scatter/gather; ibv_post_send(3)")
    void shouldGatherFromRegionsOfEveryPolicy(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        Node node = nodes.requester();
        nodes.require(node.device().capabilities().maxScatterGather() >= 3, "one entry only");
        PinningPolicy[] policies = {PinningPolicy.LAZY, PinningPolicy.EAGER, PinningPolicy.OFF};
        BytePattern pattern = nodes.pattern();
        MemorySegment whole = node.memory((long) policies.length * BYTES);
        pattern.fill(whole);
        SendWorkRequest request = new SendWorkRequest().send(1, SendFlags.SIGNALLED);
        for (int i = 0; i < policies.length; i++) {
            MemorySegment memory = node.memory(BYTES).copyFrom(whole.asSlice((long) i * BYTES, BYTES));
            request.add(register(nodes, node, memory, policies[i], ALL), 0, BYTES);
        }
        MemoryRegion inbox = lazy(nodes, nodes.responder(), (long) policies.length * BYTES);
        QueuePairLimits few = QueuePairLimits.DEFAULT;
        LoopbackPair pair = nodes.connect(new ConnectionSpec()
                .limits(new QueuePairLimits(
                        few.maxSendWorkRequests(),
                        few.maxReceiveWorkRequests(),
                        policies.length,
                        few.maxReceiveScatterGather(),
                        few.maxInline())));
        pair.responder().receive(2, inbox, 0, inbox.length());
        Endpoint.require(pair.requester().queuePair().post(request), "SEND of three entries");
        pair.requester().sends().expect(1, CompletionOpcode.SEND, inbox.length());
        pair.responder().receives().expect(2, CompletionOpcode.RECEIVE, inbox.length());
        pattern.require(inbox.memory(), "gathered SEND");
    }

    @Test
    @ConformanceCase(
            number = 29,
            title =
                    "what was evicted between two operations is pinned again by the next, and its bytes are still there",
            source = "pyverbs test_odp, madvise; ib_umem_odp.c, invalidation")
    void shouldTouchAgainWhenEvicted(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        MemoryRegion local = lazy(nodes, nodes.requester(), (long) PLACES * APART);
        MemoryRegion remote = lazy(nodes, nodes.responder(), (long) PLACES * APART);
        LoopbackPair pair = nodes.connect();
        for (int round = 1; round <= 3; round++) {
            exchange(nodes, pair, local, remote);
            assertEquals(3L * round, remote.pinningCounters().firstTouches(), "round " + round);
            local.unpin();
            remote.unpin();
            assertEquals(0, remote.pinningCounters().pinnedBytes(), "round " + round);
            assertEquals(3L * round, remote.pinningCounters().unpins(), "round " + round);
        }
    }

    @Test
    @ConformanceCase(
            number = 30,
            title = "one workload on lazy, EAGER and unpinned memory: the same bytes and the same completions",
            source = "differential; ibv_reg_mr(3)")
    void shouldDoTheSameUnderEveryPolicy(TwoNodes nodes) {
        nodes.require(Feature.LAZY_PINNING);
        long seed = nodes.random().nextLong();
        List<String> expected = workload(nodes, PinningPolicy.OFF, seed);
        assertEquals(expected, workload(nodes, PinningPolicy.LAZY, seed), "LAZY, seed " + seed);
        assertEquals(expected, workload(nodes, PinningPolicy.EAGER, seed), "EAGER, seed " + seed);
    }

    /** Returns the completions, and then the bytes of both sides. Regions are small, so that EAGER fits any limit. */
    private static List<String> workload(TwoNodes nodes, PinningPolicy policy, long seed) {
        Random random = new Random(seed);
        int length = 16 * BYTES;
        MemoryRegion local =
                register(nodes, nodes.requester(), nodes.requester().memory(length), policy, ALL);
        MemoryRegion remote =
                register(nodes, nodes.responder(), nodes.responder().memory(length), policy, ALL);
        new BytePattern(seed).fill(local.memory());
        new BytePattern(seed + 1).fill(remote.memory());
        LoopbackPair pair = nodes.connect();
        List<String> log = new ArrayList<>();
        for (int i = 0; i < nodes.times(200); i++) {
            int bytes = 1 + random.nextInt(length / 2);
            int from = random.nextInt(length - bytes);
            int to = random.nextInt(length - bytes);
            if (random.nextBoolean()) {
                pair.requester().read(i, local, from, bytes, remote.address() + to, remote.rkey());
            } else {
                pair.requester().write(i, local, from, bytes, remote.address() + to, remote.rkey());
            }
            Completion completion = pair.requester().sends().next("operation " + i);
            log.add(completion.wrId() + " " + completion.status() + " " + completion.opcode() + " "
                    + completion.byteLength());
        }
        pair.barrier();
        log.add("local " + local.memory().asByteBuffer().hashCode());
        log.add("remote " + remote.memory().asByteBuffer().hashCode());
        local.close();
        remote.close();
        return log;
    }
}
