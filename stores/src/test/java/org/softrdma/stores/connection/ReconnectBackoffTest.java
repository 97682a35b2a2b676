package org.softrdma.stores.connection;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When a client may try to connect. */
class ReconnectBackoffTest {
    private long nowNs = Long.MAX_VALUE - 1;
    private final ReconnectBackoff backoff = ReconnectBackoff.doubled(() -> nowNs);

    private void shouldWait(int ms) {
        backoff.failed();
        nowNs += TimeUnit.MILLISECONDS.toNanos(ms) - 1;
        assertFalse(backoff.mayTry(), ms + " ms");
        nowNs++;
        assertTrue(backoff.mayTry(), ms + " ms");
    }

    @Test
    void shouldWaitTwiceAsLongEachTimeUpTo200Ms() {
        assertTrue(backoff.mayTry());
        for (int ms : new int[] {1, 2, 4, 8, 16, 32, 64, 128, 200, 200}) {
            shouldWait(ms);
        }
    }

    @Test
    void shouldWaitOneToTwoMsIfPausesAreDrawn() {
        SplittableRandom random = new SplittableRandom(1);
        ReconnectBackoff drawn = ReconnectBackoff.drawn(() -> nowNs, random);
        for (int i = 0; i < 1000; i++) {
            drawn.failed();
            nowNs += TimeUnit.MILLISECONDS.toNanos(1) - 1;
            assertFalse(drawn.mayTry());
            nowNs += TimeUnit.MILLISECONDS.toNanos(1);
            assertTrue(drawn.mayTry());
        }
    }

    @Test
    void shouldTryAtOnceAfterAConnection() {
        backoff.failed();
        backoff.failed();
        backoff.succeeded();
        assertTrue(backoff.mayTry());
        shouldWait(1);
    }
}
