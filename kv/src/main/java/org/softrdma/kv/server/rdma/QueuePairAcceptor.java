package org.softrdma.kv.server.rdma;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.ServerAgent;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;

/**
 * The agent that takes requests for queue pairs: {@link Admission} decides, and whoever may come in gets a session. A
 * failure, an Error too, costs one request at most.
 */
final class QueuePairAcceptor implements ServerAgent {
    private static final Logger LOG = LoggerFactory.getLogger(QueuePairAcceptor.class);
    private static final int MAX_INBOUND_READS = 128;

    private final RdmaService service;
    private final RdmaResources resources;
    private final Admission admission;
    private final RdmaSessions sessions;
    private final Listener listener;
    private final ConnectionParameters parameters;

    /**
     * One that has not begun.
     *
     * @param resources what queue pairs are made of
     * @param sessions has them from then on
     * @param listener where requests come; its owner closes it
     */
    QueuePairAcceptor(
            RdmaService service,
            RdmaResources resources,
            Admission admission,
            RdmaSessions sessions,
            Listener listener) {
        this.service = service;
        this.resources = resources;
        this.admission = admission;
        this.sessions = sessions;
        this.listener = listener;
        this.parameters = new ConnectionParameters(
                0, Math.min(resources.device().capabilities().maxInboundReads(), MAX_INBOUND_READS), new byte[0]);
    }

    @Override
    public String roleName() {
        return "kv-rdma-accept";
    }

    @Override
    public int doWork(long timeoutNs) {
        Optional<ConnectionRequest> request = listener.next(timeoutNs);
        request.ifPresent(this::take);
        return request.isPresent() ? 1 : 0;
    }

    private void take(ConnectionRequest request) {
        try (request) { // which rejects it, unless it was answered
            Admission.Ticket ticket = admission.admit(request, sessions.size());
            if (ticket != null) {
                accept(request, ticket.owner());
            }
        }
    }

    private void accept(ConnectionRequest request, @Nullable RdmaClient owner) {
        @Nullable RdmaSession session = null;
        try {
            session = new RdmaSession(resources, request, service, admission);
            sessions.add(session);
            if (owner != null) {
                session.own(owner);
            }
            request.accept(parameters);
            LOG.info("queue pair {} from {} is made", session.number(), request.remoteAddress());
        } catch (RuntimeException | Error e) {
            LOG.info("a queue pair from {} was not accepted: {}", request.remoteAddress(), e.toString());
            if (session != null) {
                session.disconnect(); // its RECVs are flushed, and the sessions' agent ends it
            }
        } finally {
            if (session == null) {
                service.counters().rejectedQueuePairs.increment();
                if (owner == null) {
                    admission.leave(request.remoteAddress().getAddress());
                }
            }
        }
    }
}
