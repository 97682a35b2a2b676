package org.softrdma.stores.herd.transport;

import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.herd.wire.HerdShape;

/** Makes the port of a server. */
@FunctionalInterface
public interface HerdPorts {
    /**
     * Listens.
     *
     * @param shape of a client's slots
     * @param counters counts SENDs
     * @throws org.softrdma.verbs.VerbsException if it cannot
     */
    HerdPort listen(HerdShape shape, StoreCounters counters);
}
