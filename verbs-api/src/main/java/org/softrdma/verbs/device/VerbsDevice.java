package org.softrdma.verbs.device;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.PinningCounters;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.DatagramListener;
import org.softrdma.verbs.cm.DatagramRequestListener;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.cm.Listener;

/**
 * An opened RDMA device (C: {@code ibv_context}), the parent of everything else.
 *
 * <p>Thread-safe, except in <em>manual progress</em> ({@link #manualProgress()}). There the thread that opened the
 * device owns it and drives it by {@link CompletionQueue#poll}, {@link #progress} and the blocking calls of the
 * connection manager; a call from any other thread throws {@link IllegalStateException}, except {@link #wakeUp} and {@link
 * #counters}.
 *
 * <p>Close objects in the reverse order of opening them: closing one that has live children is refused ({@link
 * VerbsErrorCode#BUSY}). If several threads close an object at once, it is closed once, and each of their calls
 * returns when that is done. An object that cannot be created for lack of memory is refused with {@link
 * VerbsErrorCode#NO_RESOURCES}, and nothing of it remains.
 */
public interface VerbsDevice extends AutoCloseable {
    /** Name for people and reports, for example {@code sim0 (uring, engine)}. */
    String name();

    /** What every queue pair and region of this device may use. */
    Capabilities capabilities();

    /** True in manual progress: the owning thread must drive this device. */
    boolean manualProgress();

    /** Allocates a protection domain (C: {@code ibv_alloc_pd}). */
    ProtectionDomain allocateProtectionDomain();

    /** Creates a completion channel (C: {@code ibv_create_comp_channel}). */
    CompletionChannel createCompletionChannel();

    /**
     * Creates a completion queue without notification (C: {@code ibv_create_cq}).
     *
     * @param minimumEntries completions that it must hold, 1 to {@link Capabilities#maxCompletionQueueEntries()}; it
     *     may hold more
     */
    CompletionQueue createCompletionQueue(int minimumEntries);

    /**
     * Creates a completion queue whose events go to a channel (C: {@code ibv_create_cq}).
     *
     * @param minimumEntries completions that it must hold, 1 to {@link Capabilities#maxCompletionQueueEntries()}; it
     *     may hold more
     * @param channel a channel of this device
     * @param completionVector 0 to {@link Capabilities#completionVectors()} - 1
     */
    CompletionQueue createCompletionQueue(int minimumEntries, CompletionChannel channel, int completionVector);

    /**
     * Allocates zeroed, page-aligned memory that is safe to register: it is not freed before it is deregistered.
     *
     * @param length bytes, at least 1
     * @throws VerbsException {@link VerbsErrorCode#NO_RESOURCES} if the machine does not have that much
     */
    HostMemory allocateMemory(long length);

    /**
     * Allocates memory as {@link #allocateMemory(long)} does, and says where its pages come from.
     *
     * @param length bytes, at least 1
     * @param source where its pages come from
     * @throws VerbsException {@link VerbsErrorCode#NO_RESOURCES} if the source does not have that much, or the file
     *     cannot be made; {@link VerbsErrorCode#NOT_SUPPORTED} if the device does not know the source
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
     * How the device pins regions by default, for people: {@code lazy, budget 8388608 bytes}, {@code off}. Says why
     * if that is less than a user would expect.
     */
    default String pinning() {
        return "eager, by the driver";
    }

    /** What pinning did to all regions since the device was opened; zeros if the device does not count it. */
    default PinningCounters pinningCounters() {
        return new PinningCounters(0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    /**
     * Waits for an event of an object of this device (C: {@code ibv_get_async_event}, {@code ibv_ack_async_event}).
     * Each event is delivered once, to one of the waiting threads. Events of an object that was closed meanwhile are
     * dropped, and the oldest are dropped if no thread takes them. Needs {@link Feature#ASYNC_EVENTS}.
     *
     * @param timeoutNs how long to wait; 0 returns at once
     * @return empty if nothing happened in time
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature; {@link
     *     VerbsErrorCode#INTERRUPTED} if the thread is interrupted. Its interrupted flag stays set, and no event is lost
     */
    default Optional<AsyncEvent> awaitEvent(long timeoutNs) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED, "awaitEvent: this device has no " + Feature.ASYNC_EVENTS);
    }

    /**
     * Listens for connection requests (C: {@code rdma_bind_addr}, {@code rdma_listen}). The wildcards are rdma_cm's:
     * {@code 0.0.0.0} takes requests over IPv4 only, {@code ::} those over IPv6 and IPv4, unless the system says
     * otherwise (Linux: {@code net.ipv6.bindv6only}, for kernel devices). So one listener on {@code ::} serves both, and
     * the two wildcards exclude each other at one port; rdma_cm's option {@code RDMA_OPTION_ID_AFONLY}, which separates
     * them, is not offered. Whoever wants IPv6 alone looks at {@link
     * org.softrdma.verbs.cm.ConnectionRequest#remoteAddress()} and rejects the others.
     *
     * @param local address and port; port 0 picks a free one, which {@link Listener#localAddress()} returns
     * @param backlog requests that may wait to be taken, at least 1
     * @throws VerbsException {@link VerbsErrorCode#ADDRESS_IN_USE}, {@link VerbsErrorCode#ADDRESS_NOT_AVAILABLE}, also of an
     *     unresolved address, or {@link VerbsErrorCode#NO_RESOURCES} if no descriptor or no port is left
     */
    Listener listen(InetSocketAddress local, int backlog);

    /**
     * Prepares a connection to a peer (C: {@code rdma_create_id}, {@code rdma_resolve_addr}, {@code
     * rdma_resolve_route}).
     *
     * @param remote a resolved address
     * @param timeoutNs how long resolution may take
     * @return a connector on which the queue pair is created before it is connected
     * @throws VerbsException {@link VerbsErrorCode#UNREACHABLE} or {@link VerbsErrorCode#TIMED_OUT}
     */
    Connector resolve(InetSocketAddress remote, long timeoutNs);

    /**
     * Asks a host where the datagrams of a service go (C: {@code rdma_create_id} with {@code RDMA_PS_UDP}, {@code
     * rdma_resolve_addr}, {@code rdma_resolve_route}, {@code rdma_connect}; messages SIDR_REQ and SIDR_REP). Needs {@link
     * Feature#DATAGRAM_SERVICES}.
     *
     * @param service a resolved address, and the port of the service in the port space of datagrams
     * @param privateData sent with the question, at most {@link Capabilities#maxPrivateData()} bytes
     * @param timeoutNs how long the answer may take
     * @throws org.softrdma.verbs.cm.ConnectionRejectedException if the service refuses
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature; {@link VerbsErrorCode#UNREACHABLE}
     *     if nobody offers that service; {@link VerbsErrorCode#TIMED_OUT}, {@link VerbsErrorCode#INTERRUPTED}
     * @throws IllegalArgumentException if the private data is too long
     */
    default DatagramService resolveDatagrams(InetSocketAddress service, byte[] privateData, long timeoutNs) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "resolveDatagrams: this device has no " + Feature.DATAGRAM_SERVICES
                        + "; exchange UnconnectedQueuePair.address() by other means");
    }

    /**
     * Tells whoever asks where the datagrams of a service go (C: {@code rdma_listen} with {@code RDMA_PS_UDP}, {@code
     * rdma_accept} for each question). Needs {@link Feature#DATAGRAM_SERVICES}.
     *
     * @param local an address of this device's queue pairs of datagrams, or the wildcard, and a port in the port space of
     *     datagrams; port 0 picks a free one, which {@link DatagramListener#localAddress()} returns
     * @param offered number and queue key of the queue pair, and private data for whoever asks; its host is not looked
     *     at, since it is where the peer has asked. Peers of rdma_cm want {@link DatagramService#QUEUE_KEY}
     * @throws VerbsException {@link VerbsErrorCode#NOT_SUPPORTED} without the feature; {@link
     *     VerbsErrorCode#ADDRESS_IN_USE}, {@link VerbsErrorCode#ADDRESS_NOT_AVAILABLE}
     * @throws IllegalArgumentException if the private data is too long
     */
    default DatagramListener listenForDatagrams(InetSocketAddress local, DatagramService offered) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "listenForDatagrams: this device has no " + Feature.DATAGRAM_SERVICES
                        + "; exchange UnconnectedQueuePair.address() by other means");
    }

    /**
     * As {@link #listenForDatagrams}, but the application sees each question with its private data, and accepts or rejects
     * it. Needs {@link Feature#DATAGRAM_SERVICES}.
     *
     * @param local as of {@link #listenForDatagrams}
     * @param backlog how many questions may wait for the application; others are not heard, and asked again
     * @throws VerbsException as of {@link #listenForDatagrams}
     * @throws IllegalArgumentException if {@code backlog} is less than 1
     */
    default DatagramRequestListener listenForDatagramRequests(InetSocketAddress local, int backlog) {
        throw new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "listenForDatagramRequests: this device has no " + Feature.DATAGRAM_SERVICES
                        + "; exchange UnconnectedQueuePair.address() by other means");
    }

    /**
     * Drives a device in manual progress. Otherwise it returns 0 at once.
     *
     * @param timeoutNs how long to wait for something to do; 0 to return at once. It does not wait if a request has
     *     completed since the last call, whoever has polled it
     * @return the number of events handled, 0 if there was nothing to do
     */
    int progress(long timeoutNs);

    /**
     * Ends a wait of the owner in {@link #progress}: the one under way, or else the next. Any thread. Without manual
     * progress, and once the device is closed, it does nothing.
     */
    default void wakeUp() {
        // nobody waits in progress(long) unless he must drive the device
    }

    /**
     * A snapshot of the device's counters since it was opened, by name.
     *
     * <p>All providers use the same names: {@code responderReads}, {@code responderReadBytes}, {@code responderWrites},
     * {@code responderWriteBytes}, {@code responderSends}, {@code accessErrors}, {@code connectionsEstablished}, {@code
     * connectionsClosed}. If a name is absent, the provider does not count it.
     */
    Map<String, Long> counters();

    /** Closes the device. Refused with {@link VerbsErrorCode#BUSY} while it has children. Idempotent. */
    @Override
    void close();
}
