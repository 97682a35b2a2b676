package org.softrdma.sim.roce.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.WorkCompletion;

/**
 * Many senders into one link of 10 Gbit/s, before which a switch has room for 256 packets; by the network's clock. What does not
 * find room is lost.
 */
class FanInTest {
    private static final long SEED = Long.getLong("softrdma.roce.seed", 1);

    private static final int UNIT = 1024;
    /** A full packet on a link of 10 Gbit/s, with headers and what Ethernet puts between two. */
    private static final long PACKET_NS = 916;

    private static final int SWITCH_PACKETS = 256;
    private static final int WRITE_BYTES = 16 * UNIT;
    private static final int IN_FLIGHT = 8;
    private static final long RUN_NS = 20_000_000;
    private static final long LIMIT_NS = 4_000_000_000L;
    private static final int WINDOW = 64;
    private static final int READ_WINDOW = 256;
    private static final long TIMEOUT_NS = 250_000_000;

    /** A packet or its answer on its way. */
    private static final class Flight {
        private final long arrivesNs;
        private final int sender;
        private final byte[] packet;

        Flight(long arrivesNs, int sender, byte[] packet) {
            this.arrivesNs = arrivesNs;
            this.sender = sender;
            this.packet = packet;
        }
    }

    private static final class Network {
        private final long delayNs;
        private final List<RcEnd> senders = new ArrayList<>();
        private final List<RcEnd> receivers = new ArrayList<>();
        private final long[] busyUntilNs;
        private final int[] posted;
        private final int[] done;
        private final Deque<Flight> queue = new ArrayDeque<>();
        private final Deque<Flight> toReceiver = new ArrayDeque<>();
        private final Deque<Flight> toSenders = new ArrayDeque<>();
        private long now;
        private long sent;
        private long dropped;

        Network(int count, long delayNs, boolean fixed) {
            Random random = new Random(SEED);
            this.delayNs = delayNs;
            busyUntilNs = new long[count];
            posted = new int[count];
            done = new int[count];
            RcSettings settings = new RcSettings(UNIT, 4, 4, WINDOW, READ_WINDOW, fixed, TIMEOUT_NS, 7, 7, 4);
            for (int i = 0; i < count; i++) {
                int there = random.nextInt(1 << 24);
                int back = random.nextInt(1 << 24);
                senders.add(new RcEnd(settings, there, back, WRITE_BYTES, 0));
                receivers.add(new RcEnd(settings, back, there, WRITE_BYTES, 0));
                busyUntilNs[i] = random.nextInt((int) (100 * PACKET_NS));
            }
        }

        /** One time slot of the link. */
        private void step(boolean posts) {
            for (int i = 0; i < senders.size(); i++) {
                RcEnd sender = senders.get(i);
                sender.requester.onTime(now);
                while (posts && posted[i] - done[i] < IN_FLIGHT) {
                    assertTrue(sender.post(
                            new SendWorkRequest().write(posted[i], 0, RcEnd.KEY, SendFlags.SIGNALLED), 0, WRITE_BYTES));
                    posted[i]++;
                }
                if (now >= busyUntilNs[i]) {
                    send(i, sender.request(now));
                }
            }
            if (!queue.isEmpty()) {
                Flight next = queue.removeFirst();
                toReceiver.addLast(new Flight(now + delayNs, next.sender, next.packet));
            }
            while (!toReceiver.isEmpty() && toReceiver.peekFirst().arrivesNs <= now) {
                Flight arrived = toReceiver.removeFirst();
                RcEnd receiver = receivers.get(arrived.sender);
                receiver.receive(arrived.packet, now);
                for (byte[] answer : receiver.sendAll(now)) {
                    toSenders.addLast(new Flight(now + delayNs, arrived.sender, answer));
                }
            }
            while (!toSenders.isEmpty() && toSenders.peekFirst().arrivesNs <= now) {
                Flight arrived = toSenders.removeFirst();
                RcEnd sender = senders.get(arrived.sender);
                sender.receive(arrived.packet, now);
                for (WorkCompletion completion : sender.poll()) {
                    assertTrue(completion.isSuccess(), completion::toString);
                    assertEquals(done[arrived.sender]++, completion.wrId());
                }
                assertNull(sender.requester.failure());
            }
            now += PACKET_NS;
        }

        private void send(int from, byte[] packet) {
            if (packet.length == 0) {
                return;
            }
            sent++;
            busyUntilNs[from] = now + PACKET_NS;
            if (queue.size() < SWITCH_PACKETS) {
                queue.addLast(new Flight(now, from, packet));
            } else {
                dropped++;
            }
        }

        private long all(int[] counts) {
            long sum = 0;
            for (int count : counts) {
                sum += count;
            }
            return sum;
        }

        /** Sends for a while, then lets all that was posted come to its end. */
        private Outcome run() {
            while (now < RUN_NS) {
                step(true);
            }
            double part = (double) all(done) * (WRITE_BYTES / UNIT) * PACKET_NS / RUN_NS;
            Outcome outcome = new Outcome(part, (double) dropped / sent);
            while (all(done) < all(posted)) {
                step(false);
                assertTrue(now < LIMIT_NS, "requests never end");
            }
            return outcome;
        }
    }

    /**
     * What came of it.
     *
     * @param goodput part of the link's rate
     * @param dropped part of the packets sent
     */
    private record Outcome(double goodput, double dropped) {}

    private static Outcome run(int senders, long delayNs, boolean fixed) {
        Outcome outcome = new Network(senders, delayNs, fixed).run();
        System.out.printf(
                "%d senders, %d us away, %s: %.2f of the link, %.2f %% dropped%n",
                senders,
                delayNs / 1000,
                fixed ? "64 packets each" : "by their windows",
                outcome.goodput(),
                100 * outcome.dropped());
        return outcome;
    }

    @ParameterizedTest
    @CsvSource({"2, 15", "8, 15", "32, 15", "8, 60", "32, 60"})
    void shouldFillALinkThatManyShareAndLoseLittle(int senders, int delayUs) {
        Outcome outcome = run(senders, delayUs * 1000L, false);
        assertTrue(outcome.goodput() > 0.8, outcome::toString);
        assertTrue(outcome.dropped() < 0.12, outcome::toString);
    }

    /** What the window is for. */
    @Test
    void shouldLoseMostWithoutIt() {
        Outcome outcome = run(32, 15_000, true);
        assertTrue(outcome.dropped() > 0.25 && outcome.goodput() < 0.5, outcome::toString);
    }
}
