package org.softrdma.sim.device;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;

/**
 * A device that the soft RNIC can be confined to: it has what both have, and the smaller of their limits. So a program
 * is refused here what it would be refused there, by the same code. What that device does better, such as acknowledged
 * WRITEs, does not come with it, nor do its bugs.
 *
 * <p>The data are those of the conformance runs in the guest (docs/reference/conformance.md). DiSNI's depend on the device below
 * it; these are the smaller ones of SoftRoCE and SoftiWARP.
 */
@SuppressWarnings("ImmutableEnumChecker") // a record of numbers, and a set that nobody changes
public enum DeviceProfile {
    /** The soft RNIC as it is. */
    NONE(Limits.ofOwn(), EnumSet.allOf(Feature.class)),

    /** The kernel's SoftiWARP, by rdmacore. */
    SIW(
            new Limits(32_768, 6, 1, 80, 3_276_800, 1_024_000, Long.MAX_VALUE, 4_294_967_295L, 128, 56),
            EnumSet.of(Feature.IPV6, Feature.SHARED_RECEIVE_QUEUES, Feature.ASYNC_EVENTS)),

    /** The kernel's SoftRoCE, by rdmacore. */
    RXE(
            new Limits(1_048_576, 32, 32, 512, 32_767, 524_287, Long.MAX_VALUE, 8_388_608, 128, 56),
            EnumSet.of(
                    Feature.ACKNOWLEDGED_WRITES,
                    Feature.REMOTE_STATUSES,
                    Feature.REMOTE_READ_STATUSES,
                    Feature.RECEIVER_NOT_READY,
                    Feature.IPV6,
                    Feature.ZERO_BASED,
                    Feature.ATOMICS,
                    Feature.WRITE_IMMEDIATE,
                    Feature.SEND_IMMEDIATE,
                    Feature.SEND_INVALIDATE,
                    Feature.MEMORY_WINDOWS,
                    Feature.SHARED_RECEIVE_QUEUES,
                    Feature.QUEUE_RESIZE,
                    Feature.ASYNC_EVENTS)),

    /** DiSNI over either of them, whose statuses are those of the device below it. */
    DISNI(
            new Limits(32_767, 4, 1, 80, 32_767, 65_536, Integer.MAX_VALUE, 8_388_608, 16, 0),
            EnumSet.of(
                    Feature.ACKNOWLEDGED_WRITES,
                    Feature.REMOTE_STATUSES,
                    Feature.REMOTE_READ_STATUSES,
                    Feature.RECEIVER_NOT_READY));

    @SuppressWarnings("ImmutableEnumChecker") // a record of numbers
    private final Limits limits;

    @SuppressWarnings("ImmutableEnumChecker") // nobody writes it
    private final Set<Feature> features;

    DeviceProfile(Limits limits, Set<Feature> features) {
        this.limits = limits;
        this.features = Set.copyOf(features);
    }

    /**
     * Limits of a device, as {@link Capabilities} names them.
     *
     * @param workRequests of either queue
     * @param scatterGather entries of a SEND, WRITE or RECV
     * @param scatterGatherRead entries of a READ
     * @param inline bytes
     * @param completions entries of a completion queue
     * @param regions that live at once
     * @param regionLength bytes
     * @param messageLength bytes
     * @param reads in flight, either way
     * @param privateData bytes
     */
    public record Limits(
            int workRequests,
            int scatterGather,
            int scatterGatherRead,
            int inline,
            int completions,
            int regions,
            long regionLength,
            long messageLength,
            int reads,
            int privateData) {
        private static Limits ofOwn() {
            int most = Integer.MAX_VALUE;
            return new Limits(most, most, most, most, most, most, Long.MAX_VALUE, Long.MAX_VALUE, most, most);
        }
    }

    /** The limits of the device. */
    public Limits limits() {
        return limits;
    }

    /** The features of the device. */
    public Set<Feature> features() {
        return features;
    }

    /** True if the device has a feature. */
    public boolean has(Feature feature) {
        return features.contains(feature);
    }

    /** What the soft RNIC offers within this profile. */
    Capabilities within(Capabilities own) {
        EnumSet<Feature> both = EnumSet.noneOf(Feature.class);
        both.addAll(features);
        both.retainAll(own.features());
        if (this == DISNI && !own.has(Feature.REMOTE_STATUSES)) {
            both.remove(Feature.REMOTE_READ_STATUSES); // over SoftiWARP
        }
        return own.toBuilder()
                .maxSendWorkRequests(Math.min(own.maxSendWorkRequests(), limits.workRequests))
                .maxReceiveWorkRequests(Math.min(own.maxReceiveWorkRequests(), limits.workRequests))
                .maxScatterGather(Math.min(own.maxScatterGather(), limits.scatterGather))
                .maxScatterGatherRead(Math.min(own.maxScatterGatherRead(), limits.scatterGatherRead))
                .maxInline(Math.min(own.maxInline(), limits.inline))
                .maxCompletionQueueEntries(Math.min(own.maxCompletionQueueEntries(), limits.completions))
                .maxMemoryRegions(Math.min(own.maxMemoryRegions(), limits.regions))
                .maxRegionLength(Math.min(own.maxRegionLength(), limits.regionLength))
                .maxMessageLength(Math.min(own.maxMessageLength(), limits.messageLength))
                .maxOutboundReads(Math.min(own.maxOutboundReads(), limits.reads))
                .maxInboundReads(Math.min(own.maxInboundReads(), limits.reads))
                .maxPrivateData(Math.min(own.maxPrivateData(), limits.privateData))
                .maxSharedReceiveWorkRequests(
                        both.contains(Feature.SHARED_RECEIVE_QUEUES) ? own.maxSharedReceiveWorkRequests() : 0)
                .maxMemoryWindows(both.contains(Feature.MEMORY_WINDOWS) ? own.maxMemoryWindows() : 0)
                .maxAddressHandles(both.contains(Feature.UNRELIABLE_DATAGRAM) ? own.maxAddressHandles() : 0)
                .maxTransferUnit(both.contains(Feature.CONNECTION_BY_ADDRESS) ? own.maxTransferUnit() : 0)
                .features(both)
                .build();
    }

    /** The value of the option. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
