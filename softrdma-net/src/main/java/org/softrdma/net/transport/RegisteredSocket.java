package org.softrdma.net.transport;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import org.jspecify.annotations.Nullable;

/**
 * What all sockets on a Netty loop share: registration, events, closing. A failure in an event closes a socket of streams, but
 * does not end the loop. Thread: its loop.
 */
abstract class RegisteredSocket implements IoHandle {
    private final SocketEvents events;
    /** Made once: when something has failed, there may be no memory for it. */
    private final Runnable closing = this::close;

    private @Nullable IoRegistration registration;
    private boolean closed;

    RegisteredSocket(SocketEvents events) {
        this.events = events;
    }

    final void registered(IoRegistration newRegistration) {
        registration = newRegistration;
    }

    /** Takes in an event; returns true if there is room to send, or a connect has an outcome. */
    abstract boolean take(IoRegistration registered, IoEvent event);

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
            failed(e); // the loop goes on
        }
    }

    /** Tells the owner of an event. */
    final void tellReady(boolean writable) {
        if (closed) {
            return;
        }
        try {
            events.ready(writable);
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /** Tells the owner what has become of a {@link StreamSocket#gatherLater}. */
    final void tellSent() {
        if (closed) {
            return;
        }
        try {
            events.sentLater();
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /** An event of this socket has failed, or its owner in it. Never throws, because an Error would end the loop's thread. */
    void failed(Throwable e) {
        LoopGuard.failed(closing, events, e);
    }

    /** Asks for events. */
    final void submit(IoOps ops) {
        if (!closed && registration != null) {
            registration.submit(ops);
        }
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
}
