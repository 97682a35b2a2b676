package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** A thousand connections of two devices, all with a READ and a WRITE on their way at once, twice; then half of them end. */
class ThousandConnectionsTest {
    private static final int CONNECTIONS = 1_000;
    private static final int LENGTH = 4096;
    private static final int REQUESTS = 2;
    private static final int ROUNDS = 2;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(REQUESTS, 1, 1, 1, 0);
    private static final long READ = 1L << Integer.SIZE;

    /** Memory of a device with a page of its own for each connection. */
    private static MemoryRegion pages(TestDevice device, int each, AccessFlag... access) {
        HostMemory memory = device.own(device.device().allocateMemory((long) CONNECTIONS * each));
        return device.own(device.domain().register(memory.segment(), Set.of(access)));
    }

    private static void fill(MemoryRegion region, int at, long value) {
        MemorySegment page = region.memory().asSlice((long) at * LENGTH, LENGTH);
        for (long i = 0; i < LENGTH / Long.BYTES; i++) {
            page.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, value);
        }
    }

    private static void requireUniform(MemoryRegion region, int at, long value, String what) {
        MemorySegment page = region.memory().asSlice((long) at * LENGTH, LENGTH);
        for (long i = 0; i < LENGTH / Long.BYTES; i++) {
            assertEquals(value, page.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i), what + " " + at + ", word " + i);
        }
    }

    @Tag("sampled")
    @ParameterizedTest
    @EveryTransport
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldCarryAReadAndAWriteOnEachOfAThousandConnectionsAtOnce(String transport) {
        try (TestDevice server = new TestDevice("transport", transport, "threads", "2");
                TestDevice client = new TestDevice("transport", transport, "threads", "2")) {
            MemoryRegion shown = pages(server, LENGTH, AccessFlag.REMOTE_READ);
            MemoryRegion written = pages(server, LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            MemoryRegion sink = pages(client, LENGTH, AccessFlag.READ_SINK);
            MemoryRegion source = pages(client, LENGTH, AccessFlag.LOCAL_WRITE);
            CompletionQueue served = server.own(server.device().createCompletionQueue(1));
            CompletionQueue done = client.own(client.device().createCompletionQueue(REQUESTS * CONNECTIONS));
            List<QueuePair> theirs = new ArrayList<>();
            List<QueuePair> ours = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                connect(server, client, served, done, theirs, ours);
            }
            for (int round = 1; round <= ROUNDS; round++) {
                exchange(ours, 0, done, new Pages(shown, written, sink, source), round);
            }
            for (int i = 0; i < CONNECTIONS / 2; i++) {
                ours.get(i).close();
            }
            exchange(ours, CONNECTIONS / 2, done, new Pages(shown, written, sink, source), ROUNDS + 1L);
            ours.forEach(QueuePair::close);
            theirs.forEach(QueuePair::close);
            TestDevice.await(
                    () -> "the sockets, now " + server.counter("openSockets") + " and " + client.counter("openSockets"),
                    () -> server.counter("openSockets") == 1 && client.counter("openSockets") == 1);
        }
    }

    private static void connect(
            TestDevice server,
            TestDevice client,
            CompletionQueue served,
            CompletionQueue done,
            List<QueuePair> theirs,
            List<QueuePair> ours) {
        Connector connector = client.own(client.device().resolve(server.address(), TestDevice.DEADLINE_NS));
        QueuePair mine = connector.createQueuePair(client.domain(), QueuePairAttributes.of(done, LIMITS));
        ours.add(client.own(mine));
        Thread accepting = Thread.ofPlatform().start(() -> {
            ConnectionRequest request = server.request();
            theirs.add(request.createQueuePair(server.domain(), QueuePairAttributes.of(served, LIMITS)));
            request.accept(ConnectionParameters.ofReads(1));
        });
        connector.connect(ConnectionParameters.ofReads(1), TestDevice.DEADLINE_NS);
        try {
            accepting.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Memory of both sides, a page of each for each connection. */
    private record Pages(MemoryRegion shown, MemoryRegion written, MemoryRegion sink, MemoryRegion source) {}

    /** A READ and a WRITE of each connection from one on, posted together, each with contents of its own. */
    private static void exchange(List<QueuePair> pairs, int from, CompletionQueue done, Pages pages, long round) {
        for (int i = from; i < CONNECTIONS; i++) {
            fill(pages.shown, i, round << Integer.SIZE | i);
            fill(pages.source, i, ~(round << Integer.SIZE | i));
        }
        for (int i = from; i < CONNECTIONS; i++) {
            long at = (long) i * LENGTH;
            PostStatus written = pairs.get(i)
                    .postWrite(
                            i,
                            pages.source,
                            at,
                            LENGTH,
                            pages.written.address() + at,
                            pages.written.rkey(),
                            SendFlags.SIGNALLED);
            PostStatus read = pairs.get(i)
                    .postRead(
                            READ | i,
                            pages.sink,
                            at,
                            LENGTH,
                            pages.shown.address() + at,
                            pages.shown.rkey(),
                            SendFlags.SIGNALLED);
            assertTrue(written == PostStatus.ACCEPTED && read == PostStatus.ACCEPTED, written + ", " + read);
        }
        WorkCompletion[] batch = WorkCompletion.array(64);
        int[] left = {REQUESTS * (CONNECTIONS - from)};
        TestDevice.await(() -> left[0] + " completions", () -> {
            int count = done.poll(batch);
            for (int i = 0; i < count; i++) {
                assertEquals(CompletionStatus.SUCCESS, batch[i].status(), "request " + batch[i].wrId());
            }
            left[0] -= count;
            return left[0] == 0;
        });
        // The answer to a READ says that the WRITE before it was placed.
        for (int i = from; i < CONNECTIONS; i++) {
            requireUniform(pages.sink, i, round << Integer.SIZE | i, "READ of connection");
            requireUniform(pages.written, i, ~(round << Integer.SIZE | i), "WRITE of connection");
        }
    }
}
