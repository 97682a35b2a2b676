package org.softrdma.stores.herd.transport;

import java.util.List;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.herd.wire.HerdShape;

/** Makes the port of a server. */
@FunctionalInterface
public interface HerdPorts {
    /**
     * Listens.
     *
     * @param shape of a client's slots
     * @param counters count SENDs and WRITEs: those of each worker, and behind them the port's own
     * @throws org.softrdma.verbs.VerbsException if it cannot
     */
    HerdPort listen(HerdShape shape, List<StoreCounters> counters);
}
