package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.CompletionReader;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** Devices and protection domains: opening, limits, and what closing refuses. */
@ExtendWith(TwoNodesExtension.class)
public final class DeviceCases {
    private static final int THREADS = 16;
    private static final int PAGE_BYTES = 4096;

    /** Made by JUnit. */
    public DeviceCases() {}

    @Test
    @ConformanceCase(
            number = 1,
            title = "a device opened twice reports the same capabilities, every limit positive",
            source = "rdma-unit-test DeviceTest.OpenMultipleContext, QueryDevice; ibv_query_device(3)")
    void shouldReportSameCapabilitiesWhenOpenedTwice(TwoNodes nodes) {
        Capabilities first = nodes.requester().device().capabilities();
        VerbsDevice second = nodes.own(nodes.provider().open(nodes.settings().requesterOptions()));
        assertEquals(first, second.capabilities());
        assertEquals(nodes.settings().bareProvider(), first.provider());
        assertTrue(first.maxSendWorkRequests() > 0, first.toString());
        assertTrue(first.maxReceiveWorkRequests() > 0, first.toString());
        assertTrue(first.maxScatterGather() > 0, first.toString());
        assertTrue(first.maxScatterGatherRead() > 0, first.toString());
        assertTrue(first.maxInline() >= 0, first.toString());
        assertTrue(first.maxCompletionQueueEntries() > 0, first.toString());
        assertTrue(first.maxMemoryRegions() > 0, first.toString());
        assertTrue(first.maxRegionLength() > 0, first.toString());
        assertTrue(first.maxMessageLength() > 0, first.toString());
        assertTrue(first.maxOutboundReads() > 0, first.toString());
        assertTrue(first.maxInboundReads() > 0, first.toString());
        assertTrue(first.maxPrivateData() >= 0, first.toString());
        assertTrue(first.completionVectors() > 0, first.toString());
    }

    @Test
    @ConformanceCase(
            number = 2,
            title = "sixteen threads open, query and close devices",
            source = "rdma-unit-test DeviceTest.OpenInAnotherThread, OpenInManyThreads; ibv_open_device(3)")
    void shouldOpenAndCloseWhenManyThreadsDoSo(TwoNodes nodes) {
        Capabilities expected = nodes.requester().device().capabilities();
        int rounds = nodes.times(3);
        List<Task<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            tasks.add(nodes.start("open-" + i, () -> {
                int same = 0;
                for (int round = 0; round < rounds; round++) {
                    VerbsDevice device = nodes.provider().open(nodes.settings().requesterOptions());
                    try {
                        ProtectionDomain domain = device.allocateProtectionDomain();
                        same += device.capabilities().equals(expected) ? 1 : 0;
                        domain.close();
                    } finally {
                        device.close();
                    }
                }
                return same;
            }));
        }
        for (Task<Integer> task : tasks) {
            assertEquals(rounds, task.get());
        }
    }

    @Test
    @ConformanceCase(
            number = 3,
            title = "a thousand domains come and go; a closed one refuses work, and closing it again is harmless",
            source = "rdma-unit-test PdTest.OpenPd, DeleteInvalidPd; ibv_alloc_pd(3)")
    void shouldRefuseWorkWhenDomainIsClosed(TwoNodes nodes) {
        VerbsDevice device = nodes.requester().device();
        for (int i = 0; i < nodes.times(1000); i++) {
            ProtectionDomain domain = device.allocateProtectionDomain();
            domain.close();
        }
        ProtectionDomain closed = device.allocateProtectionDomain();
        closed.close();
        closed.close();
        MemorySegment memory = nodes.requester().memory(64);
        assertThrows(IllegalStateException.class, () -> closed.register(memory, Set.of(AccessFlag.LOCAL_WRITE)));
    }

    @Test
    @ConformanceCase(
            number = 4,
            title = "a domain with a queue pair or a region refuses to close, and closes once they are gone",
            source = "rdma-unit-test PdTest.DeleteWithMr, DeleteWithQp; ibv_dealloc_pd(3) EBUSY")
    void shouldRefuseToCloseDomainWhenItHasChildren(TwoNodes nodes) {
        ProtectionDomain domain = nodes.requester().otherDomain();
        MemoryRegion region =
                nodes.requester().register(domain, nodes.requester().memory(64));
        Refusals.expectBusy(domain::close, "closing a domain with a region");
        region.close();
        CompletionQueue queue = nodes.requester().completions(8).queue();
        Connector connector =
                nodes.own(nodes.requester().device().resolve(nodes.responderAddress(), nodes.timeoutNs()));
        QueuePair queuePair =
                nodes.own(connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(4, 4))));
        Refusals.expectBusy(domain::close, "closing a domain with a queue pair");
        queuePair.close();
        domain.close();
    }

    @Test
    @ConformanceCase(
            number = 5,
            title = "neither a region nor a queue pair can be created on a closed domain",
            source = "rdma-unit-test MrTest.RegisterBadPd, QpTest.CreateWithInvalidPd; ibv_reg_mr(3)")
    void shouldCreateNothingWhenDomainIsClosed(TwoNodes nodes) {
        ProtectionDomain closed = nodes.requester().otherDomain();
        closed.close();
        MemorySegment memory = nodes.requester().memory(64);
        assertThrows(IllegalStateException.class, () -> closed.register(memory, Set.of(AccessFlag.REMOTE_READ)));
        CompletionReader completions = nodes.requester().completions(8);
        Connector connector =
                nodes.own(nodes.requester().device().resolve(nodes.responderAddress(), nodes.timeoutNs()));
        QueuePairAttributes attributes = QueuePairAttributes.of(completions.queue(), QueuePairLimits.of(4, 4));
        RuntimeException refused =
                assertThrows(RuntimeException.class, () -> connector.createQueuePair(closed, attributes));
        assertTrue(
                refused instanceof IllegalStateException || refused instanceof IllegalArgumentException,
                "expected a caller's mistake, got " + refused);
        completions.close(); // Would be refused if a queue pair had been created on it.
    }

    @Test
    @ConformanceCase(
            number = 220,
            title = "a device with a domain, a channel, a completion queue or a listener refuses to close",
            source = "ibv_close_device(3): does not release what was made with it")
    void shouldRefuseToCloseDeviceWhenItHasChildren(TwoNodes nodes) {
        VerbsDevice device =
                nodes.own(nodes.responderProvider().open(nodes.settings().responderOptions()));
        ProtectionDomain domain = device.allocateProtectionDomain();
        Refusals.expectBusy(device::close, "closing a device with a domain");
        CompletionChannel channel = device.createCompletionChannel();
        domain.close();
        Refusals.expectBusy(device::close, "closing a device with a channel");
        CompletionQueue queue = device.createCompletionQueue(4);
        channel.close();
        Refusals.expectBusy(device::close, "closing a device with a completion queue");
        var listener =
                device.listen(new java.net.InetSocketAddress(nodes.settings().address(), 0), 1);
        queue.close();
        Refusals.expectBusy(device::close, "closing a device with a listener");
        listener.close();
        device.close();
        device.close();
        assertThrows(IllegalStateException.class, device::allocateProtectionDomain);
    }

    @Test
    @ConformanceCase(number = 221, title = "an unknown device option is refused by name", source = "VerbsProvider.open")
    void shouldNameTheOptionWhenItIsUnknown(TwoNodes nodes) {
        String unknown = "noSuchOption";
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> nodes.provider().open(Map.of(unknown, "1")));
        assertTrue(String.valueOf(refused.getMessage()).contains(unknown), "message: " + refused.getMessage());
        assertTrue(
                nodes.provider()
                        .options()
                        .keySet()
                        .containsAll(nodes.settings().requesterOptions().keySet()),
                "options() lists what open() takes: "
                        + nodes.provider().options().keySet());
    }

    @Test
    @ConformanceCase(
            number = 222,
            title = "allocated memory is zeroed, page-aligned and has the requested length",
            source = "VerbsDevice.allocate; posix_memalign(3)")
    void shouldGiveZeroedAlignedMemoryWhenAllocating(TwoNodes nodes) {
        VerbsDevice device = nodes.requester().device();
        for (long length : new long[] {1, 100, PAGE_BYTES, PAGE_BYTES + 1, 1 << 20}) {
            HostMemory used = device.allocateMemory(length);
            used.segment().fill(BytePattern.POISON);
            used.close();
            used.close();
            MemorySegment memory = nodes.own(device.allocateMemory(length)).segment();
            assertEquals(length, memory.byteSize());
            assertEquals(0, memory.address() % PAGE_BYTES, "address of " + length + " bytes");
            BytePattern.requireAll(memory, (byte) 0, "fresh memory of " + length + " bytes");
        }
        assertThrows(IllegalArgumentException.class, () -> device.allocateMemory(0));
        assertThrows(IllegalArgumentException.class, () -> device.allocateMemory(-1));
    }

    @Test
    @ConformanceCase(
            number = 223,
            title = "the responder's counters count the peer's READs, WRITEs and SENDs and their bytes",
            source = "VerbsDevice.counters")
    void shouldCountAtTheResponderWhenPeersReadWriteAndSend(TwoNodes nodes) {
        VerbsDevice device = nodes.responder().device();
        Set<String> names = Set.of(
                "responderReads", "responderReadBytes", "responderWrites", "responderWriteBytes", "responderSends");
        nodes.require(device.counters().keySet().containsAll(names), "the device has no such counters");
        int length = 1000;
        LoopbackPair pair = nodes.connect();
        MemoryRegion local = nodes.requester().region(length, AccessFlag.READ_SINK);
        MemoryRegion remote = nodes.responder()
                .region(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        Map<String, Long> before = device.counters();
        pair.responder().receive(9, remote, 0, length);
        pair.requester().write(1, local, remote);
        pair.requester().send(2, local, 0, length);
        pair.requester().read(3, local, remote);
        pair.requester().read(4, local, remote);
        pair.requester().sends().expect(1, CompletionOpcode.WRITE, length);
        pair.requester().sends().expect(2, CompletionOpcode.SEND, length);
        pair.requester().sends().expect(3, CompletionOpcode.READ, length);
        pair.requester().sends().expect(4, CompletionOpcode.READ, length);
        pair.responder().receives().expect(9, CompletionOpcode.RECEIVE, length);
        Map<String, Long> expected = Map.of(
                "responderReads", 2L,
                "responderReadBytes", 2L * length,
                "responderWrites", 1L,
                "responderWriteBytes", (long) length,
                "responderSends", 1L);
        nodes.await("the counters to rise by " + expected + " from " + before, () -> {
            Map<String, Long> now = device.counters();
            return expected.entrySet().stream()
                    .allMatch(entry -> now.getOrDefault(entry.getKey(), 0L)
                            == before.getOrDefault(entry.getKey(), 0L) + entry.getValue());
        });
    }

    @Test
    @ConformanceCase(
            number = 224,
            title = "a region still works while other domains, queues and devices around it come and go",
            source = "rdma-unit-test DeviceTest; IBTA 10.2")
    void shouldKeepWorkingWhenOtherObjectsComeAndGo(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(PAGE_BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(PAGE_BYTES, AccessFlag.READ_SINK);
        for (int i = 0; i < nodes.times(20); i++) {
            VerbsDevice device = nodes.responderProvider().open(nodes.settings().responderOptions());
            ProtectionDomain domain = device.allocateProtectionDomain();
            HostMemory memory = device.allocateMemory(PAGE_BYTES);
            MemoryRegion region = domain.register(memory.segment(), Set.of(AccessFlag.REMOTE_READ));
            sink.memory().fill((byte) 0);
            pair.requester().read(i, sink, source);
            region.close();
            memory.close();
            domain.close();
            try {
                device.close();
            } catch (VerbsException e) {
                throw new AssertionError("device with nothing open refuses to close", e);
            }
            pair.requester().sends().expect(i, CompletionOpcode.READ, PAGE_BYTES);
            pattern.require(sink.memory(), "READ " + i);
        }
    }
}
