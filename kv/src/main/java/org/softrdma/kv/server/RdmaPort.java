package org.softrdma.kv.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.memcached.Refusal;
import org.softrdma.kv.memcached.TokenPlace;
import org.softrdma.kv.store.ItemStore;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Where clients connect queue pairs. Where the device has private data a connect must show a token there, and is rejected before it
 * has a queue pair if it does not: nobody unknown can READ. Elsewhere the first SEND must, soon ({@link Strangers}). Whose queue
 * pairs end by wrong keys has to wait ({@link WrongKeys}).
 *
 * <p>Two threads: one takes requests (helper threads accept them), one waits for completions of all sessions and
 * alone ends them. A READ of a client touches neither. Whatever fails in them, an Error too, costs one session at most.
 */
final class RdmaPort implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaPort.class);

    private static final long TICK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long FAILURE_PAUSE_NS = 10 * NS_PER_MS;
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
    private final long greetingTimeoutNs;
    private final TokenPlace tokenPlace;
    private final HelloTokens tokens;
    private final WrongKeys wrongKeys = new WrongKeys();
    private final Strangers strangers = new Strangers();
    private final CompletionChannel channel;
    private final Listener listener;
    private final ConnectionParameters parameters;
    private final Map<CompletionQueue, RdmaSession> sessions = new ConcurrentHashMap<>();
    private final AtomicInteger accepting = new AtomicInteger();
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
        this.answerTimeoutNs = context.answerTimeoutNs();
        this.tokenPlace = TokenPlace.on(device.capabilities().maxPrivateData());
        this.maxSessions = context.maxConnections() + (tokenPlace == TokenPlace.SEND ? Strangers.MOST : 0);
        this.tokens = new HelloTokens(context.helloTimeoutNs());
        this.greetingTimeoutNs = tokenPlace == TokenPlace.PRIVATE_DATA
                ? context.helloTimeoutNs()
                : Strangers.timeoutNs(context.helloTimeoutNs());
        this.parameters = new ConnectionParameters(
                0, Math.min(device.capabilities().maxInboundReads(), MAX_INBOUND_READS), new byte[0]);
        this.channel = device.createCompletionChannel();
        try {
            this.listener = device.listen(new InetSocketAddress(context.rdmaAddress(), context.rdmaPort()), BACKLOG);
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
        if (!device.capabilities().has(Feature.END_CAUSES)) {
            LOG.info("device {} does not tell who used wrong keys: they are not counted", device.name());
        }
        listening.start();
        completing.start();
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    /** Where clients have to show their tokens. */
    TokenPlace tokenPlace() {
        return tokenPlace;
    }

    /** Who is refused because of wrong keys. */
    WrongKeys wrongKeys() {
        return wrongKeys;
    }

    /** The tokens of memcached connections. */
    HelloTokens tokens() {
        return tokens;
    }

    /** A queue pair that was accepted as a stranger's shows its token; null if that is none. */
    @Nullable
    MemcachedConnection claim(RdmaSession session, String token) {
        MemcachedConnection owner = tokens.claim(token, System.nanoTime());
        if (owner != null) {
            strangers.leave(session.peer());
        }
        return owner;
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
            } catch (RuntimeException | Error e) {
                failed("a queue pair could not be taken", e);
            }
        }
    }

    /** Decides about a request before it has a queue pair. */
    private void take(ConnectionRequest request) {
        boolean handedOver = false;
        try {
            InetAddress peer = request.remoteAddress().getAddress();
            long nowNs = System.nanoTime();
            if (wrongKeys.pausedForNs(peer, nowNs) > 0) {
                refuse(request, Refusal.PAUSED);
            } else if (sessions.size() + accepting.get() >= maxSessions) {
                refuse(request, Refusal.TOO_MANY);
            } else if (tokenPlace == TokenPlace.SEND) {
                handedOver = takeStranger(request, peer);
            } else {
                handedOver = takeKnown(request, nowNs);
            }
        } finally {
            if (!handedOver) {
                request.close();
            }
        }
    }

    private boolean takeKnown(ConnectionRequest request, long nowNs) {
        Optional<String> token = HelloDescriptor.tokenOf(request.privateData());
        if (token.isEmpty()) {
            refuse(request, Refusal.NO_TOKEN);
            return false;
        }
        MemcachedConnection owner = tokens.claim(token.get(), nowNs);
        if (owner == null) {
            refuse(request, Refusal.BAD_TOKEN);
            return false;
        }
        return handOver(request, owner);
    }

    private boolean takeStranger(ConnectionRequest request, InetAddress peer) {
        if (!strangers.enter(peer)) {
            refuse(request, Refusal.TOO_MANY);
            return false;
        }
        boolean handedOver = false;
        try {
            handedOver = handOver(request, null);
        } finally {
            if (!handedOver) {
                strangers.leave(peer);
            }
        }
        return handedOver;
    }

    private void refuse(ConnectionRequest request, Refusal reason) {
        counters.rejectedQueuePairs.increment();
        LOG.info("a queue pair from {} was refused: {}", request.remoteAddress(), reason.text());
        request.reject(reason.privateData(device.capabilities().maxPrivateData()));
    }

    /** Other threads accept, as on some devices that takes the time of a call to the kernel; false if we are closing. */
    private boolean handOver(ConnectionRequest request, @Nullable MemcachedConnection owner) {
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
            }
        }
        return handedOver;
    }

    private void accept(ConnectionRequest request, @Nullable MemcachedConnection owner) {
        @Nullable RdmaSession session = null;
        try (request) {
            if (!listener.isClosed()) { // else closing the request rejects it
                session = new RdmaSession(device, domain, channel, store, counters, request, System.nanoTime());
                sessions.put(session.completions(), session);
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
                counters.rejectedQueuePairs.increment();
                if (owner == null) {
                    strangers.leave(request.remoteAddress().getAddress());
                }
            }
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
                    sessions.values().forEach(session -> endIfStopped(session, nowNs));
                }
            } catch (VerbsException e) {
                if (e.code() != VerbsErrorCode.INTERRUPTED) {
                    LOG.warn("waiting for completions: {}", e.getMessage());
                }
            } catch (RuntimeException | Error e) {
                failed("waiting for completions", e);
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
        boolean goesOn = false;
        try {
            queue.requestNotification(false);
            goesOn = session.drain(batch, this);
        } catch (RuntimeException | Error e) {
            tell("a queue pair is ended", e);
        }
        if (!goesOn) {
            end(session);
        }
    }

    /** Ends a queue pair that did not say hello in time, or whose client takes no answers. */
    private void endIfStopped(RdmaSession session, long nowNs) {
        if (!session.isGreeted()) {
            if (nowNs - session.acceptedNs() > greetingTimeoutNs) {
                end(session);
            }
        } else if (session.isStalled(nowNs, answerTimeoutNs)) {
            counters.stalledQueuePairs.increment();
            LOG.info("a queue pair is ended: its client took no answer for {} ms", answerTimeoutNs / NS_PER_MS);
            end(session);
        }
    }

    private void end(RdmaSession session) {
        if (sessions.remove(session.completions()) == null) {
            return;
        }
        try {
            if (session.isGreeted()) {
                counters.boundQueuePairs.decrementAndGet();
            } else {
                counters.rejectedQueuePairs.increment();
            }
            if (session.connection() == null) {
                strangers.leave(session.peer());
            }
            if (session.endCause() == EndCause.PEER_ACCESS_ERROR) {
                wrongKey(session);
            }
        } finally {
            endQuietly(session);
        }
    }

    private static void endQuietly(RdmaSession session) {
        try {
            session.end();
        } catch (RuntimeException | Error e) {
            tell("a queue pair could not be closed", e);
        }
    }

    /** Counts it for the address of the queue pair and for that of its memcached connection, which need not be one. */
    private void wrongKey(RdmaSession session) {
        counters.wrongKeys.increment();
        long nowNs = System.nanoTime();
        InetAddress peer = session.peer();
        countWrongKey(peer, nowNs);
        MemcachedConnection owner = session.connection();
        if (owner != null) {
            owner.rdma().usedWrongKey();
            InetAddress client = owner.remoteAddress();
            if (client != null && !WrongKeys.isSamePeer(client, peer)) {
                countWrongKey(client, nowNs);
            }
        }
    }

    private void countWrongKey(InetAddress peer, long nowNs) {
        long pauseNs = wrongKeys.count(peer, nowNs);
        if (pauseNs > 0) {
            LOG.warn(
                    "queue pairs from {} used wrong keys: all of them are ended, and further ones refused for {} s",
                    peer.getHostAddress(),
                    TimeUnit.NANOSECONDS.toSeconds(pauseNs));
            for (RdmaSession each : sessions.values()) {
                if (WrongKeys.isSamePeer(each.peer(), peer)) {
                    each.disconnect(); // one that was kept for later is a guess too
                }
            }
        } else {
            LOG.warn("a queue pair from {} used a wrong key", peer.getHostAddress());
        }
    }

    /** Not of one session: the thread goes on after a moment, in which others may free what it lacks. */
    private static void failed(String what, Throwable cause) {
        tell(what, cause);
        LockSupport.parkNanos(FAILURE_PAUSE_NS);
    }

    /** Memory may be short, and then telling fails too, which is no reason to stop. */
    private static void tell(String what, Throwable cause) {
        try {
            LOG.error(what, cause);
        } catch (Error unspeakable) {
            // the next one may be told again
        }
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
