package org.softrdma.sim.device;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.engine.OnLoopOnce;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.AddressedEnd;
import org.softrdma.sim.queue.AsyncEvents;
import org.softrdma.sim.transport.AddressText;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.UnconnectedQueuePair;

/**
 * A queue pair without a connection manager. INIT is its {@link #open}; RTR and RTS are its {@link #connect}, and of
 * datagrams its open, too.
 *
 * <p>Threads as of {@link SoftQueuePair}.
 */
final class UnconnectedSoftQueuePair extends SoftQueuePair implements UnconnectedQueuePair {
    private final RnicEngine engine;
    private final Capabilities capabilities;
    private final AddressedEnd end;
    private final OnLoopOnce leaving;
    /** From {@link #open} on. */
    private volatile @Nullable QueuePairAddress address;

    /**
     * Makes one, which is to be opened.
     *
     * @param number unique on the device
     * @param domain its protection domain
     * @param attributes sizes and queues of the same device, and its type
     * @param capabilities limits of the device
     * @param features of a reliable connection; others have none
     * @param events of the device
     * @param end what the wire has for it
     * @param onClose called once on close
     */
    UnconnectedSoftQueuePair(
            int number,
            DeviceDomain domain,
            QueuePairAttributes attributes,
            Capabilities capabilities,
            Set<Feature> features,
            AsyncEvents events,
            AddressedEnd end,
            Runnable onClose) {
        super(
                number,
                domain,
                attributes,
                capabilities,
                attributes.type() == QueuePairType.RELIABLE_CONNECTION ? features : Set.of(),
                events,
                end.connection(),
                null,
                onClose);
        this.capabilities = capabilities;
        engine = end.connection().engine();
        this.end = end;
        leaving = new OnLoopOnce(engine, this::leave);
    }

    /** Makes it ready for peers; once, before anybody has it. On the engine's thread. */
    void open() throws IOException {
        address = end.open(this);
    }

    @Override
    public QueuePairAddress address() {
        QueuePairAddress own = address;
        if (own == null) {
            throw new IllegalStateException("queue pair " + number() + " is not open yet");
        }
        return own;
    }

    @Override
    public void connect(QueuePairAddress peer, int outboundReads, int inboundReads) {
        engine.checkThread();
        if (outboundReads < 0 || inboundReads < 0) {
            throw new IllegalArgumentException(
                    "outboundReads=" + outboundReads + ", inboundReads=" + inboundReads + ": must not be negative");
        }
        InetAddress host = peer.host().getAddress();
        InetAddress own = address().host().getAddress();
        if (host == null || !host.getClass().equals(own.getClass())) {
            throw new IllegalArgumentException("peer " + AddressText.of(peer.host())
                    + ": expected an address of the family of " + own.getHostAddress() + ", which is this device's");
        }
        checkInitial();
        boolean reads = type() == QueuePairType.RELIABLE_CONNECTION;
        int outbound = reads ? Math.min(outboundReads, capabilities.maxOutboundReads()) : 0;
        int inbound = reads ? Math.min(inboundReads, capabilities.maxInboundReads()) : 0;
        boolean[] late = new boolean[1]; // another thread has connected it meanwhile
        Waiting.onLoop(engine, () -> {
            late[0] = state() != QueuePairState.INITIAL;
            if (!late[0]) {
                end.connect(peer, outbound, inbound);
            }
        });
        if (late[0]) {
            checkInitial();
        }
    }

    private void checkInitial() {
        if (state() != QueuePairState.INITIAL) {
            throw new IllegalStateException(
                    "connect of queue pair " + number() + " in state " + state() + ": expected INITIAL");
        }
    }

    @Override
    protected PostStatus submit(SendWorkRequest request) {
        AddressHandle host = request.addressHandle();
        if (host != null) {
            end.checkDestination(host, protectionDomain());
        }
        return super.submit(request);
    }

    /** {@inheritDoc} No peer is told, so this waits until it is in ERROR. */
    @Override
    public void disconnect() {
        engine.checkThread();
        leaving.run();
    }

    private void leave() {
        end.connection().disconnect("disconnected by this side");
    }
}
