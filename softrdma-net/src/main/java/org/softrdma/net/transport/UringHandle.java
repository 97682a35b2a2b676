package org.softrdma.net.transport;

import io.netty.channel.IoHandle;
import io.netty.channel.IoOps;
import org.softrdma.net.uring.PortEvents;

/** A descriptor that a {@link UringIoHandler} drives; its registration's attachment is a {@code RingPort}. */
interface UringHandle extends IoHandle, PortEvents {
    /** What a listening socket waits for. */
    enum Wanted implements IoOps {
        /** Nothing. */
        NONE,
        /** Connections. */
        INPUT
    }

    /** The descriptor. */
    int descriptor();

    @Override
    void close();
}
