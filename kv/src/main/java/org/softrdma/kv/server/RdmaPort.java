package org.softrdma.kv.server;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Where clients connect queue pairs. {@link Admission} says who may; {@link RdmaSessions} has those there are.
 *
 * <p>Two threads: one takes requests (helper threads accept them), one waits for completions of all sessions and alone ends
 * them. A READ of a client touches neither. Whatever fails in them, an Error too, costs one session at most.
 */
final class RdmaPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaPort.class);

    private static final long TICK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long FAILURE_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long CLOSE_TIMEOUT_MS = 10_000;
    private static final int BACKLOG = 128;
    private static final int ACCEPT_THREADS = 4;
    private static final int MAX_INBOUND_READS = 128;

    private final KvService service;
    private final RdmaResources resources;
    private final Admission admission;
    private final RdmaSessions sessions;
    private final CompletionChannel channel;
    private final Listener listener;
    private final ConnectionParameters parameters;
    private final AtomicInteger accepting = new AtomicInteger();
    private final ExecutorService acceptors;
    private final Thread listening;
    private final Thread completing;
    private long lookedNs;
    private volatile boolean closing;

    RdmaPort(VerbsDevice device, ProtectionDomain domain, KvService service, Admission admission) {
        this.service = service;
        this.admission = admission;
        this.sessions = new RdmaSessions(service, admission);
        this.parameters = new ConnectionParameters(
                0, Math.min(device.capabilities().maxInboundReads(), MAX_INBOUND_READS), new byte[0]);
        this.channel = device.createCompletionChannel();
        this.resources = new RdmaResources(device, domain, channel);
        KvServerContext context = service.context();
        try {
            this.listener = device.listen(new InetSocketAddress(context.rdmaAddress(), context.rdmaPort()), BACKLOG);
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
        ServerThreads threads = context.surroundings().ownThreads();
        this.acceptors = threads.executor("kv-rdma-accept", ACCEPT_THREADS);
        this.listening = threads.thread("kv-rdma-accept", this::listen);
        this.completing = threads.thread("kv-rdma-completions", this::complete);
    }

    /** Starts the threads. */
    void start() {
        if (!resources.device().capabilities().has(Feature.END_CAUSES)) {
            LOG.info(
                    "device {} does not tell who used wrong keys: they are not counted",
                    resources.device().name());
        }
        lookedNs = service.nowNs();
        listening.start();
        completing.start();
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    private void listen() {
        while (!listener.isClosed()) {
            try {
                takeNext(TICK_NS);
            } catch (VerbsException e) {
                if (e.code() == VerbsErrorCode.INTERRUPTED) {
                    return;
                }
                LOG.warn("waiting for queue pairs: {}", e.getMessage());
            } catch (RuntimeException | Error e) {
                failed("a queue pair could not be taken", e);
            }
        }
    }

    /** Takes the next request for a queue pair, if one comes in the time. By one thread. */
    private void takeNext(long timeoutNs) {
        Optional<ConnectionRequest> request = listener.next(timeoutNs);
        request.ifPresent(this::take);
    }

    private void take(ConnectionRequest request) {
        boolean handedOver = false;
        try {
            Admission.Ticket ticket = admission.admit(request, sessions.size() + accepting.get());
            if (ticket != null) {
                handedOver = handOver(request, ticket.owner());
            }
        } finally {
            if (!handedOver) {
                request.close();
            }
        }
    }

    /** Other threads accept, as on some devices that takes the time of a call to the kernel; false if we are closing. */
    private boolean handOver(ConnectionRequest request, @Nullable RdmaClient owner) {
        accepting.incrementAndGet();
        boolean handedOver = false;
        try {
            acceptors.execute(() -> accept(request, owner));
            handedOver = true;
        } catch (RejectedExecutionException e) {
            LOG.debug("closing: {} is rejected", request.remoteAddress());
        } finally {
            if (!handedOver) {
                accepting.decrementAndGet();
                leave(request, owner);
            }
        }
        return handedOver;
    }

    /** A stranger that never had a queue pair is gone. */
    private void leave(ConnectionRequest request, @Nullable RdmaClient owner) {
        if (owner == null) {
            admission.leave(request.remoteAddress().getAddress());
        }
    }

    private void accept(ConnectionRequest request, @Nullable RdmaClient owner) {
        @Nullable RdmaSession session = null;
        try (request) {
            if (!listener.isClosed()) { // else closing the request rejects it
                session = new RdmaSession(resources, request, service, admission);
                sessions.add(session);
                if (owner != null) {
                    session.own(owner);
                }
                request.accept(parameters);
            }
        } catch (RuntimeException | Error e) {
            LOG.info("a queue pair from {} was not accepted: {}", request.remoteAddress(), e.toString());
            if (session != null) {
                session.disconnect(); // its RECVs are flushed, and the completion thread ends it
            }
        } finally {
            accepting.decrementAndGet();
            if (session == null) {
                service.counters().rejectedQueuePairs.increment();
                leave(request, owner);
            }
        }
    }

    private void complete() {
        while (!closing) {
            try {
                handleNext(TICK_NS);
            } catch (VerbsException e) {
                if (e.code() != VerbsErrorCode.INTERRUPTED) {
                    LOG.warn("waiting for completions: {}", e.getMessage());
                }
            } catch (RuntimeException | Error e) {
                failed("waiting for completions", e);
            }
        }
        Thread.interrupted(); // the interrupt said that we close; the closing itself is not to be interrupted
        sessions.endAll();
    }

    /** Handles what the next queue pair has done, if one does something in the time. By one thread. */
    private void handleNext(long timeoutNs) {
        Optional<CompletionQueue> ready = channel.await(timeoutNs);
        ready.ifPresent(sessions::handle);
        long nowNs = service.nowNs();
        if (nowNs - lookedNs >= TICK_NS) {
            lookedNs = nowNs;
            sessions.endStopped(nowNs);
        }
    }

    /** Not of one session: the thread goes on after a moment, in which others may free what it lacks. */
    private static void failed(String what, Throwable cause) {
        RdmaSessions.tell(what, cause);
        LockSupport.parkNanos(FAILURE_PAUSE_NS);
    }

    @Override
    public void close() {
        listener.close();
        listening.interrupt();
        acceptors.shutdownNow().forEach(Runnable::run); // what was not begun is closed
        try {
            if (!acceptors.awaitTermination(CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                LOG.error("a queue pair is still being accepted after {} ms", CLOSE_TIMEOUT_MS);
            }
            closing = true; // not before the last session is there: the completion thread ends them all
            completing.interrupt();
            listening.join(CLOSE_TIMEOUT_MS);
            completing.join(CLOSE_TIMEOUT_MS);
        } catch (InterruptedException e) {
            closing = true;
            completing.interrupt();
            Thread.currentThread().interrupt();
        }
        channel.close();
    }
}
