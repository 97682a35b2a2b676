package org.softrdma.stores.herd;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.transport.HerdAnswers;
import org.softrdma.stores.herd.transport.HerdChannels;
import org.softrdma.stores.herd.transport.HerdPort;
import org.softrdma.stores.herd.transport.RcChannels;
import org.softrdma.stores.herd.transport.RcPort;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/** HERD over reliable connections, which every device has: requests by WRITE, answers by SEND. Stateless. */
public final class HerdRcDesign extends AbstractHerdDesign {
    /** For {@link java.util.ServiceLoader}. */
    public HerdRcDesign() {}

    @Override
    public String name() {
        return "herd-rc";
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        return protocol == Protocol.PAPER ? Set.of(Feature.ORDERED_PLACEMENT) : Set.of();
    }

    @Override
    HerdPort listen(
            VerbsDevice device,
            StoreServerContext context,
            HerdShape shape,
            boolean polled,
            List<StoreCounters> counters) {
        return new RcPort(device, context, shape, HerdAnswers.SENT, polled, counters);
    }

    @Override
    HerdChannels channels(VerbsDevice device, InetSocketAddress server) {
        return new RcChannels(device, server, HerdAnswers.SENT, false); // no memory of the client is polled
    }
}
