package org.softrdma.stores.herd.transport;

import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Reliable connections of a client. */
public final class RcChannels implements HerdChannels {
    private final VerbsDevice device;
    private final ProtectionDomain domain;

    /** On a device, which stays open until this is closed. */
    public RcChannels(VerbsDevice device) {
        this.device = device;
        domain = device.allocateProtectionDomain();
    }

    @Override
    public HerdChannel connect(StoreClientContext context, StoreCounters counters, long client) {
        return new RcChannel(device, domain, context, counters, client);
    }

    @Override
    public void close() {
        domain.close();
    }
}
