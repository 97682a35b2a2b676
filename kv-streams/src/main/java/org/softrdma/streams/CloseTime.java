package org.softrdma.streams;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How long the server waits for the last work of its loops, all of them together. One thread. */
final class CloseTime {
    private static final Logger LOG = LoggerFactory.getLogger(CloseTime.class);
    private static final int SECONDS = 10;

    private final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);

    private CloseTime() {}

    /** From now on. */
    static CloseTime begin() {
        return new CloseTime();
    }

    /** Waits until the count is zero, or the time is over, which is logged. An interrupt stays set, and ends no wait. */
    void await(CountDownLatch left) {
        boolean interrupted = false;
        try {
            for (boolean over = false; !over; ) {
                try {
                    if (!left.await(endNs - System.nanoTime(), TimeUnit.NANOSECONDS)) {
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
