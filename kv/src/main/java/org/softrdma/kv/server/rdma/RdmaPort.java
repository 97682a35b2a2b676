package org.softrdma.kv.server.rdma;

import java.net.InetSocketAddress;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.server.host.ServerThreads;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Where clients connect queue pairs: the listeners and the completion channel, and the agents that work on them.
 * A {@link QueuePairAcceptor} for each listener lets clients in; {@link RdmaSessions} handles what their queue pairs do, and alone ends
 * them. A client's READ needs neither. Started and closed by the server.
 */
public final class RdmaPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaPort.class);
    private final CloseStack owned = new CloseStack();
    private final VerbsDevice device;
    private final List<Listener> listeners;
    private final RdmaSessions sessions;
    private final List<QueuePairAcceptor> acceptors;

    public RdmaPort(VerbsDevice device, ProtectionDomain domain, Admission admission) {
        this.device = device;
        try {
            CompletionChannel channel = owned.add(device.createCompletionChannel());
            RdmaService service = admission.service();
            listeners = RdmaListeners.open(device, service.settings());
            listeners.forEach(owned::add);
            sessions = new RdmaSessions(service, admission, channel, RdmaSessions.BATCH);
            RdmaResources resources = new RdmaResources(device, domain, channel);
            acceptors = listeners.stream()
                    .map(each -> new QueuePairAcceptor(service, resources, admission, sessions, each))
                    .toList();
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /** Starts the agents. */
    public void start(ServerThreads threads) {
        if (!device.capabilities().has(Feature.END_CAUSES)) {
            LOG.info("device {} does not report who used wrong rkeys: they are not counted", device.name());
        }
        owned.add(threads.start(sessions));
        acceptors.forEach(
                each -> owned.add(threads.start(each))); // end first: then no session is added once all are ended
    }

    /** Where clients come, all with one port. */
    public List<InetSocketAddress> addresses() {
        return listeners.stream().map(Listener::localAddress).toList();
    }

    @Override
    public void close() {
        owned.close();
    }
}
