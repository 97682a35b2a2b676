package org.softrdma.sim.connection;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.sim.carrier.StreamBuffers;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.ConnectAttempt;
import org.softrdma.sim.link.PeerRequest;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.link.Wire;
import org.softrdma.sim.link.WireConnection;
import org.softrdma.sim.link.WireConnector;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.cm.ConnectionParameters;

/** iWARP over TCP: each connection is one TCP connection on one of the engines, which take turns. */
final class IwarpWire implements Wire {
    /** IRD and ORD have 14 bits, and all ones means "not negotiated" (RFC 6581 section 9.1). */
    private static final int MAX_READS = 4096;

    private static final Set<Feature> FEATURES = Set.copyOf(EnumSet.of(
            Feature.ZERO_BASED,
            Feature.REGION_SWAP,
            Feature.REMOTE_READ_STATUSES,
            Feature.IPV6,
            Feature.END_CAUSES,
            Feature.ORDERED_PLACEMENT,
            Feature.SEND_INVALIDATE,
            Feature.MEMORY_WINDOWS,
            Feature.SHARED_RECEIVE_QUEUES,
            Feature.REREGISTRATION,
            Feature.QUEUE_RESIZE,
            Feature.ASYNC_EVENTS));

    private static final Set<Feature> OF_RFC_7306 =
            Set.copyOf(EnumSet.of(Feature.ATOMICS, Feature.GLOBAL_ATOMICS, Feature.WRITE_IMMEDIATE));

    private final IwarpSettings settings;
    private final List<RnicEngine> engines;
    /** The buffers of each engine, in the same order. */
    private final List<StreamBuffers> buffers;

    private final AtomicInteger nextEngine = new AtomicInteger();

    IwarpWire(IwarpSettings settings, List<RnicEngine> engines) {
        this.settings = settings;
        this.engines = List.copyOf(engines);
        buffers = this.engines.stream().map(this::buffers).toList();
    }

    private StreamBuffers buffers(RnicEngine engine) {
        StreamBuffers own = new StreamBuffers(engine.memory(), settings.receiveBuffer());
        engine.gathers(own);
        return own;
    }

    @Override
    public String description() {
        return "iWARP over TCP, without markers";
    }

    /** Whether a peer speaks RFC 7306, too, no handshake tells. */
    @Override
    public Set<Feature> features() {
        Set<Feature> features = EnumSet.copyOf(FEATURES);
        if (settings.rfc7306()) {
            features.addAll(OF_RFC_7306);
        }
        return features;
    }

    @Override
    public int maxReads() {
        return MAX_READS;
    }

    @Override
    public int maxPrivateData() {
        return MpaFrame.MAX_PRIVATE_DATA;
    }

    /** A connection on the engine whose turn it is. */
    private Connection newConnection() {
        int turn = Math.floorMod(nextEngine.getAndIncrement(), engines.size());
        return new Connection(engines.get(turn), buffers.get(turn), settings);
    }

    @Override
    public WireConnector connector(InetSocketAddress remote) {
        return new Initiator(newConnection(), remote);
    }

    @Override
    public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PeerRequest> requests) throws IOException {
        return new IwarpListener(this::newConnection, engines.getFirst(), requests).open(local, backlog);
    }

    @Override
    public void addTo(Map<String, Long> snapshot) {
        buffers.forEach(own -> own.segments().addTo(snapshot));
    }

    /** A connection that this side can begin. */
    private record Initiator(Connection begun, InetSocketAddress remote) implements WireConnector {
        @Override
        public WireConnection connection() {
            return begun;
        }

        @Override
        public ConnectAttempt attempt(QueuePairEnd queuePair, ConnectionParameters parameters) {
            return new ActiveHandshake(begun, queuePair, remote, parameters);
        }
    }
}
