package org.softrdma.sim.roce;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.softrdma.sim.link.PeerQuestion;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.cm.CmQuestion;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.ServiceReply;
import org.softrdma.sim.roce.wire.ServiceRequest;
import org.softrdma.verbs.cm.DatagramService;

/** A SIDR_REQ that waits for its SIDR_REP. Any thread. */
final class ServiceQuestion implements PeerQuestion {
    private final RocePort port;
    private final ServiceRequest request;
    private final CmQuestion question;
    private final InetSocketAddress remote;
    private final byte[] data;
    private final AtomicBoolean decided = new AtomicBoolean();

    /**
     * One that has come.
     *
     * @param port where it came
     * @param peer who asks
     * @param request what it asks
     * @param question takes the answer
     */
    ServiceQuestion(RocePort port, CmPeer peer, ServiceRequest request, CmQuestion question) {
        this.port = port;
        this.request = request;
        this.question = question;
        PrivateData all = request.privateData();
        boolean named = AddressHeader.isIn(all);
        AddressHeader addresses =
                named ? AddressHeader.read(all) : new AddressHeader(peer.port(), peer.address(), peer.address());
        remote = new InetSocketAddress(addresses.source().address(), addresses.sourcePort());
        data = Arrays.copyOfRange(all.bytes(), named ? AddressHeader.LENGTH : 0, all.length());
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public byte[] privateData() {
        return data.clone();
    }

    @Override
    public boolean accept(DatagramService offered) {
        return decide(ServiceReply.VALID, offered.number(), offered.queueKey(), PrivateData.of(offered.privateData()));
    }

    @Override
    public boolean reject(byte[] privateData) {
        return decide(ServiceReply.REJECTED, 0, 0, PrivateData.of(privateData));
    }

    private boolean decide(int status, int number, int queueKey, PrivateData told) {
        if (!decided.compareAndSet(false, true)) {
            return false;
        }
        try {
            ServiceReply reply =
                    new ServiceReply(request.requestId(), status, number, request.serviceId(), queueKey, told);
            port.execute(() -> {
                question.answer(reply, port.nowNs());
                port.turn();
            });
            return true;
        } catch (RuntimeException | Error e) {
            decided.set(false); // the engine does not know of it
            throw e;
        }
    }
}
