package org.softrdma.stores.herd;

import java.util.Map;
import java.util.Set;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.mica.MicaWatcher;
import org.softrdma.stores.herd.transport.RcPort;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The design with a watcher of its pairs, and the choice of memory.
 *
 * @param polled false for slots of which the device promises nothing, as on a device without ordered placement
 * @param watcher of the pairs
 */
record WatchedHerd(boolean polled, MicaWatcher watcher) implements StoreDesign {
    private static final HerdDesign DESIGN = new HerdDesign();

    WatchedHerd(boolean polled) {
        this(polled, MicaWatcher.NONE);
    }

    @Override
    public String name() {
        return DESIGN.name();
    }

    @Override
    public String paper() {
        return DESIGN.paper();
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        return DESIGN.needs(protocol);
    }

    @Override
    public Promises promises(Protocol protocol) {
        return DESIGN.promises(protocol);
    }

    @Override
    public Map<String, String> serverOptions() {
        return DESIGN.serverOptions();
    }

    @Override
    public Map<String, String> clientOptions() {
        return DESIGN.clientOptions();
    }

    @Override
    public StoreServer serve(VerbsDevice device, StoreServerContext context) {
        return new HerdServer(
                context, (shape, counters) -> new RcPort(device, context, shape, polled, counters), watcher);
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        return DESIGN.connect(device, context);
    }
}
