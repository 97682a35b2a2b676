package org.softrdma.sim.roce.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.WorkCompletion;

/** READs of 64 packets over a link that loses some, both ways; by the network's clock. */
class LossyReadsTest {
    private static final long SEED = Long.getLong("softrdma.roce.seed", 1);

    private static final int UNIT = 256;
    private static final int READ_PACKETS = 64;
    private static final int READS = 300;
    /** A packet of 1 KiB on a link of 10 Gbit/s; those of this test stand for such. */
    private static final long PACKET_NS = 916;

    private static final long DELAY_NS = 15_000;
    private static final long TIMEOUT_NS = 250_000_000;
    private static final long LIMIT_NS = 600_000_000_000L;

    private static final class Flight {
        private final long arrivesNs;
        private final byte[] packet;

        Flight(long arrivesNs, byte[] packet) {
            this.arrivesNs = arrivesNs;
            this.packet = packet;
        }
    }

    /**
     * What came of it.
     *
     * @param goodput part of the link's rate
     * @param timeouts for each thousand READs
     * @param sent packets of answers for each that was needed
     */
    private record Outcome(double goodput, double timeouts, double sent) {}

    private static Outcome run(int inFlight, double loss) {
        Random random = new Random(SEED);
        RcSettings settings = new RcSettings(UNIT, 16, 16, 64, 256, true, TIMEOUT_NS, 7, 7, 4);
        RcEnd client = new RcEnd(settings, 5, 9, READ_PACKETS * UNIT, 0);
        RcEnd server = new RcEnd(settings, 9, 5, READ_PACKETS * UNIT, 0);
        Deque<Flight> toServer = new ArrayDeque<>();
        Deque<Flight> toClient = new ArrayDeque<>();
        long now = 0;
        long answers = 0;
        int posted = 0;
        int done = 0;
        while (done < READS) {
            client.requester.onTime(now);
            for (; posted < READS && posted - done < inFlight; posted++) {
                SendWorkRequest read = new SendWorkRequest().read(posted, 0, RcEnd.KEY, SendFlags.SIGNALLED);
                assertTrue(client.post(read, 0, READ_PACKETS * UNIT));
            }
            int asked = transmit(client.request(now), toServer, now, random.nextDouble() >= loss);
            answers += transmit(server.send(now), toClient, now, random.nextDouble() >= loss);
            receive(toServer, server, now);
            receive(toClient, client, now);
            for (WorkCompletion completion : client.poll()) {
                assertEquals(done++, completion.wrId());
            }
            assertNull(client.requester.failure());
            now += PACKET_NS;
            boolean isQuiet = asked == 0 && toServer.isEmpty() && toClient.isEmpty() && !server.answers.next();
            if (isQuiet && !client.requester.isIdle()) {
                now = Math.max(now, client.requester.deadlineNs()); // nothing else happens before
            }
            assertTrue(now < LIMIT_NS, "requests never end");
        }
        long needed = (long) READS * READ_PACKETS;
        Outcome outcome = new Outcome(
                (double) needed * PACKET_NS / now,
                1000.0 * client.requester.timeouts() / READS,
                (double) answers / needed);
        System.out.printf("%d READs in flight, %.1f %% lost: %s%n", inFlight, 100 * loss, outcome);
        return outcome;
    }

    private static int transmit(byte[] packet, Deque<Flight> to, long now, boolean arrives) {
        if (packet.length > 0 && arrives) {
            to.addLast(new Flight(now + DELAY_NS, packet));
        }
        return packet.length > 0 ? 1 : 0;
    }

    private static void receive(Deque<Flight> from, RcEnd end, long now) {
        while (!from.isEmpty() && from.peekFirst().arrivesNs <= now) {
            end.receive(from.removeFirst().packet, now);
        }
    }

    @ParameterizedTest
    @CsvSource({"4, 0, 0.99", "4, 0.001, 0.92", "4, 0.01, 0.65", "4, 0.05, 0.28", "1, 0.05, 0.08"})
    void shouldFillMuchOfALinkThatLosesPackets(int inFlight, double loss, double least) {
        Outcome outcome = run(inFlight, loss);
        assertTrue(outcome.goodput() > least, outcome::toString);
    }

    @Test
    void shouldSeldomWaitForATimeout() {
        Outcome outcome = run(4, 0.05);
        assertTrue(outcome.timeouts() < 100, outcome::toString);
    }
}
