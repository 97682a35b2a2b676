package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Queue;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;

/** Registration: what a region reports, what is refused, and keys that live exactly as long as their region. */
@ExtendWith(TwoNodesExtension.class)
public final class MemoryRegionCases {
    private static final int BYTES = 4096;
    private static final int KEYS_REMEMBERED = 64;
    private static final long HUGE = 3L << 30;

    /** Made by JUnit. */
    public MemoryRegionCases() {}

    @Test
    @ConformanceCase(
            number = 6,
            title = "a region reports its domain, memory, address and length, and its keys work",
            source = "rdma-unit-test MrTest.RegisterMemory; ibv_reg_mr(3)")
    void shouldReportWhatWasRegisteredWhenRegistered(TwoNodes nodes) {
        MemorySegment memory = nodes.requester().memory(BYTES);
        MemoryRegion sink = nodes.requester().register(memory, AccessFlag.LOCAL_WRITE);
        if (!nodes.traits().has(Trait.VIRTUAL_ADDRESSES)) {
            assertEquals(memory.address(), sink.address());
        }
        assertEquals(BYTES, sink.length());
        assertEquals(memory.address(), sink.memory().address());
        assertEquals(BYTES, sink.memory().byteSize());
        assertSame(nodes.requester().domain(), sink.protectionDomain());
        assertTrue(sink.access().contains(AccessFlag.LOCAL_WRITE), "access: " + sink.access());
        assertEquals(sink.address(), sink.remote().address());
        assertEquals(sink.length(), sink.remote().length());
        assertEquals(sink.rkey(), sink.remote().rkey());
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(BYTES, pattern, AccessFlag.REMOTE_READ);
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, source);
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pattern.require(memory, "READ by both keys");
    }

    @Test
    @ConformanceCase(
            number = 7,
            title = "REMOTE_WRITE without LOCAL_WRITE is refused and nothing is registered",
            source = "rdma-unit-test MrTest.InvalidPermissions; ibv_reg_mr(3)")
    void shouldRefuseRegistrationWhenRemoteWriteLacksLocalWrite(TwoNodes nodes) {
        ProtectionDomain domain = nodes.requester().otherDomain();
        MemorySegment memory = nodes.requester().memory(BYTES);
        assertThrows(IllegalArgumentException.class, () -> domain.register(memory, Set.of(AccessFlag.REMOTE_WRITE)));
        assertThrows(
                IllegalArgumentException.class,
                () -> domain.register(memory, Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ)));
        domain.close(); // Would be refused if a region had been registered.
    }

    @Test
    @ConformanceCase(
            number = 9,
            title = "memory registered twice has two keys, each with rights of its own",
            source = "IBTA 10.6; ibv_reg_mr(3)")
    void shouldEnforceRightsOfEachKeyWhenMemoryIsRegisteredTwice(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES);
        memory.fill(BytePattern.POISON);
        MemoryRegion readable = nodes.responder().register(memory, AccessFlag.REMOTE_READ);
        MemoryRegion writable = nodes.responder().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        assertNotEquals(readable.rkey(), writable.rkey());
        Refusals.expectWriteRefused(
                nodes,
                nodes.connect(),
                readable.address(),
                readable.rkey(),
                BYTES,
                memory,
                "WRITE with the key that allows READ");
        Refusals.expectReadRefused(
                nodes,
                nodes.connect(),
                writable.address(),
                writable.rkey(),
                BYTES,
                "READ with the key that allows WRITE");
        BytePattern pattern = nodes.pattern();
        MemoryRegion local = nodes.requester().region(BYTES, pattern, AccessFlag.READ_SINK);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        pair.requester().write(1, local, writable);
        pair.requester().read(2, sink, readable);
        pair.requester().sends().expect(1, CompletionOpcode.WRITE, BYTES);
        pair.requester().sends().expect(2, CompletionOpcode.READ, BYTES);
        pattern.require(sink.memory(), "what one key wrote, read by the other");
    }

    @Test
    @ConformanceCase(
            number = 10,
            title = "length 0 is refused",
            source = "rdma-unit-test BufferTest.RegisterZeroByteMr; ibv_reg_mr(3)")
    void shouldRefuseRegistrationWhenLengthIsZero(TwoNodes nodes) {
        ProtectionDomain domain = nodes.requester().otherDomain();
        MemorySegment nothing = nodes.requester().memory(BYTES).asSlice(0, 0);
        assertThrows(IllegalArgumentException.class, () -> domain.register(nothing, Set.of(AccessFlag.LOCAL_WRITE)));
        domain.close();
    }

    @Test
    @ConformanceCase(
            number = 11,
            title = "deregistering twice is harmless, also to a region registered in between",
            source = "rdma-unit-test MrTest.DeregInvalidMr; ibv_dereg_mr(3)")
    void shouldHarmNothingWhenDeregisteredTwice(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES);
        BytePattern pattern = nodes.pattern();
        pattern.fill(memory);
        MemoryRegion closed = nodes.responder().register(memory, AccessFlag.REMOTE_READ);
        closed.close();
        MemoryRegion next = nodes.responder().register(memory, AccessFlag.REMOTE_READ);
        closed.close();
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, next);
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES);
        pattern.require(sink.memory(), "READ of the later region");
    }

    @Test
    @ConformanceCase(
            number = 12,
            title = "READ with the key of a deregistered region is refused",
            source = "rdma-unit-test RcQpTest.ReadInvalidRKey; RFC 5040 section 5.3")
    void shouldRefuseReadWhenRegionIsDeregistered(TwoNodes nodes) {
        MemoryRegion region = nodes.responder().region(BYTES, nodes.pattern(), AccessFlag.REMOTE_READ);
        LoopbackPair pair = nodes.connect();
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        pair.requester().read(7, sink, region);
        pair.requester().sends().expect(7, CompletionOpcode.READ, BYTES);
        region.close();
        Refusals.expectReadRefused(nodes, pair, region.address(), region.rkey(), BYTES, "READ by a dead key");
    }

    @Test
    @ConformanceCase(
            number = 13,
            title = "WRITE with the key of a deregistered region changes nothing",
            source = "rdma-unit-test RcQpTest.WriteInvalidRKey; RFC 5040 section 5.3")
    void shouldRefuseWriteWhenRegionIsDeregistered(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES);
        MemoryRegion region = nodes.responder().register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        LoopbackPair pair = nodes.connect();
        MemoryRegion source = nodes.requester().region(BYTES, nodes.pattern());
        pair.requester().write(7, source, region);
        pair.requester().sends().expect(7, CompletionOpcode.WRITE, BYTES);
        pair.barrier();
        region.close();
        memory.fill(BytePattern.POISON);
        Refusals.expectWriteRefused(nodes, pair, region.address(), region.rkey(), BYTES, memory, "WRITE by a dead key");
    }

    @Test
    @ConformanceCase(
            number = 16,
            title = "a message for a RECV whose region is deregistered fails and leaves the memory alone",
            source = "rdma-unit-test MrLoopbackTest.OutstandingRecv; ibv_dereg_mr(3)")
    void shouldFailReceiveWhenItsRegionIsDeregistered(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        MemorySegment memory = nodes.responder().memory(BYTES);
        memory.fill(BytePattern.POISON);
        MemoryRegion region = nodes.responder().register(memory, AccessFlag.RECEIVE_SINK);
        pair.responder().receive(1, region, 0, BYTES);
        region.close();
        Refusals.expectReceiveFails(nodes, pair, memory, "its region is deregistered");
    }

    @Test
    @ConformanceCase(
            number = 19,
            title = "addresses of a ZERO_BASED region start at 0, for peers and for local entries",
            source = "rdma-unit-test MrTest.ZeroBasedAccess; ibv_reg_mr(3) IBV_ACCESS_ZERO_BASED")
    void shouldCountAddressesFromZeroWhenZeroBased(TwoNodes nodes) {
        nodes.require(Feature.ZERO_BASED);
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(BYTES, pattern, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK, AccessFlag.ZERO_BASED);
        assertEquals(0, source.address());
        assertEquals(0, source.remote().address());
        LoopbackPair pair = nodes.connect();
        int skip = 100;
        pair.requester().read(1, sink, skip, BYTES - skip, skip, source.rkey());
        pair.requester().sends().expect(1, CompletionOpcode.READ, BYTES - skip);
        pattern.requirePart(sink.memory().asSlice(skip), skip, "READ from address " + skip);
        BytePattern.requireAll(sink.memory().asSlice(0, skip), (byte) 0, "sink before the READ");
        Refusals.expectReadRefused(
                nodes, pair, source.memory().address(), source.rkey(), BYTES, "READ at the memory's own address");
    }

    @Test
    @ConformanceCase(
            number = 20,
            title = "a key is not reused soon, and an old key opens nothing",
            source = "RFC 5040 section 8.1.1 (STag values); ibv_reg_mr(3)")
    void shouldNotGiveAKeyAgainSoonWhenRegionsComeAndGo(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES);
        if (nodes.traits().has(Trait.REUSES_KEYS_AT_ONCE)) {
            MemoryRegion gone = nodes.responder().domain().register(memory, Set.of(AccessFlag.REMOTE_READ));
            gone.close();
            Refusals.expectReadRefused(
                    nodes, nodes.connect(), gone.address(), gone.rkey(), BYTES, "READ with a key of no region");
            return;
        }
        Queue<Integer> rkeys = new ArrayDeque<>();
        Queue<Integer> lkeys = new ArrayDeque<>();
        int rounds = nodes.times(10_000);
        int oldRkey = 0;
        for (int i = 0; i < rounds; i++) {
            MemoryRegion region = nodes.responder().domain().register(memory, Set.of(AccessFlag.REMOTE_READ));
            assertFalse(rkeys.contains(region.rkey()), "rkey reused after fewer than 64 others, round " + i);
            assertFalse(lkeys.contains(region.lkey()), "lkey reused after fewer than 64 others, round " + i);
            rkeys.add(region.rkey());
            lkeys.add(region.lkey());
            if (rkeys.size() > KEYS_REMEMBERED) {
                oldRkey = rkeys.remove();
                lkeys.remove();
            }
            region.close();
        }
        MemoryRegion live = nodes.responder().register(memory, AccessFlag.REMOTE_READ);
        if (oldRkey != 0 && oldRkey != live.rkey()) {
            Refusals.expectReadRefused(nodes, nodes.connect(), live.address(), oldRkey, BYTES, "READ with an old key");
        }
        int lastRkey = rkeys.stream().reduce(0, (first, second) -> second);
        Refusals.expectReadRefused(
                nodes, nodes.connect(), live.address(), lastRkey, BYTES, "READ with the previous key");
    }

    @Test
    @ConformanceCase(
            number = 22,
            title = "a region of more than 2 GiB works to its last byte",
            source = "ibv_reg_mr(3): size_t length")
    void shouldReachEveryByteWhenRegionIsHuge(TwoNodes nodes) throws IOException {
        nodes.require(
                nodes.responder().device().capabilities().maxRegionLength() >= HUGE,
                "regions of at most "
                        + nodes.responder().device().capabilities().maxRegionLength() + " bytes");
        nodes.require(
                nodes.responder().device().capabilities().has(Feature.LAZY_PINNING) || memoryOfMachine() > HUGE,
                "registration pins all of it, and the machine has " + memoryOfMachine() + " bytes");
        Path file = Files.createTempFile("softrdma-tck", ".sparse");
        try (Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, HUGE, arena);
            MemoryRegion region;
            try {
                region = nodes.responder()
                        .domain()
                        .register(
                                memory,
                                Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
            } catch (VerbsException e) {
                nodes.require(false, "the device refuses to register it: " + e.getMessage());
                throw e;
            }
            try {
                reachPlaces(nodes, memory, region);
            } finally {
                region.close();
            }
        } finally {
            Files.delete(file);
        }
    }

    /** In bytes. */
    private static long memoryOfMachine() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
    }

    private static void reachPlaces(TwoNodes nodes, MemorySegment memory, MemoryRegion region) {
        LoopbackPair pair = nodes.connect();
        long[] places = {0, Integer.MAX_VALUE - 100L, Integer.MAX_VALUE + 1L, HUGE - BYTES};
        for (long place : places) {
            BytePattern pattern = nodes.pattern();
            MemoryRegion source = nodes.requester().region(BYTES, pattern, AccessFlag.READ_SINK);
            MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
            pair.requester().write(1, source, 0, BYTES, region.address() + place, region.rkey());
            pair.requester().read(2, sink, 0, BYTES, region.address() + place, region.rkey());
            pair.requester().sends().expect(1, CompletionOpcode.WRITE, BYTES);
            pair.requester().sends().expect(2, CompletionOpcode.READ, BYTES);
            pattern.require(memory.asSlice(place, BYTES), "memory at offset " + place);
            pattern.require(sink.memory(), "READ at offset " + place);
        }
        Refusals.expectReadRefused(
                nodes,
                pair,
                region.address() + HUGE - 1,
                region.rkey(),
                2,
                "READ one byte past the end of a huge region");
    }

    @Test
    @ConformanceCase(
            number = 230,
            title = "heap memory is refused",
            source = "ProtectionDomain.register: the device works by raw address")
    void shouldRefuseRegistrationWhenMemoryIsOnTheHeap(TwoNodes nodes) {
        MemorySegment heap = MemorySegment.ofArray(new byte[BYTES]);
        assertThrows(
                IllegalArgumentException.class,
                () -> nodes.requester().domain().register(heap, Set.of(AccessFlag.LOCAL_WRITE)));
    }

    @Test
    @ConformanceCase(
            number = 231,
            title = "an intent adds the right it needs, and no right of peers to READ",
            source = "AccessFlag; RFC 5040 section 5.3 (the sink of a READ is a tagged buffer)")
    void shouldAddOnlyNeededRightsWhenRegisteredByIntent(TwoNodes nodes) {
        MemoryRegion readSink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        MemoryRegion receiveSink = nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK);
        assertTrue(readSink.access().contains(AccessFlag.LOCAL_WRITE), "READ_SINK: " + readSink.access());
        assertTrue(receiveSink.access().contains(AccessFlag.LOCAL_WRITE), "RECEIVE_SINK: " + receiveSink.access());
        assertFalse(readSink.access().contains(AccessFlag.REMOTE_READ), "READ_SINK: " + readSink.access());
        EnumSet<AccessFlag> receiving = EnumSet.noneOf(AccessFlag.class);
        receiving.addAll(receiveSink.access());
        receiving.retainAll(Set.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        assertEquals(Set.of(), receiving, "RECEIVE_SINK opens the region to peers");
    }

    @Test
    @ConformanceCase(
            number = 232,
            title = "allocated memory closed while registered lives until it is deregistered",
            source = "HostMemory")
    void shouldKeepMemoryWhenItIsClosedBeforeItsRegion(TwoNodes nodes) {
        BytePattern pattern = nodes.pattern();
        HostMemory memory = nodes.responder().deviceMemory(1 << 20);
        pattern.fill(memory.segment());
        MemoryRegion first = nodes.responder().register(memory.segment(), AccessFlag.REMOTE_READ);
        MemoryRegion second = nodes.responder().register(memory.segment(), AccessFlag.REMOTE_READ);
        memory.close();
        first.close();
        MemoryRegion sink = nodes.requester().region(1 << 20, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, second);
        pair.requester().sends().expect(1, CompletionOpcode.READ, 1 << 20);
        pattern.require(sink.memory(), "READ of memory that its owner has closed");
        second.close();
    }

    @Test
    @ConformanceCase(
            number = 233,
            title = "a region may begin and end anywhere, down to one byte",
            source = "ibv_reg_mr(3): no alignment is asked for")
    void shouldServeExactlyItsBytesWhenRegionIsNotAligned(TwoNodes nodes) {
        MemorySegment memory = nodes.responder().memory(BYTES);
        BytePattern pattern = nodes.pattern();
        pattern.fill(memory);
        LoopbackPair pair = nodes.connect();
        for (int length : new int[] {1, 3, 17, 1001}) {
            int offset = 1 + nodes.random().nextInt(1000);
            MemoryRegion region = nodes.responder().register(memory.asSlice(offset, length), AccessFlag.REMOTE_READ);
            MemoryRegion sink = nodes.requester().region(length, AccessFlag.READ_SINK);
            pair.requester().read(length, sink, region);
            pair.requester().sends().expect(length, CompletionOpcode.READ, length);
            pattern.requirePart(sink.memory(), offset, length + " bytes from offset " + offset);
        }
    }

    @Test
    @ConformanceCase(
            number = 306,
            title = "memory whose arena is closed cannot be registered",
            source = "ProtectionDomain.register; ibv_reg_mr(3) EFAULT")
    void shouldRefuseMemoryWhoseArenaIsClosed(TwoNodes nodes) {
        MemorySegment memory;
        try (Arena arena = Arena.ofShared()) {
            memory = arena.allocate(BYTES);
        }
        IllegalStateException refused = assertThrows(
                IllegalStateException.class, () -> nodes.responder().register(memory, AccessFlag.REMOTE_READ));
        assertTrue(String.valueOf(refused.getMessage()).contains("arena"), refused.toString());
    }

    @Test
    @ConformanceCase(
            number = 307,
            title = "closed memory is neither handed out nor registered; its segments are dead once it is freed",
            source = "HostMemory")
    void shouldNotGiveOutClosedMemory(TwoNodes nodes) {
        HostMemory memory = nodes.responder().deviceMemory(BYTES);
        MemorySegment segment = memory.segment();
        MemorySegment part = segment.asSlice(1, 1);
        MemoryRegion region = nodes.responder().register(segment, AccessFlag.REMOTE_READ);
        memory.close();
        assertThrows(IllegalStateException.class, memory::segment);
        assertThrows(IllegalStateException.class, () -> nodes.responder().register(part, AccessFlag.REMOTE_READ));
        assertTrue(segment.scope().isAlive(), "freed while it is registered");
        region.close();
        assertFalse(segment.scope().isAlive(), "not freed when its last region was closed");
        assertThrows(IllegalStateException.class, () -> nodes.responder().register(part, AccessFlag.REMOTE_READ));
        memory.close();
    }

    @Test
    @ConformanceCase(
            number = 308,
            title = "memory of one device that is registered on another lives until it is deregistered there",
            source = "HostMemory")
    void shouldKeepMemoryThatAnotherDeviceHasRegistered(TwoNodes nodes) {
        BytePattern pattern = nodes.pattern();
        HostMemory memory = nodes.requester().deviceMemory(1 << 20);
        MemorySegment segment = memory.segment();
        pattern.fill(segment);
        MemoryRegion region = nodes.responder().register(segment, AccessFlag.REMOTE_READ);
        memory.close();
        assertTrue(segment.scope().isAlive(), "freed while it is registered");
        MemoryRegion sink = nodes.requester().region(1 << 20, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        pair.requester().read(1, sink, region);
        pair.requester().sends().expect(1, CompletionOpcode.READ, 1 << 20);
        pattern.require(sink.memory(), "READ of memory that its owner has closed");
        region.close();
        assertFalse(segment.scope().isAlive(), "not freed when its last region was closed");
    }
}
