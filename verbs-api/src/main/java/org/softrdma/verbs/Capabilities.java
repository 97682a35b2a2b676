package org.softrdma.verbs;

import java.util.Set;

/**
 * What a device offers (C: {@code ibv_query_device}). Nothing is silently emulated and nothing silently dropped: what is
 * not named here is refused.
 *
 * <p>As on hardware each limit is the most that can be asked for, not what is set aside: sizes that need more memory than there is are
 * refused when the object is created, with {@link VerbsErrorCode#NO_RESOURCES}.
 *
 * @param provider name of the provider
 * @param transport wire protocol for people, for example {@code iWARP over TCP}
 * @param maxSendWorkRequests largest send queue
 * @param maxReceiveWorkRequests largest receive queue
 * @param maxScatterGather most scatter/gather entries of a SEND, WRITE or RECV
 * @param maxScatterGatherRead most scatter/gather entries of a READ (1 on iWARP)
 * @param maxInline most bytes of an inline SEND or WRITE
 * @param maxCompletionQueueEntries largest completion queue
 * @param maxMemoryRegions most live memory regions
 * @param maxRegionLength bytes of the largest region
 * @param maxMessageLength bytes of the longest SEND, WRITE or READ
 * @param maxOutboundReads most READs that a queue pair may have in flight (ORD)
 * @param maxInboundReads most READs that a queue pair accepts in flight (IRD)
 * @param maxPrivateData bytes of private data of a connect, accept or reject; 0 if it is not offered
 * @param completionVectors number of completion vectors, at least 1
 * @param features optional features present on every queue pair and region
 */
public record Capabilities(
        String provider,
        String transport,
        int maxSendWorkRequests,
        int maxReceiveWorkRequests,
        int maxScatterGather,
        int maxScatterGatherRead,
        int maxInline,
        int maxCompletionQueueEntries,
        int maxMemoryRegions,
        long maxRegionLength,
        long maxMessageLength,
        int maxOutboundReads,
        int maxInboundReads,
        int maxPrivateData,
        int completionVectors,
        Set<Feature> features) {
    /** Copies the set. */
    public Capabilities {
        features = Set.copyOf(features);
    }

    /**
     * True if the feature is present on every queue pair and region.
     *
     * @param feature the feature asked for
     */
    public boolean has(Feature feature) {
        return features.contains(feature);
    }
}
