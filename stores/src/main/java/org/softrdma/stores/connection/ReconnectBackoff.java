package org.softrdma.stores.connection;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * When a client may try again to connect: at once after a connection, and after a pause when it has tried in vain.
 * Owned by one thread.
 */
public final class ReconnectBackoff {
    private static final long LEAST_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MOST_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final NanoClock clock;
    private final long mostNs;
    private final @Nullable RandomGenerator random;
    private long pauseNs = LEAST_NS;
    private long nextNs;
    private boolean failed;

    private ReconnectBackoff(NanoClock clock, long mostNs, @Nullable RandomGenerator random) {
        this.clock = clock;
        this.mostNs = mostNs;
        this.random = random;
    }

    /** The first pause is 1 ms, and each one twice as long as that before it, up to 200 ms. */
    public static ReconnectBackoff doubled(NanoClock clock) {
        return new ReconnectBackoff(clock, MOST_NS, null);
    }

    /** Each pause is drawn between 1 and 2 ms, so that clients that have lost a server do not all come at once. */
    public static ReconnectBackoff drawn(NanoClock clock, RandomGenerator random) {
        return new ReconnectBackoff(clock, LEAST_NS, random);
    }

    /** True if the client may try now. */
    public boolean mayTry() {
        return !failed || clock.nanoTime() - nextNs >= 0;
    }

    /** The client has tried in vain. */
    public void failed() {
        failed = true;
        long moreNs = random == null ? 0 : random.nextLong(pauseNs);
        nextNs = clock.nanoTime() + pauseNs + moreNs;
        pauseNs = Math.min(2 * pauseNs, mostNs);
    }

    /** The client has connected. */
    public void succeeded() {
        failed = false;
        pauseNs = LEAST_NS;
    }
}
