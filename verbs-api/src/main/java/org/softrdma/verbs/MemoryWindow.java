package org.softrdma.verbs;

/**
 * A separate key for part of a region, with its own rights, which can be revoked at once: by {@link
 * QueuePair#postInvalidate}, by the peer's {@link QueuePair#postSendInvalidate}, or by closing the window (C: {@code
 * ibv_mw} of type 2). The region's own keys and rights are not affected.
 *
 * <p>{@link QueuePair#postBindWindow} binds it. Only the peer of that queue pair can use it, with addresses of the
 * region, until it is invalidated. A bound window must be invalidated before it is bound again, which gives it another
 * key. Closing the queue pair invalidates the windows that are bound to it. A region with bound windows cannot be closed.
 *
 * <p>Thread-safe, but do not bind and invalidate the same window on two threads at once.
 */
public interface MemoryWindow extends AutoCloseable {
    /** The domain it belongs to. */
    ProtectionDomain protectionDomain();

    /**
     * The key of the bind that was posted last; 0 before the first. The peer can use it when that bind has completed. A
     * SEND posted behind the bind on the same queue pair can tell the peer at once.
     */
    int rkey();

    /** Deallocates the window (C: {@code ibv_dealloc_mw}). A bound one is invalidated first. Idempotent. */
    @Override
    void close();
}
