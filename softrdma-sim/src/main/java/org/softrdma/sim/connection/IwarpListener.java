package org.softrdma.sim.connection;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.FaultLog;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.PeerRequest;

/** Accepts TCP connections and gives each to an engine for its handshake. Thread of the first engine. */
final class IwarpListener {
    private static final Logger LOG = LoggerFactory.getLogger(IwarpListener.class);
    /** TCP connections that may wait for accept(2); a small number makes connects hang under a burst. */
    private static final int LEAST_TCP_BACKLOG = 1024;

    /** TCP connections that have not sent their MPA request; a further one is closed. */
    private static final int MOST_HANDSHAKES = 16_384;

    private final Supplier<Connection> connections;
    private final RnicEngine first;
    private final Consumer<PeerRequest> requests;
    private final AtomicInteger handshaking = new AtomicInteger();
    private boolean fullLogged;

    /**
     * Not open.
     *
     * @param connections makes one for each accepted TCP connection
     * @param first engine of the device
     * @param requests gets the requests of peers
     */
    IwarpListener(Supplier<Connection> connections, RnicEngine first, Consumer<PeerRequest> requests) {
        this.connections = connections;
        this.first = first;
        this.requests = requests;
    }

    Acceptor open(InetSocketAddress local, int backlog) throws IOException {
        return first.loop().listen(local, Math.max(backlog, LEAST_TCP_BACKLOG), this::accepted);
    }

    private void accepted(EventLoop.PendingSocket pending) {
        if (handshaking.get() >= MOST_HANDSHAKES) {
            first.counters().increment(Counter.HANDSHAKE_ERRORS);
            if (!fullLogged) {
                fullLogged = true;
                LOG.warn(
                        "{} connections have not sent their MPA request: further ones are closed at once until some"
                                + " have (logged once; the counter handshakeErrors counts them)",
                        MOST_HANDSHAKES);
            }
            pending.discard();
            return;
        }
        handshaking.incrementAndGet();
        try {
            new PassiveHandshake(connections.get(), requests::accept, handshaking::decrementAndGet).adopt(pending);
        } catch (RuntimeException | Error e) {
            // Its engine never had it, so nobody else gives it back.
            handshaking.decrementAndGet();
            pending.discard();
            first.counters().increment(Counter.HANDSHAKE_ERRORS);
            FaultLog.tell(LOG, Level.ERROR, "an accepted connection found no engine", e);
        }
    }
}
