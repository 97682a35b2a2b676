package org.softrdma.net.transport;

import java.util.List;

/** Event loops of one kind. */
public interface Transport extends AutoCloseable {
    /** {@code epoll}, {@code uring} or {@code nio}. */
    String name();

    /** Its loops; exactly one in manual progress. */
    List<EventLoop> loops();

    /** Number of open socket descriptors, including listening and accepted ones. Any thread. */
    int openSockets();

    /** Stops all loops and waits for their threads. Not from one of them. Idempotent. */
    @Override
    void close();
}
