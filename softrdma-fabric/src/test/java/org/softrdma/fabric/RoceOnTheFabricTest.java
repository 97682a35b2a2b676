package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.fabric.network.DatagramSettings;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/** RoCEv2 over a network that loses, doubles and reorders: every request is done once, or the connection ends. */
class RoceOnTheFabricTest {
    /** RoceSeedsTest has more. */
    private static final int SEEDS =
            Integer.getInteger("softrdma.test.seeds", Integer.getInteger("softrdma.sample", 1) == 1 ? 20 : 5);

    private static final Map<String, String> ROCE = Map.of("wire", "roce", "roce-timeout", "5");
    private static final long HOST_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(8);
    private static final long IDLE_NS = 20 * HOST_TIMEOUT_NS;
    /** The same for all, so that nothing is overtaken. */
    private static final long LATENCY_NS = 20_000;

    private static final long PAUSE_NS = 5_000_000;
    private static final int READERS = 12;
    private static final int READ_BYTES = 24_000;
    private static final int REQUESTS = 40;
    private static final int BYTES = 1 << 15;
    private static final int MOST_BYTES = 7_000;
    private static final int RECEIVES = 8;
    private static final int IN_FLIGHT = 16;

    private static FabricSettings network(int losses) {
        DatagramSettings datagrams =
                new DatagramSettings(4096, 1 << 18, losses, 20, 50, TimeUnit.MICROSECONDS.toNanos(200));
        return FabricSettings.DEFAULT.with(NetworkSettings.DEFAULT.with(datagrams));
    }

    /** What both sides know of the requests of a seed. */
    private static final class Script {
        final Random random;
        final byte[] source = new byte[BYTES];
        int sends;
        int adds;

        Script(long seed) {
            random = new Random(seed);
            random.nextBytes(source);
        }
    }

    private static void exchange(Ends ends, long seed) {
        Ends.Link link = ends.connect();
        MemoryRegion remote =
                ends.server().region(BYTES, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);
        MemoryRegion inbox = ends.server().region(RECEIVES * MOST_BYTES);
        MemoryRegion local = ends.client().region(BYTES);
        MemoryRegion sink = ends.client().region(BYTES);
        Script script = new Script(seed);
        MemorySegment.copy(MemorySegment.ofArray(script.source), 0, local.memory(), 0, BYTES);
        for (int i = 0; i < RECEIVES; i++) {
            accept(link.server().postReceive(i, inbox, (long) i * MOST_BYTES, MOST_BYTES));
        }
        for (int i = 0; i < REQUESTS; i++) {
            one(ends, link, script, remote, inbox, local, sink);
        }
        assertEquals(script.adds, remote.memory().get(ValueLayout.JAVA_LONG, 0));
        link.close();
        remote.close();
        inbox.close();
        local.close();
        sink.close();
    }

    private static void accept(PostStatus status) {
        assertEquals(PostStatus.ACCEPTED, status);
    }

    private static void one(
            Ends ends,
            Ends.Link link,
            Script script,
            MemoryRegion remote,
            MemoryRegion inbox,
            MemoryRegion local,
            MemoryRegion sink) {
        int length = 1 + script.random.nextInt(MOST_BYTES - 1);
        int offset = Long.BYTES + script.random.nextInt(BYTES - Long.BYTES - length);
        long there = remote.address() + offset;
        switch (script.random.nextInt(4)) {
            case 0 -> {
                accept(link.client().postSend(1, local, offset, length, SendFlags.SIGNALLED));
                WorkCompletion received = ends.server().next(ends.server().receives());
                int slot = script.sends++ % RECEIVES;
                assertEquals(CompletionStatus.SUCCESS, received.status());
                assertEquals(slot, received.wrId());
                assertEquals(length, received.byteLength());
                assertSame(script, offset, inbox.memory(), slot * MOST_BYTES, length);
                accept(link.server().postReceive(slot, inbox, (long) slot * MOST_BYTES, MOST_BYTES));
            }
            case 1 -> {
                accept(link.client().postWrite(2, local, offset, length, there, remote.rkey(), SendFlags.NONE));
                accept(link.client().postRead(3, sink, offset, length, there, remote.rkey(), SendFlags.SIGNALLED));
            }
            case 2 -> {
                accept(link.client().postWrite(2, local, offset, length, there, remote.rkey(), SendFlags.SIGNALLED));
            }
            default -> {
                script.adds++;
                accept(link.client()
                        .postFetchAndAdd(4, sink, 0, remote.address(), remote.rkey(), 1, SendFlags.SIGNALLED));
            }
        }
        WorkCompletion done = ends.client().next(ends.client().sends());
        assertEquals(CompletionStatus.SUCCESS, done.status());
        if (done.wrId() == 2) {
            assertSame(script, offset, remote.memory(), offset, length);
        } else if (done.wrId() == 3) {
            assertSame(script, offset, sink.memory(), offset, length);
        } else if (done.wrId() == 4) {
            assertEquals(script.adds - 1, sink.memory().get(ValueLayout.JAVA_LONG, 0));
        }
    }

    /** Many requests at a time, each with memory of its own; they complete in the order in which they were posted. */
    private static void exchangeInFlight(Ends ends, long seed) {
        Ends.Link link = ends.connect();
        int all = IN_FLIGHT * MOST_BYTES;
        MemoryRegion written = ends.server().region(all, AccessFlag.REMOTE_WRITE);
        MemoryRegion read = ends.server().region(all, AccessFlag.REMOTE_READ);
        MemoryRegion word = ends.server().region(Long.BYTES, AccessFlag.REMOTE_ATOMIC);
        MemoryRegion inbox = ends.server().region(all);
        MemoryRegion local = ends.client().region(all);
        MemoryRegion sink = ends.client().region(all);
        Random random = new Random(seed);
        byte[] bytes = new byte[all];
        random.nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, local.memory(), 0, all);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, read.memory(), 0, all);
        int[] kinds = new int[IN_FLIGHT];
        int[] lengths = new int[IN_FLIGHT];
        int sends = 0;
        int adds = 0;
        for (int i = 0; i < IN_FLIGHT; i++) {
            accept(link.server().postReceive(i, inbox, (long) i * MOST_BYTES, MOST_BYTES));
        }
        for (int i = 0; i < IN_FLIGHT; i++) {
            int at = i * MOST_BYTES;
            int length = random.nextInt(MOST_BYTES);
            kinds[i] = random.nextInt(4);
            lengths[i] = length;
            switch (kinds[i]) {
                case 0 -> {
                    accept(link.client().postSend(i, local, at, length, SendFlags.SIGNALLED));
                    sends++;
                }
                case 1 ->
                    accept(link.client()
                            .postWrite(
                                    i, local, at, length, written.address() + at, written.rkey(), SendFlags.SIGNALLED));
                case 2 ->
                    accept(link.client()
                            .postRead(i, sink, at, length, read.address() + at, read.rkey(), SendFlags.SIGNALLED));
                default -> {
                    adds++;
                    accept(link.client()
                            .postFetchAndAdd(i, sink, at, word.address(), word.rkey(), 1, SendFlags.SIGNALLED));
                }
            }
        }
        int inboxSlot = 0;
        long before = 0;
        for (int i = 0; i < IN_FLIGHT; i++) {
            WorkCompletion done = ends.client().next(ends.client().sends());
            assertEquals(CompletionStatus.SUCCESS, done.status());
            assertEquals(i, done.wrId());
            int at = i * MOST_BYTES;
            MemorySegment expected = MemorySegment.ofArray(bytes).asSlice(at, lengths[i]);
            switch (kinds[i]) {
                case 0 -> {
                    assertEquals(
                            -1, expected.mismatch(inbox.memory().asSlice((long) inboxSlot * MOST_BYTES, lengths[i])));
                    inboxSlot++;
                }
                case 1 -> assertEquals(-1, expected.mismatch(written.memory().asSlice(at, lengths[i])));
                case 2 -> assertEquals(-1, expected.mismatch(sink.memory().asSlice(at, lengths[i])));
                default -> assertEquals(before++, sink.memory().get(ValueLayout.JAVA_LONG, at));
            }
        }
        for (int i = 0; i < sends; i++) {
            WorkCompletion received = ends.server().next(ends.server().receives());
            assertEquals(CompletionStatus.SUCCESS, received.status());
            assertEquals(i, received.wrId());
        }
        assertEquals(adds, word.memory().get(ValueLayout.JAVA_LONG, 0));
        link.close();
        for (MemoryRegion region : List.of(written, read, word, inbox, local, sink)) {
            region.close();
        }
    }

    private static void assertSame(Script script, int offset, MemorySegment found, int at, int length) {
        MemorySegment expected = MemorySegment.ofArray(script.source).asSlice(offset, length);
        assertEquals(-1, expected.mismatch(found.asSlice(at, length)), "bytes " + offset + " to " + (offset + length));
    }

    /** What both sides do with one seed. */
    enum Traffic {
        /** One request at a time. */
        ONE {
            @Override
            void run(long seed, int losses) {
                Ends.run(seed, network(losses), ROCE, ends -> exchange(ends, seed));
            }
        },
        /** Many requests at a time. */
        MANY {
            @Override
            void run(long seed, int losses) {
                Ends.run(seed, network(losses), ROCE, ends -> exchangeInFlight(ends, seed));
            }
        },
        /** Devices that copy in words, use numbers again at once, and show completions late. */
        ADVERSARY {
            @Override
            void run(long seed, int losses) {
                FabricSettings settings = network(losses).withAdversary();
                Ends.run(seed, settings, ROCE, ends -> exchangeInFlight(ends, seed));
                Ends.run(seed, settings, ROCE, ends -> exchange(ends, seed));
            }
        };

        abstract void run(long seed, int losses);
    }

    private static void requireRight(Traffic traffic, int losses) {
        for (long seed = 0; seed < SEEDS; seed++) {
            try {
                traffic.run(seed, losses);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ", " + losses + " of a thousand lost: " + e.getMessage(), e);
            }
        }
    }

    @Tag("sampled")
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10, 50})
    void shouldDoEveryRequestOnceWhenDatagramsAreLostAndDoubledAndOvertaken(int losses) {
        requireRight(Traffic.ONE, losses);
    }

    @Tag("sampled")
    @ParameterizedTest
    @ValueSource(ints = {0, 10, 50, 200})
    void shouldCompleteInOrderWhenManyRequestsAreInFlight(int losses) {
        requireRight(Traffic.MANY, losses);
    }

    @Tag("sampled")
    @Test
    void shouldCompleteInOrderWhenDevicesDoWhateverVerbsAllow() {
        requireRight(Traffic.ADVERSARY, 10);
    }

    @Test
    void shouldRunAlikeByTheSameSeed() {
        assertTrue(SEEDS > 0);
        long one = Ends.run(7, network(10), ROCE, ends -> exchange(ends, 7))
                .trace()
                .hash();
        long other = Ends.run(7, network(10), ROCE, ends -> exchange(ends, 7))
                .trace()
                .hash();
        assertEquals(one, other);
    }

    /** Idle for many times the host timeout, then still of use. */
    @Test
    void shouldKeepAnIdleConnectionWhosePeerIsThere() {
        Ends.run(8, network(50), ROCE, ends -> {
            Ends.Link link = ends.connect();
            assertFalse(ends.fabric()
                    .scheduler()
                    .until(
                            () -> link.client().state() != QueuePairState.READY_TO_SEND
                                    || link.server().state() != QueuePairState.READY_TO_SEND,
                            IDLE_NS));
            link.close();
        });
    }

    @Test
    void shouldEndAnIdleConnectionAtBothEndsWhenTheNetworkIsDivided() {
        Ends.run(9, network(0), ROCE, ends -> {
            Ends.Link link = ends.connect();
            MemoryRegion local = ends.client().region(64);
            MemoryRegion inbox = ends.server().region(64);
            accept(link.server().postReceive(1, inbox, 0, 64));
            accept(link.client().postSend(2, local, 0, 0, SendFlags.SIGNALLED));
            assertEquals(
                    CompletionStatus.SUCCESS,
                    ends.client().next(ends.client().sends()).status());
            ends.divide();
            assertTrue(ends.fabric()
                    .scheduler()
                    .until(
                            () -> link.client().state() == QueuePairState.ERROR
                                    && link.server().state() == QueuePairState.ERROR,
                            2 * HOST_TIMEOUT_NS));
            link.close();
            local.close();
            inbox.close();
        });
    }

    /** Their answers, which arrive while this side is held up, would not find room together. */
    @Test
    void shouldLoseNoAnswerWhenManyConnectionsReadAtOnce() {
        DatagramSettings datagrams = new DatagramSettings(4096, 1 << 17, 0, 0, 0, 0);
        FabricSettings settings = FabricSettings.DEFAULT.with(
                new NetworkSettings(1 << 16, LATENCY_NS, LATENCY_NS, 0, 0, 1, false, datagrams));
        Ends.run(10, settings, ROCE, ends -> {
            MemoryRegion remote = ends.server().region(READ_BYTES, AccessFlag.REMOTE_READ);
            MemoryRegion sink = ends.client().region(READERS * READ_BYTES);
            List<Ends.Link> links = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                links.add(ends.connect());
            }
            long lost =
                    ends.server().counter("roce.packetsSent") - ends.client().counter("roce.packetsReceived");
            for (int i = 0; i < READERS; i++) {
                long at = (long) i * READ_BYTES;
                accept(links.get(i)
                        .client()
                        .postRead(i, sink, at, READ_BYTES, remote.address(), remote.rkey(), SendFlags.SIGNALLED));
            }
            assertFalse(ends.fabric().scheduler().until(() -> false, LATENCY_NS)); // requests are on their way
            ends.pauseClient(PAUSE_NS);
            for (int i = 0; i < READERS; i++) {
                WorkCompletion read = ends.client().next(ends.client().sends());
                assertEquals(CompletionStatus.SUCCESS, read.status());
            }
            assertFalse(ends.fabric().scheduler().until(() -> false, PAUSE_NS)); // nothing is on its way any more
            assertEquals(
                    lost,
                    ends.server().counter("roce.packetsSent") - ends.client().counter("roce.packetsReceived"));
            links.forEach(Ends.Link::close);
            remote.close();
            sink.close();
        });
    }
}
