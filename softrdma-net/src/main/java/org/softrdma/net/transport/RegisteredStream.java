package org.softrdma.net.transport;

import io.netty.channel.ChannelException;
import java.io.IOException;
import java.net.SocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection on a Netty loop. Thread: its loop. */
abstract class RegisteredStream extends RegisteredSocket implements StreamSocket {
    private static final Logger LOG = LoggerFactory.getLogger(RegisteredStream.class);

    private final SocketAddress remote;

    RegisteredStream(SocketEvents events, SocketAddress remote) {
        super(events);
        this.remote = remote;
    }

    /** Makes the close send a reset to the peer. */
    abstract void resetOnClose() throws IOException;

    @Override
    public final SocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public final void abort() {
        if (!isClosed()) {
            try {
                resetOnClose();
            } catch (IOException | ChannelException e) {
                LOG.debug("cannot set SO_LINGER on the connection to {}", remote, e);
            }
            close();
        }
    }
}
