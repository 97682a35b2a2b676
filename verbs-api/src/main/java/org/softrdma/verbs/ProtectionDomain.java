package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Set;

/**
 * Memory regions and queue pairs that may be used together (C: {@code ibv_pd}). A key of one domain, lkey or rkey, is
 * invalid on a queue pair of another.
 */
public interface ProtectionDomain extends AutoCloseable {
    /**
     * Registers memory (C: {@code ibv_reg_mr}). Its pages are locked by the device's default policy ({@link
     * org.softrdma.verbs.device.VerbsDevice#pinning}).
     *
     * <p>The device reads and writes by raw address. Memory of {@link
     * org.softrdma.verbs.device.VerbsDevice#allocateMemory}, of any device, is always safe. The garbage collector does
     * not free other native memory while it is registered, even if you drop the region without closing it. But you
     * must keep its arena open until you close the region: the region cannot keep your arena open.
     *
     * <p>Registrations may overlap. Each has its own keys and rights.
     *
     * @param memory native memory, at least 1 byte
     * @param access rights and intents
     * @throws IllegalArgumentException for heap memory, for length 0, for REMOTE_WRITE or REMOTE_ATOMIC without
     *     LOCAL_WRITE, for POLLED with neither LOCAL_WRITE nor REMOTE_READ, and for more than {@link
     *     Capabilities#maxRegionLength()} bytes
     * @throws VerbsException {@link VerbsErrorCode#NO_RESOURCES} (the message names the limit, the need and the
     *     remedy), {@link VerbsErrorCode#NOT_SUPPORTED} if the device lacks the feature that a flag needs
     * @throws IllegalStateException if the domain is closed, or the memory has been freed
     */
    MemoryRegion register(MemorySegment memory, Set<AccessFlag> access);

    /**
     * Registers memory as {@link #register(MemorySegment, Set)} does, and says when its pages are locked. A device
     * without {@link Feature#LAZY_PINNING} locks them at registration, as its driver does, and refuses LAZY and OFF.
     *
     * @param memory native memory, at least 1 byte
     * @param access rights and intents
     * @param pinning when the pages are locked
     * @throws VerbsException as there; {@link VerbsErrorCode#NOT_SUPPORTED} also if the device does not have this
     *     policy
     */
    default MemoryRegion register(MemorySegment memory, Set<AccessFlag> access, PinningPolicy pinning) {
        if (pinning == PinningPolicy.LAZY || pinning == PinningPolicy.OFF) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "pinning " + pinning + ": this device pins at registration, use AUTO");
        }
        return register(memory, access);
    }

    /**
     * Announces that part of a lazily pinned region will be used soon (C: {@code ibv_advise_mr}). Best effort: what
     * exceeds the budget is not pinned, and what is pinned may be evicted again.
     *
     * @param advice what to do
     * @param wait true to return when it is done (C: {@code IBV_ADVISE_MR_FLAG_FLUSH}); false to do it later, or never
     * @param address first address, as scatter/gather entries name it
     * @param length bytes, at least 1
     * @param lkey key of a region of this domain
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without {@link Feature#LAZY_PINNING}; {@link
     *     VerbsErrorCode#BAD_RANGE} if the range leaves the region; {@link VerbsErrorCode#INVALID} if the region is
     *     not pinned lazily; {@link VerbsErrorCode#NOT_FOUND} if no region has the key; {@link
     *     VerbsErrorCode#NOT_PERMITTED} if the region belongs to another domain, or if the device may not write it
     *     ({@link Advice#PREFETCH_WRITE})
     */
    default void advise(Advice advice, boolean wait, long address, long length, int lkey) {
        throw new VerbsException(VerbsErrorCode.NOT_SUPPORTED, "advise: this device pins at registration");
    }

    /**
     * Creates a queue of RECVs for several queue pairs (C: {@code ibv_create_srq}). Needs {@link
     * Feature#SHARED_RECEIVE_QUEUES}.
     *
     * @param maxWorkRequests RECVs that it must hold, 1 to {@link Capabilities#maxSharedReceiveWorkRequests()}
     * @param maxScatterGather entries of a RECV, 1 to {@link Capabilities#maxScatterGather()}
     * @throws IllegalArgumentException if one is out of range
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature; {@link
     *     VerbsErrorCode#NO_RESOURCES}
     * @throws IllegalStateException if the domain is closed
     */
    default SharedReceiveQueue createSharedReceiveQueue(int maxWorkRequests, int maxScatterGather) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "createSharedReceiveQueue: this device has no " + Feature.SHARED_RECEIVE_QUEUES);
    }

    /**
     * Creates a queue pair without a connection manager (C: {@code ibv_create_qp}, {@code ibv_modify_qp} to {@code
     * IBV_QPS_INIT}). Needs the {@link QueuePairType#feature()} of its type.
     *
     * @param attributes its type, completion queues and sizes
     * @return in state INITIAL, to be connected by addresses; one of datagrams in READY_TO_SEND
     * @throws IllegalArgumentException if a size is over a limit; the message names both
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature; {@link
     *     VerbsErrorCode#NO_RESOURCES}; {@link VerbsErrorCode#ADDRESS_NOT_AVAILABLE} if the device has no IP address
     * @throws IllegalStateException if the domain is closed
     */
    default UnconnectedQueuePair createQueuePair(QueuePairAttributes attributes) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "createQueuePair of a domain: this device has no "
                        + attributes.type().feature() + "; it makes reliable connections by its connection manager");
    }

    /**
     * Creates a way to a host, for datagrams (C: {@code ibv_create_ah}). It may ask the network for that host, and block
     * for a second. Needs {@link Feature#UNRELIABLE_DATAGRAM}.
     *
     * @param host address and UDP port of the peers' device, as {@link QueuePairAddress#host()}
     * @throws IllegalArgumentException if the address is of another family than that of this device
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature, and for a port that the device
     *     cannot reach; {@link VerbsErrorCode#UNREACHABLE} of a host that cannot be found; {@link
     *     VerbsErrorCode#NO_RESOURCES}
     * @throws IllegalStateException if the domain is closed
     */
    default AddressHandle createAddressHandle(InetSocketAddress host) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED, "createAddressHandle: this device has no " + Feature.UNRELIABLE_DATAGRAM);
    }

    /**
     * Allocates a window that is not bound (C: {@code ibv_alloc_mw}, type 2). Needs {@link Feature#MEMORY_WINDOWS}.
     *
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature; {@link
     *     VerbsErrorCode#NO_RESOURCES}
     * @throws IllegalStateException if the domain is closed
     */
    default MemoryWindow allocateWindow() {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED, "allocateWindow: this device has no " + Feature.MEMORY_WINDOWS);
    }

    /**
     * Closes the domain. Refused with {@link VerbsErrorCode#BUSY} while regions, windows, queue pairs, address handles
     * or shared receive queues live. Idempotent.
     */
    @Override
    void close();
}
