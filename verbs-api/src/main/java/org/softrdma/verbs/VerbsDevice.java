package org.softrdma.verbs;

import java.net.InetSocketAddress;
import java.util.Map;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;

/**
 * An opened RDMA device (C: {@code ibv_context}), the parent of everything else.
 *
 * <p>Thread-safe, except in <em>manual progress</em>: there the thread that opened the device owns it, {@link
 * CompletionQueue#poll}, {@link #progress} and the blocking calls of the connection manager drive the device, and a call
 * from any other thread is refused with {@link IllegalStateException}. {@link #manualProgress()} tells which.
 *
 * <p>Closing a parent with live children is refused ({@link VerbsErrorCode#BUSY}); close in reverse order of opening. What several
 * threads close at once is closed once, and each of their calls returns when that is done. What cannot be created for want of memory
 * is {@link VerbsErrorCode#NO_RESOURCES} and leaves nothing behind.
 */
public interface VerbsDevice extends AutoCloseable {
    /** Name for people and reports, for example {@code sim0 (epoll, engine)}. */
    String name();

    /** What every queue pair and region of this device may use. */
    Capabilities capabilities();

    /** True if the owning thread must drive this device, see the class comment. */
    boolean manualProgress();

    /** Allocates a protection domain (C: {@code ibv_alloc_pd}). */
    ProtectionDomain allocateProtectionDomain();

    /** Creates a completion channel (C: {@code ibv_create_comp_channel}). */
    CompletionChannel createCompletionChannel();

    /**
     * Creates a completion queue without notification (C: {@code ibv_create_cq}).
     *
     * @param minimumEntries entries wanted, 1 to {@link Capabilities#maxCompletionQueueEntries()}; the queue may be larger
     */
    CompletionQueue createCompletionQueue(int minimumEntries);

    /**
     * Creates a completion queue whose events go to a channel (C: {@code ibv_create_cq}).
     *
     * @param minimumEntries entries wanted, 1 to {@link Capabilities#maxCompletionQueueEntries()}; the queue may be larger
     * @param channel a channel of this device
     * @param completionVector 0 to {@link Capabilities#completionVectors()} - 1
     */
    CompletionQueue createCompletionQueue(int minimumEntries, CompletionChannel channel, int completionVector);

    /**
     * Allocates zeroed, page-aligned memory that is safe to register: its freeing waits for deregistration.
     *
     * @param length bytes, at least 1
     * @throws VerbsException {@link VerbsErrorCode#NO_RESOURCES} if the machine has not that much
     */
    HostMemory allocateMemory(long length);

    /**
     * Allocates zeroed, page-aligned memory of a kind, as {@link #allocateMemory(long)} does otherwise.
     *
     * @param length bytes, at least 1
     * @param source where its pages come from
     * @throws VerbsException {@link VerbsErrorCode#NO_RESOURCES} if there is not that much of it, or the file cannot be made;
     *     {@link VerbsErrorCode#NOT_SUPPORTED} if the device has none of that kind
     */
    default HostMemory allocateMemory(long length, MemorySource source) {
        if (source instanceof MemorySource.Anonymous) {
            return allocateMemory(length);
        }
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                source + ": this device allocates anonymous memory only; map it yourself");
    }

    /**
     * How regions are pinned unless they say it themselves, for people: {@code lazy, budget 8388608 bytes}, {@code off}; and why, where it
     * is less than could be expected.
     */
    default String pinning() {
        return "eager, by the driver";
    }

    /** What pinning did to all regions since the device was opened, where the device counts it; else zeros. */
    default PinningCounters pinningCounters() {
        return new PinningCounters(0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    /**
     * Listens for connection requests (C: {@code rdma_bind_addr}, {@code rdma_listen}).
     *
     * @param local address and port; port 0 picks a free one, see {@link Listener#localAddress()}
     * @param backlog requests that may wait, at least 1
     * @throws VerbsException {@link VerbsErrorCode#ADDRESS_IN_USE} or {@link VerbsErrorCode#ADDRESS_NOT_AVAILABLE}
     */
    Listener listen(InetSocketAddress local, int backlog);

    /**
     * Begins a connection to a peer (C: {@code rdma_create_id}, {@code rdma_resolve_addr}, {@code rdma_resolve_route}).
     *
     * @param remote a resolved address
     * @param timeoutNs how long resolution may take
     * @return a connector on which the queue pair is created before it is connected
     * @throws VerbsException {@link VerbsErrorCode#UNREACHABLE} or {@link VerbsErrorCode#TIMED_OUT}
     */
    Connector resolve(InetSocketAddress remote, long timeoutNs);

    /**
     * Drives a device in manual progress; elsewhere it returns 0 at once.
     *
     * @param timeoutNs how long to wait for something to do; 0 does not wait
     * @return the number of events handled, 0 if there was nothing to do
     */
    int progress(long timeoutNs);

    /**
     * A snapshot of the device's counters since it was opened, by name.
     *
     * <p>Names that every provider that can count uses: {@code responderReads}, {@code responderReadBytes}, {@code
     * responderWrites}, {@code responderWriteBytes}, {@code responderSends}, {@code accessErrors}, {@code
     * connectionsEstablished}, {@code connectionsClosed}. A name that is absent is not counted.
     */
    Map<String, Long> counters();

    /** Closes the device. Refused with {@link VerbsErrorCode#BUSY} while it has children; idempotent after that. */
    @Override
    void close();
}
