package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/**
 * The application closes the region of its own work requests while the engine is at them: the request that the engine looks at
 * next fails with LOCAL_PROTECTION_ERROR, at whatever moment of its work that was, and the engine takes no harm.
 */
class LocalDeregistrationTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 2_026L);
    /** More of them for a mutant that is met now and then: it ends when it has been met. */
    private static final int FAST_ROUNDS = Integer.getInteger("softrdma.test.stress.rounds", 400);

    private static final int SLOW_ROUNDS = Boolean.getBoolean("softrdma.slow.short") ? 4_000 : 20_000;
    private static final int OUTSTANDING = 16;
    private static final int LENGTH = 8192;
    private static final int LONGEST_TRAFFIC_NS = 500_000;

    @ParameterizedTest
    @EnumSource(names = {"READ", "WRITE"})
    void shouldFailTheRequestWhoseRegionIsClosed(SendOpcode opcode) throws Exception {
        run(opcode, FAST_ROUNDS);
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource(names = {"READ", "WRITE"})
    void shouldFailTheRequestWhoseRegionIsClosedManyTimes(SendOpcode opcode) throws Exception {
        run(opcode, SLOW_ROUNDS);
    }

    private static void run(SendOpcode opcode, int rounds) throws Exception {
        Random random = new Random(SEED);
        try (TestDevice server = new TestDevice();
                TestDevice client = new TestDevice("linger-timeout", "100")) {
            MemoryRegion remote = server.own(server.domain()
                    .register(
                            server.memory(LENGTH),
                            Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)));
            MemorySegment local = client.memory(LENGTH * OUTSTANDING);
            for (int round = 0; round < rounds; round++) {
                String how = opcode + ", round " + round + ", seed " + SEED + " (-Dsoftrdma.test.seed)";
                closeUnderTraffic(server, client, opcode, local, remote, random.nextInt(LONGEST_TRAFFIC_NS), how);
            }
            assertEquals(0, client.counter("engineFaults"));
            assertEquals(0, client.counter("protocolErrors"));
            assertEquals(0, server.counter("engineFaults"));
        }
    }

    private static void closeUnderTraffic(
            TestDevice server,
            TestDevice client,
            SendOpcode opcode,
            MemorySegment memory,
            MemoryRegion remote,
            int trafficNs,
            String how)
            throws Exception {
        Connector connector = client.device().resolve(server.address(), TestDevice.DEADLINE_NS);
        CompletableFuture<QueuePair> accepting = CompletableFuture.supplyAsync(() -> {
            var request = server.request();
            QueuePair pair = request.createQueuePair(
                    server.domain(), QueuePairAttributes.of(server.queue(), QueuePairLimits.of(1, 1)));
            request.accept(ConnectionParameters.DEFAULT);
            return pair;
        });
        try (CompletionQueue queue = client.device().createCompletionQueue(64);
                QueuePair pair = connector.createQueuePair(
                        client.domain(), QueuePairAttributes.of(queue, QueuePairLimits.of(OUTSTANDING, 1)))) {
            connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS);
            WorkCompletion[] completions = WorkCompletion.array(OUTSTANDING);
            int posted = 0;
            int ended = 0;
            try (MemoryRegion region = client.domain().register(memory, Set.of(AccessFlag.READ_SINK))) {
                long startNs = System.nanoTime();
                while (System.nanoTime() - startNs < trafficNs) {
                    for (; posted - ended < OUTSTANDING; posted++) {
                        assertEquals(PostStatus.ACCEPTED, post(pair, opcode, posted, region, remote), how);
                    }
                    ended += queue.poll(completions);
                }
            }
            CompletionStatus[] first = {null};
            int[] left = {posted - ended};
            TestDevice.await(() -> left[0] + " completions, " + how, () -> {
                int polled = queue.poll(completions);
                for (int i = 0; i < polled; i++) {
                    if (first[0] == null && !completions[i].isSuccess()) {
                        first[0] = completions[i].status();
                    }
                }
                left[0] -= polled;
                return left[0] == 0;
            });
            if (first[0] != null) {
                assertEquals(CompletionStatus.LOCAL_PROTECTION_ERROR, first[0], how);
            }
        } finally {
            accepting.get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS).close();
        }
    }

    private static PostStatus post(
            QueuePair pair, SendOpcode opcode, int wrId, MemoryRegion region, MemoryRegion remote) {
        long offset = (long) wrId % OUTSTANDING * LENGTH;
        return opcode == SendOpcode.READ
                ? pair.postRead(wrId, region, offset, LENGTH, remote.address(), remote.rkey(), SendFlags.SIGNALLED)
                : pair.postWrite(wrId, region, offset, LENGTH, remote.address(), remote.rkey(), SendFlags.SIGNALLED);
    }
}
