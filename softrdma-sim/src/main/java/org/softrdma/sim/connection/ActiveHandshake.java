package org.softrdma.sim.connection;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.kernel.Shortage;
import org.softrdma.net.transport.AddressText;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.link.ConnectAttempt;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.wire.MalformedFrameException;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;

/**
 * The initiator: TCP connect, MPA request, MPA reply (RFC 5044 section 7.1, RFC 6581).
 *
 * <p>Engine thread only, except {@link #start} and {@link #giveUp}.
 */
final class ActiveHandshake implements Handshake, ConnectAttempt {
    private final Connection connection;
    private final QueuePairEnd queuePair;
    private final InetSocketAddress remote;
    private final ConnectionParameters parameters;
    private final CompletableFuture<byte[]> result = new CompletableFuture<>();
    private final HandshakeReader reader = new HandshakeReader(false);
    private final MpaFrame request;
    private @Nullable StreamSocket socket;
    private boolean requestSent;

    /** Its end of the connection, once TCP has one. */
    private volatile @Nullable InetSocketAddress local;

    /**
     * Makes a handshake.
     *
     * @param connection not connected yet
     * @param queuePair its queue pair
     * @param remote the peer
     * @param parameters what this side wants, within the device's limits
     */
    ActiveHandshake(
            Connection connection, QueuePairEnd queuePair, InetSocketAddress remote, ConnectionParameters parameters) {
        this.connection = connection;
        this.queuePair = queuePair;
        this.remote = remote;
        this.parameters = parameters;
        request = MpaNegotiation.request(
                connection.settings(), parameters.inboundReads(), parameters.outboundReads(), parameters.privateData());
    }

    @Override
    public CompletableFuture<byte[]> start() {
        connection.execute(() -> {
            connection.attach(this); // first: whatever fails now ends the handshake
            if (queuePair.isInError()) {
                fail(new VerbsException(
                        VerbsErrorCode.CONNECTION_LOST, "the queue pair was closed before it connected to " + peer()));
            } else {
                connect();
            }
        });
        return result;
    }

    @Override
    public void giveUp(VerbsErrorCode code, String reason) {
        connection.execute(() -> {
            if (!result.isDone()) {
                fail(new VerbsException(code, reason));
                connection.abort();
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

    private void connect() {
        try {
            StreamSocket opened = connection.engine().loop().connect(remote, connection);
            socket = opened;
            connection.attach(opened);
        } catch (IOException e) {
            failed(e);
            connection.abort();
        }
    }

    @Override
    public void ready(boolean writable) throws IOException {
        StreamSocket current = socket;
        if (current == null || (!requestSent && !writable)) {
            return;
        }
        if (!requestSent) {
            if (!current.finishConnect()) {
                return;
            }
            local = (InetSocketAddress) current.localAddress();
            connection.sendFrame(request);
            requestSent = true;
        }
        try {
            MpaFrame reply = reader.receive(current, connection.scratch());
            if (reply != null) {
                judge(reply);
            }
        } catch (MalformedFrameException e) {
            fail(new VerbsException(VerbsErrorCode.PROTOCOL, peer() + ": " + e.getMessage(), e));
            connection.abort();
        }
    }

    private void judge(MpaFrame reply) throws IOException {
        MpaNegotiation.Outcome outcome =
                MpaNegotiation.judge(request, reply, parameters.inboundReads(), parameters.outboundReads());
        // No switch over types: without memory for its first use it is broken for good.
        if (outcome instanceof MpaNegotiation.Outcome.Agreed agreed) {
            InetSocketAddress here = local;
            if (here != null) {
                queuePair.accepted(here, remote);
            }
            queuePair.established(agreed.stream());
            connection.startStream(queuePair, agreed.stream(), true);
            result.complete(reply.privateData());
        } else if (outcome instanceof MpaNegotiation.Outcome.Rejected rejected) {
            fail(new ConnectionRejectedException(peer() + " rejected the connection request", rejected.privateData()));
            connection.close();
        } else if (outcome instanceof MpaNegotiation.Outcome.Refused refused) {
            fail(new VerbsException(VerbsErrorCode.PROTOCOL, peer() + ": " + refused.reason()));
            connection.refuse(refused.cause(), request.crc() || reply.crc());
        }
    }

    private String peer() {
        return AddressText.of(remote);
    }

    @Override
    public void failed(IOException cause) {
        try {
            fail(failure(cause));
        } finally {
            boolean ignored = result.complete(FAILED); // does nothing if the caller has the reason
        }
    }

    private VerbsException failure(IOException cause) {
        boolean noPort = Shortage.isOfPorts(cause) && hasAddressFor(remote);
        boolean unreachable = cause instanceof ConnectException || cause instanceof NoRouteToHostException;
        String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        String advice = "";
        if (noPort) {
            advice = "; no port of this host is free for it (net.ipv4.ip_local_port_range)";
        } else if (cause instanceof ConnectException) {
            advice = "; is the server running there, and does it listen on this address and port?";
        } else if (cause instanceof EOFException && request.enhanced()) {
            // RFC 6581 section 10: a responder that supports revision 1 only closes without a reply.
            advice = "; if it supports MPA revision 1 only, try the device option mpa-revision=1";
        }
        VerbsErrorCode code = unreachable ? VerbsErrorCode.UNREACHABLE : VerbsErrorCode.CONNECTION_LOST;
        return new VerbsException(
                noPort || Shortage.is(cause) ? VerbsErrorCode.NO_RESOURCES : code,
                "cannot connect to " + peer() + ": " + why + advice,
                cause);
    }

    /** False if this host has no address of the peer's IP version: then it is no port that is missing. */
    private static boolean hasAddressFor(InetSocketAddress remote) {
        try {
            Class<?> version = remote.getAddress().getClass();
            return NetworkInterface.networkInterfaces()
                    .anyMatch(one -> one.inetAddresses().anyMatch(address -> address.getClass() == version));
        } catch (SocketException e) {
            return true;
        }
    }

    private void fail(VerbsException cause) {
        connection.engine().counters().increment(Counter.HANDSHAKE_ERRORS);
        queuePair.enterError(String.valueOf(cause.getMessage()), -1, CompletionStatus.FLUSHED, 0);
        result.completeExceptionally(cause);
    }

    @Override
    public void firstSegment() {
        // The initiator was ready already.
    }

    @Override
    public void streamEnded(String reason) {
        try {
            if (!result.isDone()) {
                failed(new IOException(reason));
            }
        } finally {
            boolean ignored = result.complete(FAILED); // as in failed
        }
    }
}
