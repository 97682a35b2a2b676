package org.softrdma.sim.pinning;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * Keeps engines from spending their time on pinning where that cannot succeed: when the kernel refuses, or no room may be made.
 * Then engines go without pinning for a moment; an access costs them a look at the clock.
 *
 * <p>Threads: {@link #isQuiet} is called by engines without a lock, {@link #refused} under {@link PinTable}'s lock.
 */
final class PinningPace {
    static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final NanoClock clock;
    private volatile long quietUntilNs;

    /**
     * Nothing was refused.
     *
     * @param clock of the device
     */
    PinningPace(NanoClock clock) {
        this.clock = clock;
        quietUntilNs = clock.nanoTime();
    }

    /** True if engines are to go without pinning now. */
    boolean isQuiet() {
        return clock.nanoTime() - quietUntilNs < 0;
    }

    /** What an engine wanted to pin was refused, and nothing could be evicted for it. */
    void refused() {
        quietUntilNs = clock.nanoTime() + QUIET_NS;
    }
}
