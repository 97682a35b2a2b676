package org.softrdma.verbs;

/** Optional features of a device or of a connected queue pair. */
public enum Feature {
    /** Regions whose remote addresses start at 0 ({@link AccessFlag#ZERO_BASED}). */
    ZERO_BASED,
    /** {@link MemoryRegion#swap}. */
    REGION_SWAP,
    /** A WRITE or SEND that completes with success has reached the peer's device, which can no longer refuse it. */
    ACKNOWLEDGED_WRITES,
    /** A WRITE or SEND that the peer refuses completes with a {@code REMOTE_*} status; without this it is flushed. */
    REMOTE_STATUSES,
    /** A READ that the peer refuses completes with a {@code REMOTE_*} status; without this it is flushed. */
    REMOTE_READ_STATUSES,
    /** A SEND waits for a RECV of the peer; without this, a SEND that finds none ends the connection. */
    RECEIVER_NOT_READY,
    /** {@link PinningPolicy#LAZY}, {@link ProtectionDomain#advise} and {@link MemoryRegion#unpin}. */
    LAZY_PINNING,
    /** IPv6 addresses. */
    IPV6,
    /** {@link QueuePair#endCause} distinguishes the peer's access errors from other causes, and is known in time. */
    END_CAUSES,
    /**
     * {@link AccessFlag#POLLED}: the last word of a WRITE, or of the data of a READ, tells a thread that polls memory
     * that all of it is in place ({@link MemoryRegion#coherentUnit()}). C: {@code ibv_query_qp_data_in_order}, for
     * whole messages.
     */
    ORDERED_PLACEMENT,
    /**
     * {@link QueuePair#postCompareAndSwap} and {@link QueuePair#postFetchAndAdd} on memory with {@link
     * AccessFlag#REMOTE_ATOMIC}: atomic with every other such request that goes through the same device (C: {@code
     * IBV_ATOMIC_HCA}).
     */
    ATOMICS,
    /**
     * The device's atomics are also atomic with every other access to the whole word: by threads of this process with
     * an aligned {@link java.lang.invoke.VarHandle}, and by READs and WRITEs (C: {@code IBV_ATOMIC_GLOB}).
     */
    GLOBAL_ATOMICS,
    /** {@link QueuePair#postWriteImmediate}. */
    WRITE_IMMEDIATE,
    /** {@link QueuePair#postSendImmediate}. iWARP does not have it. */
    SEND_IMMEDIATE,
    /** {@link QueuePair#postSendInvalidate}. */
    SEND_INVALIDATE,
    /**
     * {@link ProtectionDomain#allocateWindow}: windows of type 2, which belong to the queue pair that binds them (C:
     * {@code IBV_DEVICE_MEM_WINDOW_TYPE_2B}).
     */
    MEMORY_WINDOWS,
    /** {@link ProtectionDomain#createSharedReceiveQueue}. */
    SHARED_RECEIVE_QUEUES,
    /** {@link MemoryRegion#reregister}. */
    REREGISTRATION,
    /** {@link CompletionQueue#resize}. */
    QUEUE_RESIZE,
    /** {@link org.softrdma.verbs.device.VerbsDevice#awaitEvent}. */
    ASYNC_EVENTS,
    /**
     * {@link ProtectionDomain#createQueuePair} of reliable connections, which the application connects by addresses.
     * iWARP does not have it.
     */
    CONNECTION_BY_ADDRESS,
    /** {@link QueuePairType#UNRELIABLE_CONNECTION}. */
    UNRELIABLE_CONNECTION,
    /** {@link QueuePairType#UNRELIABLE_DATAGRAM}, {@link ProtectionDomain#createAddressHandle}. */
    UNRELIABLE_DATAGRAM,
    /**
     * {@link org.softrdma.verbs.device.VerbsDevice#resolveDatagrams} and {@link
     * org.softrdma.verbs.device.VerbsDevice#listenForDatagrams}: the connection manager finds queue pairs of datagrams.
     */
    DATAGRAM_SERVICES
}
