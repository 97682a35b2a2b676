package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.AddressText;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.AddressedEnd;
import org.softrdma.sim.link.ConnectAttempt;
import org.softrdma.sim.link.PeerQuestion;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.link.QueuePairNumbers;
import org.softrdma.sim.link.Wire;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.sim.link.WireConnector;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.NumberedPort;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.DatagramService;

/** RoCEv2 over UDP: connections share the {@link RocePort}s of their engine. Peers connect to the first engine. */
final class RoceWire implements Wire {
    /** As many as SoftRoCE; a REQ has a byte for them. */
    private static final int MAX_READS = 128;

    /** As many as SoftRoCE. */
    private static final int MAX_SCATTER_GATHER = 32;

    private static final Set<Feature> FEATURES = Set.copyOf(EnumSet.of(
            Feature.ZERO_BASED,
            Feature.REGION_SWAP,
            Feature.ACKNOWLEDGED_WRITES,
            Feature.REMOTE_STATUSES,
            Feature.REMOTE_READ_STATUSES,
            Feature.RECEIVER_NOT_READY,
            Feature.IPV6,
            Feature.END_CAUSES,
            Feature.ORDERED_PLACEMENT,
            Feature.ATOMICS,
            Feature.GLOBAL_ATOMICS,
            Feature.WRITE_IMMEDIATE,
            Feature.SEND_IMMEDIATE,
            Feature.SEND_INVALIDATE,
            Feature.MEMORY_WINDOWS,
            Feature.SHARED_RECEIVE_QUEUES,
            Feature.REREGISTRATION,
            Feature.QUEUE_RESIZE,
            Feature.ASYNC_EVENTS,
            Feature.CONNECTION_BY_ADDRESS,
            Feature.UNRELIABLE_CONNECTION,
            Feature.UNRELIABLE_DATAGRAM,
            Feature.DATAGRAM_SERVICES));

    private final List<RocePorts> engines;
    private final QueuePairNumbers numbers;
    /** Of queue pairs that no connection manager connects. */
    private final InetAddress address;

    private final int transferUnit;
    private final DatagramServices services;
    private final AtomicInteger nextEngine = new AtomicInteger();

    RoceWire(RoceSettings settings, List<RnicEngine> engines, RandomGenerator random, QueuePairNumbers numbers) {
        this.numbers = numbers;
        numbers.drawFrom(random, NumberedPort.leastNumber(settings.port()), NumberedPort.numbersBelow(settings.port()));
        this.engines = engines.stream()
                .map(engine -> new RocePorts(engine, settings, random, numbers))
                .toList();
        address = this.engines.getFirst().addressForOthers();
        transferUnit = this.engines.getFirst().transferUnit(address);
        services = new DatagramServices(this.engines.getFirst(), address);
    }

    @Override
    public String description() {
        return "RoCEv2 over UDP";
    }

    @Override
    public Set<Feature> features() {
        return FEATURES;
    }

    @Override
    public int maxReads() {
        return MAX_READS;
    }

    @Override
    public int maxScatterGather() {
        return MAX_SCATTER_GATHER;
    }

    @Override
    public int maxScatterGatherRead() {
        return MAX_SCATTER_GATHER;
    }

    @Override
    public boolean takesForeignMemory() {
        return true;
    }

    /** What a REQ has room for; a REP and a REJ have more. */
    @Override
    public int maxPrivateData() {
        return ConnectRequest.PRIVATE_LENGTH - AddressHeader.LENGTH;
    }

    /** A card or SoftRoCE elsewhere answers to one port only, that of the first engine. */
    @Override
    public WireConnector connector(InetSocketAddress remote) {
        boolean any = engines.size() > 1 && isHere(remote.getAddress());
        int turn = any ? Math.floorMod(nextEngine.getAndIncrement(), engines.size()) : 0;
        return new Initiator(new RoceConnection(engines.get(turn)), remote);
    }

    private static boolean isHere(InetAddress address) {
        try {
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException e) {
            return false;
        }
    }

    @Override
    public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PeerRequest> requests) throws IOException {
        return new RoceListener(engines.getFirst(), requests).open(local);
    }

    @Override
    public int maxTransferUnit() {
        return transferUnit;
    }

    /** On the first engine, to which peers come. */
    @Override
    public AddressedEnd addressed(QueuePairType type, int queueKey) {
        return new AddressedQueuePair(engines.getFirst(), address, type, queueKey);
    }

    @Override
    public AddressHandle addressHandle(
            ProtectionDomain domain, @Nullable InetAddress local, InetSocketAddress host, Runnable onClose) {
        InetAddress own = local == null ? address : local;
        Gid here = Gid.of(own);
        Gid there = Gid.of(host.getAddress());
        if (here.isIpv4() != there.isIpv4()) {
            throw new IllegalArgumentException(
                    "host=" + AddressText.of(host) + ": expected an address of the family of "
                            + own.getHostAddress()
                            + (local == null ? ", which is this device's (roce-address)" : ", which datagrams leave"));
        }
        RocePath path = new RocePath(here, 0, new CmPeer(there, host.getPort()), RocePath.scope(own));
        return new RoceAddressHandle(domain, here, host, path, onClose);
    }

    @Override
    public CompletableFuture<DatagramService> resolveDatagrams(InetSocketAddress service, byte[] privateData) {
        return services.resolve(service, privateData);
    }

    @Override
    public Acceptor listenForDatagrams(InetSocketAddress local, Predicate<PeerQuestion> questions) throws IOException {
        return services.listen(local, questions);
    }

    @Override
    public CmPort managerAt(InetAddress local) throws IOException {
        RocePorts first = engines.getFirst();
        return new OwnersPort(first, first.named(local), numbers);
    }

    @Override
    public CompletableFuture<Void> peersKnow() {
        return CompletableFuture.allOf(
                engines.stream().map(RocePorts::peersKnow).toArray(CompletableFuture[]::new));
    }

    @Override
    public void addTo(Map<String, Long> snapshot) {
        engines.forEach(ports -> ports.addTo(snapshot));
    }

    /** A connection that this side can begin. */
    private record Initiator(RoceConnection begun, InetSocketAddress remote) implements WireConnector {
        @Override
        public WireConnection connection() {
            return begun;
        }

        @Override
        public ConnectAttempt attempt(QueuePairEnd queuePair, ConnectionParameters parameters) {
            return new ActiveConnect(begun, queuePair, remote, parameters);
        }
    }
}
