package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.VerbsErrorCode;

/** {@link MemoryRegion#swap}: exchanges atomically what two keys name. */
@ExtendWith(TwoNodesExtension.class)
public final class RebindCases {
    private static final int BYTES = 4096;
    private static final int LONG_BYTES = 256 << 10;

    /** Made by JUnit. */
    public RebindCases() {}

    private static MemoryRegion readable(Node node, long length) {
        return node.region(length, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
    }

    private static byte firstByteRead(LoopbackPair pair, MemoryRegion sink, MemoryRegion source) {
        sink.memory().fill((byte) 0);
        pair.requester().read(1, sink, source);
        pair.requester().sends().expect(1, CompletionOpcode.READ, sink.length());
        byte first = sink.memory().get(ValueLayout.JAVA_BYTE, 0);
        BytePattern.requireAll(sink.memory(), first, "READ that saw a mixture: the sink");
        return first;
    }

    @Test
    @ConformanceCase(
            number = 200,
            title = "READs that race swaps see one memory or the other, never a mixture",
            source = "MemoryRegion.swap; Trivedi et al., lazily pinned regions with a key per item")
    void shouldSeeOneOrTheOtherWhenReadsRaceSwaps(TwoNodes nodes) {
        nodes.require(Feature.REGION_SWAP);
        MemoryRegion first = readable(nodes.responder(), LONG_BYTES);
        MemoryRegion second = readable(nodes.responder(), LONG_BYTES);
        first.memory().fill((byte) 1);
        second.memory().fill((byte) 2);
        MemoryRegion sink = nodes.requester().region(LONG_BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicBoolean begun = new AtomicBoolean();
        Task<Integer> swapper = nodes.start("swap", () -> {
            int swaps = 0;
            while (!stop.get()) {
                first.swap(second);
                swaps++;
                begun.set(true);
                nodes.spin(200);
            }
            return swaps;
        });
        int ones = 0;
        int reads = nodes.times(1500);
        try {
            nodes.await("the first swap", () -> begun.get() || swapper.isDone());
            for (int i = 0; i < reads; i++) {
                byte seen = firstByteRead(pair, sink, i % 2 == 0 ? first : second);
                assertTrue(seen == 1 || seen == 2, "READ " + i + " saw " + seen);
                ones += seen == 1 ? 1 : 0;
            }
        } finally {
            stop.set(true);
        }
        int swaps = swapper.get();
        assertTrue(swaps > 0, "no swap was done");
        assertTrue(reads < 500 || (ones > 0 && ones < reads), ones + " of " + reads + " READs saw the first memory");
        byte before = firstByteRead(pair, sink, first);
        assertEquals(swaps % 2 == 0 ? 1 : 2, before, "after " + swaps + " swaps");
        first.swap(second);
        assertEquals(3 - before, firstByteRead(pair, sink, first), "first key, a swap later");
        assertEquals(before, firstByteRead(pair, sink, second), "second key, a swap later");
    }

    @Test
    @ConformanceCase(
            number = 201,
            title = "swap of regions of different length, rights or domain, or not ZERO_BASED, is refused",
            source = "MemoryRegion.swap")
    void shouldRefuseToSwapWhenRegionsDiffer(TwoNodes nodes) {
        nodes.require(Feature.REGION_SWAP);
        Node responder = nodes.responder();
        MemoryRegion region = readable(responder, BYTES);
        region.memory().fill((byte) 1);
        MemoryRegion shorter = readable(responder, BYTES - 1);
        MemoryRegion writable = responder.region(
                BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED);
        MemoryRegion plain = responder.region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion plainToo = responder.region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion foreign = responder.register(
                responder.otherDomain(), responder.memory(BYTES), AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
        for (MemoryRegion other : new MemoryRegion[] {shorter, writable, plain, foreign}) {
            assertThrows(IllegalArgumentException.class, () -> region.swap(other), "swap with " + other.access());
            assertThrows(IllegalArgumentException.class, () -> other.swap(region), "swap of " + other.access());
        }
        assertThrows(IllegalArgumentException.class, () -> plain.swap(plainToo), "swap of two plain regions");
        MemoryRegion closed = readable(responder, BYTES);
        closed.close();
        assertThrows(IllegalStateException.class, () -> region.swap(closed), "swap with a closed region");
        assertThrows(IllegalStateException.class, () -> closed.swap(region), "swap of a closed region");
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        assertEquals(1, firstByteRead(nodes.connect(), sink, region), "the region after refused swaps");
    }

    @Test
    @ConformanceCase(
            number = 202,
            title = "deregistering one of a swapped pair ends its key; the other key keeps its new memory",
            source = "MemoryRegion.swap, MemoryRegion.close")
    void shouldKeepTheOtherWhenOneOfASwappedPairIsDeregistered(TwoNodes nodes) {
        nodes.require(Feature.REGION_SWAP);
        MemoryRegion first = readable(nodes.responder(), BYTES);
        MemoryRegion second = readable(nodes.responder(), BYTES);
        first.memory().fill((byte) 1);
        second.memory().fill((byte) 2);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        first.swap(second);
        second.close();
        assertEquals(2, firstByteRead(pair, sink, first), "the key that stays names the other's memory");
        Refusals.expectReadRefused(
                nodes, nodes.connect(), 0, second.rkey(), BYTES, "READ with the key of the closed region");
        assertEquals(2, firstByteRead(pair, sink, first), "the key that stays, afterwards");
    }

    @Test
    @ConformanceCase(
            number = 203,
            title = "swap exchanges the memories and leaves keys, addresses and rights",
            source = "MemoryRegion.swap")
    void shouldExchangeOnlyTheMemoriesWhenSwapped(TwoNodes nodes) {
        nodes.require(Feature.REGION_SWAP);
        AccessFlag[] rights = {
            AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED
        };
        MemoryRegion first = nodes.responder().region(BYTES, rights);
        MemoryRegion second = nodes.responder().region(BYTES, rights);
        long firstMemory = first.memory().address();
        long secondMemory = second.memory().address();
        int rkey = first.rkey();
        int lkey = first.lkey();
        first.swap(second);
        assertEquals(secondMemory, first.memory().address());
        assertEquals(firstMemory, second.memory().address());
        assertEquals(rkey, first.rkey());
        assertEquals(lkey, first.lkey());
        assertEquals(0, first.address());
        assertEquals(BYTES, first.length());
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.requester().region(BYTES, pattern);
        LoopbackPair pair = nodes.connect();
        pair.requester().write(1, source, first);
        pair.requester().sends().expect(1, CompletionOpcode.WRITE, BYTES);
        pair.barrier();
        pattern.require(first.memory(), "WRITE by the first key, in what was the second memory");
        BytePattern.requireAll(second.memory(), (byte) 0, "the other memory");
        BytePattern otherPattern = nodes.pattern();
        MemoryRegion otherSource = nodes.requester().region(BYTES, otherPattern);
        pair.requester().write(4, otherSource, second);
        pair.requester().sends().expect(4, CompletionOpcode.WRITE, BYTES);
        pair.barrier();
        otherPattern.require(second.memory(), "WRITE by the second key, in what was the first memory");
        pattern.require(first.memory(), "the first key's memory afterwards");
        MemoryRegion inbox = nodes.requester().region(BYTES, AccessFlag.RECEIVE_SINK);
        pair.requester().receive(2, inbox, 0, BYTES);
        pair.responder().send(3, first, 0, BYTES);
        pair.responder().sends().expect(3, CompletionOpcode.SEND, BYTES);
        pair.requester().receives().expect(2, CompletionOpcode.RECEIVE, BYTES);
        pattern.require(inbox.memory(), "SEND by the first lkey");
        first.swap(second);
        assertEquals(firstMemory, first.memory().address());
    }

    @Test
    @ConformanceCase(
            number = 204,
            title = "allocated memory lives as long as a region names it, also after a swap",
            source = "HostMemory, MemoryRegion.swap")
    void shouldKeepMemoryAliveWhenARegionNamesItAfterASwap(TwoNodes nodes) {
        nodes.require(Feature.REGION_SWAP);
        HostMemory firstMemory = nodes.responder().deviceMemory(1 << 20);
        HostMemory secondMemory = nodes.responder().deviceMemory(1 << 20);
        firstMemory.segment().fill((byte) 1);
        secondMemory.segment().fill((byte) 2);
        MemoryRegion first =
                nodes.responder().register(firstMemory.segment(), AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
        MemoryRegion second =
                nodes.responder().register(secondMemory.segment(), AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
        first.swap(second);
        second.close(); // The closed region named the first memory.
        firstMemory.close();
        secondMemory.close();
        MemoryRegion sink = nodes.requester().region(1 << 20, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        assertEquals(2, firstByteRead(pair, sink, first), "memory closed by its owner, still named by a key");
        first.close();
    }

    @Test
    @ConformanceCase(
            number = 205,
            title = "without the feature swap is refused, and changes nothing",
            source = "MemoryRegion.swap: NOT_SUPPORTED")
    void shouldRefuseToSwapWhenTheDeviceCannot(TwoNodes nodes) {
        nodes.require(
                !nodes.responder().device().capabilities().has(Feature.REGION_SWAP), "the device can swap regions");
        MemoryRegion first = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion second = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        first.memory().fill((byte) 1);
        Refusals.expectCode(VerbsErrorCode.NOT_SUPPORTED, () -> first.swap(second), "swap");
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        assertEquals(1, firstByteRead(nodes.connect(), sink, first));
    }
}
