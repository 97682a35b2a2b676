package org.softrdma.stores.herd;

import java.util.Map;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.transport.HerdAnswers;
import org.softrdma.stores.herd.transport.RcPort;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * NessieSD: Nessie's tables driven by servers, with requests and answers by WRITE. The paper says that it is inspired by
 * HERD and gives neither layouts nor a protocol, so both forms are HERD's mended one. Stateless.
 */
public final class NessieSdDesign implements StoreDesign {
    private static final HerdVariant VARIANT = new HerdVariant("nessie-sd", Protocol.SAFE, HerdAnswers.WRITTEN);

    /** For {@link java.util.ServiceLoader}. */
    public NessieSdDesign() {}

    @Override
    public String name() {
        return VARIANT.name();
    }

    @Override
    public String paper() {
        return "Szepesi, Cassell, Wong, Brecht, Liu: Nessie: A Decoupled, Client-Driven, Key-Value Store using RDMA, "
                + "technical report CS-2015-09, University of Waterloo, 2015: its server-driven form";
    }

    @Override
    public Promises promises(Protocol protocol) {
        return new Promises(Consistency.LINEARIZABLE, true, false, false, true, false);
    }

    @Override
    public Map<String, String> serverOptions() {
        return NessieSdSettings.known();
    }

    @Override
    public Map<String, String> clientOptions() {
        return HerdRetries.known();
    }

    @Override
    public StoreServer serve(VerbsDevice device, StoreServerContext context) {
        return serve(device, context, keepsOrder(device));
    }

    /**
     * Makes a server.
     *
     * @param polled true for slots in memory that the device writes in order for who polls it
     */
    static HerdServer serve(VerbsDevice device, StoreServerContext context, boolean polled) {
        return new HerdServer(
                context,
                VARIANT,
                NessieSdSettings.of(context).tables(context),
                (shape, counters) -> new RcPort(device, context, shape, HerdAnswers.WRITTEN, polled, counters));
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        return connect(device, context, keepsOrder(device));
    }

    /**
     * Makes a client.
     *
     * @param polled true for answer slots in memory that the device writes in order for who polls it
     */
    static StoreClient connect(VerbsDevice device, StoreClientContext context, boolean polled) {
        return new NessieSdClient(device, context, VARIANT, polled);
    }

    private static boolean keepsOrder(VerbsDevice device) {
        return device.capabilities().has(Feature.ORDERED_PLACEMENT);
    }
}
