package org.softrdma.kv.client.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClockEstimateTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long START_SECONDS = 1_700_000_000;

    private final ClockEstimate clock = new ClockEstimate();

    @Test
    void shouldDoubtEveryExpiryBeforeTheServerHasSaidAnything() {
        assertEquals(ClockEstimate.UNKNOWN, clock.latestSeconds(0));
    }

    @Test
    void shouldDoubtEveryExpiryWhenTheServerHasSaidNothingForAMinute() {
        clock.heard(START_SECONDS, SECOND_NS);
        assertEquals(START_SECONDS + 62, clock.latestSeconds(61 * SECOND_NS));
        assertEquals(ClockEstimate.UNKNOWN, clock.latestSeconds(61 * SECOND_NS + 1));
    }

    @Test
    void shouldNeverBeBehindTheServerHoweverLateItsAnswerIsLookedAt() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        long offsetNs = START_SECONDS * SECOND_NS + random.nextLong(SECOND_NS);
        for (int i = 0; i < 10_000; i++) {
            long askedNs = random.nextLong(1000 * SECOND_NS);
            long answeredNs = askedNs + random.nextLong(30 * SECOND_NS);
            long lookedAtNs = answeredNs + random.nextLong(40 * SECOND_NS);
            clock.heard((offsetNs + answeredNs) / SECOND_NS, askedNs);
            long serverSeconds = (offsetNs + lookedAtNs) / SECOND_NS;
            assertTrue(clock.latestSeconds(lookedAtNs) >= serverSeconds, "seed " + seed + ", step " + i);
        }
    }
}
