package org.softrdma.net.transport;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the open descriptors of a transport's sockets. Any thread. */
final class OpenSockets {
    private final AtomicInteger count = new AtomicInteger();

    /** A descriptor was opened. */
    void opened() {
        count.incrementAndGet();
    }

    /** A descriptor was closed. */
    void closed() {
        count.decrementAndGet();
    }

    int count() {
        return count.get();
    }
}
