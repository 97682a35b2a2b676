package org.softrdma.stores.pilaf;

import org.softrdma.stores.Consistency;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.verbs.device.VerbsDevice;

/** Pilaf-VO ("verb messages only"): the store of Pilaf, with GETs by messages too (paper, section 5.1). Stateless. */
public final class PilafMessagesDesign extends PilafDesign {
    /** For {@link java.util.ServiceLoader}. */
    public PilafMessagesDesign() {}

    @Override
    public String name() {
        return "pilaf-vo";
    }

    @Override
    public Promises promises(Protocol protocol) {
        return new Promises(Consistency.LINEARIZABLE, true, false, false, true, false);
    }

    @Override
    public StoreClient connect(VerbsDevice device, StoreClientContext context) {
        return new PilafClient(device, context, true);
    }
}
