package org.softrdma.sim.transport;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The frame of a socket that a Netty loop drives: its registration, its events, its end. What fails in an event costs this
 * connection, and not the loop. On its loop only.
 */
abstract class RegisteredSocket implements IoHandle, StreamSocket {
    private static final Logger LOG = LoggerFactory.getLogger(RegisteredSocket.class);

    private final SocketEvents events;
    private final InetSocketAddress remote;
    private @Nullable IoRegistration registration;
    private boolean closed;

    RegisteredSocket(SocketEvents events, InetSocketAddress remote) {
        this.events = events;
        this.remote = remote;
    }

    final void registered(IoRegistration newRegistration) {
        registration = newRegistration;
    }

    /** Takes an event in; returns true if there is room to send, or an outcome. */
    abstract boolean take(IoRegistration registered, IoEvent event);

    /** Makes a close tell the peer by a reset. */
    abstract void resetOnClose() throws IOException;

    /** Closes the descriptor; once. */
    abstract void closeDescriptor();

    @Override
    public final void handle(IoRegistration registered, IoEvent event) {
        if (closed) {
            return;
        }
        try {
            events.ready(take(registered, event));
        } catch (RuntimeException | Error e) {
            NettyEventLoop.failed(this, events, e);
        }
    }

    /** Asks for events. */
    final void submit(IoOps ops) {
        if (!closed && registration != null) {
            registration.submit(ops);
        }
    }

    @Override
    public final InetSocketAddress remoteAddress() {
        return remote;
    }

    /** True once it is closed on this side. */
    public final boolean isClosed() {
        return closed;
    }

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            try {
                if (registration != null) {
                    registration.cancel();
                }
            } finally {
                closeDescriptor();
            }
        }
    }

    @Override
    public final void abort() {
        if (!closed) {
            try {
                resetOnClose();
            } catch (IOException e) {
                LOG.debug("linger of the connection to {}", remote, e);
            }
            close();
        }
    }
}
