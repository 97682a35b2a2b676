package org.softrdma.sim.transport;

import java.util.concurrent.atomic.AtomicInteger;

/** Descriptors of a transport's sockets: each is counted when it is there and again when it is closed. Any thread. */
final class OpenSockets {
    private final AtomicInteger count = new AtomicInteger();

    /** There is one more. */
    void opened() {
        count.incrementAndGet();
    }

    /** One was closed. */
    void closed() {
        count.decrementAndGet();
    }

    int count() {
        return count.get();
    }
}
