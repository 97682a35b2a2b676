package org.softrdma.sim.link;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.cm.DatagramService;

/**
 * A protocol that carries the requests of a device's queue pairs: iWARP over TCP, for one. The device owns the verbs
 * objects; its wire makes their connections and says what they can do.
 *
 * <p>Any thread, unless a method says otherwise.
 */
public interface Wire {
    /** Makes the wire of a device. */
    interface Factory {
        /**
         * Makes it, when the device opens.
         *
         * @param engines of the device, without connections
         * @param random source of what peers must not be able to guess
         * @param numbers of the device's queue pairs
         */
        Wire open(List<RnicEngine> engines, RandomGenerator random, QueuePairNumbers numbers);

        /**
         * Names of the classes below {@code org.softrdma.} that have a static initialiser and are first used by a
         * connection.
         */
        List<String> initialised();
    }

    /** What it is, for people. */
    String description();

    /** The features of all its connections. */
    Set<Feature> features();

    /** Most READs and atomics of a connection in flight, either way. */
    int maxReads();

    /** Most local entries of a request. */
    default int maxScatterGather() {
        return 16;
    }

    /** Most local entries of a READ. */
    default int maxScatterGatherRead() {
        return 1;
    }

    /** True if it copies all payload, so that regions may be memory of another process. */
    default boolean takesForeignMemory() {
        return false;
    }

    /** Most bytes of private data. */
    int maxPrivateData();

    /**
     * A connection to a peer, on the engine whose turn it is; not begun yet.
     *
     * @param remote the peer
     */
    WireConnector connector(InetSocketAddress remote);

    /**
     * Listens. On the thread of the first engine.
     *
     * @param local address, and port or 0
     * @param backlog requests that the application lets wait
     * @param requests gets the requests of peers, on the thread of an engine
     * @throws IOException if the address or port cannot be had
     */
    Acceptor listen(InetSocketAddress local, int backlog, Consumer<PeerRequest> requests) throws IOException;

    /**
     * Bytes of payload in its largest packet, and so in its longest datagram; 0 if it has no queue pairs but those of
     * connections.
     */
    default int maxTransferUnit() {
        return 0;
    }

    /**
     * For a queue pair without a connection manager. Only if it has the type's feature.
     *
     * @param type of the queue pair
     * @param queueKey that datagrams must carry to be taken
     */
    default AddressedEnd addressed(QueuePairType type, int queueKey) {
        throw new IllegalStateException(description() + " has no queue pairs of type " + type);
    }

    /**
     * A way to a host, for datagrams. Only if it has them.
     *
     * @param domain of the handle
     * @param local address of this host that datagrams leave; null for that of the device
     * @param host address and UDP port
     * @param onClose runs once when it is closed
     * @throws IllegalArgumentException if the address is of another family than the one that they leave
     */
    default AddressHandle addressHandle(
            ProtectionDomain domain, @Nullable InetAddress local, InetSocketAddress host, Runnable onClose) {
        throw new IllegalStateException(description() + " has no datagrams");
    }

    /**
     * Asks where the datagrams of a service go. Only if it has such services. The result is a {@link
     * org.softrdma.verbs.VerbsException} if it is not found.
     *
     * @param service a resolved address and a port
     * @param privateData sent with the question
     */
    default CompletableFuture<DatagramService> resolveDatagrams(InetSocketAddress service, byte[] privateData) {
        throw new IllegalStateException(description() + " has no services of datagrams");
    }

    /**
     * Hears peers that ask where the datagrams of a service go. Only if it has such services. On the thread of the first
     * engine.
     *
     * @param local address, and port or 0
     * @param questions gets the questions of peers, on that thread; one that it does not take was never heard
     * @throws IOException if the address or port cannot be had
     */
    default Acceptor listenForDatagrams(InetSocketAddress local, Predicate<PeerQuestion> questions) throws IOException {
        throw new IllegalStateException(description() + " has no services of datagrams");
    }

    /**
     * The connection manager at an address of this host, for queue pairs that their owner takes from state to state. Only if
     * it has one. On the thread of the first engine.
     *
     * @throws IOException if there is no UDP port to be had
     */
    default CmPort managerAt(InetAddress local) throws IOException {
        throw new IllegalStateException(description() + " has no connection manager of its own");
    }

    /**
     * Done once every peer knows of the end of its connection, or was told often enough. A wire whose sockets tell them
     * has nothing to wait for.
     */
    default CompletableFuture<Void> peersKnow() {
        return CompletableFuture.completedFuture(null);
    }

    /** Adds its counters to a snapshot, by name. */
    void addTo(Map<String, Long> snapshot);
}
