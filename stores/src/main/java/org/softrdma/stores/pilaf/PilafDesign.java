package org.softrdma.stores.pilaf;

import java.util.Map;
import java.util.Set;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/** Pilaf: GETs by READs, changes by messages. Stateless. */
public final class PilafDesign implements StoreDesign {
    static final String PAPER =
            "Mitchell, Geng, Li: Using One-Sided RDMA Reads to Build a Fast, CPU-Efficient Key-Value "
                    + "Store, USENIX ATC 2013";

    /** For {@link java.util.ServiceLoader}. */
    public PilafDesign() {}

    @Override
    public String name() {
        return "pilaf";
    }

    @Override
    public String paper() {
        return PAPER;
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        return Set.of();
    }

    @Override
    public Promises promises(Protocol protocol) {
        boolean safe = protocol == Protocol.SAFE;
        return new Promises(safe ? Consistency.LINEARIZABLE : Consistency.FALSE_MISSES, safe, true, false, true, false);
    }

    @Override
    public Map<String, String> serverOptions() {
        return PilafServerSettings.known();
    }

    @Override
    public Map<String, String> clientOptions() {
        return Map.of();
    }

    @Override
    public StoreServer serve(VerbsDevice device, StoreServerContext context) {
        return new PilafServer(device, context);
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        return new PilafClient(device, context, false);
    }
}
