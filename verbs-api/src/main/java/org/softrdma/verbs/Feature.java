package org.softrdma.verbs;

/** Optional features of a device or of a connected queue pair. */
public enum Feature {
    /** Regions whose remote addresses start at 0 ({@link AccessFlag#ZERO_BASED}). */
    ZERO_BASED,
    /** {@link MemoryRegion#swap}. */
    REGION_SWAP,
    /** A successful WRITE or SEND completion means that the peer's device has the data and can no longer refuse it. */
    ACKNOWLEDGED_WRITES,
    /** {@code REMOTE_*} statuses reach the failing WRITE or SEND; without it the queue pair is flushed instead. */
    REMOTE_STATUSES,
    /** A {@code REMOTE_*} status reaches the failing READ; without it the READ is flushed. */
    REMOTE_READ_STATUSES,
    /** A SEND waits for a RECV (receiver not ready); without it a SEND that finds none ends the connection. */
    RECEIVER_NOT_READY,
    /** {@link PinningPolicy#LAZY}, {@link ProtectionDomain#advise} and {@link MemoryRegion#unpin}. */
    LAZY_PINNING,
    /** IPv6 addresses. */
    IPV6,
    /** {@link QueuePair#endCause} tells every wrong access of the peer from other ends, and in time. */
    END_CAUSES
}
