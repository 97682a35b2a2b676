package org.softrdma.sim.connection;

import java.util.EnumSet;
import java.util.OptionalInt;
import java.util.Set;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.Feature;

/**
 * What the handshake has agreed on.
 *
 * @param crc CRC32C is in use
 * @param revision MPA revision
 * @param peerToPeer the active side sends a ready-to-receive message first, then either side may speak
 * @param ord READs that this side may have in flight
 * @param ird READs that the peer may have in flight
 */
public record NegotiatedStream(boolean crc, int revision, boolean peerToPeer, int ord, int ird) {
    /** The features of every connection, but for those of RFC 7306. */
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

    /**
     * The features of every connection, and so of the device.
     *
     * @param rfc7306 this side speaks RFC 7306; whether the peer does, no handshake tells
     */
    public static Set<Feature> features(boolean rfc7306) {
        Set<Feature> features = EnumSet.copyOf(FEATURES);
        if (rfc7306) {
            features.addAll(OF_RFC_7306);
        }
        return features;
    }

    /**
     * The same for the application.
     *
     * @param rfc7306 this side speaks RFC 7306
     */
    public ConnectionCapabilities capabilities(boolean rfc7306) {
        return new ConnectionCapabilities(
                OptionalInt.of(ord),
                OptionalInt.of(ird),
                features(rfc7306),
                "iWARP without markers, MPA revision " + revision + ", CRC " + (crc ? "on" : "off")
                        + (peerToPeer ? ", peer-to-peer" : ", client-server"));
    }
}
