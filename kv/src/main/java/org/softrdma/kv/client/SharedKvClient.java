package org.softrdma.kv.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.turns.OwnThread;
import org.softrdma.kv.turns.Turns;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client of one server for any number of threads, whose requests share one connection and do not wait for each other.
 * {@link #submit} does not wait for the result, the methods of {@link KvCommands} do. A get sees every change of its
 * key that the same thread submitted before it. It may also see a change that was submitted after it, because READs and
 * the memcached connection are independent.
 *
 * <p>Without a connection requests fail at once; the client reconnects on its own, first at once and then every quarter
 * of a second. The device must be in engine mode.
 *
 * <p>It has two threads: {@code kv-client} owns the connection (a {@link KvClient}) and completes the futures, so
 * dependent stages without an executor run there and must not block; {@code kv-client-events} waits for the device and
 * wakes it. Everything here is thread-safe.
 */
public final class SharedKvClient implements KvCommands {
    private static final Logger LOG = LoggerFactory.getLogger(SharedKvClient.class);

    private static final long SPIN_NS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long TICK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int BATCH = 256;

    /** How often the time limits of requests are looked at that cannot be sent yet. */
    private static final long QUEUE_CHECK_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final KvClient client;
    private final @Nullable CompletionLoop loop;
    private final NanoClock clock;
    private final IdleStrategy spin;
    private final long requestTimeoutNs;
    private final Semaphore room;
    private final Queue<KvRequest<?>> queue = new ConcurrentLinkedQueue<>();
    private final Turns turns;

    /** Both are set before a request or an event can come. */
    private volatile @Nullable OwnThread owner;

    private @Nullable OwnThread events;

    private volatile @Nullable KvException failure;
    private volatile KvProtocol protocol;
    private volatile boolean sleeping;
    private volatile boolean closing;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Requests that were done; by the owner. */
    private long done;

    /**
     * Connects.
     *
     * @param device stays open until after the client is closed
     * @param context concluded
     * @throws IllegalArgumentException if the device is in manual progress
     * @throws KvException if there is no such server
     */
    public static SharedKvClient connect(VerbsDevice device, KvClientContext context) {
        if (context.protocol() == KvProtocol.PLAIN) {
            return connect(context);
        }
        if (device.manualProgress()) {
            throw new IllegalArgumentException("device " + device.name()
                    + " is in manual progress; a client of many threads needs one that drives itself"
                    + " (progress=engine)");
        }
        CompletionLoop loop = new CompletionLoop(device, 1, context.window(), context.nanoClock(), context.spin());
        try {
            return new SharedKvClient(new KvClient(loop, context), loop, context).start();
        } catch (RuntimeException e) {
            loop.close();
            throw e;
        }
    }

    /**
     * Connects to any memcached, without RDMA: no device and no verbs provider is needed.
     *
     * @param server its memcached port
     * @throws KvException if there is no such server
     */
    public static SharedKvClient connect(InetSocketAddress server) {
        return connect(new KvClientContext(server).conclude());
    }

    /**
     * Connects to any memcached, without RDMA: no device and no verbs provider is needed.
     *
     * @param context concluded, its protocol AUTO or PLAIN
     * @throws IllegalArgumentException if the protocol is RDMA
     * @throws KvException if there is no such server
     */
    public static SharedKvClient connect(KvClientContext context) {
        return new SharedKvClient(KvClient.connect(context), null, context).start();
    }

    private SharedKvClient(KvClient client, @Nullable CompletionLoop loop, KvClientContext context) {
        this.client = client;
        this.loop = loop;
        this.clock = context.nanoClock();
        this.spin = context.spin();
        this.requestTimeoutNs = context.requestTimeoutNs();
        this.room = new Semaphore(context.maxOutstanding());
        this.protocol = client.protocol();
        this.turns = context.turns();
    }

    private SharedKvClient start() {
        owner = turns.start("kv-client", () -> !closing, this::run);
        CompletionLoop itsLoop = loop;
        if (itsLoop != null) {
            events = turns.start("kv-client-events", () -> !closing, () -> passEvents(itsLoop));
        }
        return this;
    }

    private boolean isOwner() {
        OwnThread thread = owner;
        return thread != null && thread.isCurrent();
    }

    /**
     * Sends a request. If the limit of outstanding requests is reached, this waits for one of them to finish, no
     * longer than the request's time limit.
     *
     * @param request used once
     * @return completed with the result or a {@link KvException}, by the thread {@code kv-client}; cancelling it does
     *     not cancel the request
     * @throws IllegalStateException if the request was used before, or this is closed
     */
    public <T> CompletableFuture<T> submit(KvRequest<T> request) {
        long nowNs = clock.nanoTime();
        request.beginAt(nowNs);
        request.limit(nowNs, requestTimeoutNs);
        CompletableFuture<T> future = new CompletableFuture<>();
        KvException broken = failure;
        if (broken == null && !takeRoom(request)) {
            broken = new KvTimeoutException("too many requests are on their way already, none was done in time");
        }
        if (broken != null) {
            future.completeExceptionally(broken);
            return future;
        }
        request.onDone(() -> settle(request, future));
        queue.add(request);
        if (closing) {
            future.completeExceptionally(isClosed());
        } else if (sleeping) {
            client.network().wakeUp();
        }
        KvException late = failure;
        if (late != null) {
            future.completeExceptionally(late); // it may sit in the queue until the next attempt to connect is over
        }
        return future;
    }

    @Override
    public <T> T execute(KvRequest<T> request) {
        if (isOwner()) {
            throw new IllegalStateException("waiting on the thread that completes what is waited for; submit instead");
        }
        try {
            return turns.get(submit(request));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KvException reason) {
                throw reason.forCaller();
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KvException("interrupted while waiting for " + client.serverAddress(), e);
        }
    }

    @Override
    public KvProtocol protocol() {
        return protocol;
    }

    /** The counters of this client, read without waiting for its thread, so they may lag. */
    public KvClientCounters counters() {
        return client.counters();
    }

    private boolean takeRoom(KvRequest<?> request) {
        if (closing) {
            throw isClosed();
        }
        if (room.tryAcquire()) {
            return true;
        }
        if (isOwner()) {
            return false; // nothing would ever be done while this waits
        }
        try {
            return turns.acquire(room, request.timeoutNs(requestTimeoutNs));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private <T> void settle(KvRequest<T> request, CompletableFuture<T> future) {
        done++;
        room.release();
        KvException reason = request.failure();
        if (reason != null) {
            future.completeExceptionally(reason);
        } else {
            future.complete(request.result());
        }
    }

    private void run() {
        try {
            if (client.connection() == null) {
                reconnect();
            } else {
                serve();
            }
        } catch (Exception | Error e) { // an Error too: nobody else would complete the futures
            LOG.error("a fault in the client of {}", client.serverAddress(), e);
            KvException reason = KvClient.fault(e);
            failure = reason;
            client.lose(reason);
            failQueued(reason);
        }
    }

    private void serve() throws IOException {
        long lastWorkNs = clock.nanoTime();
        long queueCheckedNs = lastWorkNs;
        while (!closing) {
            long before = done;
            boolean worked = sendQueued();
            if (!client.turn()) {
                failure = client.failure();
                failQueued(client.failure());
                return;
            }
            long nowNs = clock.nanoTime();
            if (nowNs - queueCheckedNs >= QUEUE_CHECK_NS) {
                queueCheckedNs = nowNs;
                checkQueued(nowNs);
            }
            if (worked || done != before) {
                lastWorkNs = nowNs;
            } else if (nowNs - lastWorkNs > SPIN_NS) {
                sleep(nowNs);
                lastWorkNs = clock.nanoTime();
            } else {
                spin.idle();
            }
        }
    }

    /** Sends what has been submitted, as much as the connection takes now. */
    private boolean sendQueued() {
        KvConnection connection = client.connection();
        int count = 0;
        while (count < BATCH && connection != null && connection.hasRoom()) {
            KvRequest<?> request = queue.poll();
            if (request == null) {
                break;
            }
            client.send(request);
            connection = client.connection();
            count++;
        }
        return count > 0;
    }

    /** Fails requests whose time was over before they could be sent. */
    private void checkQueued(long nowNs) {
        queue.removeIf(request -> {
            request.checkDeadline(nowNs);
            return request.isDone();
        });
    }

    /** Waits for a submitted request, the server, the device, or a time limit. */
    private void sleep(long nowNs) throws IOException {
        KvConnection connection = client.connection();
        if (connection == null) {
            return;
        }
        sleeping = true;
        try {
            if (loop != null) {
                loop.members().arm();
                if (loop.poll() > 0) {
                    return;
                }
            }
            if (!closing && (queue.isEmpty() || !connection.hasRoom())) {
                client.await(connection.idleNs(nowNs, queue.isEmpty() ? TICK_NS : QUEUE_CHECK_NS));
            }
        } finally {
            sleeping = false;
        }
    }

    private void reconnect() throws IOException {
        failQueued(client.failure());
        long leftNs = client.reconnectInNs();
        if (leftNs > 0) {
            client.network().pause(leftNs);
            return;
        }
        try {
            client.connect();
            protocol = client.protocol();
            failure = null;
        } catch (KvException e) {
            failure = e;
        }
    }

    private void failQueued(KvException reason) {
        KvRequest<?> request = queue.poll();
        while (request != null) {
            request.fail(reason);
            request = queue.poll();
        }
    }

    /** On a thread of its own: the device's events wake the owner where it waits. */
    private void passEvents(CompletionLoop itsLoop) {
        try {
            if (itsLoop.members().awaitEvent(TICK_NS)) {
                client.network().wakeUp();
            }
        } catch (VerbsException e) {
            if (e.code() != VerbsErrorCode.INTERRUPTED) {
                LOG.error("waiting for events of the device", e);
            }
        }
    }

    private IllegalStateException isClosed() {
        return new IllegalStateException("the client of " + client.serverAddress() + " is closed");
    }

    /**
     * Ends the connection; requests on their way fail. Idempotent.
     *
     * @throws IllegalStateException on the thread that completes futures
     */
    @Override
    public void close() {
        if (isOwner()) {
            throw new IllegalStateException("closing on the thread that completes futures; close on another one");
        }
        if (closed.getAndSet(true)) {
            return;
        }
        closing = true;
        client.network().wakeUp();
        OwnThread own = owner;
        if (own != null) {
            own.join();
        }
        if (events != null) {
            events.interrupt();
            events.join();
        }
        client.close();
        failQueued(new KvException("the client is closed"));
        if (loop != null) {
            loop.close();
        }
    }
}
