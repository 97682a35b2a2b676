package org.softrdma.kv.server.rdma;

import java.net.InetSocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.server.host.ServerThreads;
import org.softrdma.kv.server.host.Wildcards;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Where clients connect queue pairs: the listener and the completion channel, and the two agents that work on them.
 * {@link QueuePairAcceptor} lets clients in; {@link RdmaSessions} handles what their queue pairs do, and alone ends
 * them. A client's READ needs neither. Started and closed by the server.
 */
public final class RdmaPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaPort.class);
    private static final int BACKLOG = 128;

    private final CloseStack owned = new CloseStack();
    private final VerbsDevice device;
    private final Listener listener;
    private final RdmaSessions sessions;
    private final QueuePairAcceptor acceptor;

    public RdmaPort(VerbsDevice device, ProtectionDomain domain, Admission admission) {
        this.device = device;
        try {
            CompletionChannel channel = owned.add(device.createCompletionChannel());
            RdmaService service = admission.service();
            listener = owned.add(listen(device, service.settings()));
            sessions = new RdmaSessions(service, admission, channel, RdmaSessions.BATCH);
            acceptor = new QueuePairAcceptor(
                    service, new RdmaResources(device, domain, channel), admission, sessions, listener);
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /** Where both families are meant, IPv4 alone is better than nothing. */
    private static Listener listen(VerbsDevice device, RdmaSettings settings) {
        InetSocketAddress address = settings.address();
        if (!address.getAddress().equals(Wildcards.IPV6) || settings.ipv6Only()) {
            return device.listen(address, BACKLOG);
        }
        InetSocketAddress ipv4 = new InetSocketAddress(Wildcards.IPV4, address.getPort());
        if (!device.capabilities().has(Feature.IPV6)) {
            return device.listen(ipv4, BACKLOG);
        }
        try {
            return device.listen(address, BACKLOG);
        } catch (VerbsException e) {
            if (e.code() != VerbsErrorCode.ADDRESS_NOT_AVAILABLE) {
                throw e;
            }
            LOG.info("device {} connects queue pairs over IPv4 only: {}", device.name(), e.getMessage());
            return device.listen(ipv4, BACKLOG);
        }
    }

    /** Starts the agents. */
    public void start(ServerThreads threads) {
        if (!device.capabilities().has(Feature.END_CAUSES)) {
            LOG.info("device {} does not report who used wrong rkeys: they are not counted", device.name());
        }
        owned.add(threads.start(sessions));
        owned.add(threads.start(acceptor)); // ends first, so that no session is added once they all are ended
    }

    public InetSocketAddress address() {
        return listener.localAddress();
    }

    @Override
    public void close() {
        owned.close();
    }
}
