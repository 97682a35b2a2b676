package org.softrdma.kv.client;

import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.client.network.ClientNetwork;
import org.softrdma.kv.client.place.KnownItems;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client of one server for one thread; {@link SharedKvClient} is the one for many. Its connection is a memcached
 * connection and, if the server is a {@code KvServer}, a queue pair. It remembers where items are. A GET of such an
 * item is one READ, which involves no thread of the server's store. If the location is unknown, or the READ finds the
 * item dead, replaced twice or half overwritten, the client asks the server to WRITE the item here and to return its
 * locator. With any other memcached it is a plain client, see {@link #protocol()}.
 *
 * <p>Blocking: the methods of {@link KvCommands}. Pipelined: {@code start} as many READs as the window allows,
 * {@link CompletionLoop#poll}, {@link #deliver}; this allocates nothing.
 *
 * <p>When a connection fails, everything outstanding on it fails. The next command reconnects, at most every quarter of
 * a second; in between, commands throw at once. The client forgets the locations of items when the server was
 * restarted. Owned by the thread of its loop.
 */
public final class KvClient implements KvCommands {
    private final @Nullable CompletionLoop loop;
    private final KvClientContext context;
    private final CloseStack owned = new CloseStack();
    private final ClientNetwork network;
    private final NanoClock clock;
    private final KnownItems known;
    private final KvClientCounters counters = new KvClientCounters();
    private final Backoff backoff;
    private final RemoteItem noItem = new RemoteItem();
    private final long[] lostTags;
    private int lostCount;
    private @Nullable KvConnection connection;
    private @Nullable KvException lastFailure;
    private String bootId = "";
    private String plainReason = "";
    private boolean plain;
    private boolean closed;

    /**
     * Connects a client with its own loop; closing the client closes both.
     *
     * @param device stays open until after the client is closed
     * @param context concluded
     * @throws KvException if there is no such server
     */
    public static KvClient connect(VerbsDevice device, KvClientContext context) {
        if (context.protocol() == KvProtocol.PLAIN) {
            return connect(context);
        }
        CompletionLoop loop = new CompletionLoop(device, 1, context.window(), context.nanoClock(), context.spin());
        try {
            KvClient client = new KvClient(loop, context);
            client.owned.add(loop);
            return client;
        } catch (RuntimeException e) {
            loop.close();
            throw e;
        }
    }

    /**
     * Connects a client to any memcached, without RDMA: no device and no verbs provider is needed.
     *
     * @param server its memcached port
     * @throws KvException if there is no such server
     */
    public static KvClient connect(InetSocketAddress server) {
        return connect(new KvClientContext(server).conclude());
    }

    /**
     * Connects a client to any memcached, without RDMA: no device and no verbs provider is needed.
     *
     * @param context concluded, its protocol AUTO or PLAIN
     * @throws IllegalArgumentException if the protocol is RDMA
     * @throws KvException if there is no such server
     */
    public static KvClient connect(KvClientContext context) {
        if (context.protocol() == KvProtocol.RDMA) {
            throw new IllegalArgumentException("protocol=RDMA: a client without a device cannot READ");
        }
        return new KvClient(context, null);
    }

    /**
     * Connects a client of a loop that others may share.
     *
     * @param loop stays open until after this is closed
     * @param context concluded
     * @throws KvException if there is no such server
     */
    public KvClient(CompletionLoop loop, KvClientContext context) {
        this(context, loop);
    }

    private KvClient(KvClientContext context, @Nullable CompletionLoop loop) {
        this.loop = loop;
        this.context = context;
        this.known = loop == null ? new KnownItems(context.locatorCapacity(), context.random()) : loop.known(context);
        this.lostTags = new long[context.window()];
        this.clock = context.nanoClock();
        this.backoff = new Backoff(context.random());
        this.network = owned.add(context.network().get());
        try {
            connect();
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /** A number that changes when the server restarts; empty if the server is a plain one. */
    public String bootId() {
        return bootId;
    }

    @Override
    public KvProtocol protocol() {
        return plain ? KvProtocol.PLAIN : KvProtocol.RDMA;
    }

    /** Why the protocol is PLAIN, in words that follow the server's name; empty if it is RDMA. */
    public String plainReason() {
        return plainReason;
    }

    /** The server's memcached port. */
    public InetSocketAddress serverAddress() {
        return context.server();
    }

    /** The counters of this client. */
    public KvClientCounters counters() {
        return counters;
    }

    /** The number of items whose locations the clients of the loop know. */
    public int knownItems() {
        return known.locators().size();
    }

    @Override
    public <T> T execute(KvRequest<T> request) {
        request.beginAt(clock.nanoTime());
        requireConnected();
        send(request);
        while (turn() && !request.isDone()) {
            awaitUntil(request.deadlineNs());
        }
        return request.result();
    }

    /**
     * Starts a READ of an item whose location is known. The next {@link CompletionLoop#poll} posts it, with all that
     * were started meanwhile, by one doorbell. Allocates nothing.
     *
     * @param key the key; must not change until the result was delivered
     * @param tag given back with the result
     */
    public StartStatus start(byte[] key, long tag) {
        if (lostCount > 0) {
            return StartStatus.WINDOW_FULL; // until those were delivered
        }
        RemoteReader reader = usableReader();
        if (reader == null) {
            return StartStatus.UNKNOWN;
        }
        return reader.start(key, tag);
    }

    /**
     * Starts READs of several items, as {@link #start(byte[], long)} does for each in turn, up to the first that would not
     * be STARTED. With many items this is faster than starting each by itself: the processor waits for what this client
     * knows of them together, not for one after another. Allocates nothing.
     *
     * @param keys the keys, from the first element on; none may change until its result was delivered
     * @param tags given back with the results, one for each key
     * @param count how many keys
     * @return how many were started; to learn why the next one was not, start it by itself
     */
    public int start(byte[][] keys, long[] tags, int count) {
        if (count < 0 || count > Math.min(keys.length, tags.length)) {
            throw new IllegalArgumentException("count=" + count + ": expected 0 to the number of keys, " + keys.length
                    + ", and of tags, " + tags.length);
        }
        RemoteReader reader = usableReader();
        return reader == null || lostCount > 0 ? 0 : reader.start(keys, tags, count);
    }

    private @Nullable RemoteReader reader() {
        KvConnection current = connection;
        return current == null ? null : current.reader();
    }

    private @Nullable RemoteReader usableReader() {
        RemoteReader reader = reader();
        return reader == null || reader.failure() != null ? null : reader;
    }

    /**
     * Delivers the results of completed READs; does not wait, see {@link CompletionLoop#poll}. READs that were
     * outstanding when the connection failed are delivered as {@link ReadOutcome#LOST}. Allocates nothing.
     *
     * @param handler called once per result
     * @return the number of results
     */
    public int deliver(ReadHandler handler) {
        int delivered = deliverLost(handler);
        KvConnection current = connection;
        RemoteReader reader = current == null ? null : current.reader();
        if (current == null || reader == null) {
            return delivered;
        }
        delivered += reader.deliver(handler);
        String reason = reader.failure();
        if (reason != null && current == connection) { // the handler may have noticed by itself
            lose(new KvException(current.name() + " is gone: " + reason));
            delivered += deliverLost(handler);
        }
        return delivered;
    }

    private int deliverLost(ReadHandler handler) {
        int delivered = lostCount;
        while (lostCount > 0) {
            lostCount--;
            handler.onRead(lostTags[lostCount], ReadOutcome.LOST, noItem);
        }
        return delivered;
    }

    /** Number of READs that were started and not yet delivered. */
    public int outstanding() {
        RemoteReader reader = reader();
        return lostCount + (reader == null ? 0 : reader.outstanding());
    }

    /** Sends a request that has begun; the client is connected. */
    void send(KvRequest<?> request) {
        KvConnection current = Objects.requireNonNull(connection);
        try {
            current.begin(request);
            request.send(current);
        } catch (KvException e) {
            request.fail(e);
            lose(e);
        } catch (RuntimeException | Error e) {
            // Half a command may wait in the link: what follows would be taken for the rest of it.
            KvException reason = fault(e);
            request.fail(reason);
            lose(reason);
            throw e;
        }
    }

    /** Does what there is to do for requests; false if the connection has failed, and all requests with it. */
    boolean turn() {
        KvConnection current = connection;
        if (current == null) {
            return false;
        }
        try {
            current.turn();
            return true;
        } catch (KvException e) {
            lose(e);
        } catch (VerbsException e) {
            lose(new KvException(current.name() + " is gone: " + e.getMessage(), e));
        } catch (RuntimeException | Error e) {
            lose(fault(e)); // in the middle of an answer
            throw e;
        }
        return false;
    }

    /** What requests fail with when this client is at fault, or its process out of memory. */
    static KvException fault(Throwable cause) {
        return new KvException("a fault in this client: " + cause, cause);
    }

    /** Waits for the server only, until the selector is woken up; for owners that have the device wake it up. */
    void await(long timeoutNs) {
        KvConnection current = connection;
        if (current == null) {
            return;
        }
        try {
            current.link().await(timeoutNs);
        } catch (KvException e) {
            lose(e);
        }
    }

    private void awaitUntil(long deadlineNs) {
        KvConnection current = connection;
        if (current == null) {
            return;
        }
        try {
            current.await(deadlineNs);
        } catch (KvException e) {
            lose(e);
        } catch (VerbsException e) {
            lose(new KvException(current.name() + " is gone: " + e.getMessage(), e));
        }
    }

    /** The connection, or null while there is none. */
    @Nullable
    KvConnection connection() {
        return connection;
    }

    /** Where the client waits; any thread may wake it up. */
    ClientNetwork network() {
        return network;
    }

    /** Why there is no connection. */
    KvException failure() {
        return lastFailure == null ? new KvException("not connected") : lastFailure;
    }

    /** How long until it may connect again; 0 if at once. */
    long reconnectInNs() {
        return backoff.leftNs(clock.nanoTime());
    }

    /** Connects again. */
    void connect() {
        requireOpen();
        try {
            KvConnection made = new KvConnection(loop, context, network, counters, known);
            backoff.reset();
            connection = made;
            lastFailure = null;
            bootId = made.bootId();
            plain = made.reader() == null;
            plainReason = plain ? made.plainReason() : "";
        } catch (KvException e) {
            throw notConnected(e);
        } catch (VerbsException e) {
            throw notConnected(new KvException("cannot connect to " + serverAddress() + ": " + e.getMessage(), e));
        } catch (RuntimeException | Error e) {
            backoff.failed(clock.nanoTime());
            throw e;
        }
    }

    private KvException notConnected(KvException reason) {
        lastFailure = reason;
        backoff.failed(clock.nanoTime());
        return reason;
    }

    private void requireConnected() {
        requireOpen();
        if (connection != null) {
            return;
        }
        long leftNs = reconnectInNs();
        if (leftNs > 0) {
            KvException last = failure();
            throw new KvException(
                    last.getMessage() + " (not tried again before " + TimeUnit.NANOSECONDS.toMillis(leftNs) + " ms)",
                    last);
        }
        connect();
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the client is closed");
        }
    }

    /** Ends a connection that is of no use any more. */
    void lose(KvException reason) {
        KvConnection lost = connection;
        if (lost == null) {
            return;
        }
        connection = null;
        lastFailure = reason;
        backoff.failed(clock.nanoTime());
        RemoteReader reader = lost.reader();
        if (reader != null) {
            lostCount += reader.abandon(lostTags);
        }
        lost.fail(reason);
        lost.close();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        KvConnection last = connection;
        connection = null;
        if (last != null) {
            last.finishTouches();
            last.fail(new KvException(last.name() + " was left: the client is closed"));
            last.close();
        }
        owned.close();
    }
}
