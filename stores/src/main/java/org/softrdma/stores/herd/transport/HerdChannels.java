package org.softrdma.stores.herd.transport;

import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounters;

/** Makes a client's channels, one after the other. Owned by the client's thread. */
public interface HerdChannels extends AutoCloseable {
    /**
     * Connects, and waits for the welcome.
     *
     * @param context concluded
     * @param counters counts WRITEs and SENDs
     * @param client its name
     * @throws org.softrdma.verbs.VerbsException if there is no connection in time
     * @throws org.softrdma.stores.StoreException if the server does not welcome the client, or in no time
     */
    HerdChannel connect(StoreClientContext context, StoreCounters counters, long client);

    /** Once its channels are closed. */
    @Override
    void close();
}
