package org.softrdma.sim.connection;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.EventLoop;

/**
 * Repeats the initiator's ready-to-receive to a silent peer, which may have missed what arrived right after its reply
 * (Linux's siw, docs/reference/wire.md). A zero-length WRITE makes it look again and changes nothing (RFC 5040 section
 * 5.1; RFC 5041 section 5.2: its STag is not checked). Each wait is twice as long as the one before. Engine thread
 * only.
 */
final class ReadyRepeat {
    private static final int MOST = 5;

    private final EventLoop loop;
    private final long firstNs;
    private final Runnable ready;
    private EventLoop.@Nullable Cancellable timer;
    private int begun;

    /**
     * Not begun.
     *
     * @param loop of the connection
     * @param firstNs the first wait; 0 never repeats
     * @param ready repeats it and calls {@link #later}, if the peer is still silent
     */
    ReadyRepeat(EventLoop loop, long firstNs, Runnable ready) {
        this.loop = loop;
        this.firstNs = firstNs;
        this.ready = ready;
    }

    /** Repeats it later, up to {@link #MOST} times. */
    void later() {
        if (firstNs > 0 && begun < MOST) {
            timer = loop.schedule(ready, firstNs << begun, TimeUnit.NANOSECONDS);
            begun++;
        }
    }

    void cancel() {
        if (timer != null) {
            timer.cancel();
        }
    }
}
