package org.softrdma.sim.roce.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.WorkCompletion;

/**
 * Two ends on a network that loses, doubles and reorders packets, by seed: every request takes effect once, in order, and
 * completes once, or fails with a status that says why. The property {@code softrdma.roce.seeds} says how many seeds, of
 * which {@code softrdma.roce.seed} is the first.
 */
class LossyNetworkTest {
    private static final long FIRST_SEED = Long.getLong("softrdma.roce.seed", 1);
    private static final long SEEDS = Long.getLong("softrdma.roce.seeds", 100);

    private static final int UNIT = 256;
    /** Longer and shorter than the longest READ. */
    private static final int[] READ_WINDOWS = {2, 5, 6, 64};

    private static final int LONGEST = 2_048;
    private static final int MEMORY = 64 * 1024;
    private static final int REQUESTS = 40;
    private static final int RETRIES = 7;
    /** Of a packet's last word with its PSN. */
    private static final int PSN_AT = 8;

    private static final long LATENCY_NS = 10_000;
    private static final long STEP_NS = 1_000;
    private static final long IDLE_STEP_NS = 50_000;
    private static final long TIMEOUT_NS = 1_000_000;
    private static final long LONG_TIMEOUT_NS = 250_000_000;
    private static final long LIMIT_NS = 60_000_000_000L;

    /** At the peer: WRITEs go to the first half, READs come from the second, and atomics have the last word. */
    private static final int READS_AT = MEMORY / 2;

    private static final int WORD_AT = MEMORY - Long.BYTES;

    private enum Kind {
        WRITE,
        WRITE_IMMEDIATE,
        READ,
        SEND,
        SEND_IMMEDIATE,
        SEND_INVALIDATE,
        FETCH_AND_ADD
    }

    /** A request, the place of its local buffer, and that of its bytes at the peer. Those in flight do not overlap. */
    private record Posted(int number, Kind kind, int offset, int length, long remote, int flags) {
        static Posted draw(int number, Random random) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            int flags = random.nextInt(8) == 0 ? SendFlags.FENCE : SendFlags.NONE;
            int drawn = random.nextInt(4) == 0 ? random.nextInt(LONGEST) : random.nextInt(2 * UNIT);
            int offset = number % RcEnd.SLOTS * LONGEST;
            return switch (kind) {
                case READ -> new Posted(number, kind, offset, drawn, READS_AT + number * 13, flags);
                case FETCH_AND_ADD -> new Posted(number, kind, offset, Long.BYTES, WORD_AT, flags);
                default -> new Posted(number, kind, offset, drawn, offset, flags);
            };
        }

        boolean carriesData() {
            return kind != Kind.READ && kind != Kind.FETCH_AND_ADD;
        }

        SendWorkRequest request() {
            SendWorkRequest request = new SendWorkRequest();
            return switch (kind) {
                case WRITE -> request.write(number, remote, RcEnd.KEY, flags);
                case WRITE_IMMEDIATE -> request.writeImmediate(number, remote, RcEnd.KEY, number, flags);
                case READ -> request.read(number, remote, RcEnd.KEY, flags);
                case SEND -> request.send(number, flags);
                case SEND_IMMEDIATE -> request.sendImmediate(number, number, flags);
                case SEND_INVALIDATE -> request.sendInvalidate(number, number, flags);
                case FETCH_AND_ADD -> request.fetchAndAdd(number, remote, RcEnd.KEY, 1, flags);
            };
        }
    }

    /** A packet on its way. */
    private static final class Flight {
        private final long arrivesNs;
        private final long order;
        private final boolean toServer;
        private final byte[] packet;

        Flight(long arrivesNs, long order, boolean toServer, byte[] packet) {
            this.arrivesNs = arrivesNs;
            this.order = order;
            this.toServer = toServer;
            this.packet = packet;
        }
    }

    private static final class Run {
        private final Random random;
        private final double loss;
        private final long timeoutNs;
        private final PriorityQueue<Flight> flights = new PriorityQueue<>(
                Comparator.<Flight>comparingLong(flight -> flight.arrivesNs).thenComparingLong(flight -> flight.order));
        private final RcEnd client;
        private final RcEnd server;
        private final List<String> expectedMessages = new ArrayList<>();
        private final List<Long> atomics = new ArrayList<>();
        private final List<Posted> requests = new ArrayList<>();
        /** How often each packet of the client was sent. */
        private final Map<Integer, Integer> sent = new HashMap<>();

        private int firstUnacknowledged;
        private long progressNs;
        private long now;
        private long order;
        private int posted;
        private int completed;
        private int atomicsPosted;

        Run(long seed, double loss) {
            this(seed, loss, TIMEOUT_NS);
        }

        Run(long seed, double loss, long timeoutNs) {
            random = new Random(seed);
            this.loss = loss;
            this.timeoutNs = timeoutNs;
            int toServer = random.nextInt(1 << 24);
            int toClient = random.nextInt(1 << 24);
            RcSettings settings = new RcSettings(
                    UNIT,
                    4,
                    4,
                    16,
                    READ_WINDOWS[(int) (seed % READ_WINDOWS.length)],
                    seed % 2 == 0,
                    timeoutNs,
                    RETRIES,
                    RcSettings.FOR_EVER,
                    4);
            client = new RcEnd(settings, toServer, toClient, MEMORY, LONGEST);
            server = new RcEnd(settings, toClient, toServer, MEMORY, LONGEST);
            for (int i = READS_AT; i < WORD_AT; i++) {
                server.remote.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
            }
        }

        /** Until all is complete, or the requester has given up. */
        void run() {
            while (completed < REQUESTS && client.requester.failure() == null) {
                if (posted < REQUESTS && random.nextInt(4) == 0 && client.sends.hasRoom()) {
                    post();
                }
                if (server.receives < 2 && random.nextInt(20) == 0) {
                    server.receives += random.nextInt(3);
                }
                transmit(client, true);
                transmit(server, false);
                while (!flights.isEmpty() && flights.peek().arrivesNs <= now) {
                    Flight flight = flights.poll();
                    (flight.toServer ? server : client).receive(flight.packet, now);
                }
                client.requester.onTime(now);
                noteProgress();
                poll();
                now += flights.isEmpty() ? IDLE_STEP_NS : STEP_NS;
                assertTrue(now < LIMIT_NS, "neither complete nor failed");
            }
            client.flushIfFailed();
            poll();
        }

        private void noteProgress() {
            int first = Psn.plus(client.requester.questionPsn(), 1);
            if (first != firstUnacknowledged) {
                firstUnacknowledged = first;
                progressNs = now;
            }
        }

        private void transmit(RcEnd end, boolean toServer) {
            for (int i = random.nextInt(4); i > 0; i--) {
                byte[] packet = end.send(now);
                if (packet.length == 0) {
                    return;
                }
                if (toServer) {
                    sent.merge(ByteBuffer.wrap(packet).getInt(PSN_AT) & Psn.MASK, 1, Integer::sum);
                }
                for (int copies = random.nextInt(50) == 0 ? 2 : 1; copies > 0; copies--) {
                    if (random.nextDouble() >= loss) {
                        long extra = random.nextInt(20) == 0 ? random.nextInt(5) * LATENCY_NS : 0;
                        flights.add(new Flight(now + LATENCY_NS + extra, order++, toServer, packet));
                    }
                }
            }
        }

        private void post() {
            Posted next = Posted.draw(posted, random);
            if (next.carriesData()) {
                fill(client.local.asSlice(next.offset, next.length), posted);
            }
            if (next.kind == Kind.SEND_INVALIDATE) {
                server.keys.add(posted);
            }
            assertTrue(client.post(next.request(), next.offset, next.length));
            expect(next);
            requests.add(next);
            posted++;
        }

        private void fill(MemorySegment bytes, int value) {
            for (long i = 0; i < bytes.byteSize(); i++) {
                bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (value * 7L + i));
            }
        }

        private void expect(Posted next) {
            String content = RcEnd.checksum(client.local.asSlice(next.offset, next.length));
            switch (next.kind) {
                case WRITE_IMMEDIATE -> expectedMessages.add("WRITE 0:0 immediate " + posted);
                case SEND -> expectedMessages.add("SEND " + content);
                case SEND_IMMEDIATE -> expectedMessages.add("SEND " + content + " immediate " + posted);
                case SEND_INVALIDATE -> expectedMessages.add("SEND " + content + " invalidates " + posted);
                case FETCH_AND_ADD -> atomicsPosted++;
                default -> {}
            }
        }

        private void poll() {
            for (WorkCompletion completion : client.poll()) {
                assertEquals(completed, completion.wrId(), "order of completions");
                completed++;
                if (completion.isSuccess()) {
                    checkContent(requests.get((int) completion.wrId()));
                } else {
                    assertNotNull(client.requester.failure());
                }
            }
        }

        private void checkContent(Posted done) {
            MemorySegment own = client.local.asSlice(done.offset, done.length);
            switch (done.kind) {
                case FETCH_AND_ADD -> atomics.add(NativeMemory.getNativeLong(own.address()));
                case READ, WRITE, WRITE_IMMEDIATE ->
                    assertEquals(RcEnd.checksum(server.remote.asSlice(done.remote, done.length)), RcEnd.checksum(own));
                default -> {}
            }
        }

        /** What holds however it has ended. */
        void check(boolean mustSucceed) {
            assertEquals(expectedMessages.subList(0, server.messages.size()), server.messages);
            for (int i = 0; i < atomics.size(); i++) {
                assertEquals(i, atomics.get(i), "an atomic was executed twice, or not at all");
            }
            assertTrue(server.atomicsExecuted <= atomicsPosted);
            CompletionStatus failure = client.requester.failure();
            if (mustSucceed || failure == null) {
                assertNull(failure);
                assertEquals(expectedMessages, server.messages);
                assertEquals(atomicsPosted, atomics.size());
                assertEquals(atomicsPosted, server.atomicsExecuted);
                assertEquals(REQUESTS, completed);
            } else {
                assertEquals(CompletionStatus.RETRY_EXCEEDED_ERROR, failure);
                checkRetries();
            }
        }

        /** All retries went to the first packet without an answer, and none counted before its time. */
        private void checkRetries() {
            int times = sent.getOrDefault(firstUnacknowledged, 0);
            assertTrue(times >= RETRIES, "packet " + firstUnacknowledged + " was sent " + times + " times");
            assertTrue(now - progressNs >= RETRIES * timeoutNs, now - progressNs + " ns without progress");
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.001, 0.01, 0.05})
    void shouldDoEveryRequestOnceInOrder(double loss) {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            runBy(seed, loss, true);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.2, 0.6, 1})
    void shouldDoEveryRequestOnceOrSayThatThePeerIsSilent(double loss) {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            runBy(seed, loss, false);
        }
    }

    /** As the network's clock has it, not this machine's. */
    @Test
    void shouldSeldomWaitForALongTimeoutWhereTheRoundTripIsShort() {
        long sumNs = 0;
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            Run run = new Run(seed, 0.05, LONG_TIMEOUT_NS);
            run.run();
            run.check(true);
            sumNs += run.now;
        }
        assertTrue(sumNs / SEEDS < LONG_TIMEOUT_NS / 5, "a run took " + sumNs / SEEDS + " ns on average");
    }

    private static void runBy(long seed, double loss, boolean mustSucceed) {
        Run run = new Run(seed, loss);
        try {
            run.run();
            run.check(mustSucceed);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(
                    "-Dsoftrdma.roce.seeds=1 -Dsoftrdma.roce.seed=" + seed + ", loss " + loss + ": " + e.getMessage(),
                    e);
        }
    }
}
