package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.network.DatagramSettings;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Many senders on RoCEv2, and one receiver whose socket has room for a small part of what they want to send: every request ends with
 * a status, in order, its bytes are there if it has succeeded, and all of them come to their end.
 */
class RoceFanInTest {
    private static final long FIRST_SEED = Long.getLong("softrdma.roce.first-seed", 0);
    private static final boolean SHORT = Boolean.getBoolean("softrdma.slow.short");
    private static final int MANY_SEEDS = Integer.getInteger("softrdma.roce.seeds", SHORT ? 10 : 200);

    private static final int SENDERS = 32;
    private static final int PORT = 7471;
    private static final int REQUESTS = 6;
    private static final int IN_FLIGHT = 4;
    private static final int BYTES = 7_000;
    /** Of a socket: about one packet for each sender. */
    private static final int BUFFER = 32 * 1024;

    private static final long HELD_UP_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final Map<String, String> ROCE = Map.of("wire", "roce", "roce-timeout", "50", "roce-window", "0");
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(16, 16);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private static FabricSettings network(int losses) {
        DatagramSettings datagrams =
                new DatagramSettings(2048, BUFFER, losses, 5, 50, TimeUnit.MICROSECONDS.toNanos(200));
        return FabricSettings.DEFAULT.with(NetworkSettings.DEFAULT.with(datagrams));
    }

    /** A run by a seed. */
    private static final class Run {
        private final Fabric fabric;
        private final FabricNode receiver;
        private final Random random;
        private final byte[] bytes = new byte[REQUESTS * BYTES];
        private final List<MemoryRegion> inboxes = new ArrayList<>();
        private final Owned owned = new Owned();
        private int connected;
        private int succeeded;
        private int failed;
        private long sent;
        private long again;
        private long received;

        Run(long seed) {
            fabric = new Fabric(seed, network((int) (seed % 3) * 5));
            receiver = fabric.node("receiver");
            random = new Random(seed);
            random.nextBytes(bytes);
        }

        void run() {
            fabric.run(receiver, () -> {
                try (owned) {
                    receive();
                }
            });
        }

        private void receive() {
            VerbsDevice device = owned.add(receiver.open(ROCE));
            ProtectionDomain domain = owned.add(device.allocateProtectionDomain());
            CompletionQueue queue = owned.add(device.createCompletionQueue(64));
            Listener listener = owned.add(device.listen(new InetSocketAddress(receiver.address(), PORT), SENDERS));
            List<SimulatedThread> sending = new ArrayList<>();
            for (int i = 0; i < SENDERS; i++) {
                Set<AccessFlag> rights = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
                inboxes.add(owned.add(domain.register(
                        owned.add(device.allocateMemory(bytes.length)).segment(), rights)));
                int number = i;
                FabricNode node = fabric.node("sender" + i);
                sending.add(node.start("send", () -> send(node, number)));
            }
            for (int i = 0; i < SENDERS; i++) {
                ConnectionRequest request = owned.add(listener.next(PATIENCE_NS).orElseThrow());
                owned.add(request.createQueuePair(domain, new QueuePairAttributes(queue, queue, LIMITS, false)));
                request.accept(ConnectionParameters.ofReads(1));
            }
            SimulatedThread holding = fabric.node("elsewhere").start("hold up", () -> {
                while (!sending.stream().allMatch(SimulatedThread::isEnded)) {
                    receiver.pause(HELD_UP_NS); // what arrives meanwhile finds room, or is lost
                    assertFalse(fabric.scheduler().until(() -> false, 2 * HELD_UP_NS));
                }
            });
            assertTrue(
                    fabric.scheduler().until(() -> sending.stream().allMatch(SimulatedThread::isEnded), PATIENCE_NS),
                    "not all senders come to their end");
            assertTrue(fabric.scheduler().until(holding::isEnded, PATIENCE_NS));
            received = counter(device, "packetsReceived");
        }

        private void send(FabricNode node, int number) {
            MemoryRegion inbox = inboxes.get(number);
            try (Owned own = new Owned()) {
                VerbsDevice device = own.add(node.open(ROCE));
                ProtectionDomain domain = own.add(device.allocateProtectionDomain());
                CompletionQueue queue = own.add(device.createCompletionQueue(64));
                Connector connector =
                        own.add(device.resolve(new InetSocketAddress(receiver.address(), PORT), PATIENCE_NS));
                QueuePair pair =
                        connector.createQueuePair(domain, new QueuePairAttributes(queue, queue, LIMITS, false));
                own.add(pair);
                connector.connect(ConnectionParameters.ofReads(1), PATIENCE_NS);
                MemoryRegion outbox = own.add(domain.register(
                        own.add(device.allocateMemory(bytes.length)).segment(), EnumSet.of(AccessFlag.LOCAL_WRITE)));
                MemorySegment.copy(MemorySegment.ofArray(bytes), 0, outbox.memory(), 0, bytes.length);
                connected++;
                assertTrue(fabric.scheduler().until(() -> connected == SENDERS, PATIENCE_NS)); // they begin together
                send(pair, queue, outbox, inbox);
                sent += counter(device, "packetsSent");
                again += counter(device, "retransmitted");
            }
        }

        private static long counter(VerbsDevice device, String name) {
            return Objects.requireNonNull(device.counters().get("roce." + name), name);
        }

        private void send(QueuePair pair, CompletionQueue queue, MemoryRegion outbox, MemoryRegion inbox) {
            WorkCompletion[] one = WorkCompletion.array(1);
            long endNs = fabric.clock().nanoTime() + PATIENCE_NS;
            int posted = 0;
            for (int done = 0; done < REQUESTS; ) {
                while (posted < REQUESTS && posted - done < IN_FLIGHT) {
                    long at = (long) posted * BYTES;
                    PostStatus status = pair.postWrite(
                            posted, outbox, at, BYTES, inbox.address() + at, inbox.rkey(), SendFlags.SIGNALLED);
                    assertEquals(PostStatus.ACCEPTED, status);
                    posted++;
                }
                assertTrue(fabric.clock().nanoTime() < endNs, "a request has no status");
                if (queue.poll(one) > 0) {
                    check(one[0], done, inbox);
                    done++;
                }
            }
        }

        private void check(WorkCompletion completion, int expected, MemoryRegion inbox) {
            assertEquals(expected, completion.wrId());
            if (completion.isSuccess()) {
                succeeded++;
                long at = (long) expected * BYTES;
                assertEquals(
                        -1,
                        MemorySegment.ofArray(bytes)
                                .asSlice(at, BYTES)
                                .mismatch(inbox.memory().asSlice(at, BYTES)));
            } else {
                failed++;
                assertTrue(
                        completion.status() == CompletionStatus.RETRY_EXCEEDED_ERROR
                                || completion.status() == CompletionStatus.FLUSHED,
                        completion::toString);
            }
        }
    }

    private static void run(long first, long count) {
        long failed = 0;
        for (long seed = first; seed < first + count; seed++) {
            Run run = new Run(seed);
            try {
                run.run();
                assertEquals(SENDERS * REQUESTS, run.succeeded + run.failed);
                assertTrue(
                        run.again > 0,
                        () -> "nothing was lost: " + run.sent + " packets sent, " + run.received + " received");
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
            System.out.println("seed " + seed + ": " + run.succeeded + " WRITEs have succeeded, " + run.failed
                    + " have not; of " + run.sent + " packets " + run.received + " have arrived, " + run.again
                    + " were sent again");
            failed += run.failed;
        }
        assertEquals(0, failed, "the senders are all there, and in time");
    }

    @Test
    void shouldEndEveryRequestWhenThirtyTwoSendersOverwhelmAReceiver() {
        run(FIRST_SEED, 1);
    }

    @Tag("slow")
    @Test
    void shouldEndEveryRequestByManySeeds() {
        run(FIRST_SEED + 1, MANY_SEEDS);
    }
}
