package org.softrdma.kv.server.rdma;

import java.net.InetSocketAddress;
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
            listener = owned.add(device.listen(service.settings().address(), BACKLOG));
            sessions = new RdmaSessions(service, admission, channel, RdmaSessions.BATCH);
            acceptor = new QueuePairAcceptor(
                    service, new RdmaResources(device, domain, channel), admission, sessions, listener);
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
