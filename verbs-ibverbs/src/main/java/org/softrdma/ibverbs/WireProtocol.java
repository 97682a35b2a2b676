package org.softrdma.ibverbs;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.verbs.Feature;

/** The protocol of a device. */
public enum WireProtocol {
    /** InfiniBand. */
    INFINIBAND("InfiniBand"),
    /** RDMA over Converged Ethernet, including SoftRoCE. */
    ROCE("RoCE"),
    /** iWARP (RFC 5040), including SoftiWARP. */
    IWARP("iWARP");

    private final String text;

    WireProtocol(String text) {
        this.text = text;
    }

    /** Optional features of every connection with this protocol. */
    public Set<Feature> connectionFeatures() {
        return this == IWARP
                ? Set.of()
                : EnumSet.of(
                        Feature.ACKNOWLEDGED_WRITES,
                        Feature.REMOTE_STATUSES,
                        Feature.REMOTE_READ_STATUSES,
                        Feature.RECEIVER_NOT_READY);
    }

    /** Text for messages. */
    @Override
    public String toString() {
        return text;
    }
}
