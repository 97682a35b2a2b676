package org.softrdma.kv.server.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.memcached.TextDecoder;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.store.ArenaSource;
import org.softrdma.kv.store.ItemArena;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.kv.store.PinnedItem;
import org.softrdma.kv.store.SlabAllocator;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** The agents of the RDMA port, stepped by the test. */
class RdmaSessionsTest {
    private static final int MIB = 1 << 20;
    private static final int SLOT = 64;
    private static final int RECEIVES = 2 * AnswerRing.ANSWERS + 4;
    private static final long NOW = 1_000_000;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);

    private final CloseStack owned = new CloseStack();
    private final VerbsDevice device = owned.add(new SoftRdmaProvider().open(Map.of()));
    private final ProtectionDomain domain = owned.add(device.allocateProtectionDomain());
    private final CompletionChannel channel = owned.add(device.createCompletionChannel());
    private final Listener listener =
            owned.add(device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1));
    private final RdmaService service = new RdmaService(
            store(),
            new RdmaSettings(
                    List.of(InetAddress.getLoopbackAddress()), 0, false, 10, DEADLINE_NS, DEADLINE_NS, new Random(1)),
            () -> NOW,
            SystemNanoClock.INSTANCE,
            new RdmaCounters());
    private final Admission admission = new Admission(service, device);

    /** Polls one completion at a time, so that a step is short. */
    private final RdmaSessions sessions = new RdmaSessions(service, admission, channel, 1);

    private final QueuePairAcceptor acceptor =
            new QueuePairAcceptor(service, new RdmaResources(device, domain, channel), admission, sessions, listener);
    private final CompletionQueue clientCompletions = owned.add(device.createCompletionQueue(2 * RECEIVES));
    private final MemoryRegion clientMemory = owned.add(domain.register(
            owned.add(device.allocateMemory((long) (RECEIVES + 1) * SLOT)).segment(),
            Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)));

    private static ItemStore store() {
        ArenaSource noArenas = new ArenaSource() {
            @Override
            public ItemArena create(long length) {
                throw new IllegalStateException("nothing is stored");
            }

            @Override
            public long address(long first) {
                return UNKNOWN;
            }
        };
        return new ItemStore(new SlabAllocator(new SlabGeometry(1.25, 48, MIB), noArenas, MIB), 1, true);
    }

    @AfterEach
    void close() {
        sessions.onClose();
        owned.close();
    }

    /** All completions are there before the first step, so that no further event comes. */
    @Test
    void shouldComeBackToASessionThatHasMoreThanOneStepHandles() {
        RdmaClient client = new RdmaClient(() -> null);
        String token = admission.tokens().give(client, service.nowNs());
        CompletableFuture<QueuePair> connected = CompletableFuture.supplyAsync(() -> connect(token));
        step(() -> sessions.size() == 1);
        QueuePair queuePair = owned.add(connected.join());
        HelloDescriptor.write(clientMemory.memory(), (long) RECEIVES * SLOT, token);
        queuePair.postSend(RECEIVES, clientMemory, (long) RECEIVES * SLOT, HelloDescriptor.LENGTH, SendFlags.SIGNALLED);
        step(() -> service.counters().boundQueuePairs.get() == 1);
        awaitCompletions(2); // the hello was sent, and answered
        AnswerRing answers = client.answers();
        assertNotNull(answers);
        step(() -> sessions.doWork(0) == 0); // the answer to the hello is completed
        fill(answers);
        awaitCompletions(AnswerRing.ANSWERS);
        step(() -> !answers.isStalled(service.nowNs(), Long.MIN_VALUE)); // none is in the ring any more
        fill(answers);
    }

    private void fill(AnswerRing answers) {
        for (int i = 0; i < AnswerRing.ANSWERS; i++) {
            assertEquals(AnswerRing.Status.POSTED, answers.answer(PinnedItem.NONE, rget(), NOW, () -> {}));
        }
        assertEquals(AnswerRing.Status.FULL, answers.answer(PinnedItem.NONE, rget(), NOW, () -> {}));
    }

    private static TextRequest rget() {
        TextDecoder decoder = new TextDecoder();
        decoder.next(ByteBuffer.wrap("rget nokey 1 0 0 7\r\n".getBytes(StandardCharsets.US_ASCII)));
        return decoder.request();
    }

    private QueuePair connect(String token) {
        try (Connector connector = device.resolve(listener.localAddress(), DEADLINE_NS)) {
            QueuePair made = connector.createQueuePair(
                    domain, QueuePairAttributes.of(clientCompletions, QueuePairLimits.of(2, RECEIVES)));
            for (int i = 0; i < RECEIVES; i++) {
                made.postReceive(i, clientMemory, (long) i * SLOT, SLOT);
            }
            connector.connect(new ConnectionParameters(1, 1, HelloDescriptor.privateData(token)), DEADLINE_NS);
            return made;
        }
    }

    /** Steps both agents until something holds. */
    private void step(BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "not within 20 s");
            acceptor.doWork(0);
            sessions.doWork(0);
        }
    }

    private void awaitCompletions(int count) {
        WorkCompletion[] one = WorkCompletion.array(1);
        long deadlineNs = System.nanoTime() + DEADLINE_NS;
        for (int taken = 0; taken < count; ) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "not within 20 s");
            taken += clientCompletions.poll(one);
        }
    }
}
