package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;

/** What happens to a connection between the event in which it gathers a response and the end of the round that sends it. */
class SentLaterTest {
    private static final int LENGTH = 5000;
    private static final int LOOKS = 1000;
    private static final long DEADLINE_SECONDS = 20;

    private static final class Bench implements AutoCloseable {
        private final FakeDevice device = new FakeDevice("ring", "on", "crc", "off", "copy-below", "1");
        private final MemoryRegion source = device.region(7, LENGTH, AccessFlag.REMOTE_READ);
        private final FakeSocket socket = device.socket();
        private final QueuePair pair = device.connect(socket, QueuePairLimits.of(1, 1), 4);

        private void ask(int sequence) {
            byte[] request = Frames.readRequest(sequence, 5, 0, LENGTH, source.rkey(), source.address());
            socket.give(Frames.fpdu(request, false));
        }

        private static byte[] response() {
            byte[] payload = TestBytes.pattern(7, LENGTH);
            return Frames.fpdu(Frames.tagged(Frames.READ_RESPONSE, true, 5, 0, payload), false);
        }

        @Override
        public void close() {
            socket.giveReset();
            device.drain();
            pair.close();
            device.close();
        }
    }

    /** Another thread deregisters the memory, and overwrites it once that has returned: not before it was sent. */
    @Test
    void shouldNotLetADeregistrationReturnBeforeTheMemoryIsSent() throws Exception {
        try (Bench bench = new Bench()) {
            assertEquals(QueuePairState.READY_TO_SEND, bench.pair.state());
            long memory = bench.source.memory().address();
            AtomicBoolean gathered = new AtomicBoolean();
            AtomicBoolean closed = new AtomicBoolean();
            List<CompletableFuture<Void>> closing = new ArrayList<>();
            bench.socket.taking(offered -> {
                assertFalse(closed.get(), "deregistered before it was sent");
                gathered.set(true);
                return offered;
            });
            bench.device.beforeFlush(() -> {
                if (closing.isEmpty() && FakeDevice.stream(bench.socket).length == 0 && bench.socket.sendsLater()) {
                    CountDownLatch begins = new CountDownLatch(1);
                    closing.add(CompletableFuture.runAsync(
                            () -> {
                                begins.countDown();
                                bench.source.close();
                                closed.set(true);
                                NativeMemory.clear(memory, LENGTH);
                            },
                            task -> Thread.ofPlatform().daemon().start(task)));
                    try {
                        assertTrue(begins.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    for (int i = 0; i < LOOKS; i++) {
                        assertFalse(closed.get(), "deregistered while it waits to be sent");
                        Thread.yield();
                    }
                }
            });
            bench.ask(1);
            bench.device.run();
            assertTrue(gathered.get(), "nothing was sent");
            closing.getFirst().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            assertEquals(TestBytes.hex(Bench.response()), TestBytes.hex(FakeDevice.stream(bench.socket)));
        }
    }

    /** The connection is aborted in between: what was gathered goes or not, and then nothing holds the batch. */
    @Test
    void shouldGiveUpWhatWaitsWhenTheConnectionIsClosed() throws Exception {
        for (int round = 0; round < 3; round++) {
            try (Bench bench = new Bench()) {
                boolean[] done = {false};
                bench.device.beforeFlush(() -> {
                    if (!done[0] && bench.socket.sendsLater()) {
                        done[0] = true;
                        bench.pair.close();
                    }
                });
                bench.ask(1);
                bench.device.run();
                assertTrue(done[0], "nothing was to be sent later");
                CompletableFuture.runAsync(bench.source::close).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    /** The kernel takes part of it, then the rest: the peer sees one response after the other. */
    @Test
    void shouldGoOnWhereTheKernelHasStopped() {
        try (Bench bench = new Bench()) {
            bench.socket.taking(offered -> Math.min(offered, 700));
            for (int i = 1; i <= 3; i++) {
                bench.ask(i);
            }
            bench.device.run();
            byte[] one = Bench.response();
            assertEquals(
                    TestBytes.hex(TestBytes.concat(one, one, one)), TestBytes.hex(FakeDevice.stream(bench.socket)));
        }
    }
}
