package org.softrdma.fabric.fault;

/** What a node may have only so much of. */
public enum Resource {
    /** Memory regions of all devices of the node, as a limit of the RNIC ({@code max_mr} of ibv_query_device(3)). */
    MEMORY_REGIONS,
    /** Queue pairs of all devices of the node ({@code max_qp} of ibv_query_device(3)). */
    QUEUE_PAIRS,
    /**
     * Bytes that pinning locks (RLIMIT_MEMLOCK of getrlimit(2)). Devices ask for the limit when they are opened, and at
     * each lock.
     */
    LOCKED_BYTES
}
