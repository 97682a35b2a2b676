package org.softrdma.kv.server;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;

/**
 * Where clients connect queue pairs, and the tokens that tie those to memcached connections.
 *
 * <p>Two threads: one accepts (a slow peer is accepted on a helper thread), one waits for completions of all sessions and
 * alone ends them. A READ of a client touches neither.
 */
final class RdmaPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaPort.class);

    private static final long TICK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long HELLO_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long CLOSE_TIMEOUT_MS = 10_000;
    private static final int BACKLOG = 128;
    private static final int ACCEPT_THREADS = 4;
    private static final int MAX_INBOUND_READS = 128;
    private static final int BATCH = 64;

    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final ItemStore store;
    private final ServerCounters counters;
    private final LongSupplier clockSeconds;
    private final int maxSessions;
    private final long answerTimeoutNs;
    private final CompletionChannel channel;
    private final Listener listener;
    private final ConnectionParameters parameters;
    private final Map<CompletionQueue, RdmaSession> sessions = new ConcurrentHashMap<>();
    private final Map<String, MemcachedConnection> tokens = new ConcurrentHashMap<>();
    private final AtomicInteger accepting = new AtomicInteger();
    private final SecureRandom random = new SecureRandom();
    private final ExecutorService acceptors;
    private final Thread listening;
    private final Thread completing;
    private volatile boolean closing;

    RdmaPort(
            VerbsDevice device,
            ProtectionDomain domain,
            ItemStore store,
            ServerCounters counters,
            KvServerContext context) {
        this.device = device;
        this.domain = domain;
        this.store = store;
        this.counters = counters;
        this.clockSeconds = context.clockSeconds();
        this.maxSessions = context.maxConnections();
        this.answerTimeoutNs = context.answerTimeoutNs();
        this.parameters = new ConnectionParameters(
                0, Math.min(device.capabilities().maxInboundReads(), MAX_INBOUND_READS), new byte[0]);
        this.channel = device.createCompletionChannel();
        try {
            this.listener = device.listen(
                    new InetSocketAddress(context.memcachedAddress().getAddress(), context.rdmaPort()), BACKLOG);
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
        AtomicInteger number = new AtomicInteger();
        this.acceptors = Executors.newFixedThreadPool(
                ACCEPT_THREADS, task -> daemon(task, "kv-rdma-accept-" + number.incrementAndGet()));
        this.listening = daemon(this::listen, "kv-rdma-accept");
        this.completing = daemon(this::complete, "kv-rdma-completions");
    }

    /** Starts the threads. */
    void start() {
        listening.start();
        completing.start();
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    /** A token that one queue pair may show to be bound to this connection. */
    String newToken(MemcachedConnection connection) {
        byte[] bytes = new byte[HelloDescriptor.TOKEN_LENGTH];
        random.nextBytes(bytes);
        String token = HexFormat.of().formatHex(bytes);
        tokens.put(token, connection);
        return token;
    }

    /** The connection to which a token was given, once; its queue pair counts as bound. */
    @Nullable
    MemcachedConnection claim(String token) {
        MemcachedConnection owner = tokens.remove(token);
        if (owner != null) {
            counters.boundQueuePairs.incrementAndGet();
        }
        return owner;
    }

    /** A token will not be used. */
    void forget(String token) {
        tokens.remove(token);
    }

    long nowSeconds() {
        return clockSeconds.getAsLong();
    }

    private void listen() {
        while (!listener.isClosed()) {
            try {
                Optional<ConnectionRequest> request = listener.next(TICK_NS);
                request.ifPresent(this::take);
            } catch (VerbsException e) {
                if (e.code() == VerbsErrorCode.INTERRUPTED) {
                    return;
                }
                LOG.warn("waiting for queue pairs: {}", e.getMessage());
            }
        }
    }

    private void take(ConnectionRequest request) {
        if (sessions.size() + accepting.get() >= maxSessions) {
            counters.rejectedQueuePairs.increment();
            request.close();
            return;
        }
        accepting.incrementAndGet();
        try {
            acceptors.execute(() -> accept(request));
        } catch (RejectedExecutionException e) { // closing
            accepting.decrementAndGet();
            request.close();
        }
    }

    private void accept(ConnectionRequest request) {
        @Nullable RdmaSession session = null;
        try (request) {
            if (listener.isClosed()) {
                return; // closing the request rejects it
            }
            session = new RdmaSession(device, domain, channel, store, counters, request, System.nanoTime());
            sessions.put(session.completions(), session);
            request.accept(parameters);
        } catch (RuntimeException e) {
            counters.rejectedQueuePairs.increment();
            LOG.info("a queue pair from {} was not accepted: {}", request.remoteAddress(), e.getMessage());
            if (session != null) {
                session.disconnect(); // its RECVs are flushed, and the completion thread ends it
            }
        } finally {
            accepting.decrementAndGet();
        }
    }

    private void complete() {
        WorkCompletion[] batch = WorkCompletion.array(BATCH);
        long lookedNs = System.nanoTime();
        while (!closing) {
            try {
                Optional<CompletionQueue> ready = channel.await(TICK_NS);
                ready.ifPresent(queue -> handle(queue, batch));
                long nowNs = System.nanoTime();
                if (nowNs - lookedNs >= TICK_NS) {
                    lookedNs = nowNs;
                    endStopped(nowNs);
                }
            } catch (VerbsException e) {
                if (e.code() != VerbsErrorCode.INTERRUPTED) {
                    LOG.warn("waiting for completions: {}", e.getMessage());
                }
            } catch (RuntimeException e) {
                LOG.error("handling completions", e);
            }
        }
        Thread.interrupted(); // the interrupt said that we close; the closing itself is not to be interrupted
        sessions.values().forEach(this::end);
    }

    private void handle(CompletionQueue queue, WorkCompletion[] batch) {
        queue.acknowledgeEvents(1);
        @Nullable RdmaSession session = sessions.get(queue);
        if (session == null) {
            return;
        }
        queue.requestNotification(false);
        if (!session.drain(batch, this)) {
            end(session);
        }
    }

    /** Ends queue pairs that did not say hello in time, and those whose client takes no answers. */
    private void endStopped(long nowNs) {
        for (RdmaSession session : sessions.values()) {
            if (!session.isBound()) {
                if (nowNs - session.acceptedNs() > HELLO_TIMEOUT_NS) {
                    end(session);
                }
            } else if (session.isStalled(nowNs, answerTimeoutNs)) {
                counters.stalledQueuePairs.increment();
                LOG.info("a queue pair is ended: its client took no answer for {} ms", answerTimeoutNs / NS_PER_MS);
                end(session);
            }
        }
    }

    private void end(RdmaSession session) {
        if (sessions.remove(session.completions()) == null) {
            return;
        }
        if (session.isBound()) {
            counters.boundQueuePairs.decrementAndGet();
        } else {
            counters.rejectedQueuePairs.increment();
        }
        session.end();
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

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
