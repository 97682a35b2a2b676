package org.softrdma.stores.nessie;

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
import org.softrdma.stores.nessie.node.NessieServer;
import org.softrdma.stores.nessie.node.NessieServerSettings;
import org.softrdma.stores.nessie.worker.NessieClient;
import org.softrdma.stores.nessie.worker.NessieClientSettings;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/** Nessie: GETs and changes by READs, WRITEs and compare-and-swaps of clients. Stateless. */
public final class NessieDesign implements StoreDesign {
    /** For {@link java.util.ServiceLoader}. */
    public NessieDesign() {}

    @Override
    public String name() {
        return "nessie";
    }

    @Override
    public String paper() {
        return "Szepesi, Cassell, Wong, Brecht, Liu: Nessie: A Decoupled, Client-Driven, Key-Value Store using RDMA, "
                + "technical report CS-2015-09, University of Waterloo, 2015";
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        return Set.of(Feature.ATOMICS);
    }

    @Override
    public Promises promises(Protocol protocol) {
        boolean safe = protocol == Protocol.SAFE;
        return new Promises(safe ? Consistency.LINEARIZABLE : Consistency.NONE, true, true, true, safe, false);
    }

    @Override
    public Map<String, String> serverOptions() {
        return NessieServerSettings.known();
    }

    @Override
    public Map<String, String> clientOptions() {
        return NessieClientSettings.known();
    }

    @Override
    public StoreServer serve(VerbsDevice device, StoreServerContext context) {
        requireFeatures(device, context.protocol());
        return new NessieServer(device, context);
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        requireFeatures(device, context.protocol());
        return new NessieClient(device, context);
    }
}
