package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.Deadline;
import org.softrdma.ibverbs.SocketAddressText;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.DatagramService;

/**
 * One {@code rdma_cm_id}: a listener or one side of a connection. It lives until the last of its holders (connector or
 * request, and queue pair) has released it. Events arrive on the device's thread, all other calls come from application
 * threads. Callers must call in the right order: connecting needs {@link #resolve}, accepting needs a connect request,
 * and neither comes after the last {@link #release}.
 *
 * <p>A provider adds the calls of its library, which throw {@link VerbsException} if they are refused.
 */
public abstract class CmId {
    private final ConnectionThread thread;
    private final Object key;
    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile CompletableFuture<CmEvent> expected = new CompletableFuture<>();
    private volatile @Nullable IbvQueuePair queuePair;
    private volatile @Nullable BiConsumer<CmEvent, CmId> requests;
    private volatile Runnable whenReleased = () -> {};
    /** The parameters of {@code rdma_accept}; null on the connecting side. */
    private volatile @Nullable ConnectionParameters accepting;
    /** Done when {@code rdma_connect} has returned; null if it was not called. */
    private volatile @Nullable CompletableFuture<Void> connectCall;

    /**
     * Of a native id.
     *
     * @param thread takes its events
     * @param key by which events name it
     */
    protected CmId(ConnectionThread thread, Object key) {
        this.thread = thread;
        this.key = key;
    }

    // ---- what a provider does

    /** {@code rdma_get_local_addr}. */
    public abstract InetSocketAddress localAddress();

    /** {@code rdma_get_peer_addr}. */
    public abstract InetSocketAddress remoteAddress();

    /**
     * For a connect request: false if it arrived on another device of this machine, because a wildcard listens on all
     * of them.
     */
    protected abstract boolean isOfDevice();

    /** {@code rdma_resolve_addr}. */
    protected abstract void resolveAddress(InetSocketAddress remote, int timeoutMs);

    /** {@code rdma_resolve_route}. */
    protected abstract void resolveRoute(InetSocketAddress remote, int timeoutMs);

    /** {@code rdma_bind_addr} and {@code rdma_listen}. */
    protected abstract void listen(InetSocketAddress local, int backlog);

    /** {@code rdma_connect}, which may wait for TCP. */
    protected abstract void callConnect(ConnectionParameters parameters, InetSocketAddress remote);

    /** {@code rdma_accept}. */
    protected abstract void callAccept(ConnectionParameters parameters);

    /**
     * {@code rdma_accept} of a question for a service of datagrams, which is released next.
     *
     * @param offered the answer
     * @throws VerbsException if it is refused
     */
    protected void answer(DatagramService offered) {
        throw new IllegalStateException("an id of connections cannot tell of " + offered);
    }

    /**
     * Rejects a connect request, which is released next. A peer that is gone is no error.
     *
     * @param privateData for the peer
     * @param made its queue pair, which has to go to ERROR; or null
     */
    protected abstract void reject(byte[] privateData, @Nullable IbvQueuePair made);

    /**
     * The connection that this side requested is established: tells the queue pair the agreed READ depths. On the
     * device's thread.
     *
     * @return what {@link IbvQueuePair#established} says
     */
    protected abstract boolean established(IbvQueuePair connected, CmEvent event);

    /**
     * {@code rdma_accept} has moved the queue pair to RTS: tells it the agreed READ depths. On the accepting thread and
     * on the device's, whichever is first.
     *
     * @param connected the queue pair
     * @param parameters of the call
     * @return what {@link IbvQueuePair#established} says
     */
    protected abstract boolean accepted(IbvQueuePair connected, ConnectionParameters parameters);

    /** {@code rdma_disconnect}; a connection that is gone is no error. */
    protected abstract void disconnect();

    /** {@code rdma_destroy_qp}, while no event is taken. */
    protected abstract void callDestroyQueuePair();

    /** {@code rdma_destroy_id}. */
    protected abstract void destroy();

    // ---- whom it tells

    final Object key() {
        return key;
    }

    /** The thread that takes its events. */
    final ConnectionThread thread() {
        return thread;
    }

    /** Sets the taker of connect requests to this listening id, each with its own id. */
    final void whenRequested(BiConsumer<CmEvent, CmId> taker) {
        requests = taker;
    }

    /** Runs when the last holder lets go, before the id is destroyed. */
    final void whenReleased(Runnable action) {
        whenReleased = action;
    }

    /** A queue pair was created on it, which holds it and learns of the connection's end. */
    final void heldBy(IbvQueuePair made) {
        holders.incrementAndGet();
        queuePair = made;
    }

    // ---- events, on the device's thread

    /** An event, already acknowledged. */
    final void happened(CmEvent event) {
        IbvQueuePair mine = queuePair;
        switch (event.type()) {
            case TIMEWAIT_EXIT, ADDR_CHANGE -> {}
            case DISCONNECTED, DEVICE_REMOVAL -> {
                expected.complete(event);
                if (mine != null) {
                    mine.enterError(
                            event.type() == CmEventType.DISCONNECTED
                                    ? "the connection has ended"
                                    : "the device was removed");
                }
            }
            case ESTABLISHED -> {
                // On this thread, so that the queue pair is connected before it can learn of the connection's end.
                ConnectionParameters agreed = accepting;
                if (mine == null || (agreed == null ? established(mine, event) : accepted(mine, agreed))) {
                    expected.complete(event);
                } else {
                    expected.completeExceptionally(new VerbsException(
                            VerbsErrorCode.CONNECTION_LOST,
                            "the queue pair was " + mine.state() + " before it was connected"));
                }
                if (agreed != null && mine != null && mine.state() == QueuePairState.ERROR) {
                    disconnect(); // the peer does not know of a disconnect that came before its confirmation
                }
            }
            default -> {
                expected.complete(event);
                // A peer that closes before our confirmation has reached it rejects a connection that is established
                // here.
                if (mine != null && (accepting != null || mine.state() == QueuePairState.READY_TO_SEND)) {
                    mine.enterError("the connection failed: "
                            + ConnectionFailures.of(event, remoteAddress()).getMessage());
                }
            }
        }
    }

    /** A connect request to this listening id. */
    final void requested(CmEvent event, CmId request) {
        BiConsumer<CmEvent, CmId> taker = requests;
        if (taker == null) {
            request.release();
        } else {
            taker.accept(event, request);
        }
    }

    // ---- steps

    /** The returned future gets the next event. Call this before the call that causes it. */
    private CompletableFuture<CmEvent> expect() {
        CompletableFuture<CmEvent> future = new CompletableFuture<>();
        expected = future;
        return future;
    }

    /**
     * Waits for an event.
     *
     * @param future result of {@link #connect}
     * @param wanted the event that means success
     * @param deadline of the whole operation
     * @param what waited for, for the message
     * @param remote the peer
     * @throws VerbsException {@code TIMED_OUT}, {@code INTERRUPTED}, the failure of the call that should have caused
     *     the event, or the meaning of another event
     */
    static CmEvent await(
            CompletableFuture<CmEvent> future,
            CmEventType wanted,
            Deadline deadline,
            String what,
            InetSocketAddress remote) {
        try {
            CmEvent event = future.get(deadline.remainingNs(), TimeUnit.NANOSECONDS);
            if (event.type() != wanted) {
                throw ConnectionFailures.of(event, remote);
            }
            return event;
        } catch (TimeoutException e) {
            throw new VerbsException(
                    VerbsErrorCode.TIMED_OUT,
                    what + " " + SocketAddressText.of(remote) + " did not come within " + deadline,
                    e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof VerbsException cause) {
                throw cause.forCaller();
            }
            throw new VerbsException(VerbsErrorCode.OTHER, String.valueOf(e.getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerbsException(
                    VerbsErrorCode.INTERRUPTED,
                    "interrupted while waiting for " + what + " " + SocketAddressText.of(remote),
                    e);
        }
    }

    /** Resolves address and route of a peer. */
    protected void resolve(InetSocketAddress remote, Deadline deadline) {
        CompletableFuture<CmEvent> resolved = expect();
        resolveAddress(remote, deadline.remainingMs());
        await(resolved, CmEventType.ADDR_RESOLVED, deadline, "the address of", remote);
        CompletableFuture<CmEvent> routed = expect();
        resolveRoute(remote, deadline.remainingMs());
        await(routed, CmEventType.ROUTE_RESOLVED, deadline, "the route to", remote);
    }

    /**
     * {@code rdma_connect}, on a thread of its own: siw opens the TCP connection inside it, without a deadline.
     *
     * @return completed by the event, or by the failure of the call
     */
    final CompletableFuture<CmEvent> connect(ConnectionParameters parameters, InetSocketAddress remote) {
        CompletableFuture<CmEvent> event = expect();
        CompletableFuture<Void> returned = new CompletableFuture<>();
        connectCall = returned;
        try {
            Thread.ofPlatform().daemon().name("rdma-connect").start(() -> {
                try {
                    callConnect(parameters, remote);
                } catch (Throwable e) {
                    event.completeExceptionally(e);
                } finally {
                    returned.complete(null);
                }
            });
        } catch (Throwable e) {
            // There was no thread, so nothing else would report that the call is over.
            returned.complete(null);
            throw e;
        }
        return event;
    }

    /**
     * {@code rdma_accept}, which moves the queue pair to RTS: it takes requests when this returns. If the connection
     * fails after all, an event says so, and the queue pair goes to ERROR.
     *
     * @throws VerbsException if the call failed, or {@code CONNECTION_LOST} if the queue pair has gone to ERROR
     *     meanwhile
     */
    final void accept(ConnectionParameters parameters, IbvQueuePair accepted) {
        accepting = parameters;
        callAccept(parameters);
        if (!accepted(accepted, parameters)) {
            throw new VerbsException(
                    VerbsErrorCode.CONNECTION_LOST,
                    "the queue pair was " + accepted.state() + " before it was connected");
        }
    }

    /** True while {@code rdma_connect} is under way. */
    final boolean isConnecting() {
        CompletableFuture<Void> call = connectCall;
        return call != null && !call.isDone();
    }

    /** Runs something on the device's thread when {@code rdma_connect} has returned. */
    final void afterConnecting(Runnable action) {
        CompletableFuture<Void> call = connectCall;
        if (call != null) {
            thread.postpone(call.thenRun(() -> thread.execute(action)));
        }
    }

    /** Waits until {@code rdma_connect} has returned, if it was called. Under no lock, because TCP may take long. */
    final void awaitConnecting() {
        CompletableFuture<Void> call = connectCall;
        if (call != null) {
            call.join();
        }
    }

    /** Runs something while no event is taken. */
    protected final void exclusively(Runnable action) {
        thread.exclusively(action);
    }

    /** Destroys the queue pair and releases its hold. No connect call may be under way. */
    public final void destroyQueuePair() {
        try {
            exclusively(this::callDestroyQueuePair);
        } finally {
            release();
        }
    }

    /**
     * A holder releases the id. The last one destroys it, which rejects an unanswered request. A queue pair holds it
     * until a connect call under way has returned.
     */
    final void release() {
        if (holders.decrementAndGet() == 0) {
            whenReleased.run();
            destroy();
        }
    }
}
