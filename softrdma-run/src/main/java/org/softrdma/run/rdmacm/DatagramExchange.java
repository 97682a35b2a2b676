package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.MemoryPause;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.sim.roce.cm.CmQuestion;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.ServiceReply;
import org.softrdma.sim.roce.wire.ServiceRequest;

/**
 * A question where the datagrams of a service go, and its answer (SIDR): CONNECT is SIDR_REQ, ACCEPT and REJECT are SIDR_REP. The side that
 * asks hears ESTABLISHED with a path, a number and a queue key; the side that answers hears no more.
 */
final class DatagramExchange implements CmExchange {
    private static final int LEAST_UNIT = 256;

    private final RdmaCmId id;
    private final CmPort port;
    private final GidPath path;
    private @Nullable PeerSearch search;
    /** Of a peer, as long as it is not answered. */
    private @Nullable Answer answer;

    private boolean closed;

    /** What answers a question. */
    private record Answer(ServiceRequest request, CmQuestion question) {}

    private DatagramExchange(RdmaCmId id, CmPort port, GidPath path) {
        this.id = id;
        this.port = port;
        this.path = path;
    }

    /**
     * Asks the peer of an id.
     *
     * @param id whose addresses are resolved
     */
    static void ask(CmEnvironment environment, RdmaCmId id, PrivateData data) throws CallRefusedException {
        InetAddress local = id.source().orElseThrow().getAddress();
        InetSocketAddress remote = id.destination().orElseThrow();
        if (data.length() > ServiceRequest.PRIVATE_LENGTH - AddressHeader.LENGTH) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        CmPort port = environment.card().managerAt(local);
        GidPath path = environment.path(local, Gid.of(remote.getAddress()), id.trafficClass());
        DatagramExchange made = new DatagramExchange(id, port, path);
        AddressHeader header = new AddressHeader(id.source().orElseThrow().getPort(), path.own(), path.peer());
        PrivateData said = header.with(data);
        boolean isHere = environment.addresses().index(remote.getAddress()).isPresent();
        PeerSearch search =
                new PeerSearch(port, remote.getAddress(), isHere, udpPort -> made.ask(udpPort, remote.getPort(), said));
        made.search = search;
        id.exchange(made);
        search.begin();
    }

    private void ask(int udpPort, int service, PrivateData said) {
        CmPeer peer = new CmPeer(path.peer(), udpPort);
        long serviceId = AddressHeader.serviceId(id.portSpace(), service);
        port.manager().resolve(peer, serviceId, said, this::answered, port.nowNs());
    }

    /** The manager says it once. */
    private void answered(Optional<ServiceReply> reply) {
        for (int i = 0; i < MemoryPause.MOST; i++) {
            try {
                tell(reply);
                return;
            } catch (OutOfMemoryError e) {
                MemoryPause.pause();
            }
        }
    }

    private void tell(Optional<ServiceReply> reply) {
        if (closed) {
            return;
        }
        if (reply.isEmpty()) {
            id.raise(RdmaCmEvent.UNREACHABLE, -ErrorNumber.ETIMEDOUT, RdmaCmEvent.Parameter.NONE);
            return;
        }
        ServiceReply said = reply.get();
        if (said.status() == ServiceReply.VALID) {
            id.raise(
                    RdmaCmEvent.ESTABLISHED,
                    0,
                    to -> DatagramParameter.write(to, said.queuePair(), said.queueKey(), path, said.privateData()));
        } else if (said.status() != ServiceReply.NO_SERVICE || search == null || !search.goesOn()) {
            id.raise(RdmaCmEvent.UNREACHABLE, said.status(), to -> DatagramParameter.writeData(to, said.privateData()));
        }
    }

    /** A peer asks. */
    static void asked(
            CmEnvironment environment,
            CmListener listener,
            CmPort port,
            CmPeer peer,
            ServiceRequest request,
            CmQuestion question) {
        Answer answer = new Answer(request, question);
        if (!AddressHeader.isIn(request.privateData()) || !listener.takes()) {
            reply(port, answer, ServiceReply.REJECTED, 0, 0, PrivateData.NONE);
            return;
        }
        RdmaCmId id = listener.create(AddressHeader.read(request.privateData()));
        InetAddress local = port.localAddress().getAddress();
        DatagramExchange made =
                new DatagramExchange(id, port, environment.path(local, peer.address(), id.trafficClass()));
        made.answer = answer;
        id.exchange(made);
        PrivateData said = CmListener.said(request.privateData());
        listener.tell(id, to -> DatagramParameter.writeData(to, said));
    }

    private static void reply(CmPort port, Answer answer, int status, int queuePair, int queueKey, PrivateData data) {
        ServiceRequest request = answer.request;
        answer.question.answer(
                new ServiceReply(request.requestId(), status, queuePair, request.serviceId(), queueKey, data),
                port.nowNs());
        port.send();
    }

    @Override
    public GidPath path() {
        return path;
    }

    @Override
    public int unitCode() {
        return Integer.numberOfTrailingZeros(port.transferUnit() / LEAST_UNIT) + 1;
    }

    private Answer takeAnswer(PrivateData data) throws CallRefusedException {
        Answer waiting = answer;
        if (waiting == null || data.length() > ServiceReply.PRIVATE_LENGTH) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        answer = null;
        return waiting;
    }

    @Override
    public void accept(Optional<ConnectionParameter> said) throws CallRefusedException {
        ConnectionParameter parameter = said.orElse(ConnectionParameter.of(PrivateData.NONE));
        int queueKey = parameter.queueKey() == 0 ? AddressHeader.UDP_QUEUE_KEY : parameter.queueKey();
        Answer waiting = takeAnswer(parameter.data());
        reply(port, waiting, ServiceReply.VALID, parameter.queuePair(), queueKey, parameter.data());
    }

    @Override
    public void reject(int reason, PrivateData data) throws CallRefusedException {
        reply(port, takeAnswer(data), ServiceReply.REJECTED, 0, 0, data);
    }

    @Override
    public void disconnect() {
        // Datagrams have no connection; Linux says that it is done.
    }

    @Override
    public void established() throws CallRefusedException {
        throw new CallRefusedException(ErrorNumber.EINVAL);
    }

    @Override
    public void writeAttributes(MemorySegment to, int state) {
        PairAttributesDescriptor.writeDatagrams(to, state, AddressHeader.UDP_QUEUE_KEY);
    }

    @Override
    public void close() {
        closed = true;
        if (search != null) {
            search.end();
        }
        Answer waiting = answer;
        if (waiting != null) {
            answer = null;
            reply(port, waiting, ServiceReply.REJECTED, 0, 0, PrivateData.NONE);
        }
    }
}
