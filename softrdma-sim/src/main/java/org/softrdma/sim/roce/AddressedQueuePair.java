package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.link.AddressedEnd;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.rc.RcSettings;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Psn;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * A queue pair without a connection manager, by type. Its application has exchanged the addresses, so that both ends know
 * numbers and first PSNs; of the rest this side's settings hold. Engine thread only, except what {@link AddressedEnd} says.
 */
final class AddressedQueuePair implements AddressedEnd {
    private final RoceConnection connection;
    private InetAddress address;
    private final QueuePairType type;
    private int queueKey;
    /** Of datagrams, beside {@link #port}. */
    private final List<RocePort> more = new CopyOnWriteArrayList<>();

    private @Nullable DatagramEnd datagrams;
    private @Nullable QueuePairEnd queuePair;
    private @Nullable RocePort port;
    private @Nullable QueuePairAddress own;
    /** What {@link #readyToSend} does; from {@link #readyToReceive} on. */
    private @Nullable Consumer<SendAttributes> send;
    /** Of a connection, likewise. */
    private @Nullable RocePath path;
    /** Of a reliable one, likewise; and the terms by which it goes on. */
    private @Nullable ReliableEnd reliable;

    private @Nullable RcSettings terms;

    /**
     * Not open yet. Any thread.
     *
     * @param ports of the engine that drives it
     * @param address of this host
     * @param type of the queue pair
     * @param queueKey that datagrams must carry to be taken
     */
    AddressedQueuePair(RocePorts ports, InetAddress address, QueuePairType type, int queueKey) {
        this.address = address;
        this.type = type;
        this.queueKey = queueKey;
        connection = new RoceConnection(ports, transport(type));
    }

    private static int transport(QueuePairType type) {
        return switch (type) {
            case RELIABLE_CONNECTION -> RoceOpcode.RC;
            case UNRELIABLE_CONNECTION -> RoceOpcode.UC;
            case UNRELIABLE_DATAGRAM -> RoceOpcode.UD;
        };
    }

    @Override
    public WireConnection connection() {
        return connection;
    }

    @Override
    public QueuePairAddress open(QueuePairEnd pair) throws IOException {
        RocePort on = connection.ports().named(address);
        QueuePairAddress here = address(pair, on);
        queuePair = pair;
        port = on;
        own = here;
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            beginDatagrams(pair, on, here);
        }
        return here;
    }

    /** With another first PSN each time. */
    private QueuePairAddress address(QueuePairEnd pair, RocePort on) {
        RocePorts ports = connection.ports();
        return new QueuePairAddress(
                on.localAddress(), pair.number(), ports.random().nextInt(Psn.MASK), ports.transferUnit(address));
    }

    private void beginDatagrams(QueuePairEnd pair, RocePort on, QueuePairAddress here) {
        int ignored = connection.open(on, null);
        more.forEach(connection::alsoOpen);
        DatagramEnd begun = new DatagramEnd(connection, pair, queueKey, here.sequence(), ports(on));
        datagrams = begun;
        connection.begin(pair, begun, new RoceAgreement(type, 0, 0, here.maxTransferUnit()), /* active= */ true);
    }

    private List<RocePort> ports(RocePort first) {
        List<RocePort> all = new ArrayList<>(more);
        all.addFirst(first);
        return all;
    }

    @Override
    public QueuePairAddress useAddress(InetAddress local) throws IOException {
        QueuePairAddress here = own;
        if (here == null) {
            throw new IllegalStateException("the queue pair is not open");
        }
        RocePort on = connection.ports().named(local);
        QueuePairAddress there = new QueuePairAddress(
                on.localAddress(),
                here.number(),
                here.sequence(),
                connection.ports().transferUnit(local));
        address = local;
        port = on;
        own = there;
        return there;
    }

    @Override
    public void alsoUseAddress(InetAddress local) throws IOException {
        RocePort first = port;
        if (first == null || !RocePorts.isAt(first, local)) {
            RocePort on = connection.ports().listening(local);
            if (!more.contains(on)) {
                more.add(on);
            }
        }
    }

    @Override
    public void join(InetAddress group, List<InetAddress> locals) throws IOException {
        connection.join(connection.ports().group(group, locals));
    }

    @Override
    public boolean leave(InetAddress group) {
        return connection.leaveGroup(group);
    }

    @Override
    public void queueKey(int newQueueKey) {
        queueKey = newQueueKey;
        if (datagrams != null) {
            datagrams.queueKey(newQueueKey);
        }
    }

    @Override
    public QueuePairAddress reset() {
        QueuePairEnd pair = queuePair;
        RocePort on = port;
        if (pair == null || on == null) {
            throw new IllegalStateException("the queue pair is not open");
        }
        QueuePairAddress again = address(pair, on);
        send = null;
        path = null;
        reliable = null;
        terms = null;
        own = again;
        connection.reset();
        return again;
    }

    @Override
    public void initialise() {
        QueuePairEnd pair = queuePair;
        RocePort on = port;
        QueuePairAddress here = own;
        if (type != QueuePairType.UNRELIABLE_DATAGRAM) {
            return;
        }
        if (pair == null || on == null || here == null || on.isClosed()) {
            throw ended(VerbsErrorCode.CONNECTION_LOST, "its UDP port is closed");
        }
        orEnd(() -> beginDatagrams(pair, on, here));
    }

    @Override
    public void drain() {
        connection.drain();
    }

    @Override
    public void resume() {
        connection.resume();
    }

    @Override
    public void readyToReceive(ReceiveAttributes attributes) {
        QueuePairEnd pair = queuePair;
        RocePort on = port;
        QueuePairAddress here = own;
        QueuePairAddress peer = attributes.peer();
        if (pair == null || on == null || here == null || on.isClosed() || !connection.isAlive()) {
            throw ended(VerbsErrorCode.CONNECTION_LOST, "its UDP port is closed, or it was disconnected");
        }
        int unit = Math.min(here.maxTransferUnit(), peer.maxTransferUnit());
        orEnd(() -> {
            InetSocketAddress host = peer.host();
            RocePath there = on.path(new CmPeer(Gid.of(host.getAddress()), host.getPort()));
            connection.open(on, there);
            path = there;
            if (type == QueuePairType.RELIABLE_CONNECTION) {
                receiveReliably(pair, on, here, attributes, unit);
            } else {
                receiveUnreliably(pair, on, here, there, peer, unit);
            }
        });
    }

    private void orEnd(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            connection.end("not connected: " + e.getMessage());
            throw e;
        }
    }

    private void receiveReliably(
            QueuePairEnd pair, RocePort on, QueuePairAddress here, ReceiveAttributes attributes, int unit) {
        RoceSettings settings = connection.ports().settings();
        RcSettings begun = serving(Terms.settings(on, settings, unit, 0, 0), attributes);
        QueuePairAddress peer = attributes.peer();
        ReliableEnd end = connection.reliable(pair, begun, here.sequence(), peer.sequence(), peer.number());
        connection.receive(pair, end);
        reliable = end;
        terms = begun;
        send = sends -> {
            RcSettings agreed = requesting(terms == null ? begun : terms, sends);
            terms = agreed;
            end.goOnBy(agreed);
            sends.sequence().ifPresent(end::sendFrom);
            connection.send(pair, RoceAgreement.of(agreed));
        };
    }

    private RcSettings serving(RcSettings before, ReceiveAttributes wanted) {
        return before.serving(
                wanted.inboundReads(),
                wanted.receiverNotReadyTimer()
                        .orElse(connection.ports().settings().rnrTimer()));
    }

    private RcSettings requesting(RcSettings before, SendAttributes wanted) {
        RoceSettings own = connection.ports().settings();
        return before.requesting(
                wanted.outboundReads(),
                wanted.timeout().isPresent() ? Terms.ns(wanted.timeout().getAsInt()) : own.timeoutNs(),
                wanted.retries().orElse(own.retries()),
                wanted.receiverNotReadyRetries().orElse(own.rnrRetries()));
    }

    @Override
    public void change(ReceiveAttributes receives, SendAttributes sends) {
        QueuePairEnd pair = queuePair;
        RocePath leading = path;
        if (pair == null || leading == null) {
            throw new IllegalStateException("the queue pair has no peer");
        }
        InetSocketAddress host = receives.peer().host();
        leading.to(new CmPeer(Gid.of(host.getAddress()), host.getPort()));
        ReliableEnd end = reliable;
        if (end != null && terms != null) {
            RcSettings agreed = requesting(serving(terms, receives), sends);
            terms = agreed;
            end.goOnBy(agreed);
            pair.agreed(RoceAgreement.of(agreed));
        }
        connection.changed();
    }

    private void receiveUnreliably(
            QueuePairEnd pair, RocePort on, QueuePairAddress here, RocePath path, QueuePairAddress peer, int unit) {
        UnreliableConnectionEnd end =
                new UnreliableConnectionEnd(connection.engine(), pair, path, unit, here.sequence(), peer, on);
        connection.receive(pair, end);
        send = wanted -> {
            wanted.sequence().ifPresent(end::sendFrom);
            connection.send(pair, new RoceAgreement(type, 0, 0, unit));
        };
    }

    @Override
    public void readyToSend(SendAttributes attributes) {
        Consumer<SendAttributes> step = send;
        if (step == null) {
            throw new IllegalStateException("the queue pair is not ready to receive");
        }
        orEnd(() -> step.accept(attributes));
    }

    /** It ends, because it cannot be connected. */
    private VerbsException ended(VerbsErrorCode code, String reason) {
        String message = "cannot connect the queue pair: " + reason;
        connection.end(message);
        return new VerbsException(code, message);
    }

    @Override
    public void checkDestination(AddressHandle host, ProtectionDomain domain) {
        if (!(host instanceof RoceAddressHandle handle) || handle.protectionDomain() != domain) {
            throw new IllegalArgumentException(
                    "the address handle belongs to another protection domain than the queue pair");
        }
        RocePort first = port;
        if (first != null
                && !first.address().equals(handle.local())
                && more.stream().noneMatch(each -> each.address().equals(handle.local()))) {
            throw new IllegalArgumentException("the address handle leaves "
                    + handle.local().address().getHostAddress() + ", where the queue pair is not");
        }
        handle.checkOpen();
    }
}
