package org.softrdma.net.transport;

import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pauses an acceptor after accept(2) has failed. Most likely no descriptor or no memory is left, and level-triggered
 * events would spin until there is. Thread: its loop.
 */
final class AcceptPause {
    private static final Logger LOG = LoggerFactory.getLogger(AcceptPause.class);
    private static final int PAUSE_MS = 100;

    private final EventLoop loop;
    private final SocketAddress local;
    private final IoRegistration registration;
    private final IoOps none;
    private final IoOps accept;
    /** Made once: when accepting fails, there may be no memory for it. */
    private final Runnable resume = this::resume;

    private boolean failing;

    /**
     * Makes the pause of one listening socket.
     *
     * @param loop that drives it
     * @param local its address
     * @param registration of it
     * @param none ask for no events
     * @param accept ask for connections
     */
    AcceptPause(EventLoop loop, SocketAddress local, IoRegistration registration, IoOps none, IoOps accept) {
        this.loop = loop;
        this.local = local;
        this.registration = registration;
        this.none = none;
        this.accept = accept;
    }

    /** All waiting connections were accepted. */
    void succeeded() {
        failing = false;
    }

    /** Tries again later. */
    void failed(Throwable cause) {
        boolean first = !failing;
        failing = true;
        try {
            registration.submit(none);
            loop.schedule(resume, PAUSE_MS, TimeUnit.MILLISECONDS);
        } catch (RuntimeException | Error e) {
            LoopGuard.pause(); // there is no memory for a timer
            resume();
            return;
        }
        if (first) {
            warn(cause);
        }
    }

    private void warn(Throwable cause) {
        try {
            LOG.warn("accept on {} failed, trying again every {} ms: {}", local, PAUSE_MS, cause.getMessage());
        } catch (RuntimeException | Error e) {
            // Memory may be what is missing, and logging needs some.
        }
    }

    private void resume() {
        if (registration.isValid()) {
            registration.submit(accept);
        }
    }
}
