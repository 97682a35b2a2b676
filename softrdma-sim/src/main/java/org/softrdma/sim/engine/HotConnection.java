package org.softrdma.sim.engine;

import org.jspecify.annotations.Nullable;

/**
 * In manual progress, the connection that all recent events were for. A poll of a completion queue tries its socket
 * without asking the event loop first, which saves system calls for an application that spins on one connection. The
 * loop still runs at short intervals. Engine thread only.
 */
public final class HotConnection {
    /** This many events in a row make a connection hot, so with several busy connections none is. */
    private static final int EVENTS = 8;

    private static final int POLLS_PER_LOOK_AT_ALL = 64;

    private @Nullable DrivenConnection candidate;
    private int events;
    private int polls;

    /** The event loop had an event for a connection. */
    public void event(DrivenConnection connection) {
        if (connection == candidate) {
            events = Math.min(events + 1, EVENTS);
        } else {
            candidate = connection;
            events = 1;
        }
    }

    /** A connection is closed. */
    public void forget(DrivenConnection connection) {
        if (connection == candidate) {
            candidate = null;
            events = 0;
        }
    }

    /** Tries the socket of the hot connection; returns false if there is none, or if it is the event loop's turn. */
    boolean poll() {
        DrivenConnection connection = candidate;
        if (connection == null || events < EVENTS || ++polls % POLLS_PER_LOOK_AT_ALL == 0) {
            return false;
        }
        connection.attempt();
        return true;
    }
}
