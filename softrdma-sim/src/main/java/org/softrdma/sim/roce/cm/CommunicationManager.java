package org.softrdma.sim.roce.cm;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.EnduringMaps;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.CmIds;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Mad;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.ServiceReply;
import org.softrdma.sim.roce.wire.ServiceRequest;

/**
 * Makes and ends connections, and answers questions for datagram services, by the messages of queue pair 1. The owner brings
 * each message that arrives ({@link #received}), and calls {@link #expire} when {@link #nextNs} has come.
 *
 * <p>A connection is known by the ids of both sides, and by the peer's address. A REQ that comes again is found by the GUID and
 * the id of its sender. A REQ with another id, but of a queue pair that has a connection here, comes from a peer that was
 * restarted: it is refused as stale, and the old connection is ended, so that the next one is heard.
 *
 * <p>A peer remembers GUID and id of this side for its own timewait. So both are random: a process that is started again is
 * another one. And each id is, because who guesses one can forge the end of its connection.
 *
 * <p>Thread: that of the engine which has queue pair 1.
 */
public final class CommunicationManager {
    /** The only partition that RoCE has. */
    private static final int PARTITION = 0xFFFF;

    private final CmContext context;
    private final ServiceExchanges exchanges;
    private final Map<Long, Listening> services = new HashMap<>();
    private final Map<Integer, CmConnection> connections = EnduringMaps.withTable(new HashMap<>());
    private final Map<RemoteId, CmConnection> byRemoteId = EnduringMaps.withTable(new HashMap<>());
    private final Map<RemoteQueuePair, CmConnection> byRemoteQueuePair = EnduringMaps.withTable(new HashMap<>());
    private final RandomGenerator random;

    private record RemoteId(CmPeer peer, long guid, int id) {}

    private record RemoteQueuePair(long guid, int queuePair) {}

    private record Requested(CmPeer peer, ConnectRequest request, long transaction) {}

    /** A service, and how many requests wait for its application. */
    private static final class Listening {
        private final CmService service;
        private final int transport;
        private int waiting;

        Listening(CmService service, int transport) {
            this.service = service;
            this.transport = transport;
        }
    }

    /**
     * Without connections.
     *
     * @param guid of this device, random
     * @param random draws communication ids
     * @param settings times
     * @param output sends messages
     */
    public CommunicationManager(long guid, RandomGenerator random, CmSettings settings, CmOutput output) {
        this.random = random;
        context = new CmContext(settings, guid, output);
        exchanges = new ServiceExchanges(context);
    }

    /** Links what compares records: without memory for the first comparison there is none for good. Any thread. */
    public static void prepare() {
        Set<Object> known = new HashSet<>();
        for (int i = 0; i < 2; i++) {
            CmPeer peer = new CmPeer(new Gid(0, 0), 0);
            boolean id = known.add(new RemoteId(peer, 0, 0));
            boolean queuePair = known.add(new RemoteQueuePair(0, 0));
            boolean question = !ServiceExchanges.isIn(known);
            if (id != (i == 0) || queuePair != (i == 0) || question != (i == 0)) {
                throw new IllegalStateException("two equal records are not the same: " + known);
            }
        }
    }

    /** What it has seen. */
    public CmCounters counters() {
        return context.counters;
    }

    /** Connections that are not forgotten. */
    public int size() {
        return connections.size();
    }

    /** True while a peer has neither answered a DREQ nor been told often enough. */
    public boolean isDisconnecting() {
        for (CmConnection connection : connections.values()) {
            if (connection.state() == CmState.DISCONNECT_SENT) {
                return true;
            }
        }
        return false;
    }

    // ---- services

    /**
     * Lets peers connect.
     *
     * @param serviceId see {@link org.softrdma.sim.roce.wire.AddressHeader#serviceId}
     * @param transport {@link ConnectRequest#RELIABLE} or {@link ConnectRequest#UNRELIABLE}
     * @param service told of requests
     * @return false if there is such a service already
     */
    public boolean listen(long serviceId, int transport, CmService service) {
        return services.putIfAbsent(serviceId, new Listening(service, transport)) == null;
    }

    /** Hears no further requests. Those that wait are still to be decided. */
    public void stopListening(long serviceId) {
        services.remove(serviceId);
    }

    /**
     * Answers questions for the queue pair of a datagram service.
     *
     * @return false if there is such a service already
     */
    public boolean listen(long serviceId, CmDatagramService service) {
        return exchanges.listen(serviceId, service);
    }

    /** Answers none any more. */
    public void stopAnswering(long serviceId) {
        exchanges.stopListening(serviceId);
    }

    // ---- the active side

    /**
     * Asks for a connection.
     *
     * @param peer where
     * @param wanted id and GUID of its endpoint are set here
     * @param events told what becomes of it
     * @param nowNs the time
     */
    public CmConnection connect(CmPeer peer, ConnectRequest wanted, CmEvents events, long nowNs) {
        int id = freeId();
        ConnectRequest request = wanted.from(wanted.endpoint().identifiedBy(id, context.guid));
        CmConnection connection = CmConnection.active(
                context,
                new CmConnection.Hooks(() -> {}, () -> forget(id)),
                new CmConnection.Identity(peer, id, transaction(id)),
                request,
                events);
        try {
            connections.put(id, connection);
            connection.begin(nowNs);
        } catch (RuntimeException | Error e) {
            connection.discard();
            connections.remove(id);
            throw e;
        }
        return connection;
    }

    /**
     * Asks for the queue pair of a datagram service.
     *
     * @param peer where
     * @param serviceId which service
     * @param data of the application
     * @param answered told of the answer, once
     * @param nowNs the time
     */
    public void resolve(CmPeer peer, long serviceId, PrivateData data, ServiceAnswered answered, long nowNs) {
        int id = freeId();
        exchanges.ask(peer, new ServiceRequest(id, PARTITION, serviceId, data), transaction(id), answered, nowNs);
    }

    private int freeId() {
        int id;
        do {
            id = random.nextInt();
        } while (id == 0 || connections.containsKey(id) || exchanges.isAsked(id));
        return id;
    }

    private long transaction(int id) {
        return context.guid << Integer.SIZE | Integer.toUnsignedLong(id);
    }

    /** May fail for want of memory, and is done again then. */
    private void forget(int id) {
        CmConnection connection = connections.get(id);
        if (connection != null) {
            byRemoteId.values().remove(connection);
            byRemoteQueuePair.values().remove(connection);
            connections.remove(id); // last: it is found by its id
        }
    }

    // ---- time

    /** When {@link #expire} has something to do; Long.MAX_VALUE for never. */
    public long nextNs() {
        return context.timers.nextNs();
    }

    /** Repeats what was not answered, gives up what was repeated often enough, and forgets. */
    public void expire(long nowNs) {
        context.timers.expire(nowNs);
    }

    // ---- messages

    /**
     * A message to queue pair 1, whose queue key was right.
     *
     * @param peer its sender
     * @param mad its payload
     * @param length bytes
     * @param nowNs the time
     */
    public void received(CmPeer peer, long mad, int length, long nowNs) {
        if (!Mad.isValid(mad, length)) {
            context.counters.countInvalid();
            return;
        }
        switch (Mad.attribute(mad)) {
            case Mad.CONNECT_REQUEST -> requested(peer, ConnectRequest.read(mad), Mad.transaction(mad), nowNs);
            case Mad.CONNECT_REJECT -> rejected(peer, ConnectReject.read(mad), nowNs);
            case Mad.CONNECT_REPLY -> replied(peer, ConnectReply.read(mad), Mad.transaction(mad));
            case Mad.SERVICE_REQUEST -> exchanges.asked(peer, ServiceRequest.read(mad), Mad.transaction(mad), nowNs);
            case Mad.SERVICE_REPLY -> exchanges.answered(peer, ServiceReply.read(mad));
            case Mad.MESSAGE_RECEIPT, Mad.READY_TO_USE, Mad.DISCONNECT_REQUEST, Mad.DISCONNECT_REPLY ->
                said(peer, mad, CmIds.read(mad), nowNs);
            default -> context.counters.countInvalid();
        }
    }

    private void said(CmPeer peer, long mad, CmIds ids, long nowNs) {
        CmConnection connection = find(peer, ids.remoteId());
        int attribute = Mad.attribute(mad);
        if (connection == null) {
            context.counters.countUnexpected();
            if (attribute == Mad.DISCONNECT_REQUEST) { // else a peer whose DREP was lost would ask in vain
                context.sendDisconnectReply(
                        peer,
                        Mad.transaction(mad),
                        new CmIds(/* localId= */ ids.remoteId(), /* remoteId= */ ids.localId()));
            }
            return;
        }
        switch (attribute) {
            case Mad.MESSAGE_RECEIPT -> connection.received(ids, CmIds.message(mad), CmIds.timeout(mad), nowNs);
            case Mad.READY_TO_USE -> connection.readyToUse(ids.localId());
            case Mad.DISCONNECT_REQUEST ->
                connection.disconnectRequested(ids, Mad.transaction(mad), CmIds.queuePair(mad), nowNs);
            default -> connection.disconnectReplied(ids.localId(), nowNs);
        }
    }

    /** A connection by its id on this side; null if that is not one with this peer. */
    private @Nullable CmConnection find(CmPeer peer, int id) {
        CmConnection connection = connections.get(id);
        return connection != null && connection.peer().equals(peer) ? connection : null;
    }

    private void requested(CmPeer peer, ConnectRequest request, long transaction, long nowNs) {
        CmEndpoint remote = request.endpoint();
        RemoteId remoteId = new RemoteId(peer, remote.guid(), remote.communicationId());
        CmConnection known = byRemoteId.get(remoteId);
        if (known != null) {
            known.requestedAgain();
            return;
        }
        RemoteQueuePair queuePair = new RemoteQueuePair(remote.guid(), remote.queuePair());
        CmConnection old = byRemoteQueuePair.get(queuePair);
        if (old != null && old.state() != CmState.REJECTED) {
            context.counters.countStale();
            refuse(peer, request, transaction, ConnectReject.STALE_CONNECTION);
            old.peerRestarted(nowNs);
            return;
        }
        Listening listening = services.get(request.serviceId());
        if (listening == null) {
            refuse(peer, request, transaction, ConnectReject.INVALID_SERVICE);
        } else if (listening.transport != request.transport()) {
            refuse(peer, request, transaction, ConnectReject.INVALID_TRANSPORT);
        } else if (listening.waiting >= context.settings.backlog()) {
            context.counters.countBacklogFull();
        } else {
            hear(listening, new Requested(peer, request, transaction), remoteId, queuePair);
        }
    }

    /** The application hears of a request, or nobody knows of it, so that it is heard when it comes again. */
    private void hear(Listening listening, Requested requested, RemoteId remoteId, RemoteQueuePair queuePair) {
        int id = freeId();
        CmConnection connection = CmConnection.passive(
                context,
                new CmConnection.Hooks(() -> listening.waiting--, () -> forget(id)),
                new CmConnection.Identity(requested.peer(), id, requested.transaction()),
                requested.request());
        boolean heard = false;
        try {
            connections.put(id, connection);
            byRemoteId.put(remoteId, connection);
            byRemoteQueuePair.put(queuePair, connection);
            connection.ownedBy(listening.service.requested(connection));
            heard = true;
            listening.waiting++;
        } finally {
            if (!heard) {
                connection.discard();
                byRemoteId.remove(remoteId);
                byRemoteQueuePair.remove(queuePair);
                connections.remove(id);
            }
        }
    }

    private void refuse(CmPeer peer, ConnectRequest request, long transaction, int reason) {
        CmIds ids = new CmIds(0, request.endpoint().communicationId());
        context.sendReject(
                peer, transaction, CmContext.rejection(ids, ConnectReject.OF_REQUEST, reason, PrivateData.NONE));
    }

    private void replied(CmPeer peer, ConnectReply reply, long transaction) {
        CmConnection connection = find(peer, reply.remoteId());
        if (connection == null) {
            context.counters.countUnexpected();
            CmIds ids = new CmIds(reply.remoteId(), reply.endpoint().communicationId());
            context.sendReject(
                    peer,
                    transaction,
                    CmContext.rejection(
                            ids, ConnectReject.OF_REPLY, ConnectReject.INVALID_COMMUNICATION_ID, PrivateData.NONE));
            return;
        }
        CmEndpoint remote = reply.endpoint();
        if (connection.state() == CmState.REQUEST_SENT) {
            byRemoteQueuePair.putIfAbsent(new RemoteQueuePair(remote.guid(), remote.queuePair()), connection);
        }
        connection.replied(reply);
    }

    /** A peer that gives up a REQ without having heard of a REP does not know the id of this side. */
    private void rejected(CmPeer peer, ConnectReject rejection, long nowNs) {
        CmConnection connection = find(peer, rejection.remoteId());
        if (connection == null && rejection.remoteId() == 0) {
            connection = ofRemoteId(peer, rejection.localId());
        }
        if (connection == null) {
            context.counters.countUnexpected();
        } else {
            connection.rejected(rejection, nowNs);
        }
    }

    private @Nullable CmConnection ofRemoteId(CmPeer peer, int id) {
        for (Map.Entry<RemoteId, CmConnection> each : byRemoteId.entrySet()) {
            if (each.getKey().id() == id && each.getKey().peer().equals(peer)) {
                return each.getValue();
            }
        }
        return null;
    }
}
