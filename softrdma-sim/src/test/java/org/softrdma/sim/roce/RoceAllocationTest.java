package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;

/** On RoCEv2, too, requests allocate nothing on the heap, on either side, but what the JDK does for calls to the kernel. */
@Timeout(120)
class RoceAllocationTest {
    private static final int WARM_UP = 10_000;
    private static final int ROUNDS = 30;
    private static final int MEASURED = 2_000;
    private static final int REQUESTS = 4;
    /**
     * sendmmsg(2) and recvmmsg(2) of both sides in an exchange, at most, and what the JDK makes for each call that keeps its
     * errno (SharedUtils.checkCaptureSegment), where the compiler does not do away with it.
     */
    private static final int CALLS = 12;

    private static final int CALL_BYTES = 40;
    private static final int BYTES = 6_000;
    private static final int DATAGRAM = 1_000;
    private static final int KEY = 0x2222;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final WorkCompletion[] one = WorkCompletion.array(1);

    @Test
    void shouldAllocateNothingForARequestOnEitherSide() {
        Set<Thread> others = Thread.getAllStackTraces().keySet();
        try (RoceEnds ends = new RoceEnds("epoll", Map.of(), Map.of("progress", "manual")).connect()) {
            long[] both = bothSides(others);
            QueuePair pair = ends.active.pair();
            QueuePair peer = ends.passive.pair();
            MemoryRegion local = ends.active.region;
            MemoryRegion remote = ends.passive.region;
            requireNoAllocation(both, () -> {
                pair.postFetchAndAdd(1, local, 0, remote.address(), remote.rkey(), 1, SendFlags.SIGNALLED);
                awaitOne(ends.active);
                pair.postWrite(2, local, 0, BYTES, remote.address(), remote.rkey(), SendFlags.SIGNALLED);
                awaitOne(ends.active);
                pair.postRead(3, local, 0, BYTES, remote.address(), remote.rkey(), SendFlags.SIGNALLED);
                awaitOne(ends.active);
                peer.postReceive(4, remote, BYTES, BYTES);
                pair.postSend(5, local, 0, BYTES, SendFlags.SIGNALLED);
                awaitOne(ends.active);
                awaitOne(ends.passive);
            });
        }
    }

    /** As a server of HERD has it: WRITEs of an unreliable connection come in, and datagrams go out. */
    @Test
    void shouldAllocateNothingForUnreliableMessagesOnEitherSide() {
        Set<Thread> others = Thread.getAllStackTraces().keySet();
        Map<String, String> here = Map.of("roce-address", "127.0.0.1");
        try (RoceEnds ends = new RoceEnds("epoll", here, Map.of("progress", "manual"));
                UnconnectedQueuePair pair = create(ends.active, QueuePairType.UNRELIABLE_CONNECTION);
                UnconnectedQueuePair peer = create(ends.passive, QueuePairType.UNRELIABLE_CONNECTION);
                UnconnectedQueuePair inbox = create(ends.active, QueuePairType.UNRELIABLE_DATAGRAM);
                UnconnectedQueuePair answers = create(ends.passive, QueuePairType.UNRELIABLE_DATAGRAM);
                AddressHandle host =
                        ends.passive.domain.createAddressHandle(inbox.address().host())) {
            long[] both = bothSides(others);
            pair.connect(peer.address(), 0, 0);
            peer.connect(pair.address(), 0, 0);
            MemoryRegion local = ends.active.region;
            MemoryRegion remote = ends.passive.region;
            int number = inbox.number();
            requireNoAllocation(both, () -> {
                peer.postReceive(1, remote, BYTES, BYTES);
                pair.postWriteImmediate(2, local, 0, BYTES, remote.address(), remote.rkey(), 7, SendFlags.SIGNALLED);
                awaitOne(ends.active);
                awaitOne(ends.passive);
                inbox.postReceive(3, local, BYTES, BYTES);
                answers.postSendTo(4, remote, 0, DATAGRAM, host, number, KEY, SendFlags.SIGNALLED);
                awaitOne(ends.passive);
                awaitOne(ends.active);
            });
        }
    }

    private static UnconnectedQueuePair create(RoceEnds.Side side, QueuePairType type) {
        return side.domain.createQueuePair(side.attributes().withDatagrams(KEY).withType(type));
    }

    /** The test's own thread, which drives the active side, and those that the devices have started. */
    private static long[] bothSides(Set<Thread> others) {
        return Stream.concat(
                        Stream.of(Thread.currentThread()),
                        Thread.getAllStackTraces().keySet().stream().filter(thread -> !others.contains(thread)))
                .mapToLong(Thread::threadId)
                .toArray();
    }

    private long allocated(long[] ids) {
        return LongStream.of(threads.getThreadAllocatedBytes(ids)).sum();
    }

    /** In one round at least, less than a byte for each request beside the calls: the compiler has to be through. */
    private void requireNoAllocation(long[] both, Runnable exchange) {
        for (int i = 0; i < WARM_UP; i++) {
            exchange.run();
        }
        long most = (long) (REQUESTS + CALLS * CALL_BYTES) * MEASURED;
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS && least >= most; round++) {
            long before = allocated(both);
            for (int i = 0; i < MEASURED; i++) {
                exchange.run();
            }
            least = Math.min(least, allocated(both) - before);
        }
        assertTrue(least < most, least + " bytes for " + MEASURED + " exchanges of " + REQUESTS + " requests");
    }

    private void awaitOne(RoceEnds.Side side) {
        long startNs = System.nanoTime();
        while (side.queue.poll(one, 1) == 0) {
            if (System.nanoTime() - startNs > RoceEnds.DEADLINE_NS) {
                throw new AssertionError("no completion");
            }
            Thread.yield(); // the other side may wait for this core
        }
        if (!one[0].isSuccess()) { // no lambda for a message: it may be an allocation
            throw new AssertionError(one[0].toString());
        }
    }
}
