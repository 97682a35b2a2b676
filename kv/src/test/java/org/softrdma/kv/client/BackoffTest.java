package org.softrdma.kv.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private static final long LONGEST_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Backoff backoff = new Backoff(new Random(1));

    @Test
    void shouldTryAtOnceThenLaterAndLaterUpToAQuarterOfASecond() {
        long nowNs = 1000;
        backoff.failed(nowNs);
        assertEquals(0, backoff.leftNs(nowNs));
        long last = 0;
        for (int i = 0; i < 20; i++) {
            backoff.failed(nowNs);
            last = backoff.leftNs(nowNs);
            assertTrue(last > 0 && last <= LONGEST_NS, "wait " + i + " of " + last + " ns");
        }
        assertTrue(last >= LONGEST_NS / 2, "the last wait is " + last + " ns");
        backoff.reset();
        backoff.failed(nowNs);
        assertEquals(0, backoff.leftNs(nowNs));
    }
}
