package org.softrdma.kv.server;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;

/**
 * The clock by which items expire, as memcached's: the time since 1970 when it was made, and the seconds since then
 * on a clock that nobody sets. A step of the wall clock, forward or back, changes nothing of what has or has not
 * expired. Any thread.
 */
final class ServerClock implements LongSupplier {
    private final NanoClock nanoClock;
    private final long startSeconds;
    private final long startNs;

    ServerClock(LongSupplier wallSeconds, NanoClock nanoClock) {
        this.nanoClock = nanoClock;
        startSeconds = wallSeconds.getAsLong();
        startNs = nanoClock.nanoTime();
    }

    /** Seconds since 1970. */
    @Override
    public long getAsLong() {
        return startSeconds + TimeUnit.NANOSECONDS.toSeconds(nanoClock.nanoTime() - startNs);
    }
}
