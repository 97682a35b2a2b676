package org.softrdma.farm.store;

import java.util.Map;
import java.util.Set;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreOptions;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The key-value store of FaRM on one server. The paper's form trusts line versions, and polls the trailers of messages;
 * it is sound only on a device that copies whole lines of 64 bytes, which no software RNIC does. The safe form adds a
 * checksum to each object and each message, and gives a changed chain new incarnations. Stateless.
 */
public final class FarmDesign implements StoreDesign {
    /** For the service loader. */
    public FarmDesign() {}

    @Override
    public String name() {
        return "farm";
    }

    @Override
    public String paper() {
        return "Dragojevic, Narayanan, Hodson, Castro: FaRM: Fast Remote Memory, NSDI 2014";
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        return protocol == Protocol.PAPER ? Set.of(Feature.ORDERED_PLACEMENT) : Set.of();
    }

    @Override
    public Promises promises(Protocol protocol) {
        boolean safe = protocol == Protocol.SAFE;
        return new Promises(safe ? Consistency.LINEARIZABLE : Consistency.FALSE_MISSES, safe, true, false, true, false);
    }

    @Override
    public Map<String, String> serverOptions() {
        return FarmSettings.OPTIONS;
    }

    @Override
    public StoreServer serve(VerbsDevice device, StoreServerContext context) {
        requireFeatures(device, context.protocol());
        try {
            return new FarmServer(device, context);
        } catch (VerbsException e) {
            throw new StoreException("cannot serve on " + context.address() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        StoreOptions ignored = new StoreOptions(context.options(), clientOptions());
        if (context.servers().size() != 1) {
            throw new IllegalArgumentException("servers=" + context.servers() + ": a table of this store is on one");
        }
        requireFeatures(device, context.protocol());
        return new FarmClient(device, context);
    }
}
