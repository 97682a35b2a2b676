package org.softrdma.verbs;

import java.util.OptionalInt;
import java.util.Set;

/**
 * What two connected queue pairs agreed on.
 *
 * @param maxOutboundReads READs and atomics that this side may have in flight (ORD), further ones wait; empty if the
 *     provider cannot tell
 * @param maxInboundReads READs and atomics that the peer may have in flight (IRD); empty if the provider cannot tell
 * @param features optional features present on this connection
 * @param wire the protocol for people and reports, for example {@code iWARP without markers, MPA revision 2, CRC off}
 */
public record ConnectionCapabilities(
        OptionalInt maxOutboundReads, OptionalInt maxInboundReads, Set<Feature> features, String wire) {
    /** Copies the set. */
    public ConnectionCapabilities {
        features = Set.copyOf(features);
    }
}
