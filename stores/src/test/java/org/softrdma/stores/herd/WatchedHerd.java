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
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A design with a watcher of its pairs, and the choice of memory.
 *
 * @param design HERD or NessieSD
 * @param polled false for memory of which the device promises nothing, as on a device without ordered placement
 * @param watcher of HERD's pairs
 */
record WatchedHerd(StoreDesign design, boolean polled, MicaWatcher watcher) implements StoreDesign {
    static WatchedHerd herd(boolean polled, MicaWatcher watcher) {
        return new WatchedHerd(new HerdRcDesign(), polled, watcher);
    }

    static WatchedHerd datagrams(boolean polled, MicaWatcher watcher) {
        return new WatchedHerd(new HerdDesign(), polled, watcher);
    }

    static WatchedHerd nessieSd(boolean polled) {
        return new WatchedHerd(new NessieSdDesign(), polled, MicaWatcher.NONE);
    }

    private boolean isHerd() {
        return design instanceof AbstractHerdDesign;
    }

    @Override
    public String name() {
        return design.name();
    }

    @Override
    public String paper() {
        return design.paper();
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        return design.needs(protocol);
    }

    @Override
    public Promises promises(Protocol protocol) {
        return design.promises(protocol);
    }

    @Override
    public Map<String, String> serverOptions() {
        return design.serverOptions();
    }

    @Override
    public Map<String, String> clientOptions() {
        return design.clientOptions();
    }

    @Override
    public StoreServer serve(VerbsDevice device, StoreServerContext context) {
        return design instanceof AbstractHerdDesign herd
                ? herd.serve(device, context, polled, watcher)
                : NessieSdDesign.serve(device, context, polled);
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        return isHerd() ? design.connect(device, context) : NessieSdDesign.connect(device, context, polled);
    }
}
