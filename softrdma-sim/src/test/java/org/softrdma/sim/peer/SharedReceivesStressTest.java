package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * Queue pairs of several engines take RECVs from one queue, two threads poll and post again, and some connections break
 * in the middle of their messages: each RECV ends once, each message of a connection that lives arrives once and in
 * order, in a buffer of its own, and in the end all slots are free.
 */
class SharedReceivesStressTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 20_261_123L);
    private static final int PAIRS = 6;
    /** The peers of the last ones break. */
    private static final int STEADY = 4;

    private static final int RECEIVES = 64;
    private static final int LARGEST = 20_000;
    private static final int CREDITS = RECEIVES / PAIRS - 1;
    private static final int MESSAGES = 600;

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void shouldConsumeEachReceiveOnce(String transport) {
        try (TestDevice server = new TestDevice("transport", transport, "threads", "3");
                TestDevice client = new TestDevice("transport", transport, "threads", "2")) {
            new Play(server, client).run();
        } catch (AssertionError e) {
            throw new AssertionError("seed " + SEED + " (-Dsoftrdma.test.seed): " + e.getMessage(), e);
        }
    }

    private static final class Play {
        private final TestDevice server;
        private final TestDevice client;
        private final TestDevice.Guarded buffers;
        private final SharedReceiveQueue shared;
        private final CompletionQueue[] queues;
        /** One more than take part at first. */
        private final QueuePair[] senders = new QueuePair[PAIRS + 1];

        private final CompletionQueue[] sendCompletions = new CompletionQueue[PAIRS + 1];
        private final QueuePair[] receivers = new QueuePair[PAIRS + 1];
        private final AtomicInteger[] received = new AtomicInteger[PAIRS];
        private final List<CompletableFuture<?>> threads = new ArrayList<>();
        private volatile boolean over;

        Play(TestDevice server, TestDevice client) {
            this.server = server;
            this.client = client;
            buffers = server.guarded(RECEIVES * LARGEST, AccessFlag.RECEIVE_SINK);
            shared = server.own(server.domain().createSharedReceiveQueue(RECEIVES, 1));
            assertEquals(RECEIVES, shared.maxWorkRequests());
            queues = new CompletionQueue[] {
                server.own(server.device().createCompletionQueue(2 * RECEIVES)),
                server.own(server.device().createCompletionQueue(2 * RECEIVES))
            };
            for (int i = 0; i < PAIRS; i++) {
                received[i] = new AtomicInteger();
                connect(i);
            }
            for (int i = 0; i < RECEIVES; i++) {
                post(i);
            }
        }

        private void connect(int index) {
            Connector connector = client.own(client.device().resolve(server.address(), TestDevice.DEADLINE_NS));
            sendCompletions[index] = client.own(client.device().createCompletionQueue(256));
            senders[index] = client.own(connector.createQueuePair(
                    client.domain(), QueuePairAttributes.of(sendCompletions[index], QueuePairLimits.of(128, 1))));
            CompletableFuture<byte[]> connected = CompletableFuture.supplyAsync(
                    () -> connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS),
                    Thread::startVirtualThread);
            ConnectionRequest request = server.request();
            receivers[index] = server.own(request.createQueuePair(
                    server.domain(),
                    QueuePairAttributes.of(queues[index % 2], QueuePairLimits.of(1, 1))
                            .withSharedReceives(shared)));
            request.accept(ConnectionParameters.DEFAULT);
            connected.orTimeout(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS).join();
        }

        private void post(int buffer) {
            assertEquals(
                    PostStatus.ACCEPTED,
                    shared.postReceive(buffer, buffers.region(), (long) buffer * LARGEST, LARGEST));
        }

        void run() {
            for (CompletionQueue queue : queues) {
                threads.add(CompletableFuture.runAsync(() -> poll(queue), this::start));
            }
            List<CompletableFuture<?>> sending = new ArrayList<>();
            for (int i = 0; i < PAIRS; i++) {
                int index = i;
                sending.add(CompletableFuture.runAsync(() -> send(index), this::start));
            }
            sending.forEach(one -> one.orTimeout(60, TimeUnit.SECONDS).join());
            TestDevice.await(this::progress, () -> {
                for (int i = 0; i < PAIRS; i++) {
                    boolean done =
                            i < STEADY ? received[i].get() == MESSAGES : receivers[i].state() == QueuePairState.ERROR;
                    if (!done) {
                        return false;
                    }
                }
                return true;
            });
            for (int i = STEADY; i < PAIRS; i++) {
                receivers[i].close();
            }
            over = true;
            threads.forEach(one -> one.orTimeout(60, TimeUnit.SECONDS).join());
            checkThatAllSlotsComeBack();
        }

        private void start(Runnable task) {
            Thread.ofPlatform().daemon().start(task);
        }

        private String progress() {
            threads.stream().filter(CompletableFuture::isDone).forEach(CompletableFuture::join);
            StringBuilder text = new StringBuilder("received");
            for (AtomicInteger one : received) {
                text.append(' ').append(one);
            }
            return text.toString();
        }

        /** A message is its number, its sender, and bytes that both decide. */
        private void send(int index) {
            Random random = new Random(SEED + index);
            TestDevice.Guarded source = client.guarded(LARGEST);
            int last = index < STEADY ? MESSAGES : MESSAGES / 2 + random.nextInt(100);
            for (int number = 0; number < last; number++) {
                int sent = number;
                TestDevice.await(this::progress, () -> sent - received[index].get() < CREDITS);
                int length = random.nextInt(8) == 0 ? random.nextInt(16, LARGEST) : random.nextInt(16, 200);
                int at = LARGEST - length;
                fill(source, at, index, number);
                assertEquals(
                        PostStatus.ACCEPTED,
                        senders[index].postSend(number, source.region(), at, length, SendFlags.SIGNALLED));
                TestDevice.await("a SEND of " + index, () -> senderDone(index, sent));
            }
            if (index >= STEADY) {
                fill(source, 0, index, last);
                assertEquals(
                        PostStatus.ACCEPTED,
                        senders[index].postSend(last, source.region(), 0, LARGEST, SendFlags.SIGNALLED));
                senders[index].disconnect(); // perhaps in the middle
            }
        }

        private static void fill(TestDevice.Guarded source, int at, int index, int number) {
            source.inner().set(ValueLayout.JAVA_INT_UNALIGNED, at, number);
            source.inner().set(ValueLayout.JAVA_INT_UNALIGNED, at + 4L, index);
            byte[] pattern = TestBytes.pattern(number * PAIRS + index, LARGEST - at - 8);
            source.inner().asSlice(at + 8L).copyFrom(MemorySegment.ofArray(pattern));
        }

        private boolean senderDone(int index, int number) {
            WorkCompletion[] one = WorkCompletion.array(1);
            if (sendCompletions[index].poll(one) == 0) {
                return false;
            }
            assertEquals(CompletionStatus.SUCCESS, one[0].status());
            assertEquals(number, one[0].wrId());
            return true;
        }

        private void poll(CompletionQueue queue) {
            WorkCompletion[] some = WorkCompletion.array(4);
            while (!over) {
                int got = queue.poll(some);
                for (int i = 0; i < got; i++) {
                    if (some[i].isSuccess()) {
                        check(some[i]);
                    }
                    post((int) some[i].wrId());
                }
            }
        }

        private void check(WorkCompletion completion) {
            long at = completion.wrId() * LARGEST;
            int number = buffers.inner().get(ValueLayout.JAVA_INT_UNALIGNED, at);
            int index = buffers.inner().get(ValueLayout.JAVA_INT_UNALIGNED, at + 4);
            assertEquals(receivers[index].number(), completion.qpNumber());
            assertEquals(received[index].get(), number, "the order of the messages of " + index);
            assertEquals(
                    TestBytes.hex(TestBytes.pattern(number * PAIRS + index, (int) completion.byteLength() - 8)),
                    TestBytes.hex(buffers.bytes(at + 8, completion.byteLength() - 8)));
            received[index].incrementAndGet();
        }

        /** All connections but a new one are gone: as many messages as there are slots find a RECV. */
        private void checkThatAllSlotsComeBack() {
            for (int i = 0; i < STEADY; i++) {
                receivers[i].close();
            }
            while (shared.postReceive(0, buffers.region(), 0, 1) == PostStatus.ACCEPTED) {
                // Until it is full.
            }
            connect(PAIRS);
            TestDevice.Guarded source = client.guarded(1);
            for (int i = 0; i < RECEIVES; i++) {
                assertEquals(
                        PostStatus.ACCEPTED, senders[PAIRS].postSend(i, source.region(), 0, 0, SendFlags.SIGNALLED));
            }
            for (TestDevice.Completion one : TestDevice.take(queues[PAIRS % 2], RECEIVES)) {
                assertEquals(CompletionStatus.SUCCESS, one.status());
            }
            assertEquals(PostStatus.ACCEPTED, shared.postReceive(0, buffers.region(), 0, 1));
            buffers.requireCanaries();
        }
    }
}
