package org.softrdma.ibverbs;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.verbs.Feature;

/** What a device speaks. */
public enum WireProtocol {
    /** InfiniBand. */
    INFINIBAND("InfiniBand"),
    /** RDMA over Converged Ethernet; SoftRoCE too. */
    ROCE("RoCE"),
    /** RFC 5040; SoftiWARP too. */
    IWARP("iWARP");

    private final String text;

    WireProtocol(String text) {
        this.text = text;
    }

    /** Optional features of every connection on it. */
    public Set<Feature> connectionFeatures() {
        return this == IWARP
                ? Set.of()
                : EnumSet.of(
                        Feature.ACKNOWLEDGED_WRITES,
                        Feature.REMOTE_STATUSES,
                        Feature.REMOTE_READ_STATUSES,
                        Feature.RECEIVER_NOT_READY);
    }

    /** For people. */
    @Override
    public String toString() {
        return text;
    }
}
