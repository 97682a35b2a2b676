package org.softrdma.verbs;

import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * A send queue and a receive queue (C: {@code ibv_qp}): one end of a connection, or the source and sink of datagrams.
 * A {@link org.softrdma.verbs.cm.Connector} or a {@link org.softrdma.verbs.cm.ConnectionRequest} creates one end of a
 * reliable connection, {@link ProtectionDomain#createQueuePair} also the other {@linkplain QueuePairType types}. What
 * follows is said of reliable connections; the types say what differs.
 *
 * <p>Any thread may post, except in manual progress. Posting allocates nothing and does not block, although it may
 * wait for another thread's short critical section. Requests that one thread posts run in that order. You can post
 * RECVs as soon as the queue pair exists, and everything else once it is connected. In {@link QueuePairState#ERROR}
 * posting still succeeds, and the requests complete with {@link CompletionStatus#FLUSHED}.
 *
 * <p>A buffer belongs to the device until its request completes. Keys and ranges are checked when the request runs,
 * not when it is posted, and the first request that fails takes the queue pair to ERROR. With several local entries, a
 * READ scatters into them and a WRITE or SEND gathers from them, in their order. A request of 0 bytes succeeds
 * whatever its keys are.
 *
 * <p>Every post method throws {@link IllegalArgumentException} for what can never be posted: too many entries or
 * inline bytes, unknown flags, INLINE or SOLICITED on the wrong kind of request, FENCE on an unreliable type, inline
 * bytes outside of their region, a request that the type does not take, a datagram without an address handle or longer
 * than {@link Capabilities#maxTransferUnit()}.
 * It throws {@link IllegalStateException} before the connection exists, after {@link #close()}, for a READ or an atomic
 * on a connection that allows none in flight, and for a RECV on a queue pair that takes its RECVs from a {@link
 * SharedReceiveQueue}. It throws {@link VerbsException} with {@link VerbsErrorCode#NOT_SUPPORTED} for a request whose
 * {@link SendOpcode#feature()} the device lacks. When a method throws, it has posted nothing; only a list may have been
 * accepted in part.
 */
public interface QueuePair extends AutoCloseable {
    /** Its number, unique among the live queue pairs of the device. */
    int number();

    /**
     * The state as far as the provider knows. It changes on a failed completion, on a connection event, and on this
     * side's own disconnect; the provider may notice late that a peer has vanished.
     */
    QueuePairState state();

    /** What it promises, and what it can do. */
    default QueuePairType type() {
        return QueuePairType.RELIABLE_CONNECTION;
    }

    /** The domain it belongs to. */
    ProtectionDomain protectionDomain();

    /** The sizes in force, at least those asked for. */
    QueuePairLimits limits();

    /**
     * What the two ends agreed on; of datagrams, what holds for all of them.
     *
     * @throws IllegalStateException if it was never connected
     */
    ConnectionCapabilities connectionCapabilities();

    /**
     * Posts a READ of the peer's memory into one local buffer (C: {@code IBV_WR_RDMA_READ}).
     *
     * @param wrId a number of yours, returned with the completion
     * @param local region with LOCAL_WRITE (intent READ_SINK)
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length bytes to read
     * @param remoteAddress first address at the peer
     * @param rkey the peer's key
     * @param flags {@link SendFlags}
     */
    PostStatus postRead(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags);

    /**
     * Posts a WRITE of one local buffer into the peer's memory (C: {@code IBV_WR_RDMA_WRITE}).
     *
     * @param wrId a number of yours, returned with the completion
     * @param local any region
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length bytes to write
     * @param remoteAddress first address at the peer
     * @param rkey the peer's key
     * @param flags {@link SendFlags}
     */
    PostStatus postWrite(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags);

    /**
     * Posts a SEND of one local buffer (C: {@code IBV_WR_SEND}).
     *
     * @param wrId a number of yours, returned with the completion
     * @param local any region
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length bytes to send
     * @param flags {@link SendFlags}
     */
    PostStatus postSend(long wrId, MemoryRegion local, long offset, long length, int flags);

    /**
     * Posts a compare-and-swap: if the word at the peer is {@code expected}, it becomes {@code replacement}. In either
     * case its previous value goes to the local buffer, in the byte order of this machine (C: {@code
     * IBV_WR_ATOMIC_CMP_AND_SWP}). Atomics of one queue pair are executed in posting order, each once. Needs {@link
     * Feature#ATOMICS}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param result region with LOCAL_WRITE (intent READ_SINK)
     * @param offset where its 8 bytes begin, in bytes from the start of the region
     * @param remoteAddress address of the word at the peer. One that is not a multiple of 8 ends the connection
     * @param rkey the peer's key, with REMOTE_ATOMIC
     * @param expected what the word must be to be replaced
     * @param replacement what it becomes
     * @param flags {@link SendFlags}, without INLINE and SOLICITED
     */
    PostStatus postCompareAndSwap(
            long wrId,
            MemoryRegion result,
            long offset,
            long remoteAddress,
            int rkey,
            long expected,
            long replacement,
            int flags);

    /**
     * Posts a fetch-and-add: adds {@code delta} to the word at the peer, modulo 2^64, and fetches its previous value
     * (C: {@code IBV_WR_ATOMIC_FETCH_AND_ADD}). Needs {@link Feature#ATOMICS}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param result region with LOCAL_WRITE (intent READ_SINK)
     * @param offset where its 8 bytes begin, in bytes from the start of the region
     * @param remoteAddress address of the word at the peer. One that is not a multiple of 8 ends the connection
     * @param rkey the peer's key, with REMOTE_ATOMIC
     * @param delta what is added
     * @param flags {@link SendFlags}, without INLINE and SOLICITED
     */
    PostStatus postFetchAndAdd(
            long wrId, MemoryRegion result, long offset, long remoteAddress, int rkey, long delta, int flags);

    /**
     * Posts a WRITE with an immediate: after the WRITE, the peer's next RECV completes as {@link
     * CompletionOpcode#RECEIVE_WRITE_IMMEDIATE}, and its buffer is not changed (C: {@code IBV_WR_RDMA_WRITE_WITH_IMM}).
     * The thread that polls that completion sees every byte of the WRITE. Needs {@link Feature#WRITE_IMMEDIATE}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param local any region
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length bytes to write, or 0
     * @param remoteAddress first address at the peer
     * @param rkey the peer's key
     * @param immediate handed to the peer
     * @param flags {@link SendFlags}
     */
    PostStatus postWriteImmediate(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            long remoteAddress,
            int rkey,
            int immediate,
            int flags);

    /**
     * Posts a SEND with an immediate (C: {@code IBV_WR_SEND_WITH_IMM}). Needs {@link Feature#SEND_IMMEDIATE}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param local any region
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length bytes to send
     * @param immediate handed to the peer
     * @param flags {@link SendFlags}
     */
    PostStatus postSendImmediate(long wrId, MemoryRegion local, long offset, long length, int immediate, int flags);

    /**
     * Posts a datagram of one local buffer (C: {@code IBV_WR_SEND} with {@code wr.ud}). It completes when it has left,
     * whether or not anybody takes it. A receiver takes it if it has the number and key, and a RECV of at least {@value
     * RoutingHeader#LENGTH} bytes more. Needs {@link Feature#UNRELIABLE_DATAGRAM}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param local any region
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length bytes to send, at most {@link Capabilities#maxTransferUnit()}
     * @param host where it goes, of the same domain
     * @param number of the queue pair there
     * @param queueKey that queue pair's {@link QueuePairAttributes#queueKey()}; a negative one stands for that of this
     *     queue pair
     * @param flags {@link SendFlags}, without FENCE
     */
    PostStatus postSendTo(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            AddressHandle host,
            int number,
            int queueKey,
            int flags);

    /**
     * Posts a datagram with an immediate (C: {@code IBV_WR_SEND_WITH_IMM} with {@code wr.ud}). Needs {@link
     * Feature#UNRELIABLE_DATAGRAM}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param local any region
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length bytes to send, at most {@link Capabilities#maxTransferUnit()}
     * @param host where it goes, of the same domain
     * @param number of the queue pair there
     * @param queueKey as for {@link #postSendTo}
     * @param immediate handed to the peer
     * @param flags {@link SendFlags}, without FENCE
     */
    PostStatus postSendImmediateTo(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            AddressHandle host,
            int number,
            int queueKey,
            int immediate,
            int flags);

    /**
     * Posts a SEND that invalidates a key of the peer before the peer's RECV completes (C: {@code
     * IBV_WR_SEND_WITH_INV}). If the key does not belong to a window bound on this connection, the connection ends.
     * Needs {@link Feature#SEND_INVALIDATE}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param local any region
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length bytes to send
     * @param peersKey key of a window of the peer
     * @param flags {@link SendFlags}
     */
    PostStatus postSendInvalidate(long wrId, MemoryRegion local, long offset, long length, int peersKey, int flags);

    /**
     * Posts the invalidation of a window of this side (C: {@code IBV_WR_LOCAL_INV}). Once it has completed, no access
     * with that key succeeds. If the key does not belong to a window bound on this queue pair, the queue pair goes to
     * ERROR. Needs {@link Feature#MEMORY_WINDOWS}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param key {@link MemoryWindow#rkey()}
     * @param flags {@link SendFlags}, without INLINE and SOLICITED
     */
    PostStatus postInvalidate(long wrId, int key, int flags);

    /**
     * Posts the bind of a window of this side to part of a region (C: {@code IBV_WR_BIND_MW}). {@link
     * MemoryWindow#rkey()} is the new key as soon as this returns; the peer can use it once the bind has completed. Runs
     * in order with the other requests of the queue pair. The bind fails with {@link
     * CompletionStatus#MEMORY_WINDOW_BIND_ERROR} if the window is already bound, the region has no BIND_WINDOWS or
     * belongs to another domain, the part lies outside the region or is empty, or a right needs LOCAL_WRITE and the
     * region does not have it. Needs {@link Feature#MEMORY_WINDOWS}.
     *
     * @param wrId a number of yours, returned with the completion
     * @param window of this device
     * @param region with BIND_WINDOWS
     * @param offset where the part begins, in bytes from the start of the region
     * @param length bytes of the part
     * @param access what the peer may do: REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC
     * @param flags {@link SendFlags}, without INLINE and SOLICITED
     */
    PostStatus postBindWindow(
            long wrId,
            MemoryWindow window,
            MemoryRegion region,
            long offset,
            long length,
            Set<AccessFlag> access,
            int flags);

    /**
     * Posts a RECV of one local buffer (C: {@code ibv_post_recv}).
     *
     * @param wrId a number of yours, returned with the completion
     * @param local region with LOCAL_WRITE (intent RECEIVE_SINK)
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length most bytes to receive
     */
    PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length);

    /**
     * Posts a send work request.
     *
     * @param request copied; you may reuse it at once
     */
    PostStatus post(SendWorkRequest request);

    /**
     * Posts send work requests with one doorbell, up to the first that cannot be taken. {@link
     * SendWorkRequestList#accepted()} then tells how many were, also when this throws.
     *
     * @param requests copied; you may reuse them at once
     */
    PostStatus post(SendWorkRequestList requests);

    /**
     * Posts a RECV.
     *
     * @param request copied; you may reuse it at once
     */
    PostStatus post(ReceiveWorkRequest request);

    /**
     * Ends the connection: both ends go to ERROR and flush (C: {@code rdma_disconnect}). Returns without waiting for
     * that. Idempotent.
     */
    void disconnect();

    /**
     * Completes once, when the provider notices that an established connection has ended, with a reason in words. The
     * state has changed by then. It completes on a thread of the device: in dependent stages, do not block and do not
     * close anything.
     */
    CompletionStage<String> disconnected();

    /**
     * Why it went to ERROR. With {@link Feature#END_CAUSES} the cause is known before {@link #state()} is ERROR and
     * before any flushed completion arrives. Without the feature, a device may still report the cause, possibly later.
     * The cause remains available after {@link #close()}.
     */
    EndCause endCause();

    /**
     * Destroys the queue pair and its connection. Outstanding requests never complete, and completions that were not
     * polled yet leave their queues. When this returns, the device touches no memory on behalf of this queue pair.
     * Idempotent.
     */
    @Override
    void close();
}
