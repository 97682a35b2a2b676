package org.softrdma.verbs;

import java.util.Set;

/**
 * What a device supports (C: {@code ibv_query_device}). A device refuses everything else: it emulates nothing and
 * silently ignores nothing. Providers create it with {@link #builder}.
 *
 * <p>As on hardware, a limit is the most that you can request; it is not reserved. Sizes that need more memory than
 * the machine has are refused when the object is created, with {@link VerbsErrorCode#NO_RESOURCES}.
 *
 * @param provider name of the provider
 * @param transport wire protocol for people, for example {@code iWARP over TCP}
 * @param maxSendWorkRequests largest send queue, in requests
 * @param maxReceiveWorkRequests largest receive queue, in RECVs
 * @param maxScatterGather most scatter/gather entries of a SEND, WRITE or RECV
 * @param maxScatterGatherRead most scatter/gather entries of a READ (1 on iWARP)
 * @param maxInline most bytes of an inline SEND or WRITE of any kind; 0 if the device supports none
 * @param maxCompletionQueueEntries largest completion queue, in entries
 * @param maxMemoryRegions most memory regions that may live at once
 * @param maxRegionLength bytes of the largest region
 * @param maxMessageLength bytes of the longest SEND, WRITE or READ
 * @param maxOutboundReads most READs and atomics that a queue pair may have in flight (ORD)
 * @param maxInboundReads most READs and atomics of the peer that a queue pair accepts in flight (IRD)
 * @param maxPrivateData bytes of private data of a connect, accept or reject; 0 if the device supports none
 * @param completionVectors number of completion vectors, at least 1
 * @param maxSharedReceiveWorkRequests largest shared receive queue, in RECVs; 0 if the device has none
 * @param maxMemoryWindows most memory windows that may live at once; 0 if the device has none
 * @param maxAddressHandles most address handles that may live at once; 0 if the device has none
 * @param maxTransferUnit bytes of payload of its largest packet, and so of its longest datagram (C: {@code
 *     active_mtu}); 0 if it has no queue pairs but those of the connection manager
 * @param features optional features of every queue pair and region
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
        int maxSharedReceiveWorkRequests,
        int maxMemoryWindows,
        int maxAddressHandles,
        int maxTransferUnit,
        Set<Feature> features) {
    /** Copies the set. */
    public Capabilities {
        features = Set.copyOf(features);
    }

    /**
     * Starts from the capabilities of a small device: one request, entry, region and READ of each kind, messages and
     * regions of any length, no inline data, no private data, no optional features.
     *
     * @param provider name of the provider
     * @param transport wire protocol for people
     */
    public static Builder builder(String provider, String transport) {
        return new Builder(provider, transport);
    }

    /** A builder that starts with these capabilities. */
    public Builder toBuilder() {
        Builder builder = new Builder(provider, transport);
        builder.maxSendWorkRequests = maxSendWorkRequests;
        builder.maxReceiveWorkRequests = maxReceiveWorkRequests;
        builder.maxScatterGather = maxScatterGather;
        builder.maxScatterGatherRead = maxScatterGatherRead;
        builder.maxInline = maxInline;
        builder.maxCompletionQueueEntries = maxCompletionQueueEntries;
        builder.maxMemoryRegions = maxMemoryRegions;
        builder.maxRegionLength = maxRegionLength;
        builder.maxMessageLength = maxMessageLength;
        builder.maxOutboundReads = maxOutboundReads;
        builder.maxInboundReads = maxInboundReads;
        builder.maxPrivateData = maxPrivateData;
        builder.completionVectors = completionVectors;
        builder.maxSharedReceiveWorkRequests = maxSharedReceiveWorkRequests;
        builder.maxMemoryWindows = maxMemoryWindows;
        builder.maxAddressHandles = maxAddressHandles;
        builder.maxTransferUnit = maxTransferUnit;
        builder.features = features;
        return builder;
    }

    /**
     * True if every queue pair and region has the feature.
     *
     * @param feature the feature asked for
     */
    public boolean has(Feature feature) {
        return features.contains(feature);
    }

    /** Sets the limits of a device one by one; the others stay as {@link Capabilities#builder} says. */
    public static final class Builder {
        private final String provider;
        private final String transport;
        private int maxSendWorkRequests = 1;
        private int maxReceiveWorkRequests = 1;
        private int maxScatterGather = 1;
        private int maxScatterGatherRead = 1;
        private int maxInline;
        private int maxCompletionQueueEntries = 1;
        private int maxMemoryRegions = 1;
        private long maxRegionLength = Long.MAX_VALUE;
        private long maxMessageLength = Long.MAX_VALUE;
        private int maxOutboundReads = 1;
        private int maxInboundReads = 1;
        private int maxPrivateData;
        private int completionVectors = 1;
        private int maxSharedReceiveWorkRequests;
        private int maxMemoryWindows;
        private int maxAddressHandles;
        private int maxTransferUnit;
        private Set<Feature> features = Set.of();

        private Builder(String provider, String transport) {
            this.provider = provider;
            this.transport = transport;
        }

        /** Sets {@link Capabilities#maxSendWorkRequests()}. */
        public Builder maxSendWorkRequests(int maxSendWorkRequests) {
            this.maxSendWorkRequests = maxSendWorkRequests;
            return this;
        }

        /** Sets {@link Capabilities#maxReceiveWorkRequests()}. */
        public Builder maxReceiveWorkRequests(int maxReceiveWorkRequests) {
            this.maxReceiveWorkRequests = maxReceiveWorkRequests;
            return this;
        }

        /** Sets {@link Capabilities#maxScatterGather()}. */
        public Builder maxScatterGather(int maxScatterGather) {
            this.maxScatterGather = maxScatterGather;
            return this;
        }

        /** Sets {@link Capabilities#maxScatterGatherRead()}. */
        public Builder maxScatterGatherRead(int maxScatterGatherRead) {
            this.maxScatterGatherRead = maxScatterGatherRead;
            return this;
        }

        /** Sets {@link Capabilities#maxInline()}. */
        public Builder maxInline(int maxInline) {
            this.maxInline = maxInline;
            return this;
        }

        /** Sets {@link Capabilities#maxCompletionQueueEntries()}. */
        public Builder maxCompletionQueueEntries(int maxCompletionQueueEntries) {
            this.maxCompletionQueueEntries = maxCompletionQueueEntries;
            return this;
        }

        /** Sets {@link Capabilities#maxMemoryRegions()}. */
        public Builder maxMemoryRegions(int maxMemoryRegions) {
            this.maxMemoryRegions = maxMemoryRegions;
            return this;
        }

        /** Sets {@link Capabilities#maxRegionLength()}. */
        public Builder maxRegionLength(long maxRegionLength) {
            this.maxRegionLength = maxRegionLength;
            return this;
        }

        /** Sets {@link Capabilities#maxMessageLength()}. */
        public Builder maxMessageLength(long maxMessageLength) {
            this.maxMessageLength = maxMessageLength;
            return this;
        }

        /** Sets {@link Capabilities#maxOutboundReads()}. */
        public Builder maxOutboundReads(int maxOutboundReads) {
            this.maxOutboundReads = maxOutboundReads;
            return this;
        }

        /** Sets {@link Capabilities#maxInboundReads()}. */
        public Builder maxInboundReads(int maxInboundReads) {
            this.maxInboundReads = maxInboundReads;
            return this;
        }

        /** Sets {@link Capabilities#maxPrivateData()}. */
        public Builder maxPrivateData(int maxPrivateData) {
            this.maxPrivateData = maxPrivateData;
            return this;
        }

        /** Sets {@link Capabilities#completionVectors()}. */
        public Builder completionVectors(int completionVectors) {
            this.completionVectors = completionVectors;
            return this;
        }

        /** Sets {@link Capabilities#maxSharedReceiveWorkRequests()}. */
        public Builder maxSharedReceiveWorkRequests(int maxSharedReceiveWorkRequests) {
            this.maxSharedReceiveWorkRequests = maxSharedReceiveWorkRequests;
            return this;
        }

        /** Sets {@link Capabilities#maxMemoryWindows()}. */
        public Builder maxMemoryWindows(int maxMemoryWindows) {
            this.maxMemoryWindows = maxMemoryWindows;
            return this;
        }

        /** Sets {@link Capabilities#maxAddressHandles()}. */
        public Builder maxAddressHandles(int maxAddressHandles) {
            this.maxAddressHandles = maxAddressHandles;
            return this;
        }

        /** Sets {@link Capabilities#maxTransferUnit()}. */
        public Builder maxTransferUnit(int maxTransferUnit) {
            this.maxTransferUnit = maxTransferUnit;
            return this;
        }

        /** Sets {@link Capabilities#features()}. */
        public Builder features(Set<Feature> features) {
            this.features = features;
            return this;
        }

        /** The capabilities as set so far. */
        public Capabilities build() {
            return new Capabilities(
                    provider,
                    transport,
                    maxSendWorkRequests,
                    maxReceiveWorkRequests,
                    maxScatterGather,
                    maxScatterGatherRead,
                    maxInline,
                    maxCompletionQueueEntries,
                    maxMemoryRegions,
                    maxRegionLength,
                    maxMessageLength,
                    maxOutboundReads,
                    maxInboundReads,
                    maxPrivateData,
                    completionVectors,
                    maxSharedReceiveWorkRequests,
                    maxMemoryWindows,
                    maxAddressHandles,
                    maxTransferUnit,
                    features);
        }
    }
}
