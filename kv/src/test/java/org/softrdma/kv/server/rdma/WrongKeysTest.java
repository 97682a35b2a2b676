package org.softrdma.kv.server.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WrongKeysTest {
    private static final long MINUTE_NS = TimeUnit.MINUTES.toNanos(1);

    private final WrongKeys wrongKeys = new WrongKeys();
    private final InetAddress guesser = address("192.0.2.1");
    private long nowNs = Long.MAX_VALUE - MINUTE_NS; // as System.nanoTime may be

    @Test
    void shouldPauseTwiceAsLongEachTime() {
        for (int i = 1; i < WrongKeys.FORGIVEN; i++) {
            assertEquals(0, wrongKeys.count(guesser, nowNs));
            assertEquals(0, wrongKeys.pausedForNs(guesser, nowNs));
        }
        for (long expected = MINUTE_NS; expected < 64 * MINUTE_NS; expected *= 2) {
            assertEquals(expected < 60 * MINUTE_NS ? expected : 60 * MINUTE_NS, wrongKeys.count(guesser, nowNs));
            assertEquals(expected, wrongKeys.pausedForNs(guesser, nowNs));
            nowNs += expected - 1;
            assertEquals(1, wrongKeys.pausedForNs(guesser, nowNs));
            assertEquals(1, wrongKeys.paused(nowNs));
            nowNs += 1;
            assertEquals(0, wrongKeys.pausedForNs(guesser, nowNs));
            assertEquals(0, wrongKeys.paused(nowNs));
        }
        assertEquals(60 * MINUTE_NS, wrongKeys.count(guesser, nowNs), "the longest pause");
    }

    @Test
    void shouldAllowFewGuessesInADay() {
        int guesses = 0;
        for (long minute = 0; minute < 24 * 60; minute++, nowNs += MINUTE_NS) {
            while (wrongKeys.pausedForNs(guesser, nowNs) == 0) {
                wrongKeys.count(guesser, nowNs);
                guesses++;
            }
        }
        assertTrue(guesses < 40, guesses + " guesses in a day");
    }

    @Test
    void shouldForgetAfterAnHourOfPeace() {
        for (int i = 1; i < WrongKeys.FORGIVEN; i++) {
            wrongKeys.count(guesser, nowNs);
        }
        nowNs += 60 * MINUTE_NS + 1;
        assertEquals(0, wrongKeys.count(guesser, nowNs));
    }

    @Test
    void shouldTakeTheAddressesThatOneHostMayChooseForOne() {
        for (int i = 1; i <= WrongKeys.FORGIVEN; i++) {
            wrongKeys.count(address("2001:db8::" + i), nowNs);
        }
        assertTrue(wrongKeys.pausedForNs(address("2001:db8::ffff"), nowNs) > 0);
        assertEquals(0, wrongKeys.pausedForNs(address("2001:db8:0:1::1"), nowNs));
        assertEquals(0, wrongKeys.pausedForNs(guesser, nowNs));
    }

    @Test
    void shouldRememberBoundedlyManyAndTheWorstLongest() {
        for (int i = 0; i < WrongKeys.FORGIVEN; i++) {
            wrongKeys.count(guesser, nowNs);
        }
        for (int i = 0; i < 2 * WrongKeys.MOST_PEERS; i++) {
            wrongKeys.count(address("10." + (i >> 16) + "." + (i >> 8 & 0xFF) + "." + (i & 0xFF)), nowNs);
        }
        assertEquals(WrongKeys.MOST_PEERS, wrongKeys.remembered());
        assertTrue(wrongKeys.pausedForNs(guesser, nowNs) > 0);
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
