package org.softrdma.sim.roce.unreliable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.roce.unreliable.UnreliablePeer.Received;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/**
 * An unreliable connection over a network that loses, doubles and reorders packets, by seed: each message arrives whole,
 * once and in order, or not at all, and then a counter tells. The property {@code softrdma.roce.seeds} says how many seeds,
 * of which {@code softrdma.roce.seed} is the first.
 */
class LossyMessagesTest {
    private static final long FIRST_SEED = Long.getLong("softrdma.roce.seed", 1);
    private static final long SEEDS = Long.getLong("softrdma.roce.seeds", 200);

    private static final int MESSAGES = 60;
    private static final int LONGEST = 5 * UnreliablePeer.UNIT;
    private static final int FARTHEST = 4;
    private static final int TWICE = 20;
    private static final int LATE = 50;

    /** What was sent, by its number, which is its immediate and fills its bytes. */
    private record Sent(int number, boolean write, int length) {}

    private static List<Sent> draw(Random random) {
        List<Sent> all = new ArrayList<>();
        for (int i = 1; i <= MESSAGES; i++) {
            all.add(new Sent(i, random.nextInt(3) == 0, random.nextInt(LONGEST)));
        }
        return all;
    }

    private static List<byte[]> packets(UnreliablePeer sender, Sent message) {
        sender.local.fill((byte) message.number);
        SendWorkRequest request = new SendWorkRequest();
        if (message.write) {
            long to = (long) message.number * LONGEST;
            request.writeImmediate(message.number, to, UnreliablePeer.KEY, message.number, SendFlags.NONE);
        } else {
            request.sendImmediate(message.number, message.number, SendFlags.NONE);
        }
        List<byte[]> packets = sender.send(request, 0, message.length);
        assertEquals(1, sender.poll().size());
        return packets;
    }

    private static List<byte[]> onTheWay(List<byte[]> packets, int losses, Random random) {
        List<byte[]> arriving = new ArrayList<>();
        for (byte[] packet : packets) {
            if (random.nextInt(1000) >= losses) {
                arriving.add(packet);
                if (random.nextInt(1000) < TWICE) {
                    arriving.add(packet);
                }
            }
        }
        for (int i = 0; i < arriving.size(); i++) {
            if (random.nextInt(1000) < LATE) {
                byte[] late = arriving.remove(i);
                arriving.add(Math.min(arriving.size(), i + 1 + random.nextInt(FARTHEST)), late);
            }
        }
        return arriving;
    }

    private static void run(long seed, int losses) {
        Random random = new Random(seed);
        UnreliablePeer sender = new UnreliablePeer(0xFF_FFF0, 7, LONGEST);
        UnreliablePeer receiver = new UnreliablePeer(7, 0xFF_FFF0, (MESSAGES + 2) * LONGEST);
        receiver.receives = Integer.MAX_VALUE;
        List<Sent> messages = draw(random);
        List<byte[]> all = new ArrayList<>();
        messages.forEach(message -> all.addAll(packets(sender, message)));
        List<byte[]> arriving = onTheWay(all, losses, random);
        receiver.receive(arriving);
        Sent last = new Sent(MESSAGES + 1, false, 1);
        receiver.receive(packets(sender, last));

        int before = 0;
        for (Received message : receiver.messages) {
            int number = message.immediate();
            assertTrue(number > before, number + " behind " + before);
            before = number;
            Sent sent = number > MESSAGES ? last : messages.get(number - 1);
            check(receiver, sent, message);
        }
        assertEquals(MESSAGES + 1, before, "the last one came by itself");
        long missing = receiver.dropped(Drop.MISSING);
        long late = receiver.dropped(Drop.LATE);
        long incomplete = receiver.dropped(Drop.INCOMPLETE);
        assertEquals(all.size(), missing + arriving.size() - late, "packets that came, or are known to be missing");
        int lost = MESSAGES + 1 - receiver.messages.size();
        assertTrue(lost <= missing, lost + " messages lost, but " + missing + " packets missing");
        assertTrue(incomplete == 0 || lost > 0, incomplete + " packets dropped of messages that arrived");
        for (Drop cause : Drop.values()) {
            assertEquals(0, receiver.dropped(cause), cause.name());
        }
    }

    private static void check(UnreliablePeer receiver, Sent sent, Received message) {
        assertEquals(sent.write ? "WRITE" : "SEND", message.kind());
        if (sent.write) {
            byte[] written = receiver.remote
                    .asSlice((long) sent.number * LONGEST, LONGEST)
                    .toArray(ValueLayout.JAVA_BYTE);
            for (int i = 0; i < LONGEST; i++) {
                assertEquals(i < sent.length ? sent.number : 0, written[i], "byte " + i + " of WRITE " + sent.number);
            }
        } else {
            assertEquals(sent.length, message.bytes().size(), "length of SEND " + sent.number);
            assertTrue(message.bytes().stream().allMatch(each -> each == sent.number), "bytes of SEND " + sent.number);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 10, 50, 200})
    void shouldDeliverEachMessageWholeOnceAndInOrderOrCountIt(int losses) {
        for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
            try {
                run(seed, losses);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ", " + losses + " of a thousand lost: " + e.getMessage(), e);
            }
        }
    }
}
