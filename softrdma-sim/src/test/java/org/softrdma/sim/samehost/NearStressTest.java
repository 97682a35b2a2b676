package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.sim.NearProvider;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/** Readers against an owner that swaps, deregisters and overwrites all the time; counted, not timed. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class NearStressTest {
    private static final int LENGTH = 4096;
    private static final int READERS = 3;
    private static final int READS = 5_000;
    private static final int LIVES = 40;
    private static final int READS_OF_A_LIFE = 20;
    private static final int WARM_UP = 50_000;
    private static final int MEASURED = 200_000;
    private static final int ROUNDS = 50;
    private static final long POISON = -1;

    @Test
    void shouldNeverSeeTwoMemoriesWhenTheyAreSwapped() throws Exception {
        try (TestDevice server = new TestDevice(NearProvider.open(Map.of(), new NearProvider.Memory()))) {
            MemorySegment memory = NearPair.allocate(server, 2 * LENGTH);
            MemoryRegion shown = zeroBased(server, memory.asSlice(0, LENGTH));
            MemoryRegion hidden = zeroBased(server, memory.asSlice(LENGTH, LENGTH));
            AtomicBoolean done = new AtomicBoolean();
            withReaders(
                    server,
                    client -> {
                        long nearUniform = 0;
                        for (int i = 0; i < READS; i++) {
                            long before = client.near();
                            assertEquals(CompletionStatus.SUCCESS, client.read(0, shown.rkey()));
                            if (client.near() > before) {
                                assertTrue(client.uniform("READ " + i) >= 0);
                                nearUniform++;
                            }
                        }
                        assertTrue(nearUniform > READS / 100, () -> "hardly any READ was near");
                    },
                    () -> {
                        for (long value = 1; !done.get(); value++) {
                            fill(hidden.memory(), value);
                            shown.swap(hidden);
                            fill(hidden.memory(), POISON);
                            Thread.yield();
                        }
                    },
                    done);
        }
    }

    @Test
    void shouldAllocateNothingForARead() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
            WorkCompletion[] one = WorkCompletion.array(1);
            read(nodes, region, one, WARM_UP);
            double perRead = Double.MAX_VALUE;
            for (int round = 0; round < ROUNDS && perRead >= 1; round++) { // until the compiler is through with it
                long near = nodes.near();
                long before = threads.getCurrentThreadAllocatedBytes();
                read(nodes, region, one, MEASURED);
                perRead = (double) (threads.getCurrentThreadAllocatedBytes() - before) / MEASURED;
                assertEquals(MEASURED, nodes.near() - near);
            }
            assertTrue(perRead < 1, perRead + " bytes per READ");
        }
    }

    private static void read(NearPair nodes, MemoryRegion region, WorkCompletion[] one, int count) {
        long address = region.address();
        int rkey = region.rkey();
        for (int i = 0; i < count; i++) {
            if (nodes.pair.postRead(i, nodes.sink, 0, 64, address, rkey, SendFlags.SIGNALLED) != PostStatus.ACCEPTED) {
                throw new AssertionError("the send queue is full");
            }
            while (nodes.client.queue().poll(one, 1) == 0) {
                Thread.onSpinWait();
            }
        }
    }

    private static MemoryRegion zeroBased(TestDevice server, MemorySegment memory) {
        return server.own(server.domain().register(memory, Set.of(AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED)));
    }

    private static void fill(MemorySegment memory, long value) {
        for (long i = 0; i < LENGTH / Long.BYTES; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, value);
        }
    }

    /** What is read by a key is what was there while the key was valid, and nothing is read once it is not. */
    @Test
    void shouldReadNothingThatWasWrittenAfterTheClose() throws Exception {
        try (TestDevice server = new TestDevice(NearProvider.open(Map.of(), new NearProvider.Memory()))) {
            MemorySegment memory = NearPair.allocate(server, LENGTH);
            AtomicBoolean done = new AtomicBoolean();
            AtomicInteger successes = new AtomicInteger();
            Life[] now = {null};
            Object monitor = new Object();
            withReaders(
                    server,
                    client -> {
                        for (int i = 0; i < LIVES; i++) {
                            Life life;
                            synchronized (monitor) {
                                while (now[0] == null) {
                                    monitor.wait();
                                }
                                life = now[0];
                            }
                            CompletionStatus status = CompletionStatus.SUCCESS;
                            for (int j = 0; j < READS_OF_A_LIFE && status == CompletionStatus.SUCCESS; j++) {
                                boolean over = life.over.get();
                                status = client.read(life.region.address(), life.rkey);
                                if (status == CompletionStatus.SUCCESS) {
                                    assertEquals(life.value, client.uniform("life " + life.value));
                                    assertTrue(!over, "a READ that began after close() had returned");
                                    successes.incrementAndGet();
                                }
                                life.reads.incrementAndGet();
                            }
                            if (status != CompletionStatus.SUCCESS) {
                                client.reconnect();
                            }
                        }
                    },
                    () -> {
                        for (long value = 1; !done.get(); value++) {
                            fill(memory, value);
                            Life life =
                                    new Life(server.domain().register(memory, Set.of(AccessFlag.REMOTE_READ)), value);
                            synchronized (monitor) {
                                now[0] = life;
                                monitor.notifyAll();
                            }
                            while (life.reads.get() < READERS && !done.get()) {
                                Thread.onSpinWait();
                            }
                            life.region.close();
                            life.over.set(true);
                            fill(memory, POISON);
                        }
                    },
                    done);
            assertTrue(successes.get() > LIVES, () -> successes + " READs succeeded");
        }
    }

    /** A registration: what is there while it lasts, and whether its close has returned. */
    private static final class Life {
        private final MemoryRegion region;
        private final int rkey;
        private final long value;
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicInteger reads = new AtomicInteger();

        Life(MemoryRegion region, long value) {
            this.region = region;
            this.value = value;
            rkey = region.rkey();
        }
    }

    private static void withReaders(TestDevice server, Reader reader, Runnable owner, AtomicBoolean done)
            throws Exception {
        List<QueuePair> pairs = new ArrayList<>();
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<List<QueuePair>> accepting =
                    threads.submit(() -> NearServer.accept(server.listener(), server.domain(), server.queue()));
            Future<?> owning = threads.submit(owner);
            List<Future<?>> reading = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                reading.add(threads.submit(() -> {
                    try (NearClient client = new NearClient(server.address(), LENGTH)) {
                        reader.run(client);
                    }
                    return null;
                }));
            }
            try {
                for (Future<?> each : reading) {
                    each.get();
                }
            } finally {
                done.set(true);
                server.listener().close();
                pairs.addAll(accepting.get());
                pairs.forEach(QueuePair::close);
                owning.get();
            }
        }
    }

    /** One reader. */
    @FunctionalInterface
    private interface Reader {
        void run(NearClient client) throws Exception;
    }
}
