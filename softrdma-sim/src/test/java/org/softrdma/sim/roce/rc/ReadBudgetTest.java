package org.softrdma.sim.roce.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** Who may READ, and when, if many connections share what finds room. */
class ReadBudgetTest {
    private static final int UNIT = 256;
    private static final long PACKET = ReadBudget.Share.cost(UNIT, 1);

    private final List<String> called = new ArrayList<>();
    private final ReadBudget budget = new ReadBudget(4 * PACKET);
    private final ReadBudget.Share a = budget.share(() -> called.add("a"));
    private final ReadBudget.Share b = budget.share(() -> called.add("b"));
    private final ReadBudget.Share c = budget.share(() -> called.add("c"));

    private static boolean ask(ReadBudget.Share share, int packets) {
        boolean admitted = share.admits(packets * PACKET);
        if (admitted) {
            share.take(packets * PACKET);
        }
        return admitted;
    }

    @Test
    void shouldAdmitNoMoreThanThereIsRoomFor() {
        assertTrue(ask(a, 3));
        assertTrue(ask(b, 1));
        assertFalse(ask(c, 1));
        assertEquals(4 * PACKET, budget.usedBytes());
    }

    @Test
    void shouldAdmitWhatNeverFindsRoomOnceNothingIsOnItsWay() {
        assertTrue(ask(a, 100));
        assertFalse(ask(b, 100));
        a.give(99 * PACKET);
        assertEquals(List.of(), called);
        a.give(PACKET);
        assertEquals(List.of("b"), called);
        assertTrue(ask(b, 100));
    }

    @Test
    void shouldLetNobodyPassWhoeverWaits() {
        assertTrue(ask(a, 3));
        assertFalse(ask(b, 2));
        assertFalse(ask(c, 1)); // there is room for it
        assertFalse(ask(a, 1));
        a.give(PACKET);
        assertEquals(List.of("b"), called);
        assertTrue(ask(b, 2));
        a.give(PACKET);
        assertEquals(List.of("b", "c"), called);
        assertTrue(ask(c, 1));
        b.give(PACKET);
        assertEquals(List.of("b", "c", "a"), called);
        assertTrue(ask(a, 1));
    }

    @Test
    void shouldCallTheNextOneWhenWhoeverIsFirstGoesAway() {
        assertTrue(ask(a, 3));
        assertFalse(ask(b, 4));
        assertFalse(ask(c, 1));
        b.giveAll();
        assertEquals(List.of("c"), called);
        assertTrue(ask(c, 1));
    }

    @Test
    void shouldCallTheNextOneWhenAConnectionEnds() {
        assertTrue(ask(a, 4));
        assertFalse(ask(b, 2));
        assertFalse(ask(c, 2));
        a.giveAll();
        assertTrue(ask(b, 2));
        assertEquals(List.of("b", "c"), called);
        assertTrue(ask(c, 2));
        assertEquals(4 * PACKET, budget.usedBytes());
    }

    /** Ends that share a budget, at a peer each that answers or is silent by seed: all READs are done, and nothing stays taken. */
    @Test
    void shouldDoEveryReadOfManyConnections() {
        for (long seed = 1; seed <= 50; seed++) {
            run(seed);
        }
    }

    private static void run(long seed) {
        Random random = new Random(seed);
        ReadBudget shared = new ReadBudget(6 * PACKET);
        RcSettings settings = new RcSettings(UNIT, 2, 2, 8, 6, true, 1_000_000, 7, 7, 1);
        List<RcEnd> ends = new ArrayList<>();
        List<RcEnd> peers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            ends.add(new RcEnd(settings, 0, 7, 4_096, 0, shared));
            peers.add(new RcEnd(settings, 7, 0, 4_096, 0));
            for (int r = 0; r < 4; r++) {
                assertTrue(ends.get(i)
                        .post(
                                new SendWorkRequest().read(r, 0, RcEnd.KEY, SendFlags.NONE),
                                0,
                                random.nextInt(12 * UNIT)));
            }
        }
        int done = 0;
        long now = 0;
        while (done < 8 * 4) {
            int i = random.nextInt(8);
            RcEnd end = ends.get(i);
            end.requester.onTime(now);
            for (byte[] packet : end.sendAll(now)) {
                if (random.nextInt(20) > 0) {
                    peers.get(i).receive(packet, now);
                }
            }
            assertTrue(shared.usedBytes() <= 6 * PACKET, "seed " + seed);
            for (byte[] answer : peers.get(i).sendAll(now)) {
                if (random.nextInt(20) > 0) {
                    end.receive(answer, now);
                }
            }
            done += end.poll().size();
            now += 50_000;
            assertTrue(now < 60_000_000_000L, "seed " + seed + ": READs wait for ever, " + done + " are done");
        }
        assertEquals(0, shared.usedBytes(), "seed " + seed);
    }

    /** What it asks for again, it has not taken twice. */
    @Test
    void shouldTakeNothingTwiceForWhatIsAskedForAgain() {
        ReadBudget own = new ReadBudget(100 * PACKET);
        RcSettings settings = new RcSettings(UNIT, 2, 2, 8, 64, true, 1_000_000, 7, 7, 1);
        RcEnd end = new RcEnd(settings, 0, 7, 4_096, 0, own);
        assertTrue(end.post(new SendWorkRequest().read(1, 0, RcEnd.KEY, SendFlags.NONE), 0, 4 * UNIT));
        assertEquals(1, end.sendAll(0).size());
        assertEquals(4 * PACKET, own.usedBytes());
        assertTrue(end.requester.onReadResponse(RoceOpcode.READ_RESPONSE_FIRST, 0, UNIT, 1));
        end.requester.responsePlaced(1);
        assertEquals(3 * PACKET, own.usedBytes());
        end.requester.onTime(2_000_000);
        assertEquals(0, own.usedBytes());
        assertEquals(1, end.sendAll(2_000_000).size());
        assertEquals(3 * PACKET, own.usedBytes());
        end.requester.abandon();
        assertEquals(0, own.usedBytes());
    }
}
