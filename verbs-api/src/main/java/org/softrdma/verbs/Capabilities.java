package org.softrdma.verbs;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a device offers (C: {@code ibv_query_device}). A device refuses what is not named here: it emulates nothing and
 * drops nothing in silence.
 *
 * <p>As on hardware, a limit is the most you can ask for and not what is set aside. Sizes that need more memory than
 * the machine has are refused when the object is created, with {@link VerbsErrorCode#NO_RESOURCES}.
 */
public final class Capabilities {
    private final String provider;
    private final String transport;
    private final int maxSendWorkRequests;
    private final int maxReceiveWorkRequests;
    private final int maxScatterGather;
    private final int maxScatterGatherRead;
    private final int maxInline;
    private final int maxCompletionQueueEntries;
    private final int maxMemoryRegions;
    private final long maxRegionLength;
    private final long maxMessageLength;
    private final int maxOutboundReads;
    private final int maxInboundReads;
    private final int maxPrivateData;
    private final int completionVectors;
    private final Set<Feature> features;

    private Capabilities(Builder from) {
        provider = from.provider;
        transport = from.transport;
        maxSendWorkRequests = from.maxSendWorkRequests;
        maxReceiveWorkRequests = from.maxReceiveWorkRequests;
        maxScatterGather = from.maxScatterGather;
        maxScatterGatherRead = from.maxScatterGatherRead;
        maxInline = from.maxInline;
        maxCompletionQueueEntries = from.maxCompletionQueueEntries;
        maxMemoryRegions = from.maxMemoryRegions;
        maxRegionLength = from.maxRegionLength;
        maxMessageLength = from.maxMessageLength;
        maxOutboundReads = from.maxOutboundReads;
        maxInboundReads = from.maxInboundReads;
        maxPrivateData = from.maxPrivateData;
        completionVectors = from.completionVectors;
        features = Set.copyOf(from.features);
    }

    /**
     * Capabilities of a small device, to be told what else it can: one request, entry, region and READ of each kind,
     * messages and regions of any length, no inline data, no private data, no optional features.
     *
     * @param provider see {@link #provider()}
     * @param transport see {@link #transport()}
     */
    public static Builder builder(String provider, String transport) {
        return new Builder(provider, transport);
    }

    /** A builder that starts with these. */
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
        builder.features = features;
        return builder;
    }

    /** Name of the provider. */
    public String provider() {
        return provider;
    }

    /** Wire protocol for people, for example {@code iWARP over TCP}. */
    public String transport() {
        return transport;
    }

    /** Largest send queue, in requests. */
    public int maxSendWorkRequests() {
        return maxSendWorkRequests;
    }

    /** Largest receive queue, in RECVs. */
    public int maxReceiveWorkRequests() {
        return maxReceiveWorkRequests;
    }

    /** Most scatter/gather entries of a SEND, WRITE or RECV. */
    public int maxScatterGather() {
        return maxScatterGather;
    }

    /** Most scatter/gather entries of a READ (1 on iWARP). */
    public int maxScatterGatherRead() {
        return maxScatterGatherRead;
    }

    /** Most bytes of an inline SEND or WRITE; 0 if there are none. */
    public int maxInline() {
        return maxInline;
    }

    /** Largest completion queue, in entries. */
    public int maxCompletionQueueEntries() {
        return maxCompletionQueueEntries;
    }

    /** Most memory regions that may live at once. */
    public int maxMemoryRegions() {
        return maxMemoryRegions;
    }

    /** Bytes of the largest region. */
    public long maxRegionLength() {
        return maxRegionLength;
    }

    /** Bytes of the longest SEND, WRITE or READ. */
    public long maxMessageLength() {
        return maxMessageLength;
    }

    /** Most READs that a queue pair may have in flight (ORD). */
    public int maxOutboundReads() {
        return maxOutboundReads;
    }

    /** Most READs of the peer that a queue pair accepts in flight (IRD). */
    public int maxInboundReads() {
        return maxInboundReads;
    }

    /** Bytes of private data of a connect, accept or reject; 0 if the device carries none. */
    public int maxPrivateData() {
        return maxPrivateData;
    }

    /** Number of completion vectors, at least 1. */
    public int completionVectors() {
        return completionVectors;
    }

    /** Optional features of every queue pair and region. */
    public Set<Feature> features() {
        return features;
    }

    /**
     * True if every queue pair and region has the feature.
     *
     * @param feature the feature asked for
     */
    public boolean has(Feature feature) {
        return features.contains(feature);
    }

    private List<Object> values() {
        return List.of(
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
                features);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Capabilities same && values().equals(same.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "Capabilities" + values();
    }

    /** Names the limits of a device one by one; what is not named stays as {@link Capabilities#builder} says. */
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

        /** Sets {@link Capabilities#features()}. */
        public Builder features(Set<Feature> features) {
            this.features = features;
            return this;
        }

        /** The capabilities named so far. */
        public Capabilities build() {
            return new Capabilities(this);
        }
    }
}
