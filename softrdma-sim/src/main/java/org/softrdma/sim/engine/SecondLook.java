package org.softrdma.sim.engine;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.softrdma.sim.transport.EventLoop;

/**
 * Connections whose receive into registered memory ended before the place was full. Most likely the socket is empty, and an event
 * follows; but the kernel also stops early at a page that is gone (readv(2) tells EFAULT only if it has nothing else to tell), and
 * then an edge-triggered socket says nothing more. So they are tried once more a little later. Rejected: to try at once,
 * which is one more system call for nearly every part of a large message.
 *
 * <p>Engine thread only.
 */
public final class SecondLook {
    private static final long DELAY_NS = TimeUnit.SECONDS.toNanos(1);

    private final EventLoop loop;
    private final ArrayDeque<DrivenConnection> waiting = new ArrayDeque<>();
    /** A look will come. That somebody waits does not say so: in a look others wait already when one must wait again. */
    private boolean scheduled;

    SecondLook(EventLoop loop) {
        this.loop = loop;
    }

    /** Tries a connection again later; not one that waits for it. */
    public void add(DrivenConnection connection) {
        if (!scheduled) {
            loop.schedule(this::look, DELAY_NS, TimeUnit.NANOSECONDS);
            scheduled = true;
        }
        waiting.addLast(connection);
    }

    private void look() {
        scheduled = false;
        for (int left = waiting.size(); left > 0; left--) {
            waiting.removeFirst().secondLook();
        }
    }
}
