package org.softrdma.sim.roce.rc;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When a peer is asked, and when it is gone. */
class KeepAliveTest {
    private static final long HOST_NS = 8_000;

    private final KeepAlive peer = new KeepAlive(HOST_NS, /* manualProgress= */ false, 100);

    private void askedTimes(int times) {
        for (int i = 0; i < times; i++) {
            peer.asked();
        }
    }

    @Test
    void shouldAskOnceNothingHasComeForAPartOfTheTimeout() {
        assertFalse(peer.isSilent(100 + HOST_NS / 4 - 1));
        assertTrue(peer.isSilent(100 + HOST_NS / 4));
        peer.heard(150);
        assertFalse(peer.isSilent(100 + HOST_NS / 4));
    }

    @Test
    void shouldTakeAPeerForGoneAfterTheTimeoutAndThreeQuestions() {
        askedTimes(3);
        assertFalse(peer.isGone(99 + HOST_NS));
        assertTrue(peer.isGone(100 + HOST_NS));
    }

    /** As after this process was stopped for a while. */
    @Test
    void shouldNotTakeAPeerForGoneThatWasNotAsked() {
        askedTimes(2);
        assertFalse(peer.isGone(100 + 100 * HOST_NS));
    }

    @Test
    void shouldForgetItsQuestionsWhenThePeerIsHeard() {
        askedTimes(3);
        peer.heard(200);
        assertFalse(peer.isGone(200 + 2 * HOST_NS));
    }

    /** Its owner computes, or a debugger has stopped it. */
    @Test
    void shouldWaitHoursForAPeerInManualProgress() {
        KeepAlive manual = new KeepAlive(HOST_NS, /* manualProgress= */ true, 0);
        long hoursNs = TimeUnit.HOURS.toNanos(2);
        for (int i = 0; i < 3; i++) {
            manual.asked();
        }
        assertTrue(manual.isSilent(HOST_NS));
        assertFalse(manual.isGone(hoursNs - 1));
        assertTrue(manual.isGone(hoursNs));
        assertFalse(new KeepAlive(2 * hoursNs, /* manualProgress= */ true, 0).isGone(hoursNs));
    }

    @Test
    void shouldNeverTakeAPeerForGoneWithoutATimeout() {
        KeepAlive forEver = new KeepAlive(0, /* manualProgress= */ true, 0);
        forEver.asked();
        forEver.asked();
        forEver.asked();
        assertFalse(forEver.isSilent(Long.MAX_VALUE));
        assertFalse(forEver.isGone(Long.MAX_VALUE));
    }
}
