package org.softrdma.stores;

import java.net.InetSocketAddress;
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
