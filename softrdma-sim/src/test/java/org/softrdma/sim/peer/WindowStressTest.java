package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * Windows are taken back, by INVALIDATE or by closing them, under the WRITEs of a peer that does not care: from then on
 * the memory, poisoned at once, does not change. Two pairs at a time, whose windows take turns on one device, so that a
 * peer also tries keys of the other's.
 */
class WindowStressTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 20_261_123L);
    private static final int ROUNDS = Integer.getInteger("softrdma.test.stress.rounds", 60);
    private static final int BYTES = 1 << 18;
    private static final int LOOKS = 20;
    private static final byte POISON = (byte) 0xDB;

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void shouldNeverBeWrittenAfterTheKeyWasTakenBack(String transport) {
        Random random = new Random(SEED);
        try (TestDevice server = new TestDevice("transport", transport, "threads", "2");
                TestDevice client = new TestDevice("transport", transport)) {
            for (int round = 0; round < ROUNDS; round++) {
                new Round(server, client, random).run();
            }
            assertEquals(0, server.counter("memoryWindows"));
        } catch (AssertionError e) {
            throw new AssertionError("seed " + SEED + " (-Dsoftrdma.test.seed): " + e.getMessage(), e);
        }
    }

    /** One connection of each of two clients, two windows. */
    private static final class Round {
        private final TestDevice server;
        private final TestDevice client;
        private final Random random;
        private final TestDevice.Guarded memory;
        private final TestDevice.Guarded source;
        private final List<QueuePair> serving = new ArrayList<>();
        private final List<QueuePair> writing = new ArrayList<>();
        private final CompletionQueue ignored;

        Round(TestDevice server, TestDevice client, Random random) {
            this.server = server;
            this.client = client;
            this.random = random;
            memory = server.guarded(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.BIND_WINDOWS);
            source = client.guarded(BYTES);
            ignored = client.device().createCompletionQueue(1024);
            connect();
            connect();
        }

        private void connect() {
            try (Connector connector = client.device().resolve(server.address(), TestDevice.DEADLINE_NS)) {
                writing.add(connector.createQueuePair(
                        client.domain(), QueuePairAttributes.of(ignored, QueuePairLimits.of(64, 1))));
                CompletableFuture<byte[]> connected = CompletableFuture.supplyAsync(
                        () -> connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS),
                        Thread::startVirtualThread);
                ConnectionRequest request = server.request();
                serving.add(request.createQueuePair(
                        server.domain(), QueuePairAttributes.of(server.queue(), QueuePairLimits.of(16, 1))));
                request.accept(ConnectionParameters.DEFAULT);
                connected
                        .orTimeout(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS)
                        .join();
            }
        }

        void run() {
            int owner = random.nextInt(2);
            MemoryWindow window = server.domain().allocateWindow();
            assertEquals(
                    PostStatus.ACCEPTED,
                    serving.get(owner)
                            .postBindWindow(
                                    1,
                                    window,
                                    memory.region(),
                                    0,
                                    BYTES,
                                    Set.of(AccessFlag.REMOTE_WRITE),
                                    SendFlags.SIGNALLED));
            assertEquals(CompletionStatus.SUCCESS, server.take(1).getFirst().status());
            CompletableFuture<Void> storm = CompletableFuture.runAsync(() -> storm(owner, window.rkey()));
            int spins = random.nextInt(20_000);
            for (int i = 0; i < spins; i++) {
                Thread.onSpinWait();
            }
            takeBack(owner, window);
            memory.inner().fill(POISON);
            for (int look = 0; look < LOOKS; look++) {
                Thread.yield();
                for (long i = 0; i < BYTES; i += Long.BYTES * 64) {
                    assertEquals(POISON, memory.inner().get(ValueLayout.JAVA_BYTE, i), "byte " + i);
                }
            }
            storm.orTimeout(60, TimeUnit.SECONDS).join();
            DeregistrationTest.requireAll(memory.inner(), POISON, "a WRITE by a key that was taken back");
            window.close();
            serving.forEach(QueuePair::close);
            writing.forEach(QueuePair::close);
            ignored.close();
            source.region().close();
            memory.region().close();
            memory.requireCanaries();
        }

        private void takeBack(int owner, MemoryWindow window) {
            if (random.nextBoolean()) {
                window.close();
                return;
            }
            assertEquals(PostStatus.ACCEPTED, serving.get(owner).postInvalidate(2, window.rkey(), SendFlags.SIGNALLED));
            assertEquals(CompletionStatus.SUCCESS, server.take(1).getFirst().status());
        }

        /** The owner's peer writes as fast as it can; the other tries, and loses its connection. */
        private void storm(int owner, int key) {
            long to = memory.region().address();
            WorkCompletion[] some = WorkCompletion.array(16);
            writing.get(1 - owner).postWrite(9, source.region(), 0, 64, to, key, SendFlags.SIGNALLED);
            for (int i = 0; i < 200; i++) {
                int length = 1 + i * 37 % (BYTES / 2);
                PostStatus unused =
                        writing.get(owner).postWrite(i, source.region(), 0, length, to + i, key, SendFlags.SIGNALLED);
                int got = ignored.poll(some);
                assertTrue(got <= some.length && unused != null);
            }
        }
    }
}
