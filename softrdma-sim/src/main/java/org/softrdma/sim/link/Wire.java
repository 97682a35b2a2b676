package org.softrdma.sim.link;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.transport.Acceptor;
import org.softrdma.verbs.Feature;

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

    /** Adds its counters to a snapshot, by name. */
    void addTo(Map<String, Long> snapshot);
}
