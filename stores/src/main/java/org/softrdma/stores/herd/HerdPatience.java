package org.softrdma.stores.herd;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/** When a client may try again to connect: after a failure not at once, and each time later. Owned by one thread. */
final class HerdPatience {
    private static final long LEAST_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MOST_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final NanoClock clock;
    private long pauseNs = LEAST_NS;
    private long nextNs;
    private boolean failed;

    /** It may try at once. */
    HerdPatience(NanoClock clock) {
        this.clock = clock;
    }

    /** True if it may try now. */
    boolean mayTry() {
        return !failed || clock.nanoTime() - nextNs >= 0;
    }

    /** It has tried in vain. */
    void failed() {
        failed = true;
        nextNs = clock.nanoTime() + pauseNs;
        pauseNs = Math.min(2 * pauseNs, MOST_NS);
    }

    /** It has connected. */
    void succeeded() {
        failed = false;
        pauseNs = LEAST_NS;
    }
}
