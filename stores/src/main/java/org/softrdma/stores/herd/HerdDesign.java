package org.softrdma.stores.herd;

import java.util.Map;
import java.util.Set;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.mica.MicaWatcher;
import org.softrdma.stores.herd.transport.RcChannels;
import org.softrdma.stores.herd.transport.RcPort;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * HERD over reliable connections: requests by WRITE, answers by SEND. The paper's form polls the last word of a WRITE, and
 * executes what comes again again. The mended form believes a checksum, and numbers requests. Stateless.
 */
public final class HerdDesign implements StoreDesign {
    /** For {@link java.util.ServiceLoader}. */
    public HerdDesign() {}

    @Override
    public String name() {
        return "herd-rc";
    }

    @Override
    public String paper() {
        return "Kalia, Kaminsky, Andersen: Using RDMA Efficiently for Key-Value Services, SIGCOMM 2014";
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        return protocol == Protocol.PAPER ? Set.of(Feature.ORDERED_PLACEMENT) : Set.of();
    }

    @Override
    public Promises promises(Protocol protocol) {
        boolean safe = protocol == Protocol.SAFE;
        return new Promises(safe ? Consistency.LINEARIZABLE : Consistency.NONE, safe, false, false, true, true);
    }

    @Override
    public Map<String, String> serverOptions() {
        return HerdServerSettings.known();
    }

    @Override
    public Map<String, String> clientOptions() {
        return HerdRetries.known();
    }

    @Override
    public StoreServer serve(VerbsDevice device, StoreServerContext context) {
        requireFeatures(device, context.protocol());
        boolean polled = has(device, Feature.ORDERED_PLACEMENT);
        return new HerdServer(
                context, (shape, counters) -> new RcPort(device, context, shape, polled, counters), MicaWatcher.NONE);
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        return new HerdClient(context, () -> new RcChannels(device)); // what is polled is the server's memory
    }

    private void requireFeatures(VerbsDevice device, Protocol protocol) {
        for (Feature feature : needs(protocol)) {
            if (!has(device, feature)) {
                throw new StoreException(device.name() + " has no " + feature + ", which " + protocol + " needs");
            }
        }
    }

    private static boolean has(VerbsDevice device, Feature feature) {
        return device.capabilities().features().contains(feature);
    }
}
