package org.softrdma.sim.roce.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How many packets may be on their way, by what became of those before. */
class CongestionWindowTest {
    private static final int MOST = 64;
    private static final long SHORT_NS = 50_000;
    /** Beyond any target. */
    private static final long LONG_NS = 1_000_000;

    private final CongestionWindow window = new CongestionWindow(MOST, false);
    private long now = TimeUnit.SECONDS.toNanos(100);

    /** One round trip: all that may be on its way is acknowledged. */
    private void roundTrip(long ns) {
        now += ns;
        int packets = window.packets();
        window.measured(ns, now);
        for (int i = 0; i < packets; i++) {
            window.acknowledged(1, now);
        }
    }

    private void grow() {
        while (window.packets() < MOST) {
            roundTrip(SHORT_NS);
        }
    }

    @Test
    void shouldGrowToItsLimitByDoublingWhileNothingIsLost() {
        assertEquals(CongestionWindow.FIRST, window.packets());
        roundTrip(SHORT_NS);
        assertEquals(2 * CongestionWindow.FIRST, window.packets());
        roundTrip(SHORT_NS);
        assertEquals(MOST, window.packets());
        roundTrip(SHORT_NS);
        assertEquals(MOST, window.packets());
    }

    /** A host that is busy answers late, and sending less does not make it faster. */
    @Test
    void shouldNotMindLongRoundTripsWhileNothingIsLost() {
        grow();
        for (int i = 0; i < 100; i++) {
            roundTrip(LONG_NS);
        }
        assertEquals(MOST, window.packets());
        assertEquals(0, window.decreases());
    }

    @Test
    void shouldNotMindALossWhereNothingHadToWait() {
        grow();
        for (int i = 0; i < 100; i++) {
            roundTrip(SHORT_NS + SHORT_NS / 2);
            window.lost(now);
        }
        assertEquals(MOST, window.packets());
    }

    @Test
    void shouldBecomeSmallerWithLossesByHowLongPacketsWaited() {
        grow();
        roundTrip(3 * SHORT_NS);
        window.lost(now);
        assertEquals(MOST * 2 / 3, window.packets());
        window.lost(now + SHORT_NS);
        assertEquals(MOST * 2 / 3, window.packets(), "twice in one round trip");
        roundTrip(3 * SHORT_NS);
        window.lost(now);
        assertEquals(29, window.packets(), "two thirds of nearly 44");
        for (int i = 0; i < 100; i++) {
            roundTrip(10 * SHORT_NS);
            window.lost(now);
        }
        assertTrue(window.packets() < CongestionWindow.FIRST, () -> "packets: " + window.packets());
    }

    @Test
    void shouldHalveWhenSoMuchIsLostThatNoRoundTripIsKnown() {
        grow();
        roundTrip(SHORT_NS);
        window.lost(now);
        assertEquals(MOST, window.packets());
        now += LONG_NS;
        window.lost(now);
        assertEquals(MOST / 2, window.packets());
        roundTrip(SHORT_NS);
        window.lost(now);
        assertEquals(MOST / 2, window.packets(), "nothing had to wait");
    }

    @Test
    void shouldWatchTheDelayOnceSomethingWasLost() {
        grow();
        window.lost(now); // where nothing had to wait
        for (int i = 0; i < 100; i++) {
            roundTrip(LONG_NS);
        }
        assertEquals(CongestionWindow.LEAST, window.packets());
        roundTrip(SHORT_NS);
        roundTrip(SHORT_NS);
        assertEquals(CongestionWindow.LEAST + 1, window.packets(), "about one more in a round trip");
    }

    @Test
    void shouldNotGrowWhileRoundTripsAreBeyondTheTarget() {
        grow();
        window.lost(now);
        roundTrip(LONG_NS);
        int packets = window.packets();
        assertTrue(packets < MOST);
        window.acknowledged(MOST, now);
        assertEquals(packets, window.packets());
    }

    @Test
    void shouldForgetALoss() {
        grow();
        window.lost(now);
        now += CongestionWindow.REMEMBERED_NS;
        roundTrip(SHORT_NS);
        roundTrip(LONG_NS);
        assertEquals(MOST, window.packets());
    }

    /** The way has become longer: what was a long round trip is the shortest that there is. */
    @Test
    void shouldForgetTheShortestRoundTrip() {
        grow();
        for (int i = 0; i < 2; i++) {
            now += CongestionWindow.REMEMBERED_NS / 2;
            roundTrip(LONG_NS);
        }
        window.lost(now);
        roundTrip(LONG_NS + LONG_NS / 2);
        assertEquals(MOST, window.packets());
    }

    private void runOut(int times) {
        for (int i = 0; i < times; i++) {
            now += TimeUnit.MILLISECONDS.toNanos(10);
            window.ranOut(now);
        }
    }

    /** A peer that is held up for a while is no network that loses packets. */
    @Test
    void shouldNotMindThatTimeRunsOutWhileNothingIsLost() {
        grow();
        runOut(10);
        assertEquals(MOST, window.packets());
    }

    @Test
    void shouldHalveDownToItsLeastWhenTimeRunsOutAndPacketsWereLost() {
        grow();
        window.lost(now);
        runOut(10);
        assertEquals(CongestionWindow.LEAST, window.packets());
        assertEquals(4, window.decreases());
    }

    @Test
    void shouldStayAsItIsIfItIsFixed() {
        CongestionWindow fixed = new CongestionWindow(MOST, true);
        assertEquals(MOST, fixed.packets());
        fixed.measured(LONG_NS, now);
        fixed.lost(now);
        fixed.ranOut(now + LONG_NS);
        assertEquals(MOST, fixed.packets());
        assertEquals(0, fixed.decreases());
    }

    /** Of a peer that has room for less than this aims at. */
    @Test
    void shouldNotBeLargerThanItsLimit() {
        CongestionWindow small = new CongestionWindow(6, false);
        assertEquals(6, small.packets());
        small.lost(now);
        small.ranOut(now);
        assertEquals(CongestionWindow.LEAST, small.packets());
        small.acknowledged(100, now);
        small.acknowledged(100, now);
        assertEquals(6, small.packets());
    }
}
