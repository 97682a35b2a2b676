package org.softrdma.sim.device;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.AddressText;
import org.softrdma.sim.link.ConnectAttempt;
import org.softrdma.sim.link.WireConnector;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.Connector;

/** The connecting side of a connection. One application thread, but for {@link #close}. */
final class SoftConnector implements Connector {
    /** A constant, which is linked when there is memory. */
    @SuppressWarnings("UnnecessaryLambda")
    private static final BooleanSupplier NEVER = () -> false;

    private static final String CLOSED = "the connector was closed before it connected";

    private final SoftRdmaDevice device;
    private final WireConnector connector;
    private final InetSocketAddress remote;
    private volatile @Nullable SoftQueuePair queuePair;
    private volatile @Nullable InetSocketAddress local;
    /** From {@link #connect} on. */
    private volatile @Nullable ConnectAttempt attempt;

    private volatile boolean closed;

    SoftConnector(SoftRdmaDevice device, WireConnector connector, InetSocketAddress remote) {
        this.device = device;
        this.connector = connector;
        this.remote = remote;
    }

    @Override
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairAttributes attributes) {
        device.progress().checkThread();
        if (queuePair != null || closed) {
            throw new IllegalStateException("this connector has a queue pair already, or is closed");
        }
        SoftQueuePair created = device.queuePairs().create(domain, attributes, connector.connection());
        queuePair = created;
        return created;
    }

    @Override
    public byte[] connect(ConnectionParameters parameters, long timeoutNs) {
        device.progress().checkThread();
        SoftQueuePair pair = queuePair;
        if (pair == null || attempt != null || closed) {
            throw new IllegalStateException(
                    "connect needs a new connector with a queue pair: call createQueuePair first");
        }
        if (pair.state() != QueuePairState.INITIAL) {
            throw new IllegalStateException("connect needs a queue pair in state INITIAL, but it is " + pair.state());
        }
        ConnectionParameters clamped = device.clamp(parameters);
        ConnectAttempt begun = connector.attempt(pair, clamped);
        attempt = begun;
        CompletableFuture<byte[]> result = begun.start();
        if (closed) {
            begun.giveUp(VerbsErrorCode.CONNECTION_LOST, CLOSED); // by a thread that saw no attempt
        }
        byte[] reply = reply(begun, result, timeoutNs);
        if (reply == ConnectAttempt.FAILED) {
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    "cannot connect to " + AddressText.of(remote) + ": this process is out of memory");
        }
        local = begun.localAddress();
        if (device.progress().isManual()) {
            // Sends the first message: the peer gives up if it waits for that until the owner drives the device again.
            boolean ignored = device.progress().runUntil(NEVER, 0);
        }
        return device.shown(reply);
    }

    private byte[] reply(ConnectAttempt begun, CompletableFuture<byte[]> result, long timeoutNs) {
        try {
            return Waiting.establish(
                    result,
                    device.progress(),
                    timeoutNs,
                    "the connection to " + AddressText.of(remote),
                    reason -> begun.giveUp(VerbsErrorCode.TIMED_OUT, reason));
        } catch (ConnectionRejectedException e) {
            byte[] data = e.privateData();
            byte[] shown = device.shown(data);
            throw shown == data ? e : new ConnectionRejectedException(String.valueOf(e.getMessage()), shown);
        }
    }

    @Override
    public Optional<InetSocketAddress> localAddress() {
        return Optional.ofNullable(local);
    }

    @Override
    public void close() {
        closed = true;
        SoftQueuePair pair = queuePair;
        ConnectAttempt begun = attempt;
        if (begun == null) {
            if (pair != null) {
                pair.abandon(CLOSED);
            }
        } else if (!begun.isDone()) { // else there is nothing to give up, for which there may be no memory
            begun.giveUp(VerbsErrorCode.CONNECTION_LOST, CLOSED);
        }
    }
}
