package org.softrdma.kv.client;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.client.network.ClientNetwork;
import org.softrdma.kv.client.network.ClientTls;
import org.softrdma.kv.client.network.SocketNetwork;
import org.softrdma.kv.client.rdma.ReaderSettings;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.turns.Turns;

/**
 * Configuration of a {@link KvClient} or {@link SharedKvClient}: filled by setters, checked and frozen by
 * {@link #conclude()}. Not thread-safe.
 */
public final class KvClientContext {
    /** Default of the READs that may be outstanding. */
    public static final int DEFAULT_WINDOW = 16;

    /** Default of the longest item that a READ fetches. */
    public static final int DEFAULT_MAX_ITEM_LENGTH = 1 << 20;

    /** Default of the number of items whose locations are remembered. */
    public static final int DEFAULT_LOCATOR_CAPACITY = 1 << 16;

    /** Default of the requests of a {@link SharedKvClient} that may be outstanding. */
    public static final int DEFAULT_MAX_OUTSTANDING = 1024;

    private static final long MAX_TIMEOUT_NS = TimeUnit.DAYS.toNanos(1);
    /** Memory for the items of a window, one more, and their rounding up to pages. */
    private static final long MOST_MEMORY = Integer.MAX_VALUE - (32L << 20);

    private final InetSocketAddress server;
    private KvProtocol protocol = KvProtocol.AUTO;
    private boolean touchReports = true;
    private int maxOutstanding = DEFAULT_MAX_OUTSTANDING;
    private int window = DEFAULT_WINDOW;
    private int maxItemLength = DEFAULT_MAX_ITEM_LENGTH;
    private int locatorCapacity = DEFAULT_LOCATOR_CAPACITY;
    private long connectTimeoutNs = TimeUnit.SECONDS.toNanos(5);
    private long requestTimeoutNs = TimeUnit.SECONDS.toNanos(10);
    private @Nullable Supplier<? extends ClientNetwork> network;
    private @Nullable ClientLogin login;
    private @Nullable ClientTls tls;
    private boolean clearReads;
    private NanoClock nanoClock = SystemNanoClock.INSTANCE;
    private IdleStrategy spin = BusySpinIdleStrategy.INSTANCE;
    private RandomGenerator random = new SecureRandom();
    private Turns turns = Turns.OF_JVM;
    private boolean concluded;

    /**
     * The defaults for a server.
     *
     * @param server its memcached port
     */
    public KvClientContext(InetSocketAddress server) {
        this.server = server;
    }

    /** The server's memcached port. */
    public InetSocketAddress server() {
        return server;
    }

    /**
     * Sets how to talk to the server; the default is AUTO.
     *
     * @param choice the protocol
     */
    public KvClientContext protocol(KvProtocol choice) {
        requireOpen();
        protocol = choice;
        return this;
    }

    /** How to talk to the server. */
    public KvProtocol protocol() {
        return protocol;
    }

    /**
     * Sets whether the server is told which items were READ, for its LRU and statistics; the default is true.
     *
     * @param wanted false for measurements of bare READs
     */
    public KvClientContext touchReports(boolean wanted) {
        requireOpen();
        touchReports = wanted;
        return this;
    }

    /** Whether the server is told which items were READ. */
    public boolean touchReports() {
        return touchReports;
    }

    /**
     * Sets how many requests of a {@link SharedKvClient} may be outstanding; further ones wait.
     *
     * @param requests 1 to 2^20
     */
    public KvClientContext maxOutstanding(int requests) {
        requireOpen();
        maxOutstanding = requests;
        return this;
    }

    /** How many requests may be outstanding. */
    public int maxOutstanding() {
        return maxOutstanding;
    }

    /**
     * Sets how many READs may be outstanding, besides one of a command.
     *
     * @param reads 1 to 4096
     */
    public KvClientContext window(int reads) {
        requireOpen();
        window = reads;
        return this;
    }

    /** How many READs may be outstanding. */
    public int window() {
        return window;
    }

    /**
     * Sets the longest item that a READ fetches: each READ of the window has a buffer of this length. Longer items are
     * fetched over TCP.
     *
     * @param bytes 1024 to {@link Locator#MAX_ITEM_LENGTH}
     */
    public KvClientContext maxItemLength(int bytes) {
        requireOpen();
        maxItemLength = bytes;
        return this;
    }

    /** The longest item that a READ fetches. */
    public int maxItemLength() {
        return maxItemLength;
    }

    /**
     * Sets how many locations of items all clients of a loop together remember, for each server.
     *
     * @param entries 1 to 2^25
     */
    public KvClientContext locatorCapacity(int entries) {
        requireOpen();
        locatorCapacity = entries;
        return this;
    }

    /** How many locations of items are remembered. */
    public int locatorCapacity() {
        return locatorCapacity;
    }

    /**
     * Sets how long each of the two connections may take to connect.
     *
     * @param timeoutNs positive, at most a day
     */
    public KvClientContext connectTimeoutNs(long timeoutNs) {
        requireOpen();
        connectTimeoutNs = timeoutNs;
        return this;
    }

    /** How long connecting may take. */
    public long connectTimeoutNs() {
        return connectTimeoutNs;
    }

    /**
     * Sets how long the server may take to answer a request that has no limit of its own. If an answer is missing after
     * both this time and the request's own limit, the connection counts as dead and is closed.
     *
     * @param timeoutNs positive, at most a day
     */
    public KvClientContext requestTimeoutNs(long timeoutNs) {
        requireOpen();
        requestTimeoutNs = timeoutNs;
        return this;
    }

    /** How long the server may take to answer. */
    public long requestTimeoutNs() {
        return requestTimeoutNs;
    }

    /**
     * Sets who logs in, if the server wants to know (memcached's {@code -Y}); by default nobody does. A server that does
     * not want to know is not told.
     *
     * @param choice user and password
     */
    public KvClientContext login(ClientLogin choice) {
        requireOpen();
        login = choice;
        return this;
    }

    /** Who logs in; null if nobody does. */
    public @Nullable ClientLogin login() {
        return login;
    }

    /**
     * Encrypts the memcached connection; the default is TCP in the clear. Items are then fetched over it, not by READ,
     * unless {@link #clearReads} says otherwise.
     *
     * @param choice whom to trust
     */
    public KvClientContext tls(ClientTls choice) {
        requireOpen();
        tls = choice;
        return this;
    }

    /**
     * Fetches items by READ although the memcached connection is encrypted. <b>READs are not encrypted:</b> everybody who
     * sees the network traffic sees the keys and values of the items that are fetched by READ. Means nothing without
     * {@link #tls}.
     *
     * @param wanted the default is false
     */
    public KvClientContext clearReads(boolean wanted) {
        requireOpen();
        clearReads = wanted;
        return this;
    }

    /** True if items may be fetched by READ, as far as encryption is concerned. */
    boolean mayRead() {
        return tls == null || clearReads;
    }

    /**
     * Sets how to reach the server's memcached port; the default is TCP sockets.
     *
     * @param factory makes one for each client
     */
    public KvClientContext network(Supplier<? extends ClientNetwork> factory) {
        requireOpen();
        network = factory;
        return this;
    }

    /** Makes what reaches the server's memcached port. */
    public Supplier<? extends ClientNetwork> network() {
        return network == null ? () -> new SocketNetwork(tls) : network;
    }

    /**
     * Sets the clock of all time limits, and what a client does between two polls while it spins. They are set
     * together, because a client would spin for ever if the clock stood still while it spins.
     *
     * @param clock by default the system's
     * @param whileSpinning by default a busy spin
     */
    public KvClientContext nanoClock(NanoClock clock, IdleStrategy whileSpinning) {
        requireOpen();
        nanoClock = clock;
        spin = whileSpinning;
        return this;
    }

    /** The clock of all limits. */
    public NanoClock nanoClock() {
        return nanoClock;
    }

    /** What a client does between two polls while it spins. */
    public IdleStrategy spin() {
        return spin;
    }

    /**
     * Sets the source of random numbers: for the seed of hashes, which must stay secret, and for how long to wait
     * before reconnecting.
     *
     * @param source by default a {@link SecureRandom}
     */
    public KvClientContext random(RandomGenerator source) {
        requireOpen();
        random = source;
        return this;
    }

    /** Where random numbers come from. */
    public RandomGenerator random() {
        return random;
    }

    /**
     * Sets how threads of a {@link SharedKvClient} wait for each other, for a simulation.
     *
     * @param choice by default the JVM's means
     */
    public KvClientContext turns(Turns choice) {
        requireOpen();
        turns = choice;
        return this;
    }

    /** How threads of a {@link SharedKvClient} wait for each other. */
    public Turns turns() {
        return turns;
    }

    /** What a reader is told of this. */
    ReaderSettings reader() {
        return new ReaderSettings(window, maxItemLength, connectTimeoutNs, touchReports, nanoClock);
    }

    /**
     * Checks everything and freezes this.
     *
     * @throws IllegalArgumentException if a setting is wrong; the message lists all errors
     */
    public KvClientContext conclude() {
        List<String> faults = new ArrayList<>();
        check(faults, "window", window, 1, 4096);
        check(faults, "maxItemLength", maxItemLength, 1024, Locator.MAX_ITEM_LENGTH);
        check(faults, "locatorCapacity", locatorCapacity, 1, 1 << 25);
        check(faults, "maxOutstanding", maxOutstanding, 1, 1 << 20);
        check(faults, "connectTimeoutNs", connectTimeoutNs, 1, MAX_TIMEOUT_NS);
        check(faults, "requestTimeoutNs", requestTimeoutNs, 1, MAX_TIMEOUT_NS);
        long memory = (window + 1L) * maxItemLength;
        if (memory > MOST_MEMORY) {
            faults.add("window=" + window + " and maxItemLength=" + maxItemLength + ": " + (window + 1L)
                    + " buffers take " + memory + " bytes, expected at most " + MOST_MEMORY);
        }
        if (tls != null && network != null) {
            faults.add("tls and network: expected only one of them, TLS is for TCP sockets");
        }
        if (protocol == KvProtocol.RDMA && !mayRead()) {
            faults.add("protocol=RDMA with tls: READs are not encrypted, which clearReads(true) has to allow");
        }
        if (server.isUnresolved()) {
            faults.add("server=" + server + ": unknown host");
        }
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults));
        }
        concluded = true;
        return this;
    }

    private static void check(List<String> faults, String name, long value, long min, long max) {
        if (value < min || value > max) {
            faults.add(name + "=" + value + ": expected " + min + " to " + max);
        }
    }

    private void requireOpen() {
        if (concluded) {
            throw new IllegalStateException("the context is concluded");
        }
    }
}
