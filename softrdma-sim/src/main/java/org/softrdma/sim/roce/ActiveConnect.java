package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.kernel.Shortage;
import org.softrdma.net.transport.AddressText;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.link.ConnectAttempt;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.roce.cm.CmConnection;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.rc.RcSettings;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.ConnectReject;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;

/** The active side: REQ, REP, RTU. Engine thread only, except {@link #start} and {@link #giveUp}. */
final class ActiveConnect implements ConnectAttempt, RoceConnection.Handshake {
    private final RoceConnection connection;
    private final QueuePairEnd queuePair;
    private final InetSocketAddress remote;
    private final ConnectionParameters parameters;
    private final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private @Nullable CmConnection manager;
    private @Nullable VerbsException failure;
    private volatile @Nullable InetSocketAddress local;

    /**
     * Not begun.
     *
     * @param connection not connected yet
     * @param queuePair its queue pair
     * @param remote the peer
     * @param parameters what this side wants, within the device's limits
     */
    ActiveConnect(
            RoceConnection connection,
            QueuePairEnd queuePair,
            InetSocketAddress remote,
            ConnectionParameters parameters) {
        this.connection = connection;
        this.queuePair = queuePair;
        this.remote = remote;
        this.parameters = parameters;
    }

    @Override
    public CompletableFuture<byte[]> start() {
        connection.execute(() -> {
            connection.attach(this); // first: whatever fails now ends the attempt
            if (queuePair.isInError()) {
                fail(new VerbsException(
                        VerbsErrorCode.CONNECTION_LOST, "the queue pair was closed before it connected to " + peer()));
                return;
            }
            try {
                connect();
            } catch (IOException e) {
                fail(new VerbsException(
                        Shortage.is(e) ? VerbsErrorCode.NO_RESOURCES : VerbsErrorCode.UNREACHABLE,
                        "cannot connect to " + peer() + ": " + e.getMessage(),
                        e));
            }
        });
        return result;
    }

    private void connect() throws IOException {
        RocePorts ports = connection.ports();
        InetAddress here = ports.localTo(remote);
        RocePort port = ports.towards(here, remote.getAddress());
        CmPeer peer = new CmPeer(Gid.of(remote.getAddress()), ports.settings().peerPort());
        int number = connection.open(port, port.path(peer));
        RandomGenerator random = ports.random();
        InetSocketAddress own =
                new InetSocketAddress(here, random.nextInt(RocePort.FIRST_SPREADING_PORT, Character.MAX_VALUE));
        CmEndpoint endpoint = Terms.endpoint(
                number,
                random.nextInt(Psn.MASK),
                parameters.inboundReads(),
                parameters.outboundReads(),
                ports.settings(),
                queuePair,
                port.heldPackets(ports.transferUnit(here)));
        ConnectRequest request =
                Terms.request(endpoint, port.address(), peer.address(), own, remote, ports, parameters.privateData());
        CmConnection begun = port.manager().connect(peer, request, connection, port.nowNs());
        manager = begun;
        local = own;
        connection.managedBy(begun, port);
    }

    @Override
    public void replied(ConnectReply reply) {
        CmConnection current = manager;
        InetSocketAddress here = local;
        if (current == null || here == null || queuePair.isInError()) {
            return;
        }
        CmEndpoint own = current.request().endpoint();
        CmEndpoint peers = reply.endpoint();
        RcSettings settings = Terms.settings(
                connection.requirePort(),
                connection.ports().settings(),
                Terms.transferUnit(current.request().pathMtu()),
                parameters,
                peers);
        queuePair.accepted(here, remote);
        connection.begin(queuePair, settings, peers, own.startingPsn(), /* active= */ true);
        current.ready();
        result.complete(reply.privateData().bytes());
    }

    @Override
    public void refused(int reason, PrivateData data) {
        if (!result.isDone()) {
            fail(failure(reason, data));
        }
    }

    private VerbsException failure(int reason, PrivateData data) {
        return switch (reason) {
            case ConnectReject.BY_CONSUMER ->
                new ConnectionRejectedException(peer() + " rejected the connection request", data.bytes());
            case ConnectReject.INVALID_SERVICE ->
                new VerbsException(
                        VerbsErrorCode.UNREACHABLE,
                        "cannot connect to " + peer() + ": nobody listens there; is the server running, and does it"
                                + " listen on this address and port?");
            case ConnectReject.TIMEOUT ->
                new VerbsException(
                        VerbsErrorCode.UNREACHABLE,
                        "cannot connect to " + peer() + ": no answer from UDP port "
                                + connection.ports().settings().peerPort()
                                + "; does the server speak RoCEv2, and at this roce-peer-port?");
            default ->
                new VerbsException(
                        VerbsErrorCode.CONNECTION_LOST,
                        "cannot connect to " + peer() + ": it refused, reason " + reason + " (IBA volume 1, 12.6.7.2)");
        };
    }

    @Override
    public void ended(String reason) {
        try {
            VerbsException cause = failure;
            boolean ignored = result.completeExceptionally(
                    cause == null
                            ? new VerbsException(
                                    VerbsErrorCode.CONNECTION_LOST, "cannot connect to " + peer() + ": " + reason)
                            : cause);
        } finally {
            boolean ignored = result.complete(FAILED); // does nothing if the caller has the reason
        }
    }

    @Override
    public void giveUp(VerbsErrorCode code, String reason) {
        connection.execute(() -> {
            if (!result.isDone()) {
                fail(new VerbsException(code, reason));
            }
        });
    }

    @Override
    public boolean isDone() {
        return result.isDone();
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return local;
    }

    private String peer() {
        return AddressText.of(remote);
    }

    /** The queue pair is in ERROR before the application hears of it. */
    private void fail(VerbsException cause) {
        connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
        failure = cause;
        connection.end(String.valueOf(cause.getMessage()));
        boolean ignored = result.completeExceptionally(cause); // if it had ended before
    }
}
