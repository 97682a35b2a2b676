package org.softrdma.stores.pilaf;

import java.util.Map;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.device.VerbsDevice;

/** Pilaf: GETs by READs, changes by messages. Stateless. */
public class PilafDesign implements StoreDesign {
    /** For {@link java.util.ServiceLoader}. */
    public PilafDesign() {}

    @Override
    public String name() {
        return "pilaf";
    }

    @Override
    public final String paper() {
        return "Mitchell, Geng, Li: Using One-Sided RDMA Reads to Build a Fast, CPU-Efficient Key-Value "
                + "Store, USENIX ATC 2013";
    }

    @Override
    public Promises promises(Protocol protocol) {
        boolean safe = protocol == Protocol.SAFE;
        return new Promises(safe ? Consistency.LINEARIZABLE : Consistency.FALSE_MISSES, safe, true, false, true, false);
    }

    @Override
    public final Map<String, String> serverOptions() {
        return PilafServerSettings.known();
    }

    @Override
    public final StoreServer serve(VerbsDevice device, StoreServerContext context) {
        return new PilafServer(device, context);
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        return new PilafClient(device, context, false);
    }
}
