package org.softrdma.sim.transport;

import java.util.List;

/** Event loops of one kind. */
public interface Transport extends AutoCloseable {
    /** {@code epoll} or {@code nio}. */
    String name();

    /** Its loops; exactly one in manual progress. */
    List<EventLoop> loops();

    /** Descriptors of sockets that it has open, listening and accepted ones too. Any thread. */
    int openSockets();

    /** Stops all loops and waits for their threads. Not from one of them. Idempotent. */
    @Override
    void close();
}
