package org.softrdma.stores;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

/** Settings of a client of any design. Filled by one thread; immutable once concluded. */
public final class StoreClientContext {
    private static final int MOST_WINDOW = 4096;
    private static final int MOST_LENGTH = 1 << 24;

    private final List<InetSocketAddress> servers;
    private Protocol protocol = Protocol.SAFE;
    private int window = 16;
    private int maxKeyLength = 250;
    private int maxValueLength = 4096;
    private long timeoutNs = TimeUnit.SECONDS.toNanos(1);
    private long connectTimeoutNs = TimeUnit.SECONDS.toNanos(2);
    private Map<String, String> options = Map.of();
    private NanoClock nanoClock = SystemNanoClock.INSTANCE;
    private IdleStrategy idleStrategy = new BackoffIdleStrategy();
    private RandomGenerator random = new SplittableRandom();
    private boolean concluded;

    /**
     * Usual settings.
     *
     * @param servers addresses of the store's servers, in an order that all clients share
     */
    public StoreClientContext(List<InetSocketAddress> servers) {
        this.servers = List.copyOf(servers);
    }

    /** Usual settings, for a store of one server. */
    public StoreClientContext(InetSocketAddress server) {
        this(List.of(server));
    }

    /** As published, or mended (the default). Must be the servers'. */
    public StoreClientContext protocol(Protocol newProtocol) {
        return changed(() -> protocol = newProtocol);
    }

    /** Most operations on their way; 16 by default. */
    public StoreClientContext window(int operations) {
        return changed(() -> window = operations);
    }

    /** Bytes of the longest key; 250 by default. */
    public StoreClientContext maxKeyLength(int bytes) {
        return changed(() -> maxKeyLength = bytes);
    }

    /** Bytes of the longest value; 4096 by default. */
    public StoreClientContext maxValueLength(int bytes) {
        return changed(() -> maxValueLength = bytes);
    }

    /** Time limit of an operation; 1 s by default. */
    public StoreClientContext timeoutNs(long ns) {
        return changed(() -> timeoutNs = ns);
    }

    /** Time limit of an attempt to connect; 2 s by default. */
    public StoreClientContext connectTimeoutNs(long ns) {
        return changed(() -> connectTimeoutNs = ns);
    }

    /** Options of the design; none by default. */
    public StoreClientContext options(Map<String, String> newOptions) {
        Map<String, String> copy = Map.copyOf(newOptions);
        return changed(() -> options = copy);
    }

    /** The clock, and how the client waits; those of the JVM by default. */
    public StoreClientContext time(NanoClock clock, IdleStrategy idle) {
        return changed(() -> {
            nanoClock = clock;
            idleStrategy = idle;
        });
    }

    /** Where its names come from; a generator with a seed of its own by default. */
    public StoreClientContext random(RandomGenerator generator) {
        return changed(() -> random = generator);
    }

    /**
     * Checks the settings and freezes them.
     *
     * @throws IllegalArgumentException naming every setting that is out of range
     */
    public StoreClientContext conclude() {
        List<String> faults = new ArrayList<>();
        SettingCheck.range(faults, "servers", servers.size(), 1, Integer.MAX_VALUE);
        SettingCheck.range(faults, "window", window, 1, MOST_WINDOW);
        SettingCheck.range(faults, "maxKeyLength", maxKeyLength, 1, Short.MAX_VALUE);
        SettingCheck.range(faults, "maxValueLength", maxValueLength, 0, MOST_LENGTH);
        SettingCheck.range(faults, "timeoutNs", timeoutNs, 1, Long.MAX_VALUE);
        SettingCheck.range(faults, "connectTimeoutNs", connectTimeoutNs, 1, Long.MAX_VALUE);
        SettingCheck.refuse(faults);
        concluded = true;
        return this;
    }

    private StoreClientContext changed(Runnable change) {
        if (concluded) {
            throw new IllegalStateException("the context is concluded");
        }
        change.run();
        return this;
    }

    /** The servers. */
    public List<InetSocketAddress> servers() {
        return servers;
    }

    /** Which form of the design. */
    public Protocol protocol() {
        return protocol;
    }

    /** Most operations on their way. */
    public int window() {
        return window;
    }

    /** Bytes of the longest key. */
    public int maxKeyLength() {
        return maxKeyLength;
    }

    /** Bytes of the longest value. */
    public int maxValueLength() {
        return maxValueLength;
    }

    /** Time limit of an operation. */
    public long timeoutNs() {
        return timeoutNs;
    }

    /** Time limit of an attempt to connect. */
    public long connectTimeoutNs() {
        return connectTimeoutNs;
    }

    /** Options of the design. */
    public Map<String, String> options() {
        return options;
    }

    /** The clock. */
    public NanoClock nanoClock() {
        return nanoClock;
    }

    /** How it waits. */
    public IdleStrategy idleStrategy() {
        return idleStrategy;
    }

    /** Where its names come from. */
    public RandomGenerator random() {
        return random;
    }
}
