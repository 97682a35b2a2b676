package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.Reregistration;

/** Changing a registration once its traffic has ended: the new one holds, the old one is gone, a refusal changes nothing. */
@ExtendWith(TwoNodesExtension.class)
public final class ReregistrationCases {
    private static final int BYTES = 4096;
    private static final int LONGER = 3 * BYTES;

    private static final Set<AccessFlag> WRITABLE =
            Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);

    /** Made by JUnit. */
    public ReregistrationCases() {}

    private static void expectRead(TwoNodes nodes, LoopbackPair pair, MemoryRegion region, String what) {
        BytePattern pattern = nodes.pattern();
        pattern.fill(region.memory());
        MemoryRegion sink = nodes.requester().region(region.length(), AccessFlag.READ_SINK);
        pair.requester().read(71, sink, region);
        pair.requester().sends().expect(71, CompletionOpcode.READ, region.length());
        pattern.require(sink.memory(), what);
    }

    private static void expectMemory(TwoNodes nodes, MemoryRegion region, MemorySegment memory) {
        if (!nodes.traits().has(Trait.VIRTUAL_ADDRESSES)) {
            assertEquals(memory.address(), region.address());
        }
        assertEquals(memory.byteSize(), region.length());
        assertEquals(memory.address(), region.memory().address());
        assertEquals(memory.byteSize(), region.memory().byteSize());
        assertEquals(region.rkey(), region.remote().rkey());
        assertEquals(region.address(), region.remote().address());
    }

    @Test
    @ConformanceCase(
            number = 17,
            title = "a region with another memory is READ there, and its old range is refused",
            source = "rdma-unit-test MrTest.ReregMrChangeAddress; ibv_rereg_mr(3) IBV_REREG_MR_CHANGE_TRANSLATION")
    void shouldNameTheNewMemory(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.REREGISTRATION);
        Node node = nodes.responder();
        MemorySegment first = node.memory(BYTES);
        MemorySegment second = node.memory(LONGER);
        MemoryRegion region = node.register(first, AccessFlag.REMOTE_READ);
        LoopbackPair pair = nodes.connect();
        expectRead(nodes, pair, region, "the first memory");
        int oldKey = region.rkey();
        region.reregister(Reregistration.ofMemory(second));
        expectMemory(nodes, region, second);
        assertSame(node.domain(), region.protectionDomain());
        assertTrue(region.access().contains(AccessFlag.REMOTE_READ), "access: " + region.access());
        expectRead(nodes, pair, region, "the second memory");
        Refusals.expectReadRefused(
                nodes,
                nodes.connect(),
                first.address(),
                region.rkey(),
                BYTES,
                "READ of the first memory by the new key");
        if (oldKey != region.rkey()) {
            Refusals.expectReadRefused(
                    nodes,
                    nodes.connect(),
                    second.address(),
                    oldKey,
                    BYTES,
                    "READ of the second memory by the old key");
        }
        Refusals.expectReadRefused(
                nodes, nodes.connect(), first.address(), oldKey, BYTES, "READ of the first memory by the old key");
    }

    @Test
    @ConformanceCase(
            number = 18,
            title = "a right that is taken back is refused; a reregistration that is refused changes nothing",
            source = "rdma-unit-test MrTest.ReregMrInvalidAccess, ReregMrChangeAccess; ibv_rereg_mr(3)")
    void shouldTakeRightsBackAndKeepThemWhenRefused(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.REREGISTRATION);
        Node node = nodes.responder();
        MemoryRegion region = node.region(BYTES, AccessFlag.REMOTE_READ);
        LoopbackPair pair = nodes.connect();
        for (Set<AccessFlag> wrong :
                Set.of(Set.of(AccessFlag.REMOTE_WRITE), Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ))) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> region.reregister(Reregistration.ofAccess(wrong)),
                    wrong + "");
        }
        MemorySegment nothing = node.memory(BYTES).asSlice(0, 0);
        assertThrows(IllegalArgumentException.class, () -> region.reregister(Reregistration.ofMemory(nothing)));
        MemorySegment heap = MemorySegment.ofArray(new byte[BYTES]);
        assertThrows(IllegalArgumentException.class, () -> region.reregister(Reregistration.ofMemory(heap)));
        expectRead(nodes, pair, region, "a region whose reregistration was refused");
        region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.LOCAL_WRITE)));
        assertFalse(region.access().contains(AccessFlag.REMOTE_READ), "access: " + region.access());
        Refusals.expectReadRefused(
                nodes, pair, region.address(), region.rkey(), BYTES, "READ after REMOTE_READ was taken back");
        region.reregister(Reregistration.ofAccess(WRITABLE));
        assertTrue(region.access().containsAll(WRITABLE), "access: " + region.access());
        expectRead(nodes, nodes.connect(), region, "READ after REMOTE_READ was given again");
    }

    @Test
    @ConformanceCase(
            number = 379,
            title = "a region that changes its domain serves the queue pairs of the new one and no others",
            source = "rdma-unit-test MrTest.ReregMrChangePd; ibv_rereg_mr(3) IBV_REREG_MR_CHANGE_PD")
    void shouldServeTheNewDomain(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.REREGISTRATION);
        Node node = nodes.responder();
        ProtectionDomain other = node.device().allocateProtectionDomain();
        MemoryRegion region = node.register(other, node.memory(BYTES), AccessFlag.REMOTE_READ);
        Refusals.expectReadRefused(
                nodes, nodes.connect(), region.address(), region.rkey(), BYTES, "READ while the domain is another");
        region.reregister(Reregistration.ofDomain(node.domain()));
        assertSame(node.domain(), region.protectionDomain());
        LoopbackPair pair = nodes.connect();
        expectRead(nodes, pair, region, "a region of the new domain");
        other.close(); // Would be refused if the region were still its own.
        expectRead(nodes, pair, region, "a region whose first domain is closed");
        ProtectionDomain third = node.otherDomain();
        region.reregister(Reregistration.ofDomain(third));
        Refusals.expectReadRefused(
                nodes, pair, region.address(), region.rkey(), BYTES, "READ after the domain has changed");
        Refusals.expectBusy(third::close, "closing the new domain of a region");
        region.close();
    }

    @Test
    @ConformanceCase(
            number = 380,
            title = "memory, domain and rights change in one call",
            source = "rdma-unit-test MrTest.ReregMrChangeAll; ibv_rereg_mr(3)")
    void shouldChangeEverythingAtOnce(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.REREGISTRATION);
        Node node = nodes.responder();
        MemoryRegion region =
                nodes.own(node.otherDomain().register(node.memory(BYTES), Set.of(AccessFlag.REMOTE_READ)));
        MemorySegment memory = node.memory(LONGER);
        region.reregister(new Reregistration(memory, node.domain(), WRITABLE));
        expectMemory(nodes, region, memory);
        assertSame(node.domain(), region.protectionDomain());
        LoopbackPair pair = nodes.connect();
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(LONGER, pattern);
        pair.requester().write(1, source, region);
        pair.requester().sends().expect(1, CompletionOpcode.WRITE, LONGER);
        pair.barrier();
        pattern.require(memory, "WRITE to a region that has changed");
        expectRead(nodes, pair, region, "READ of a region that has changed");
    }

    @Test
    @ConformanceCase(
            number = 381,
            title = "a region moves from memory to memory between WRITEs: none reaches the memory it has left",
            source = "MemoryRegion.reregister; ibv_rereg_mr(3)")
    void shouldLeaveTheOldMemoryAlone(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.REREGISTRATION);
        Node node = nodes.responder();
        MemorySegment[] memories = {node.memory(BYTES), node.memory(BYTES), node.memory(BYTES)};
        MemoryRegion region = node.register(memories[0], WRITABLE.toArray(AccessFlag[]::new));
        MemoryRegion source = nodes.requester().region(BYTES);
        LoopbackPair pair = nodes.connect();
        for (int i = 1; i <= nodes.times(200); i++) {
            MemorySegment left = memories[(i - 1) % memories.length];
            MemorySegment now = memories[i % memories.length];
            region.reregister(Reregistration.ofMemory(now));
            left.fill(BytePattern.POISON);
            BytePattern pattern = nodes.pattern();
            pattern.fill(source.memory());
            pair.requester().write(i, source, region);
            pair.requester().sends().expect(i, CompletionOpcode.WRITE, BYTES);
            pair.barrier();
            pattern.require(now, "the memory of round " + i);
            BytePattern.requireAll(left, BytePattern.POISON, "the memory that the region has left in round " + i);
        }
        region.close();
    }

    @Test
    @ConformanceCase(
            number = 382,
            title = "a local region that has changed is used by its new addresses and keys",
            source = "MemoryRegion.reregister; ibv_rereg_mr(3)")
    void shouldServeLocalRequestsByTheNewKeys(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.REREGISTRATION);
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(BYTES, pattern, AccessFlag.REMOTE_READ);
        MemorySegment first = nodes.requester().memory(BYTES);
        MemorySegment second = nodes.requester().memory(BYTES);
        MemoryRegion sink = nodes.requester().register(first, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, source);
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pattern.require(first, "READ into the first memory");
        sink.reregister(Reregistration.ofMemory(second));
        first.fill(BytePattern.POISON);
        pair.requester().read(2, sink, source);
        pair.requester().sends().expect(2, CompletionOpcode.READ, BYTES);
        pattern.require(second, "READ into the second memory");
        BytePattern.requireAll(first, BytePattern.POISON, "the first memory");
        sink.reregister(Reregistration.ofAccess(Set.of(AccessFlag.REMOTE_READ)));
        second.fill(BytePattern.POISON);
        pair.requester().read(3, sink, source);
        Refusals.expectLocalErrorOf(
                nodes, pair, 3, nodes.traits().badReadSink(), "READ into a region without LOCAL_WRITE");
        BytePattern.requireAll(second, BytePattern.POISON, "the second memory");
    }

    @Test
    @ConformanceCase(
            number = 383,
            title = "a region with a bound window is not changed, and one that is closed neither",
            source = "MemoryRegion.reregister; ibv_rereg_mr(3); IBTA 10.6.7.2 (windows)")
    void shouldRefuseWhenAWindowIsBoundOrTheRegionIsClosed(TwoNodes nodes) {
        FeatureGate.require(nodes, Feature.REREGISTRATION);
        Node node = nodes.responder();
        MemoryRegion closed = node.region(BYTES, AccessFlag.REMOTE_READ);
        closed.close();
        MemorySegment memory = node.memory(BYTES);
        assertThrows(IllegalStateException.class, () -> closed.reregister(Reregistration.ofMemory(memory)));
        FeatureGate.require(nodes, Feature.MEMORY_WINDOWS);
        MemoryRegion region =
                node.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS, AccessFlag.REMOTE_READ);
        LoopbackPair pair = nodes.connect();
        MemoryWindow window = nodes.own(node.domain().allocateWindow());
        pair.responder().bind(1, window, region, 0, BYTES, AccessFlag.REMOTE_READ);
        pair.responder().sends().expect(1, CompletionOpcode.BIND_WINDOW, 0);
        Refusals.expectBusy(
                () -> region.reregister(Reregistration.ofMemory(memory)), "changing a region with a bound window");
        expectRead(nodes, pair, region, "a region that could not be changed");
        pair.responder().invalidate(2, window.rkey());
        pair.responder().sends().expect(2, CompletionOpcode.INVALIDATE, 0);
        region.reregister(Reregistration.ofMemory(memory));
        expectRead(nodes, pair, region, "a region that has changed");
    }
}
