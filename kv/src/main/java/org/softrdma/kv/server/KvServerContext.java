package org.softrdma.kv.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.store.SlabGeometry;
import org.softrdma.verbs.MemorySource;

/** Configuration of a {@link KvServer}: filled by setters, checked and frozen by {@link #conclude()}. Not thread-safe. */
public final class KvServerContext {
    private static final Logger LOG = LoggerFactory.getLogger(KvServerContext.class);

    /** What of the memory for items has a key of its own for READs. */
    public enum Registration {
        /** All of it in large pieces, with an offset for each item. Every device can do that. */
        ARENA("arena"),
        /**
         * Each chunk, and a key keeps its rkey when its item is replaced by one of the same slab class. Needs a device with
         * ZERO_BASED and REGION_SWAP, and one of its memory regions for each chunk.
         */
        CHUNK("chunk");

        private final String word;

        Registration(String word) {
            this.word = word;
        }

        /** Its name in options and in the protocol. */
        public String word() {
            return word;
        }
    }

    /** memcached's default port. */
    public static final int DEFAULT_PORT = 11211;

    /** memcached's default memory limit. */
    public static final long DEFAULT_MEMORY_LIMIT = 64L << 20;

    /** memcached's default for the longest item. */
    public static final int DEFAULT_MAX_ITEM_LENGTH = 1 << 20;

    /** memcached's default number of threads. */
    public static final int DEFAULT_THREADS = 4;

    /** memcached's default number of connections. */
    public static final int DEFAULT_MAX_CONNECTIONS = 1024;

    /** memcached's default length of the queue of connections that nobody has accepted yet. */
    public static final int DEFAULT_BACKLOG = 1024;

    /** Default of {@link #answerTimeoutNs()}: no client that works is so slow. */
    public static final long DEFAULT_ANSWER_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    /** memcached's default rights of a Unix socket, 0700. */
    public static final int DEFAULT_UNIX_SOCKET_MASK = 0700;

    /** Default of {@link #helloTimeoutNs()}. */
    public static final long DEFAULT_HELLO_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

    private @Nullable InetSocketAddress memcachedAddress;
    private @Nullable InetAddress rdmaAddress;
    private int rdmaPort;
    private int threads = DEFAULT_THREADS;
    private int maxConnections = DEFAULT_MAX_CONNECTIONS;
    private long memoryLimit = DEFAULT_MEMORY_LIMIT;
    private int maxItemLength = DEFAULT_MAX_ITEM_LENGTH;
    private double slabFactor = SlabGeometry.DEFAULT_FACTOR;
    private int minimumSpace = SlabGeometry.DEFAULT_MINIMUM_SPACE;
    private PortSettings.Io io = PortSettings.Io.AUTO;
    private Registration registration = Registration.ARENA;
    private boolean evicting = true;
    private boolean flushAllowed = true;
    private int idleTimeoutSeconds;
    private int backlog = DEFAULT_BACKLOG;
    private int verbosity;
    private MemorySource memory = new MemorySource.Anonymous();
    private @Nullable Path unixSocket;
    private int unixSocketMask = DEFAULT_UNIX_SOCKET_MASK;
    private @Nullable Runnable shutdown;
    private @Nullable LongConsumer moveClock;
    private @Nullable Passwords passwords;
    private int requestsPerTurn;
    private long answerTimeoutNs = DEFAULT_ANSWER_TIMEOUT_NS;
    private long helloTimeoutNs = DEFAULT_HELLO_TIMEOUT_NS;
    private boolean wiping;
    private boolean tailsReclaimed = true;
    private boolean crawling = true;
    private String version = "unknown";
    private LongSupplier wallSeconds = () -> System.currentTimeMillis() / 1000;
    private NanoClock nanoClock = SystemNanoClock.INSTANCE;
    private LongSupplier clockSeconds = new ServerClock(wallSeconds, nanoClock);
    private RandomGenerator random = new SecureRandom();
    private ServerNetwork network = MemcachedPort::new;
    private ServerThreads ownThreads = new PlatformThreads();
    private Consumer<Throwable> fatalErrors = cause -> LOG.error("a thread of the server has failed", cause);
    private boolean concluded;

    /** The defaults. */
    public KvServerContext() {}

    /**
     * Sets where memcached clients connect; port 0 picks a free one.
     *
     * @param address the address
     */
    public KvServerContext memcachedAddress(InetSocketAddress address) {
        memcachedAddress = changed(address);
        return this;
    }

    /**
     * Sets the address where queue pairs are connected. Unless set it is that of the memcached port; if there is a Unix socket instead
     * of that, and no address was set for it, the loopback address: who may not even open the socket must not come in by the network.
     *
     * @param address the address
     */
    public KvServerContext rdmaAddress(InetAddress address) {
        rdmaAddress = changed(address);
        return this;
    }

    /** The address where queue pairs are connected. */
    public InetAddress rdmaAddress() {
        if (rdmaAddress != null) {
            return rdmaAddress;
        }
        return unixSocket != null && memcachedAddress == null
                ? InetAddress.getLoopbackAddress()
                : port().address().getAddress();
    }

    /** Where memcached clients connect, unless set otherwise on every address, and how. */
    public PortSettings port() {
        InetSocketAddress address = memcachedAddress == null ? new InetSocketAddress(DEFAULT_PORT) : memcachedAddress;
        return new PortSettings(address, unixSocket, unixSocketMask, backlog, threads, io);
    }

    /**
     * Sets the port where queue pairs are connected, on {@link #rdmaAddress()}; 0 (the default) picks a free one.
     *
     * @param port the port
     */
    public KvServerContext rdmaPort(int port) {
        rdmaPort = changed(port);
        return this;
    }

    /** The port where queue pairs are connected. */
    public int rdmaPort() {
        return rdmaPort;
    }

    /**
     * Sets the number of event loop threads.
     *
     * @param count 1 to 1024
     */
    public KvServerContext threads(int count) {
        threads = changed(count);
        return this;
    }

    /**
     * Sets how many memcached connections there may be; as many queue pairs.
     *
     * @param count at least 1
     */
    public KvServerContext maxConnections(int count) {
        maxConnections = changed(count);
        return this;
    }

    /** How many memcached connections there may be. */
    public int maxConnections() {
        return maxConnections;
    }

    /**
     * Sets how much memory items may take.
     *
     * @param bytes at least a slab page
     */
    public KvServerContext memoryLimit(long bytes) {
        memoryLimit = changed(bytes);
        return this;
    }

    /** How much memory items may take. */
    public long memoryLimit() {
        return memoryLimit;
    }

    /**
     * Sets the longest item, with key and header.
     *
     * @param bytes 1024 to {@link Locator#MAX_ITEM_LENGTH}
     */
    public KvServerContext maxItemLength(int bytes) {
        maxItemLength = changed(bytes);
        return this;
    }

    /** The longest item. */
    public int maxItemLength() {
        return maxItemLength;
    }

    /**
     * Sets the growth of chunk sizes.
     *
     * @param factor 1.01 to 16
     */
    public KvServerContext slabFactor(double factor) {
        slabFactor = changed(factor);
        return this;
    }

    /** The growth of chunk sizes. */
    public double slabFactor() {
        return slabFactor;
    }

    /**
     * Sets the length of the smallest chunk, as memcached's -n does.
     *
     * @param bytes at least 1; the chunk is 48 bytes longer
     */
    public KvServerContext minimumSpace(int bytes) {
        minimumSpace = changed(bytes);
        return this;
    }

    /** The length of the smallest chunk, less 48. */
    public int minimumSpace() {
        return minimumSpace;
    }

    /**
     * Sets how the memcached port does its I/O.
     *
     * @param choice which
     */
    public KvServerContext io(PortSettings.Io choice) {
        io = changed(choice);
        return this;
    }

    /**
     * Sets how memory for items is registered.
     *
     * @param choice the registration
     */
    public KvServerContext registration(Registration choice) {
        registration = changed(choice);
        return this;
    }

    /** How memory for items is registered. */
    public Registration registration() {
        return registration;
    }

    /**
     * Sets whether items make room for others once the memory limit is reached; otherwise storing fails.
     *
     * @param allowed memcached's -M is false
     */
    public KvServerContext evicting(boolean allowed) {
        evicting = changed(allowed);
        return this;
    }

    /** Whether items make room for others. */
    public boolean evicting() {
        return evicting;
    }

    /**
     * Sets whether clients may flush.
     *
     * @param allowed memcached's -F is false
     */
    public KvServerContext flushAllowed(boolean allowed) {
        flushAllowed = changed(allowed);
        return this;
    }

    /** Whether clients may flush. */
    public boolean flushAllowed() {
        return flushAllowed;
    }

    /**
     * Sets after how many seconds without a request a connection is closed, unless it has a queue pair.
     *
     * @param seconds 0 for never
     */
    public KvServerContext idleTimeoutSeconds(int seconds) {
        idleTimeoutSeconds = changed(seconds);
        return this;
    }

    /** After how many seconds without a request a connection is closed, 0 for never. */
    public int idleTimeoutSeconds() {
        return idleTimeoutSeconds;
    }

    /**
     * Sets how many connections may wait to be accepted.
     *
     * @param length at least 1
     */
    public KvServerContext backlog(int length) {
        backlog = changed(length);
        return this;
    }

    /**
     * Sets where the memory of the items comes from.
     *
     * @param source anonymous memory unless set; of a file each arena makes one and removes its name at once
     */
    public KvServerContext memory(MemorySource source) {
        memory = changed(source);
        return this;
    }

    /** Where the memory of the items comes from. */
    public MemorySource memory() {
        return memory;
    }

    /**
     * Sets the level of verbosity that {@code stats settings} shows at first.
     *
     * @param level 0 or more
     */
    public KvServerContext verbosity(int level) {
        verbosity = changed(level);
        return this;
    }

    /** The first level of verbosity. */
    public int verbosity() {
        return verbosity;
    }

    /**
     * Sets a Unix socket where memcached clients connect instead of the TCP port; a socket file of that name that nobody
     * listens on is replaced.
     *
     * @param path its file
     * @param mask its rights, such as 0700
     */
    public KvServerContext unixSocket(Path path, int mask) {
        unixSocket = changed(path);
        unixSocketMask = mask;
        return this;
    }

    /**
     * Lets clients stop the server by the shutdown command.
     *
     * @param stop called by a thread of the server; must not wait for the server
     */
    public KvServerContext shutdown(Runnable stop) {
        shutdown = changed(stop);
        return this;
    }

    /** What the shutdown command does, or null if it does nothing. */
    public @Nullable Runnable shutdown() {
        return shutdown;
    }

    /**
     * Lets clients move the clock by the debugtime command: for tests.
     *
     * @param seconds takes by how many; called by any thread
     */
    public KvServerContext moveClock(LongConsumer seconds) {
        moveClock = changed(seconds);
        return this;
    }

    /** What the debugtime command does, or null if there is no such command. */
    public @Nullable LongConsumer moveClock() {
        return moveClock;
    }

    /**
     * Lets in only clients that send a user's password first. The clients of this project do not.
     *
     * @param users who may come in
     */
    public KvServerContext passwords(Passwords users) {
        passwords = changed(users);
        return this;
    }

    /** Who may come in, or null for everybody. */
    public @Nullable Passwords passwords() {
        return passwords;
    }

    /**
     * Sets after how many requests a connection lets others of its thread have their turn, memcached's -R.
     *
     * @param count 0 (the default): when all is done that one read from the network brought
     */
    public KvServerContext requestsPerTurn(int count) {
        requestsPerTurn = changed(count);
        return this;
    }

    /** After how many requests a connection yields, 0 for no such limit. */
    public int requestsPerTurn() {
        return requestsPerTurn;
    }

    /**
     * Sets how long a client may leave answers to its rgets without taking one of them, before its queue pair is ended: what
     * is on its way keeps memory from being used again.
     *
     * @param timeoutNs at least 1 ms; looked at every second
     */
    public KvServerContext answerTimeoutNs(long timeoutNs) {
        answerTimeoutNs = changed(timeoutNs);
        return this;
    }

    /** After how many nanoseconds without progress of its answers a queue pair is ended. */
    public long answerTimeoutNs() {
        return answerTimeoutNs;
    }

    /**
     * Sets how long a client may take from its {@code rdma hello} to its queue pair, and with that until it says hello there.
     *
     * @param timeoutNs at least 1 ms
     */
    public KvServerContext helloTimeoutNs(long timeoutNs) {
        helloTimeoutNs = changed(timeoutNs);
        return this;
    }

    /** For how many nanoseconds a token is good. */
    public long helloTimeoutNs() {
        return helloTimeoutNs;
    }

    /**
     * Sets whether key and value of an item are overwritten when it has died and nobody is being sent it any more; otherwise they stay
     * in memory, where clients can READ them, until the memory is used again.
     *
     * @param on false is the default: it costs a pass over each item
     */
    public KvServerContext wiping(boolean on) {
        wiping = changed(on);
        return this;
    }

    /** Whether dead items are overwritten. */
    public boolean wiping() {
        return wiping;
    }

    /**
     * Sets whether expired items at the ends of the LRU lists are removed every second, memcached's lru_maintainer.
     *
     * @param on true is the default
     */
    public KvServerContext tailsReclaimed(boolean on) {
        tailsReclaimed = changed(on);
        return this;
    }

    /** Whether expired items at the ends of the LRU lists are removed every second. */
    public boolean tailsReclaimed() {
        return tailsReclaimed;
    }

    /**
     * Sets whether at first expired items are looked for among all, memcached's lru_crawler; clients may change it.
     *
     * @param on true is the default
     */
    public KvServerContext crawling(boolean on) {
        crawling = changed(on);
        return this;
    }

    /** Whether at first expired items are looked for among all. */
    public boolean crawling() {
        return crawling;
    }

    /**
     * Sets what the version command answers.
     *
     * @param text without blanks
     */
    public KvServerContext version(String text) {
        version = changed(text);
        return this;
    }

    /** What the version command answers. */
    public String version() {
        return version;
    }

    /**
     * Sets the clock by which items expire, and the wall clock to the same.
     *
     * @param clock gives seconds since 1970, to any thread; a step forward lets items expire that clients may still READ
     */
    public KvServerContext clockSeconds(LongSupplier clock) {
        clockSeconds = changed(clock);
        wallSeconds = clock;
        return this;
    }

    /** The clock by which items expire: the time since 1970 at the start, and the seconds since then, whatever becomes of it. */
    public LongSupplier clockSeconds() {
        return clockSeconds;
    }

    /**
     * Sets the clock that clients have in mind when they give an expiry as a time since 1970.
     *
     * @param clock gives seconds since 1970, to any thread
     */
    public KvServerContext wallSeconds(LongSupplier clock) {
        wallSeconds = changed(clock);
        return this;
    }

    /** The wall clock, seconds since 1970. */
    public LongSupplier wallSeconds() {
        return wallSeconds;
    }

    /**
     * Sets the clock of all limits, and with it the clock by which items expire, from now on.
     *
     * @param clock the system's unless set; read by any thread
     */
    public KvServerContext nanoClock(NanoClock clock) {
        nanoClock = changed(clock);
        clockSeconds = new ServerClock(wallSeconds, clock);
        return this;
    }

    /** The clock of all limits. */
    public NanoClock nanoClock() {
        return nanoClock;
    }

    /**
     * Sets where random numbers come from: tokens, the boot id, the seed of hashes. Nobody else may know them.
     *
     * @param source a {@link SecureRandom} unless set; used by any thread
     */
    public KvServerContext random(RandomGenerator source) {
        random = changed(source);
        return this;
    }

    /** Where random numbers come from. */
    public RandomGenerator random() {
        return random;
    }

    /**
     * Sets how clients reach the memcached port.
     *
     * @param choice sockets, by Netty, unless set
     */
    public KvServerContext network(ServerNetwork choice) {
        network = changed(choice);
        return this;
    }

    /** How clients reach the memcached port. */
    public ServerNetwork network() {
        return network;
    }

    /**
     * Sets where the server's own work runs, beside its connections.
     *
     * @param choice threads of the platform unless set
     */
    public KvServerContext ownThreads(ServerThreads choice) {
        ownThreads = changed(choice);
        return this;
    }

    /** Where the server's own work runs. */
    public ServerThreads ownThreads() {
        return ownThreads;
    }

    /**
     * Sets what is to be done when a thread of the server has met an {@link Error} or has ended: the server is then of no use
     * any more, or soon will be, and does not mend itself. Without this it is only logged.
     *
     * @param errors told the cause, on any thread, maybe with no memory left; see {@link ProcessEnd}
     */
    public KvServerContext fatalErrors(Consumer<Throwable> errors) {
        fatalErrors = changed(errors);
        return this;
    }

    /** What is to be done when a thread of the server has failed. */
    public Consumer<Throwable> fatalErrors() {
        return fatalErrors;
    }

    /**
     * Checks everything and freezes this.
     *
     * @throws IllegalArgumentException naming every fault
     */
    public KvServerContext conclude() {
        List<String> faults = new ArrayList<>();
        check(faults, "rdmaPort", rdmaPort, 0, 65535);
        check(faults, "threads", threads, 1, 1024);
        check(faults, "maxConnections", maxConnections, 1, 1_000_000);
        check(faults, "backlog", backlog, 1, 65535);
        check(faults, "idleTimeoutSeconds", idleTimeoutSeconds, 0, Integer.MAX_VALUE);
        check(faults, "requestsPerTurn", requestsPerTurn, 0, Integer.MAX_VALUE);
        check(faults, "answerTimeoutNs", answerTimeoutNs, 1_000_000, Long.MAX_VALUE);
        check(faults, "helloTimeoutNs", helloTimeoutNs, 1_000_000, Long.MAX_VALUE);
        check(faults, "unixSocketMask", unixSocketMask, 0, 0777);
        check(faults, "maxItemLength", maxItemLength, 1024, Locator.MAX_ITEM_LENGTH);
        check(faults, "memoryLimit", memoryLimit, Math.max(1L << 20, 2L * maxItemLength), 1L << 46);
        check(faults, "minimumSpace", minimumSpace, 1, maxItemLength / 2);
        if (!(slabFactor >= 1.01 && slabFactor <= 16)) {
            faults.add(String.format(Locale.ROOT, "slabFactor=%s: expected 1.01 to 16", slabFactor));
        }
        if (port().address().isUnresolved()) {
            faults.add("memcachedAddress=" + memcachedAddress + ": unknown host");
        }
        if (version.isBlank() || version.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            faults.add("version=\"" + version + "\": empty, or with blanks");
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

    private <T> T changed(T value) {
        if (concluded) {
            throw new IllegalStateException("the context is concluded");
        }
        return value;
    }
}
