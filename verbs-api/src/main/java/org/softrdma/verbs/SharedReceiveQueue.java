package org.softrdma.verbs;

/**
 * RECVs for any number of queue pairs ({@link QueuePairAttributes#sharedReceives}; C: {@code ibv_srq}). A message that
 * arrives on any of these queue pairs takes a RECV from here; its completion goes to that queue pair's completion queue
 * for RECVs, with that queue pair's number. RECVs may be consumed in any order, so find the buffer by {@link
 * WorkCompletion#wrId()}.
 *
 * <p>A queue pair that goes to ERROR flushes no RECV from here: the other queue pairs continue. With {@link
 * Feature#ASYNC_EVENTS}, {@link AsyncEvent.QueuePairEvent.Kind#LAST_REQUEST_REACHED} says when it has taken its last.
 *
 * <p>Thread-safe, except in manual progress. Posting allocates nothing.
 */
public interface SharedReceiveQueue extends AutoCloseable {
    /** The domain it belongs to. The regions of its RECVs must be of this domain, whatever the queue pair's is. */
    ProtectionDomain protectionDomain();

    /** How many RECVs it can hold, at least the number asked for. */
    int maxWorkRequests();

    /** Most entries of a RECV, at least the number asked for. */
    int maxScatterGather();

    /**
     * Posts a RECV of one local buffer (C: {@code ibv_post_srq_recv}).
     *
     * @param wrId a number of yours, returned with the completion
     * @param local region with LOCAL_WRITE (intent RECEIVE_SINK)
     * @param offset where the buffer begins, in bytes from the start of the region
     * @param length most bytes to receive
     * @throws IllegalStateException if the queue is closed
     */
    PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length);

    /**
     * Posts a RECV.
     *
     * @param request copied; you may reuse it at once
     * @throws IllegalArgumentException if it has too many entries
     * @throws IllegalStateException if the queue is closed
     */
    PostStatus post(ReceiveWorkRequest request);

    /**
     * Requests one {@link AsyncEvent.SharedReceiveQueueEvent.Kind#LIMIT_REACHED} as soon as fewer than {@code limit}
     * RECVs are left, which may be now (C: {@code ibv_modify_srq}, {@code IBV_SRQ_LIMIT}). Then the limit is 0 again.
     *
     * @param limit 1 to {@link #maxWorkRequests()}, or 0 for no event
     * @throws IllegalArgumentException if it is out of range
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without {@link Feature#ASYNC_EVENTS}
     */
    void arm(int limit);

    /**
     * Destroys the queue (C: {@code ibv_destroy_srq}). Refused with {@link VerbsErrorCode#BUSY} while a queue pair uses
     * it. Its RECVs never complete. Idempotent.
     */
    @Override
    void close();
}
