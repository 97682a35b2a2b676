package org.softrdma.sim.pinning;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/**
 * Stops engines from wasting time on pinning that cannot succeed, because the kernel refuses or no room may be made.
 * For a moment they use memory unpinned; meanwhile an access costs one look at the clock.
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

    /** True if engines should not try to pin now. */
    boolean isQuiet() {
        return clock.nanoTime() - quietUntilNs < 0;
    }

    /** An engine's pin was refused, and nothing could be evicted for it. */
    void refused() {
        quietUntilNs = clock.nanoTime() + QUIET_NS;
    }
}
