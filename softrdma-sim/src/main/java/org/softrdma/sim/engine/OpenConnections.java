package org.softrdma.sim.engine;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.FaultLog;
import org.softrdma.net.transport.LoopGuard;

/**
 * The connections of an engine that have a socket. The number of ended ones that wait for their peer is limited: no
 * other limit counts them, and each costs a descriptor. Established ones are checked at intervals for a peer whose host
 * is gone. Engine thread only.
 */
public final class OpenConnections {
    private static final Logger LOG = LoggerFactory.getLogger(OpenConnections.class);
    /** Checks for silent hosts within one host timeout. */
    private static final int LOOKS = 4;

    private static final String DEVICE_CLOSED = "the device was closed";
    private static final String LOOP_BROKEN = "the event loop has failed";

    private final EventLoop loop;
    private final EngineLimits limits;
    private final Counters<Counter> counters;
    /** In the order in which they were opened: what happens to all of them happens in the same order in every run. */
    private final Set<DrivenConnection> open = new LinkedHashSet<>();
    /** Oldest first. */
    private final LinkedHashSet<DrivenConnection> ending = new LinkedHashSet<>();

    private EventLoop.@Nullable Cancellable look;
    private boolean closed;

    OpenConnections(EventLoop loop, EngineLimits limits, Counters<Counter> counters) {
        this.loop = loop;
        this.limits = limits;
        this.counters = counters;
    }

    /** A connection has a socket. */
    public void opened(DrivenConnection connection) {
        if (closed) {
            throw new IllegalStateException("the device is closed");
        }
        open.add(connection);
        lookLater();
    }

    /** A connection has ended and waits for its peer; if too many do, the one that has waited longest is reset. */
    public void ending(DrivenConnection connection) {
        ending.add(connection);
        if (ending.size() > limits.lingering()) {
            DrivenConnection oldest = ending.getFirst();
            counters.increment(Counter.LINGERING_RESET);
            oldest.abort();
        }
    }

    /** A connection no longer has a socket. */
    public void closed(DrivenConnection connection) {
        open.remove(connection);
        ending.remove(connection);
    }

    /** Closes all of them and accepts no more, because the device is being closed. */
    void close() {
        closed = true;
        if (look != null) {
            look.cancel();
        }
        endAll(DEVICE_CLOSED);
    }

    /** The loop cannot go on: ends all of them. */
    void broken() {
        closed = true;
        endAll(LOOP_BROKEN);
    }

    /** Ends each, whatever fails, and waits if there is no memory for that. */
    private void endAll(String reason) {
        while (!open.isEmpty()) {
            try {
                DrivenConnection connection = open.iterator().next();
                open.remove(connection);
                connection.end(reason);
            } catch (RuntimeException | Error e) {
                counters.increment(Counter.ENGINE_FAULTS);
                LoopGuard.pause();
                FaultLog.tell(LOG, Level.ERROR, "engine fault while closing a connection", e);
            }
        }
    }

    private void lookLater() {
        long timeoutNs = limits.timeouts().hostNs();
        if (timeoutNs > 0 && look == null) {
            look = loop.schedule(this::look, timeoutNs / LOOKS, TimeUnit.NANOSECONDS);
        }
    }

    /** A failure here ends no connection. */
    private void look() {
        look = null;
        try {
            lookAgain();
            lookAtAll();
        } catch (RuntimeException | Error e) {
            counters.increment(Counter.ENGINE_FAULTS);
            FaultLog.tell(LOG, Level.ERROR, "engine fault while checking for silent hosts", e);
        }
    }

    /** Waits for memory, if need be: nobody else sets a timer until another connection opens. */
    private void lookAgain() {
        while (look == null && !open.isEmpty()) {
            try {
                lookLater();
            } catch (OutOfMemoryError e) {
                LoopGuard.pause();
            }
        }
    }

    private void lookAtAll() {
        List<DrivenConnection> silent = new ArrayList<>();
        for (DrivenConnection connection : open) {
            if (connection.isHostSilent()) {
                silent.add(connection);
            }
        }
        for (DrivenConnection connection : silent) {
            connection.hostSilent();
        }
    }
}
