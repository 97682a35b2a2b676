package org.softrdma.sim.engine;

import java.util.concurrent.TimeUnit;
import org.softrdma.net.transport.EventLoop;

/**
 * Retries receives into registered memory that returned less than requested without an error. Most likely the socket
 * is empty, and an event follows. But the kernel also stops early at a page that is gone (readv(2) reports EFAULT only
 * if nothing was received), and then an edge-triggered socket raises no further event. So each is tried again a little
 * later. Rejected: trying at once, which costs one more system call for nearly every part of a large message.
 *
 * <p>Engine thread only.
 */
public final class ReceiveRetries {
    private static final long DELAY_NS = TimeUnit.SECONDS.toNanos(1);

    private final EventLoop loop;
    private final EnduringQueue<DrivenConnection> waiting = new EnduringQueue<>();
    /**
     * A round of retries is scheduled. That connections wait does not imply it: during a round, others still wait when one
     * must wait again.
     */
    private boolean scheduled;

    ReceiveRetries(EventLoop loop) {
        this.loop = loop;
    }

    /** Tries a connection again later. It must not be waiting already. */
    public void add(DrivenConnection connection) {
        if (!scheduled) {
            loop.schedule(this::retry, DELAY_NS, TimeUnit.NANOSECONDS);
            scheduled = true;
        }
        waiting.addLast(connection);
    }

    private void retry() {
        scheduled = false;
        for (int left = waiting.size(); left > 0; left--) {
            DrivenConnection connection = waiting.pollFirst();
            if (connection != null) {
                connection.retryReceive();
            }
        }
    }
}
