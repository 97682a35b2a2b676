package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.sim.roce.cm.CmConnection;
import org.softrdma.sim.roce.cm.CmEvents;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.sim.roce.cm.CmState;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.CmPath;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.PrivateData;

/**
 * A connection between two queue pairs, whose states their programs set.
 *
 * <pre>
 *   active side                                          passive side
 *   CONNECT            REQ --------------------------->  CONNECT_REQUEST, its id is new
 *   CONNECT_RESPONSE   <--------------------------- REP  queue pair to RTR and RTS, ACCEPT
 *   queue pair to RTR and RTS, ACCEPT  RTU ----------->  ESTABLISHED
 *   DISCONNECTED       <------- DREQ, DREP ----------->  DISCONNECTED
 * </pre>
 */
final class ReliableExchange implements CmExchange {
    /** t of 4.096 us x 2^t: how long an application may take to answer, as Linux says it. */
    private static final int ANSWER_TIME = 20;
    /** Likewise, to acknowledge a packet. */
    private static final int ACKNOWLEDGEMENT_DELAY = 15;

    private static final int CM_RETRIES = 15;
    private static final int RATE_10_GIGABIT = 3;
    private static final int HOP_LIMIT = 64;
    /** Code of 256 bytes; each further one is twice as long. */
    private static final int LEAST_UNIT = 256;
    /** Code of the least unit of this project's reliable connections. */
    private static final int LEAST_CODE = 3;

    private final CmEnvironment environment;
    private final RdmaCmId id;
    private final CmPort port;
    private final GidPath path;
    private final int psn;
    private int unitCode;
    private int servedReads;
    private int reads;
    private int retries;
    private int rnrRetries;
    private @Nullable PeerSearch search;
    private @Nullable Attempt current;
    private boolean closed;

    private ReliableExchange(CmEnvironment environment, RdmaCmId id, CmPort port, GidPath path) {
        this.environment = environment;
        this.id = id;
        this.port = port;
        this.path = path;
        psn = environment.firstPsn();
        unitCode = code(port.transferUnit());
    }

    private static int code(int transferUnit) {
        return Integer.numberOfTrailingZeros(transferUnit / LEAST_UNIT) + 1;
    }

    /**
     * Asks the peer of an id for a connection.
     *
     * @param id whose addresses are resolved
     * @param said by the program
     */
    static void connect(CmEnvironment environment, RdmaCmId id, ConnectionParameter said) throws CallRefusedException {
        InetAddress local = id.source().orElseThrow().getAddress();
        InetSocketAddress remote = id.destination().orElseThrow();
        if (said.data().length() > ConnectRequest.PRIVATE_LENGTH - AddressHeader.LENGTH) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        CmPort port = environment.card().managerAt(local);
        Gid there = Gid.of(remote.getAddress());
        ReliableExchange made =
                new ReliableExchange(environment, id, port, environment.path(local, there, id.trafficClass()));
        made.servedReads = said.servedReads();
        made.reads = said.reads();
        made.retries = said.retries();
        made.rnrRetries = said.rnrRetries();
        ConnectRequest request = made.request(said, remote);
        boolean isHere = environment.addresses().index(remote.getAddress()).isPresent();
        PeerSearch search = new PeerSearch(
                port, remote.getAddress(), isHere, udpPort -> made.ask(new CmPeer(there, udpPort), request));
        made.search = search;
        id.exchange(made);
        search.begin();
    }

    private ConnectRequest request(ConnectionParameter said, InetSocketAddress remote) {
        AddressHeader header = new AddressHeader(id.source().orElseThrow().getPort(), path.own(), path.peer());
        return new ConnectRequest(
                endpoint(said),
                AddressHeader.serviceId(id.portSpace(), remote.getPort()),
                ConnectRequest.RELIABLE,
                said.retries(),
                Bth.DEFAULT_PARTITION,
                unitCode,
                ANSWER_TIME,
                ANSWER_TIME,
                CM_RETRIES,
                new CmPath(path.own(), path.peer(), 0, RATE_10_GIGABIT, path.trafficClass(), HOP_LIMIT, id.lifetime()),
                header.with(said.data()));
    }

    private CmEndpoint endpoint(ConnectionParameter said) {
        return new CmEndpoint(
                0,
                0,
                said.queuePair(),
                psn,
                said.servedReads(),
                said.reads(),
                said.flowControl(),
                said.rnrRetries(),
                said.shared(),
                port.heldPackets(),
                /* manualProgress= */ false);
    }

    private void ask(CmPeer peer, ConnectRequest request) {
        Attempt attempt = new Attempt();
        attempt.keep(request.endpoint().queuePair());
        current = attempt;
        attempt.connection = port.manager().connect(peer, request, new PatientEvents(attempt), port.nowNs());
    }

    /** A peer asks for a connection. */
    static CmEvents requested(CmEnvironment environment, CmListener listener, CmPort port, CmConnection connection) {
        ConnectRequest request = connection.request();
        int refusal = 0;
        if (!AddressHeader.isIn(request.privateData())) {
            refusal = ConnectReject.UNSUPPORTED;
        } else if (request.pathMtu() < LEAST_CODE || request.pathMtu() > code(port.transferUnit())) {
            refusal = ConnectReject.INVALID_MTU;
        } else if (!listener.takes()) {
            refusal = ConnectReject.BY_CONSUMER;
        }
        if (refusal != 0) {
            connection.reject(refusal, PrivateData.NONE, port.nowNs());
            return Refused.INSTANCE;
        }
        RdmaCmId id = listener.create(AddressHeader.read(request.privateData()));
        InetAddress local = port.localAddress().getAddress();
        ReliableExchange made = new ReliableExchange(
                environment,
                id,
                port,
                environment.path(
                        local, connection.peer().address(), request.path().trafficClass()));
        id.exchange(made);
        return made.hear(listener, connection);
    }

    private CmEvents hear(CmListener listener, CmConnection connection) {
        ConnectRequest request = connection.request();
        CmEndpoint peer = request.endpoint();
        unitCode = request.pathMtu();
        servedReads = peer.initiatorDepth();
        reads = peer.responderResources();
        retries = request.retries();
        rnrRetries = peer.rnrRetries();
        Attempt attempt = new Attempt();
        CmEvents events = new PatientEvents(attempt);
        attempt.connection = connection;
        current = attempt;
        environment
                .card()
                .peers()
                .add(attempt, path.peer(), peer.queuePair(), connection.peer().port());
        listener.tell(id, parameter(peer, request.retries(), CmListener.said(request.privateData())));
        return events;
    }

    /** What a peer says: what it may send is what this side serves. */
    private static RdmaCmEvent.Parameter parameter(CmEndpoint peer, int retries, PrivateData data) {
        ConnectionParameter told = new ConnectionParameter(
                peer.queuePair(),
                0,
                data,
                peer.sharedReceiveQueue(),
                peer.initiatorDepth(),
                peer.responderResources(),
                peer.flowControl(),
                retries,
                peer.rnrRetries());
        return told::write;
    }

    private void raise(int event, int status, RdmaCmEvent.Parameter parameter) {
        if (!closed) {
            id.raise(event, status, parameter);
        }
    }

    // ---- the program

    @Override
    public GidPath path() {
        return path;
    }

    @Override
    public int unitCode() {
        return unitCode;
    }

    private CmConnection in(CmState... states) throws CallRefusedException {
        CmConnection connection = current == null ? null : current.connection;
        if (connection != null) {
            for (CmState each : states) {
                if (connection.state() == each) {
                    return connection;
                }
            }
        }
        throw new CallRefusedException(ErrorNumber.EINVAL);
    }

    @Override
    public void accept(Optional<ConnectionParameter> said) throws CallRefusedException {
        if (said.isEmpty()) {
            in(CmState.REPLY_RECEIVED).ready();
        } else {
            reply(in(CmState.REQUEST_RECEIVED), said.get());
        }
        port.send();
    }

    private void reply(CmConnection connection, ConnectionParameter said) throws CallRefusedException {
        if (said.data().length() > ConnectReply.PRIVATE_LENGTH) {
            connection.reject(ConnectReject.BY_CONSUMER, PrivateData.NONE, port.nowNs());
            port.send();
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        servedReads = said.servedReads();
        reads = said.reads();
        if (current != null) {
            current.keep(said.queuePair());
        }
        connection.accept(endpoint(said), ACKNOWLEDGEMENT_DELAY, said.data(), port.nowNs());
    }

    @Override
    public void reject(int reason, PrivateData data) throws CallRefusedException {
        if (data.length() > ConnectReject.PRIVATE_LENGTH) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        in(CmState.REQUEST_RECEIVED, CmState.REPLY_RECEIVED).reject(reason, data, port.nowNs());
        port.send();
    }

    @Override
    public void disconnect() {
        CmConnection connection = current == null ? null : current.connection;
        if (connection != null && connection.state() == CmState.ESTABLISHED) {
            connection.disconnect(port.nowNs());
            port.send();
        }
    }

    @Override
    public void established() throws CallRefusedException {
        CmConnection connection = in(CmState.REPLY_SENT, CmState.ESTABLISHED);
        if (connection.state() == CmState.ESTABLISHED) {
            throw new CallRefusedException(ErrorNumber.EISCONN);
        }
        connection.used();
    }

    @Override
    public void writeAttributes(MemorySegment to, int state) throws CallRefusedException {
        switch (state) {
            case PairAttributesDescriptor.INIT -> PairAttributesDescriptor.writeInit(to, servedReads);
            case PairAttributesDescriptor.RTR ->
                PairAttributesDescriptor.writeReadyToReceive(to, path, unitCode, peer().queuePair(), psn, servedReads);
            case PairAttributesDescriptor.RTS ->
                PairAttributesDescriptor.writeReadyToSend(
                        to, peer().startingPsn(), reads, timeout(), retries, rnrRetries);
            default -> throw new CallRefusedException(ErrorNumber.EINVAL);
        }
    }

    private int timeout() {
        CmConnection connection = current == null ? null : current.connection;
        return connection == null ? id.lifetime() : connection.request().path().acknowledgementTimeout();
    }

    private CmEndpoint peer() throws CallRefusedException {
        CmEndpoint peer = current == null || current.connection == null ? null : current.connection.remoteEndpoint();
        if (peer == null) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        return peer;
    }

    @Override
    public void close() {
        closed = true;
        if (search != null) {
            search.end();
        }
        if (current != null && current.connection != null) {
            current.connection.disconnect(port.nowNs());
            port.send();
        }
    }

    // ---- the peer

    /** One REQ, and what becomes of it. */
    private final class Attempt implements CmEvents {
        private @Nullable CmConnection connection;
        private int kept;
        private boolean wasEstablished;

        /** Its peer knows this number. */
        void keep(int queuePair) {
            port.keep(queuePair);
            kept = queuePair;
        }

        @Override
        public void replied(ConnectReply reply) {
            CmEndpoint peer = reply.endpoint();
            servedReads = peer.initiatorDepth();
            reads = peer.responderResources();
            rnrRetries = peer.rnrRetries();
            if (connection != null) {
                environment
                        .card()
                        .peers()
                        .add(
                                this,
                                path.peer(),
                                peer.queuePair(),
                                connection.peer().port());
            }
            wasEstablished = true;
            raise(RdmaCmEvent.CONNECT_RESPONSE, 0, parameter(peer, 0, reply.privateData()));
        }

        @Override
        public void established() {
            wasEstablished = true;
            raise(RdmaCmEvent.ESTABLISHED, 0, RdmaCmEvent.Parameter.NONE);
        }

        @Override
        public void failed(int reason, PrivateData data) {
            if (closed || (reason == ConnectReject.INVALID_SERVICE && search != null && search.goesOn())) {
                return;
            }
            if (reason == ConnectReject.TIMEOUT) {
                raise(RdmaCmEvent.UNREACHABLE, -ErrorNumber.ETIMEDOUT, RdmaCmEvent.Parameter.NONE);
            } else {
                raise(RdmaCmEvent.REJECTED, reason, ConnectionParameter.of(data)::write);
            }
        }

        @Override
        public void disconnected() {
            raise(RdmaCmEvent.DISCONNECTED, 0, RdmaCmEvent.Parameter.NONE);
        }

        @Override
        public void released() {
            environment.card().peers().forget(this);
            if (kept != 0) {
                port.forget(kept);
                kept = 0;
            }
            if (wasEstablished) {
                raise(RdmaCmEvent.TIMEWAIT_EXIT, 0, RdmaCmEvent.Parameter.NONE);
            }
        }
    }

    /** A request that nobody hears of. */
    private enum Refused implements CmEvents {
        INSTANCE;

        @Override
        public void replied(ConnectReply reply) {}

        @Override
        public void established() {}

        @Override
        public void failed(int reason, PrivateData data) {}

        @Override
        public void disconnected() {}

        @Override
        public void released() {}
    }
}
