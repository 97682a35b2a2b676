package org.softrdma.run.rdmacm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.sim.roce.cm.CmConnection;
import org.softrdma.sim.roce.cm.CmEvents;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.sim.roce.cm.CmQuestion;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.ServiceRequest;

/**
 * An id that listens, at one address of this host or at all. Each request that comes gets an id of its own, of which the program hears by
 * this one. As many wait for the program to read them as its backlog says.
 */
final class CmListener {
    /** As Linux limits it. */
    private static final int MOST_BACKLOG = 1024;

    private final CmEnvironment environment;
    private final RdmaCmId id;
    private final List<CmPort> heard = new ArrayList<>();
    private final long service;
    private int room;

    /**
     * Listens at none yet.
     *
     * @param id bound to a port
     * @param backlog 0 for the most
     */
    CmListener(CmEnvironment environment, RdmaCmId id, int backlog) {
        this.environment = environment;
        this.id = id;
        service = AddressHeader.serviceId(
                id.portSpace(), id.source().orElseThrow().getPort());
        room = backlog > 0 && backlog < MOST_BACKLOG ? backlog : MOST_BACKLOG;
    }

    private boolean isOfDatagrams() {
        return id.portSpace() == AddressHeader.PORT_SPACE_UDP;
    }

    /** Listens at all addresses, or at none. */
    void open(List<InetAddress> addresses) throws CallRefusedException {
        int refusal = ErrorNumber.EADDRNOTAVAIL;
        for (InetAddress address : addresses) {
            CmPort port;
            try {
                port = environment.card().managerAt(address);
            } catch (CallRefusedException e) {
                refusal = e.errno();
                continue; // another program's device has this card's port at that address
            }
            boolean free = isOfDatagrams()
                    ? port.manager().listen(service, (peer, request, question) -> asked(port, peer, request, question))
                    : port.manager().listen(service, ConnectRequest.RELIABLE, request -> requested(port, request));
            if (!free) {
                close();
                throw new CallRefusedException(ErrorNumber.EADDRINUSE);
            }
            heard.add(port);
        }
        if (heard.isEmpty()) {
            throw new CallRefusedException(refusal);
        }
    }

    private CmEvents requested(CmPort port, CmConnection connection) {
        return ReliableExchange.requested(environment, this, port, connection);
    }

    private boolean asked(CmPort port, CmPeer peer, ServiceRequest request, CmQuestion question) {
        DatagramExchange.asked(environment, this, port, peer, request, question);
        return true;
    }

    /** Whether one more request may wait; if so, it does. */
    boolean takes() {
        boolean taken = room > 0;
        room -= taken ? 1 : 0;
        return taken;
    }

    /**
     * An id for a request.
     *
     * @param header what the peer says of the addresses
     */
    RdmaCmId create(AddressHeader header) {
        RdmaCmId made = environment.ids().create(id.channel(), /* name= */ 0, id.portSpace());
        made.resolve(
                new InetSocketAddress(
                        header.destination().address(),
                        id.source().orElseThrow().getPort()),
                new InetSocketAddress(header.source().address(), header.sourcePort()));
        made.trafficClass(id.trafficClass());
        return made;
    }

    /** The program is told of a request. */
    void tell(RdmaCmId made, RdmaCmEvent.Parameter parameter) {
        id.channel().add(RdmaCmEvent.request(id, made, parameter));
    }

    /** The application's part of what came with a request. */
    static PrivateData said(PrivateData all) {
        byte[] bytes = all.bytes();
        return PrivateData.of(Arrays.copyOfRange(bytes, AddressHeader.LENGTH, bytes.length));
    }

    /** The program has read of a request. */
    void read() {
        room++;
    }

    /** Hears no more. */
    void close() {
        for (CmPort port : heard) {
            if (isOfDatagrams()) {
                port.manager().stopAnswering(service);
            } else {
                port.manager().stopListening(service);
            }
        }
        heard.clear();
    }
}
