package org.softrdma.sim.roce;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.transport.AddressText;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.roce.cm.CmConnection;
import org.softrdma.sim.roce.rc.RcSettings;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;

/** The passive side: a REQ, the application's decision, a REP. Engine thread only, except what {@link PeerRequest} says. */
final class PassiveConnect implements PeerRequest, RoceConnection.Handshake {
    private static final Logger LOG = LoggerFactory.getLogger(PassiveConnect.class);
    private static final byte[] NO_DATA = {};
    /** Not a constant, whose text would be made when it is first used. */
    private static final String NOT_ACCEPTED = String.valueOf("the connection ended before it was accepted");

    /** Time that this side may take to acknowledge: 4.096 us x 2^15. */
    private static final int ACKNOWLEDGEMENT_DELAY = 15;

    private final RoceConnection connection;
    private final RocePort port;
    private final InetSocketAddress listening;
    private final CmConnection manager;
    private final ConnectRequest request;
    private final InetSocketAddress remote;
    private final byte[] data;
    private final AtomicBoolean decided = new AtomicBoolean();
    /** Made once: a peer that is not rejected, for want of memory, would wait. */
    private final Runnable rejecting;

    private byte[] rejection = NO_DATA;

    /**
     * A request that has come.
     *
     * @param connection not connected yet
     * @param port where it came
     * @param listening where the application listens
     * @param manager the connection in state REQUEST_RECEIVED
     */
    PassiveConnect(RoceConnection connection, RocePort port, InetSocketAddress listening, CmConnection manager) {
        this.connection = connection;
        this.port = port;
        this.listening = listening;
        this.manager = manager;
        rejecting = connection.prepared(this::sendRejection);
        request = manager.request();
        PrivateData all = request.privateData();
        if (AddressHeader.isIn(all)) {
            AddressHeader addresses = AddressHeader.read(all);
            remote = new InetSocketAddress(addresses.source().address(), addresses.sourcePort());
            data = Arrays.copyOfRange(all.bytes(), AddressHeader.LENGTH, all.length());
        } else {
            remote = new InetSocketAddress(
                    manager.peer().address().address(), manager.peer().port());
            data = all.bytes();
        }
    }

    @Override
    public RoceConnection connection() {
        return connection;
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
    public OptionalInt outboundReads() {
        return OptionalInt.of(request.endpoint().initiatorDepth());
    }

    @Override
    public OptionalInt inboundReads() {
        return OptionalInt.of(request.endpoint().responderResources());
    }

    /** True if this side can have packets as long as the peer wants them. */
    boolean hasTransferUnit() {
        int code = request.pathMtu();
        int own = Terms.code(connection.ports().transferUnit(port.localAddress().getAddress()));
        return code >= Terms.code(RoceSettings.LEAST_TRANSFER_UNIT) && code <= own;
    }

    @Override
    public CompletableFuture<Void> accept(QueuePairEnd queuePair, ConnectionParameters parameters) {
        if (!decided.compareAndSet(false, true)) {
            throw new IllegalStateException("this request was already accepted, rejected or closed");
        }
        try {
            return connection.engine().submit(() -> {
                establish(queuePair, parameters);
                port.turn();
            });
        } catch (RuntimeException | Error e) {
            decided.set(false); // the engine does not know of it: it can still be rejected
            throw e;
        }
    }

    private void establish(QueuePairEnd queuePair, ConnectionParameters parameters) {
        if (!connection.isAlive() || queuePair.isInError()) {
            queuePair.enterError(NOT_ACCEPTED, -1, CompletionStatus.FLUSHED, 0);
            connection.end(NOT_ACCEPTED);
            throw new VerbsException(
                    VerbsErrorCode.CONNECTION_LOST,
                    "the connection of " + AddressText.of(remote) + " ended before it was accepted");
        }
        try {
            reply(queuePair, parameters);
        } catch (RuntimeException | Error e) {
            connection.broken(e);
            throw e;
        }
    }

    private void reply(QueuePairEnd queuePair, ConnectionParameters parameters) {
        CmEndpoint peers = request.endpoint();
        RoceSettings own = connection.ports().settings();
        RcSettings settings = Terms.settings(port, own, Terms.transferUnit(request.pathMtu()), parameters, peers);
        queuePair.accepting(listening, remote);
        int number = connection.open(port, port.path(manager.peer()));
        int psn = connection.ports().random().nextInt(Psn.MASK);
        queuePair.accepted(listening, remote);
        connection.begin(queuePair, settings, peers, psn, /* active= */ false);
        CmEndpoint endpoint = Terms.endpoint(
                number,
                psn,
                settings.inboundReads(),
                settings.outboundReads(),
                own,
                queuePair,
                port.heldPackets(settings.transferUnit()));
        manager.accept(endpoint, ACKNOWLEDGEMENT_DELAY, PrivateData.of(parameters.privateData()), port.nowNs());
    }

    @Override
    public boolean reject(byte[] privateData) {
        if (!decided.compareAndSet(false, true)) {
            return false;
        }
        rejection = privateData;
        try {
            connection.enqueue(rejecting);
        } catch (RejectedExecutionException e) {
            LOG.debug("cannot reject {}: the device is closed", AddressText.of(remote), e);
        }
        return true;
    }

    private void sendRejection() {
        if (connection.isAlive()) {
            manager.reject(ConnectReject.BY_CONSUMER, PrivateData.of(rejection), port.nowNs());
            connection.end("the connection request was rejected");
        }
    }

    // ---- what becomes of it

    @Override
    public void replied(ConnectReply reply) {
        throw new IllegalStateException("a REP for the passive side");
    }

    @Override
    public void refused(int reason, PrivateData reasons) {
        connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
    }

    @Override
    public void ended(String reason) {
        // The queue pair, if there is one, was told.
    }
}
