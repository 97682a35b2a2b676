package org.softrdma.stores.herd;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.transport.HerdChannels;
import org.softrdma.stores.herd.transport.HerdPort;
import org.softrdma.stores.herd.transport.UcChannels;
import org.softrdma.stores.herd.transport.UdPort;
import org.softrdma.stores.herd.wire.HerdForms;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * HERD as it was published: requests are WRITEs over unreliable connections, answers are SENDs of unreliable datagrams. What is
 * lost, the client asks for again. Stateless.
 */
public final class HerdDesign extends AbstractHerdDesign {
    /** For {@link java.util.ServiceLoader}. */
    public HerdDesign() {}

    @Override
    public String name() {
        return "herd";
    }

    @Override
    public Set<Feature> needs(Protocol protocol) {
        Set<Feature> needs =
                EnumSet.of(Feature.UNRELIABLE_CONNECTION, Feature.UNRELIABLE_DATAGRAM, Feature.DATAGRAM_SERVICES);
        if (protocol == Protocol.PAPER) {
            needs.add(Feature.ORDERED_PLACEMENT);
        }
        return needs;
    }

    /** An answer is a datagram; as published, a request is a packet. */
    @Override
    public int longestValue(VerbsDevice device, Protocol protocol) {
        int ofRequest = HerdForms.longestValue(protocol, device.capabilities().maxTransferUnit());
        return Math.min(UdPort.longestValue(device), ofRequest);
    }

    @Override
    HerdPort listen(
            VerbsDevice device,
            StoreServerContext context,
            HerdShape shape,
            boolean polled,
            List<StoreCounters> counters) {
        return new UdPort(device, context, shape, polled, counters);
    }

    @Override
    HerdChannels channels(VerbsDevice device, InetSocketAddress server) {
        return new UcChannels(device, server);
    }
}
