package org.softrdma.verbs;

import java.util.concurrent.CompletionStage;

/**
 * A reliable connection's two queues of work (C: {@code ibv_qp}, RC). Created on a {@link
 * org.softrdma.verbs.cm.Connector} or {@link org.softrdma.verbs.cm.ConnectionRequest}.
 *
 * <p>Posting is thread-safe (except in manual progress), allocates nothing and does not block; the requests of one thread
 * run in their order. RECVs may be posted from creation on, everything else once connected. In {@link
 * QueuePairState#ERROR} posting succeeds and gives {@link CompletionStatus#FLUSHED} completions. Buffers belong to the
 * device until the completion, keys and ranges are checked when the request runs, and the first failing request takes the
 * queue pair to ERROR. With several local entries a READ scatters and a WRITE or SEND gathers in their order. A request of 0
 * bytes succeeds without its keys being looked at.
 *
 * <p>A READ on a connection that allows none in flight is an {@link IllegalStateException}. Posting and polling may wait for
 * another thread's short critical section. Every post method throws {@link IllegalArgumentException} for what can never be posted (too many entries, unknown
 * flags, INLINE or SOLICITED where they do not belong, too many inline bytes, inline bytes
 * outside of their region) and {@link IllegalStateException} before the
 * connection exists or after {@link #close()}; nothing was posted then, except by a list (see there).
 */
public interface QueuePair extends AutoCloseable {
    /** Its number, unique among the live queue pairs of the device. */
    int number();

    /**
     * The state as the provider knows it: from a failed completion, a connection event or this side's own disconnect. A peer
     * that vanished may be noticed late.
     */
    QueuePairState state();

    /** The domain it belongs to. */
    ProtectionDomain protectionDomain();

    /** The sizes in force, at least those asked for. */
    QueuePairLimits limits();

    /**
     * What the two ends agreed on.
     *
     * @throws IllegalStateException if it was never connected
     */
    ConnectionCapabilities connectionCapabilities();

    /**
     * Posts a READ of the peer's memory into one local buffer (C: {@code IBV_WR_RDMA_READ}).
     *
     * @param wrId returned with the completion
     * @param local region with LOCAL_WRITE (intent READ_SINK)
     * @param offset bytes from its start
     * @param length bytes
     * @param remoteAddress first address at the peer
     * @param rkey the peer's key
     * @param flags {@link SendFlags}
     */
    PostStatus postRead(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags);

    /**
     * Posts a WRITE of one local buffer into the peer's memory (C: {@code IBV_WR_RDMA_WRITE}).
     *
     * @param wrId returned with the completion
     * @param local any region
     * @param offset bytes from its start
     * @param length bytes
     * @param remoteAddress first address at the peer
     * @param rkey the peer's key
     * @param flags {@link SendFlags}
     */
    PostStatus postWrite(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags);

    /**
     * Posts a SEND of one local buffer (C: {@code IBV_WR_SEND}).
     *
     * @param wrId returned with the completion
     * @param local any region
     * @param offset bytes from its start
     * @param length bytes
     * @param flags {@link SendFlags}
     */
    PostStatus postSend(long wrId, MemoryRegion local, long offset, long length, int flags);

    /**
     * Posts a RECV of one local buffer (C: {@code ibv_post_recv}).
     *
     * @param wrId returned with the completion
     * @param local region with LOCAL_WRITE (intent RECEIVE_SINK)
     * @param offset bytes from its start
     * @param length bytes
     */
    PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length);

    /**
     * Posts a send work request.
     *
     * @param request copied; may be reused at once
     */
    PostStatus post(SendWorkRequest request);

    /**
     * Posts send work requests with one doorbell, up to the first that cannot be taken; see {@link
     * SendWorkRequestList#accepted()}, which also holds if this throws.
     *
     * @param requests copied; may be reused at once
     */
    PostStatus post(SendWorkRequestList requests);

    /**
     * Posts a RECV.
     *
     * @param request copied; may be reused at once
     */
    PostStatus post(ReceiveWorkRequest request);

    /** Ends the connection: both ends go to ERROR and flush (C: {@code rdma_disconnect}). Does not wait. Idempotent. */
    void disconnect();

    /**
     * Completes exactly once with the reason, for people, when the provider has noticed that an established connection has
     * ended, after the state has changed. It completes on a thread of the device: do not block in it, and close nothing in it.
     */
    CompletionStage<String> disconnected();

    /**
     * Why it has gone to ERROR. With {@link Feature#END_CAUSES} it is there before {@link #state()} says ERROR and before any
     * completion that the end flushes; without, a device may still tell, sooner or later. Kept after {@link #close()}.
     */
    EndCause endCause();

    /**
     * Destroys the queue pair and its connection. Outstanding requests give no completion any more and completions not yet
     * polled are removed from their queues. When this returns, the device touches no memory on its behalf. Idempotent.
     */
    @Override
    void close();
}
