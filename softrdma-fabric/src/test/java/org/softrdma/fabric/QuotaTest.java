package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Resource;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** A node that has no more of something: what the application sees. */
class QuotaTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final Set<AccessFlag> LOCAL = Set.of(AccessFlag.LOCAL_WRITE);
    private static final int PAGE = 4096;

    private interface Body {
        void run(VerbsDevice device, ProtectionDomain domain);
    }

    private static void onNode(FaultPlan plan, Map<String, String> options, Body body) {
        Fabric fabric = new Fabric(1, FabricSettings.DEFAULT.with(plan));
        FabricNode node = fabric.node("node");
        fabric.run(node, () -> {
            try (VerbsDevice device = node.open(options);
                    ProtectionDomain domain = device.allocateProtectionDomain()) {
                body.run(device, domain);
            }
        });
    }

    private static FaultPlan most(Resource resource, long most) {
        return FaultPlan.NONE.and(new When.AtTime(0), new What.Quota("node", resource, most));
    }

    private static String requireNoResources(Executable call) {
        VerbsException refusal = assertThrows(VerbsException.class, call);
        assertEquals(VerbsErrorCode.NO_RESOURCES, refusal.code());
        return String.valueOf(refusal.getMessage());
    }

    @Test
    void shouldRefuseARegionTooManyAndGrantItWhenOneIsGone() {
        onNode(most(Resource.MEMORY_REGIONS, 2), Map.of(), (device, domain) -> {
            try (HostMemory memory = device.allocateMemory(PAGE);
                    MemoryRegion first = domain.register(memory.segment(), LOCAL)) {
                MemoryRegion second = domain.register(memory.segment(), LOCAL);
                String reason = requireNoResources(() -> domain.register(memory.segment(), LOCAL));
                assertTrue(reason.contains("node node") && reason.contains("quota is 2"), reason);

                second.close();
                domain.register(memory.segment(), LOCAL).close();
                assertEquals(PAGE, first.length());
            }
        });
    }

    @Test
    void shouldNotCountARegistrationThatFailed() {
        onNode(most(Resource.MEMORY_REGIONS, 1), Map.of(), (device, domain) -> {
            HostMemory gone = device.allocateMemory(PAGE);
            MemorySegment segment = gone.segment();
            gone.close();
            assertThrows(IllegalStateException.class, () -> domain.register(segment, LOCAL));

            try (HostMemory memory = device.allocateMemory(PAGE)) {
                domain.register(memory.segment(), LOCAL).close();
            }
        });
    }

    @Test
    void shouldRefuseAQueuePairTooManyAndGrantItWhenOneIsGone() {
        onNode(most(Resource.QUEUE_PAIRS, 1), Map.of(), (device, domain) -> {
            InetSocketAddress nobody = new InetSocketAddress("10.0.0.1", 1);
            try (CompletionQueue queue = device.createCompletionQueue(16);
                    Connector one = device.resolve(nobody, SECOND_NS);
                    Connector other = device.resolve(nobody, SECOND_NS)) {
                QueuePairAttributes attributes = QueuePairAttributes.of(queue, QueuePairLimits.of(4, 4));
                QueuePair first = one.createQueuePair(domain, attributes);
                requireNoResources(() -> other.createQueuePair(domain, attributes));

                first.close();
                other.createQueuePair(domain, attributes).close();
            }
        });
    }

    @Test
    void shouldRefuseAnEagerRegionThatIsMoreThanMayBeLocked() {
        onNode(most(Resource.LOCKED_BYTES, 4 * PAGE), Map.of("pinning", "eager"), (device, domain) -> {
            try (HostMemory memory = device.allocateMemory(3 * PAGE);
                    HostMemory more = device.allocateMemory(2 * PAGE);
                    HostMemory little = device.allocateMemory(PAGE)) {
                MemoryRegion first = domain.register(memory.segment(), LOCAL);
                String reason = requireNoResources(() -> domain.register(more.segment(), LOCAL));
                assertTrue(reason.contains("RLIMIT_MEMLOCK is 16384 bytes, 12288 bytes are locked"), reason);

                domain.register(little.segment(), LOCAL).close();
                first.close();
                domain.register(more.segment(), LOCAL).close();
            }
        });
    }

    /** Lazily pinned regions go on without: docs/design/pinning.md. */
    @Test
    void shouldUseLazyRegionsUnpinnedWhereNothingMoreMayBeLocked() {
        Links.run(1, FaultPlan.NONE, 1, Map.of("pinning", "lazy"), links -> {
            links.server().limit(Resource.LOCKED_BYTES, 0);
            assertEquals(CompletionStatus.SUCCESS, links.write(0, 1, 0));
            assertEquals(CompletionStatus.SUCCESS, links.read(0, 2));
            assertEquals(1, links.written());
            assertTrue(links.serverDevice().pinningCounters().unpinnedAccesses() > 0);
        });
    }
}
