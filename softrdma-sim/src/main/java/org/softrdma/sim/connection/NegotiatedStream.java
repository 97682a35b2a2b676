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
    /** The features of every connection, and so of every device. */
    public static final Set<Feature> FEATURES = Set.copyOf(EnumSet.of(
            Feature.ZERO_BASED,
            Feature.REGION_SWAP,
            Feature.REMOTE_READ_STATUSES,
            Feature.IPV6,
            Feature.END_CAUSES,
            Feature.ORDERED_PLACEMENT));

    /** The same for the application. */
    public ConnectionCapabilities capabilities() {
        return new ConnectionCapabilities(
                OptionalInt.of(ord),
                OptionalInt.of(ird),
                FEATURES,
                "iWARP without markers, MPA revision " + revision + ", CRC " + (crc ? "on" : "off")
                        + (peerToPeer ? ", peer-to-peer" : ", client-server"));
    }
}
