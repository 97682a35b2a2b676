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

/** Pilaf-VO ("verb messages only"): the store of Pilaf, with GETs by messages too (paper, section 5.1). Stateless. */
public final class PilafMessagesDesign implements StoreDesign {
    /** For {@link java.util.ServiceLoader}. */
    public PilafMessagesDesign() {}

    @Override
    public String name() {
        return "pilaf-vo";
    }

    @Override
    public String paper() {
        return PilafDesign.PAPER;
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        return Set.of();
    }

    @Override
    public Promises promises(Protocol protocol) {
        return new Promises(Consistency.LINEARIZABLE, true, false, false, true, false);
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
        return new PilafClient(device, context, true);
    }
}
