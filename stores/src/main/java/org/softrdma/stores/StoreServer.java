package org.softrdma.stores;

import java.net.InetSocketAddress;
import java.util.List;
import org.agrona.concurrent.Agent;

/**
 * A server of a store. Its creator chooses the thread and its idle strategy, for example with an Agrona {@code
 * AgentRunner}. Owned by the thread that calls {@link #doWork}, which also closes it.
 */
public interface StoreServer extends Agent, AutoCloseable {
    /** Where clients connect. */
    InetSocketAddress address();

    /**
     * Takes connections, serves what has come, and does what is due.
     *
     * @return 0 if there was nothing to do
     */
    @Override
    int doWork();

    /**
     * Its workers, each of which the caller runs from now on, on a thread of its own; {@link #doWork} does not do their work
     * any more. They have ended when the server is closed. If one of them throws, the server is not to be used any more: its
     * part of the keys may be half changed.
     *
     * @return empty if it has no workers, or its device is one that only one thread may use
     */
    default List<Agent> detachWorkers() {
        return List.of();
    }

    /** How much it holds. */
    SpaceUse space();

    @Override
    default void onClose() {
        close();
    }

    /** Ends all connections, and frees the memory. What it promises to keep is safe by then. Idempotent. */
    @Override
    void close();
}
