package org.softrdma.kv.server.stream;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.Waits;

/** How long the server waits for the last work of its loops, all of them together. One thread. */
final class CloseTime {
    private static final Logger LOG = LoggerFactory.getLogger(CloseTime.class);
    private static final int SECONDS = 10;

    private final NanoClock clock;
    private final @Nullable Waits waits;
    private final long endNs;

    /** From now on, by the clock of the loops. */
    CloseTime(EventLoop loop) {
        clock = loop.clock();
        waits = loop.waits().orElse(null);
        endNs = clock.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    }

    /** Waits until the count is zero, or the time is over, which is logged. An interrupt stays set, and ends no wait. */
    void await(CountDownLatch left) {
        boolean interrupted = false;
        try {
            for (boolean over = false; !over; ) {
                try {
                    if (waits != null) {
                        boolean ignored = waits.until(() -> left.getCount() == 0, endNs - clock.nanoTime());
                    }
                    if (!left.await(endNs - clock.nanoTime(), TimeUnit.NANOSECONDS)) {
                        LOG.warn("{} loops of the memcached port did not do their last work in time", left.getCount());
                    }
                    over = true;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
