package org.softrdma.stores.herd.transport;

import java.net.InetSocketAddress;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** A client's ways to a server without a connection. */
public final class UcChannels implements HerdChannels {
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final InetSocketAddress server;

    /**
     * No way yet.
     *
     * @param device of the client; stays open until this is closed
     * @param server where it is
     */
    public UcChannels(VerbsDevice device, InetSocketAddress server) {
        this.device = device;
        this.server = server;
        domain = device.allocateProtectionDomain();
    }

    @Override
    public HerdChannel connect(StoreClientContext context, StoreCounters counters, long client) {
        return new UcChannel(device, domain, context, counters, client, server);
    }

    @Override
    public void close() {
        domain.close();
    }
}
